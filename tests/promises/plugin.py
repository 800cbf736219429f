"""Pytest's side of it: the marker, the fixture, and a file of what the marked tests showed. Loaded by tests/conftest.py.

Marks and figures travel in each test's `user_properties`, so that they arrive from the workers of a parallel run too.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.promises.table import PROMISES

if TYPE_CHECKING:
    from collections.abc import Iterable

MARKER = "promise"
Figure = Callable[[str], None]


@dataclass(frozen=True)
class Shown:
    """What one test showed of some rows; `outcome` is pytest's word for it."""

    test: str
    rows: tuple[str, ...]
    outcome: str
    figures: tuple[str, ...]


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Figure:
    """Take what the test has measured, in words with a unit."""

    def take(words: str) -> None:
        request.node.user_properties.append(("figure", words))

    return take


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("promises")
    group.addoption("--rows", default="", help="Run only the tests that show one of these rows: F1,S3")
    group.addoption("--promises-to", type=Path, help="Write what the marked tests showed to this file, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f'{MARKER}("F1", …): shows a row of docs/reliability.md (make chaos)')
    target = config.getoption("--promises-to")
    if target is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Collector(target))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    rows = set(filter(None, config.getoption("--rows").split(",")))
    for item in items:
        item.user_properties += [("row", row) for row in _rows_of(item)]
    if rows:
        items[:] = [item for item in items if rows.intersection(_rows_of(item))]


def _rows_of(item: pytest.Item) -> list[str]:
    known = {promise.id for promise in PROMISES}
    rows = [row for marker in item.iter_markers(MARKER) for row in marker.args]
    if unknown := sorted(set(rows) - known):
        message = f"{item.nodeid}: there is no promise {', '.join(unknown)} (tests/promises/table.py)"
        raise pytest.UsageError(message)
    return rows


class _Collector:
    def __init__(self, target: Path) -> None:
        self._target = target
        self._shown: dict[str, Shown] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        rows = _properties(report.user_properties, "row")
        before = self._shown.get(report.nodeid)
        ended = report.when == "call" or report.outcome != "passed"
        if rows and ended and (before is None or report.outcome == "failed"):
            figures = _properties(report.user_properties, "figure")
            self._shown[report.nodeid] = Shown(report.nodeid, rows, report.outcome, figures)

    def pytest_sessionfinish(self) -> None:
        self._target.write_text(json.dumps([asdict(shown) for shown in self._shown.values()], indent=1))


def _properties(properties: Iterable[tuple[str, Any]], name: str) -> tuple[str, ...]:
    return tuple(str(value) for key, value in properties if key == name)


def read_shown(path: Path) -> list[Shown]:
    """Return what a run has written with `--promises-to`; nothing when it did not get that far."""
    if not path.exists():
        return []
    return [
        Shown(**{**raw, "rows": tuple(raw["rows"]), "figures": tuple(raw["figures"])})
        for raw in json.loads(path.read_text())
    ]
