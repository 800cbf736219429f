"""`make test` touches each promise: the table of tests/runs/smoke.py names tests that exist, and leaves no row out."""

from __future__ import annotations

import ast

from tests.architecture.sources import ROOT, dotted, find_files, find_modules_with, parse
from tests.promises.table import PROMISES
from tests.runs.smoke import LONGER, SMOKE_TESTS

find_files(".py")  # asks git, as no test may that has no mark
NOT_IN_UNIT = {"docker", "integration", "slow", "alone"}


def marks_of(nodes: list[ast.expr]) -> dict[str, set[str]]:
    """Marks by their name, with the words in their parentheses."""
    found: dict[str, set[str]] = {}
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        call = node if isinstance(node, ast.Call) else None
        name = dotted(call.func if call else node)
        if name.startswith("pytest.mark."):
            words = {str(word.value) for word in call.args if isinstance(word, ast.Constant)} if call else set()
            found.setdefault(name.removeprefix("pytest.mark."), set()).update(words)
    return found


def marked_tests() -> dict[str, tuple[set[str], set[str]]]:
    """Every test function as pytest names it: its marks, and the rows that it shows."""
    tests = {}
    for path in find_modules_with(ROOT / "tests", "def test_"):
        tree, name = parse(path), path.relative_to(ROOT).as_posix()
        assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
        own = marks_of([node.value for node in assigned if dotted(node.targets[0]) == "pytestmark"])
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                marks = marks_of(node.decorator_list)
                rows = own.get("promise", set()) | marks.get("promise", set())
                tests[f"{name}::{node.name}"] = ({*own, *marks}, rows)
    return tests


def test_every_test_that_is_named_exists() -> None:
    tests = marked_tests()
    files = {test.partition("::")[0] for test in tests}
    assert [test for test in SMOKE_TESTS if test not in tests and test not in files] == []


def test_every_row_is_shown_by_a_unit_test_or_a_named_one_or_its_reason_stands_there() -> None:
    smoke = {test for test in SMOKE_TESTS if "::" in test} | {
        test for test in marked_tests() if test.partition("::")[0] in SMOKE_TESTS
    }
    shown = {
        row
        for test, (marks, rows) in marked_tests().items()
        for row in rows
        if test in smoke or not marks & NOT_IN_UNIT
    }
    assert {promise.id for promise in PROMISES} - shown - set(LONGER) == set()
    assert set(LONGER) & shown == set(), "shown all the same: take the reason away"
