"""docs/reliability.md is the table of promises, and every row of it is shown by a test."""

from __future__ import annotations

import ast

from tests.architecture.sources import ROOT, dotted, find_modules_with, parse
from tests.promises.document import read_measured, render_document, tell_measured
from tests.promises.plugin import Shown
from tests.promises.table import PROMISES

NOT_SHOWN_YET: set[str] = set()


def find_marked_rows() -> set[str]:
    """Every row that a test is marked with."""
    return {
        str(argument.value)
        for path in find_modules_with(ROOT / "tests", "mark.promise")
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call) and dotted(node.func) == "pytest.mark.promise"
        for argument in node.args
        if isinstance(argument, ast.Constant)
    }


def test_every_promise_is_shown_by_a_test_and_no_test_shows_another() -> None:
    rows, marked = {promise.id for promise in PROMISES}, find_marked_rows()
    assert rows - marked == NOT_SHOWN_YET
    assert marked <= rows


def test_the_document_is_the_table_whatever_was_measured() -> None:
    document = (ROOT / "docs" / "reliability.md").read_text()
    measured = read_measured(document)

    assert set(measured) == {promise.id for promise in PROMISES}
    assert document == render_document(measured)


def test_a_row_is_shown_by_its_figures_and_the_number_of_its_tests() -> None:
    shown = [
        Shown("a.py::one", ("F1",), "passed", ("p99 9 ms",)),
        Shown("a.py::two", ("F1", "F2"), "passed", ()),
        Shown("a.py::three", ("F2",), "failed", ("late",)),
        Shown("a.py::four", ("F3",), "skipped", ()),
    ]

    assert tell_measured("F1", shown) == ("p99 9 ms; 2 tests", True)
    assert tell_measured("F2", shown) == ("**failed**: three", False)
    assert tell_measured("F3", shown) == ("no test ran", False)


def test_what_was_measured_is_read_back_from_the_document() -> None:
    measured = {promise.id: f"a | b of {promise.id}" for promise in PROMISES}

    assert read_measured(render_document(measured)) == measured
