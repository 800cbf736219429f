"""Every value of every field that an engine keeps: as Compose makes it there is no drift, and a change is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bcon_exporter.model.findings import DriftType
from tests.docker.test_drift_projects import Stack
from tests.drift_corpus.values import OUTSIDE, VALUES, write_project

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.model.reports import DriftReport
    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker


def named_fields(report: DriftReport) -> dict[str, tuple[str, ...]]:
    """Field of each difference by service; the containers were only made, so that none runs."""
    fields: dict[str, list[str]] = {}
    for difference in report.differences:
        if difference.drift_type is not DriftType.NOT_RUNNING and difference.field:
            fields.setdefault(difference.service_name, []).append(difference.field)
    return {service: tuple(sorted(paths)) for service, paths in fields.items()}


def test_no_value_is_drift_as_it_was_made_and_each_change_of_one_is_named(engine: TestEngine, tmp_path: Path) -> None:
    folder = tmp_path / "stack"
    folder.mkdir()
    stack = Stack(engine, folder)
    pairs = {f"v{number:03}": pair for number, pair in enumerate(VALUES)}
    engine.docker("create", "--name", OUTSIDE, engine.image)
    stack.file.write_text(write_project({name: pair.made for name, pair in pairs.items()}, str(folder)))
    engine.compose("create", "--pull", "never", cwd=folder)
    report = stack.report()
    unmade = [
        difference.message for difference in report.differences if difference.drift_type is not DriftType.NOT_RUNNING
    ]
    assert (unmade, report.rule_errors) == ([], ())

    stack.file.write_text(write_project({name: pair.changed for name, pair in pairs.items()}, str(folder)))
    named = named_fields(stack.report())
    wrong = [
        f"{pair.made} -> {pair.changed}: {named.get(name, ())} instead of {pair.paths}"
        for name, pair in pairs.items()
        if named.get(name, ()) != pair.paths
    ]
    assert wrong == []
