"""docs/drift.md lists every field that is compared and every drift type."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bcon_exporter.model.findings import DriftType

ROOT = Path(__file__).parents[2]
READERS = ("bcon_exporter/engine/parse/config.py", "bcon_exporter/compose/service_fields.py")


def paths_of(source: str) -> set[str]:
    """The roots of all field paths that a reader makes."""
    text = (ROOT / source).read_text()
    named = re.findall(r'put\(fields, "([a-z_.]+)"', text) + re.findall(r'fields\[f?"([a-z_]+)[.\["]', text)
    listed = re.findall(r'\("([a-z_]+)", "[A-Z]\w+"\)', text)
    return {path.partition(".")[0] for path in (*named, *listed)}


@pytest.mark.parametrize("source", READERS)
def test_every_field_that_is_compared_is_documented(source: str) -> None:
    documented = set(re.findall(r"`\.?([a-z_]+)", (ROOT / "docs/drift.md").read_text()))
    found = paths_of(source)
    assert len(found) > 25
    assert found - documented == set()


def test_every_drift_type_is_documented() -> None:
    text = (ROOT / "docs/drift.md").read_text()
    assert [drift for drift in DriftType if f"`{drift}`" not in text] == []
