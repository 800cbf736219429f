"""Rows of a table of figures, each beside its bar: gathered by groups, of which one that breaks is a row too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BROKEN = (Exception, pytest.fail.Exception, pytest.skip.Exception)
"""What may end a group; helpers of tests skip where something is missing, and here nothing may be missing."""


@dataclass(frozen=True)
class Figure:
    """One row of the table.

    Attributes:
        missed: It is worse than its bar; None when it was not measured.
    """

    name: str
    value: str
    bar: str
    missed: bool | None

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """What is printed of it."""
        return self.name, self.value, self.bar, {True: "MISSED", False: "ok", None: "not measured"}[self.missed]


@dataclass(frozen=True)
class Group:
    """Figures that are measured together."""

    name: str
    measure: Callable[[], Iterable[Figure]]


def at_most(name: str, value: float, bar: float, unit: str = "") -> Figure:
    """A figure that must not be larger than its bar."""
    return Figure(name, f"{_digits(value)}{unit}", f"<= {_digits(bar)}{unit}", value > bar)


def all_of(name: str, kept: int, total: int) -> Figure:
    """A figure that all must keep."""
    return Figure(name, f"{kept} of {total}", f"{total} of {total}", kept < total)


def not_measured(name: str, bar: str, how: str) -> Figure:
    """A figure that is measured elsewhere or only if asked for."""
    return Figure(name, how, bar, None)


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def gather(groups: Iterable[Group]) -> Iterator[Figure]:
    """Yield the figures of all groups."""
    for group in groups:
        count = 0
        try:
            for figure in group.measure():
                yield figure
                count += 1
            why = "it gave no figure"
        except BROKEN as error:
            why = f"{type(error).__name__}: {error}"
            count = 0
        if not count:
            yield Figure(group.name, f"broken: {' '.join(why.split())[:200]}", "measured", True)


def render(figures: Sequence[Figure]) -> str:
    """Return the table."""
    widths = [max((len(figure.cells[column]) for figure in figures), default=0) for column in range(3)]
    lines = []
    for figure in figures:
        name, value, bar, mark = figure.cells
        lines.append(f"{name:<{widths[0]}}  {value:>{widths[1]}}  {bar:>{widths[2]}}  {mark}\n")
    return "".join(lines)


def exit_code(figures: Iterable[Figure]) -> int:
    """Return 1 when a bar is missed."""
    return int(any(figure.missed for figure in figures))
