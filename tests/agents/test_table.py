"""The table of figures ends with 1 when a bar is missed or a figure cannot be had, and says which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agents.figures import Figure, Group, all_of, at_most, exit_code, gather, not_measured, render
from tests.agents.table import groups_of, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KEPT = at_most("bytes", 12, 12)
MISSED = at_most("bytes", 13, 12)


def group(*figures: Figure, name: str = "a group") -> Group:
    return Group(name, lambda: figures)


@pytest.mark.parametrize(
    ("figures", "code"),
    [
        ([KEPT], 0),
        ([KEPT, MISSED, KEPT], 1),
        ([all_of("cases", 4, 4)], 0),
        ([all_of("cases", 3, 4)], 1),
        ([KEPT, not_measured("edits", "30 of 30", "run with --engine")], 0),
    ],
)
def test_a_missed_bar_alone_is_exit_code_1(
    figures: list[Figure], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert print_table([group(*figures)]) == code

    printed = capsys.readouterr().out.splitlines()
    assert [line.endswith("MISSED") for line in printed] == [figure.missed is True for figure in figures]


def test_a_row_has_its_figure_beside_its_bar() -> None:
    rows = [at_most("list of tools", 5931, 6000, " bytes"), not_measured("edits", "30 of 30", "run with --engine")]

    assert render(rows).splitlines() == [
        "list of tools        5,931 bytes  <= 6,000 bytes  ok",
        "edits          run with --engine        30 of 30  not measured",
    ]


def break_off() -> Iterator[Figure]:
    yield KEPT
    message = "no\nsuch thing"
    raise ValueError(message)


def skip() -> Iterator[Figure]:
    yield KEPT
    pytest.skip("no engine")


@pytest.mark.parametrize(
    ("measure", "told"), [(break_off, "broken: ValueError: no such thing"), (skip, "broken: Skipped: no engine")]
)
def test_a_broken_group_is_a_row_that_counts_as_missed_and_the_others_are_measured(measure: object, told: str) -> None:
    found = list(gather([Group("first", measure), group(KEPT)]))  # type: ignore[arg-type]  # one of two generators

    assert [figure.name for figure in found] == ["bytes", "first", "bytes"]
    assert found[1].value == told
    assert exit_code(found) == 1


def test_a_group_that_gives_nothing_counts_as_missed() -> None:
    nothing: Iterable[Figure] = ()
    assert [(one.name, one.missed) for one in gather([Group("empty", lambda: nothing)])] == [("empty", True)]


def test_without_an_engine_what_needs_one_is_told_and_not_measured() -> None:
    without, beside = groups_of(engine=False), groups_of(engine=True)

    assert [one.name for one in without] == [one.name for one in beside]
    told = [row for one, other in zip(without, beside, strict=True) if one != other for row in one.measure()]
    assert {(row.value, row.missed) for row in told} == {("run with --engine", None)}
    assert len(told) == 2
