"""`make test` touches each promise: the table of tests/runs/smoke.py names tests that exist, and leaves no row out."""

from __future__ import annotations

from tests.mutants.guards import GUARDS
from tests.promises.table import PROMISES
from tests.runs.marks import is_run_by_make_test, marked_tests
from tests.runs.smoke import LONGER, SMOKE_TESTS


def test_every_test_that_is_named_exists() -> None:
    tests = marked_tests()
    files = {test.partition("::")[0] for test in tests}
    assert [test for test in SMOKE_TESTS if test not in tests and test not in files] == []


def test_every_row_is_shown_by_a_unit_test_or_a_named_one_or_its_reason_stands_there() -> None:
    shown = {row for test, (_, rows) in marked_tests().items() if is_run_by_make_test(test) for row in rows}
    assert {promise.id for promise in PROMISES} - shown - set(LONGER) == set()
    assert set(LONGER) & shown == set(), "shown all the same: take the reason away"


def test_four_of_five_broken_guards_are_found_by_what_a_newcomer_runs() -> None:
    found = sum(any(map(is_run_by_make_test, guard.tests)) for guard in GUARDS)
    assert found >= len(GUARDS) * 0.8
