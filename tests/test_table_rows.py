"""A table names every row that fails, and passes only when all of its rows have run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SQUARES = [(1, 1), (2, 4), (3, 9)]


@table(("number", "square"), SQUARES)
def test_every_row_runs_as_a_test_does(number: int, square: int) -> None:
    assert number * number == square


@table("folder_name", ["a", "a"])
def test_rows_have_a_folder_of_their_own(folder_name: str, tmp_path: Path) -> None:
    (tmp_path / folder_name).mkdir()


@table("name", ["LEFT_BY_A_ROW", "LEFT_BY_A_ROW"])
def test_what_a_row_patches_logs_and_prints_is_not_there_for_the_next(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    assert name not in globals()
    assert (caplog.text, capsys.readouterr().out) == ("", "")

    monkeypatch.setitem(globals(), name, 1)
    logging.getLogger(__name__).warning("logged")
    print("printed")  # noqa: T201  # that is what is tested


class TestOfAClass:
    @table("number", [1, 2])
    def test_has_tables_too(self, number: int) -> None:
        assert isinstance(self, TestOfAClass)
        assert number in (1, 2)


def failure_of(test: Callable[..., None], **fixtures: object) -> str:
    with pytest.raises(AssertionError) as failed:
        test(**fixtures)
    return str(failed.value)


def test_the_failure_names_every_row_that_fails_with_its_reason() -> None:
    @table(("number", "square"), [(1, 1), (2, 5), (3, 9), (4, 17)])
    def squares(number: int, square: int) -> None:
        if number * number != square:
            message = f"{number * number} is no {square}"
            raise ValueError(message)

    said = failure_of(squares)

    first, *rows = said.splitlines()
    assert first == "2 of 4 rows fail"
    assert [row.partition(" (line ")[0] for row in rows] == [
        "  row 2: 2, 5: ValueError: 4 is no 5",
        "  row 4: 4, 17: ValueError: 16 is no 17",
    ]
    assert all(row.endswith(")") and row.partition(" (line ")[2][:-1].isdecimal() for row in rows)


def test_the_traceback_of_the_first_failure_is_its_cause() -> None:
    @table("number", [1, 0, 0])
    def divides(number: int) -> None:
        assert 1 / number

    with pytest.raises(AssertionError, match="2 of 3 rows fail") as failed:
        divides()

    assert isinstance(failed.value.__cause__, ZeroDivisionError)


def test_an_exception_that_did_not_come_and_a_skipped_row_are_failures() -> None:
    def raises_nothing() -> None:
        with pytest.raises(ValueError, match="never"):
            pass

    @table("act", [raises_nothing, lambda: pytest.skip("not here"), int], ids="abc")
    def acts(act: Callable[[], object]) -> None:
        act()

    said = failure_of(acts).splitlines()

    assert said[0] == "2 of 3 rows fail"
    assert said[1].startswith("  row 1: a: Failed: DID NOT RAISE")
    assert said[2].startswith("  row 2: b: Skipped: not here")


def test_an_interrupt_ends_the_test() -> None:
    @table("number", [1, 2])
    def interrupted(number: int) -> None:
        raise KeyboardInterrupt(number)

    with pytest.raises(KeyboardInterrupt, match="1"):
        interrupted()


def test_an_empty_table_fails() -> None:
    @table("number", [])
    def nothing(number: int) -> None:
        assert number

    assert failure_of(nothing) == "the table of nothing is empty: it shows nothing"


def test_two_tables_are_every_row_with_every_row() -> None:
    ran = []

    @table("letter", "ab")
    @table(("number", "sign"), [(1, "+"), (2, "-")])
    def both(letter: str, number: int, sign: str) -> None:
        ran.append((letter, number, sign))
        assert (letter, number) != ("b", 2)

    said = failure_of(both)

    assert ran == [("a", 1, "+"), ("a", 2, "-"), ("b", 1, "+"), ("b", 2, "-")]
    assert said.splitlines()[0] == "1 of 4 rows fail"
    assert said.splitlines()[1].startswith("  row 4: 'b', 2, '-': AssertionError")


def test_rows_are_called_what_their_ids_say() -> None:
    def fails(value: object) -> None:
        pytest.fail(f"it is {value}")

    def names(decorate: Callable[[Callable[..., None]], Callable[..., None]]) -> list[str]:
        return [line.split(": ")[1] for line in failure_of(decorate(fails)).splitlines()[1:]]

    assert names(table("value", [1, "x", len])) == ["1", "'x'", "len"]
    assert names(table("value", [1, 2], ids=["one", "two"])) == ["one", "two"]
    assert names(table("value", [1, 2], ids=lambda value: f"<{value}>")) == ["<1>", "<2>"]
    assert names(table("value", [pytest.param(1, id="the first"), 2])) == ["the first", "2"]
    assert names(table("value", ["long" * 100])) == [f"'{'long' * 100}"[:100]]


def test_rows_share_no_fixture_unless_it_is_named() -> None:
    def takes(number: int, server: str) -> None:
        assert server * number

    with pytest.raises(TypeError, match="takes: rows would share server"):
        table("number", [1, 2])(takes)(server="it")
    table("number", [1, 2], shared=["server"])(takes)(server="it")
    with pytest.raises(TypeError, match="takes takes no digit"):
        table("digit", [1, 2], shared=["server", "number"])(takes)(server="it", number=1)


def test_what_is_no_row_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="is no row for number, square"):
        table("number, square", [(1, 1), (2,)])
    with pytest.raises(TypeError, match="and no marks"):
        table("number", [pytest.param(1, marks=pytest.mark.slow)])
