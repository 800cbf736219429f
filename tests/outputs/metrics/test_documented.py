"""docs/metrics.md lists every family with its type and labels, and none that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

from bcon_exporter.outputs.metrics import FAMILIES
from bcon_exporter.outputs.metrics.families import CONTAINER_LABELS

DOCS = Path(__file__).parents[3] / "docs" / "metrics.md"
_ROW = re.compile(r"\| `(?P<name>bcon_\w+)` \| (?P<kind>\w+) \| (?P<labels>[^|]*) \|")


def test_the_table_in_the_docs_is_the_table_in_the_code() -> None:
    rows = {row["name"]: (row["kind"], row["labels"].strip()) for row in _ROW.finditer(DOCS.read_text())}

    wanted = {family.name: (family.kind, ", ".join(_shown(family.labels))) for family in FAMILIES}
    assert rows == wanted


def _shown(labels: tuple[str, ...]) -> tuple[str, ...]:
    return ("C", *labels[3:]) if labels[:3] == CONTAINER_LABELS else labels


def test_every_name_that_the_docs_mention_exists() -> None:
    mentioned = set(re.findall(r"\bbcon_[a-z_]+[a-z]\b", DOCS.read_text()))

    assert mentioned <= {family.name for family in FAMILIES}
