"""How the cost of a function grows with the text that it sees: CPU time of this thread, best of several runs."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

ENOUGH_SECONDS = 0.02
MOST_GROWTH = 6.0
"""Four times the text may cost six times as much: linear, with room for caches and noise; quadratic is sixteen."""
_SUSPICIOUS = 5.0
_RUNS = 5
_TRIES = 6


def as_text(text: str) -> str:
    """The text as it is."""
    return text


@dataclass(frozen=True)
class Row:
    """One function that sees text from outside.

    Attributes:
        name: What the test is called.
        call: The function; gets what `wrap` makes of the text.
        bound: How many characters are really let in.
        wrap: Puts the text where it stands when it is met: a frame, a JSON answer, a header.
        units: What is repeated, beside the usual ones: pieces of what this function looks for.
        raises: What it is declared to raise.
        smallest: From how many characters on it is measured; below, it may cost what it likes.
    """

    name: str
    call: Callable[[Any], object]
    bound: int
    wrap: Callable[[str], Any] = as_text
    units: tuple[str, ...] = ()
    raises: tuple[type[Exception], ...] = ()
    smallest: int = 512


@dataclass(frozen=True)
class Shape:
    """A text of any length: a beginning, something repeated, an end."""

    unit: str
    before: str = ""
    after: str = ""

    def of(self, chars: int) -> str:
        """The text of about so many characters, with at least one unit."""
        room = max(chars - len(self.before) - len(self.after), len(self.unit))
        return self.before + self.unit * (room // len(self.unit)) + self.after


@dataclass(frozen=True)
class Growth:
    """What was measured: the cost of `chars` and of four times as many."""

    shape: Shape
    chars: int
    seconds: float
    seconds_of_four: float = field(default=0.0)

    @property
    def ratio(self) -> float:
        """How many times more four times the text costs; 0 where all that is let in costs next to nothing."""
        return self.seconds_of_four / self.seconds if self.seconds_of_four else 0.0

    def __str__(self) -> str:
        """Tell it in one line."""
        return (
            f"{self.shape}: {self.chars} chars {self.seconds * 1000:.1f} ms, "
            f"four times as many {self.seconds_of_four * 1000:.1f} ms, {self.ratio:.1f} times"
        )


def seconds_of(row: Row, text: str, runs: int = 1) -> float:
    """CPU seconds of one call, the best of so many."""
    best = float("inf")
    for _ in range(runs):
        given = row.wrap(text)  # anew: a function may keep what it has seen, or use it up
        gc.disable()
        began = time.thread_time()
        with contextlib.suppress(*row.raises):
            row.call(given)
        took = time.thread_time() - began
        gc.enable()
        best = min(best, took)
    return best


def measure_growth(row: Row, shape: Shape, enough_seconds: float = ENOUGH_SECONDS) -> Growth:
    """Double the text until it costs enough or a quarter of the bound is reached, then compare with four times it."""
    chars = row.smallest
    seconds = seconds_of(row, shape.of(chars))
    while seconds < enough_seconds and chars < row.bound // 4:
        chars = min(chars * 2, row.bound // 4)
        seconds = seconds_of(row, shape.of(chars))
    if seconds < enough_seconds and seconds_of(row, shape.of(4 * chars)) < enough_seconds:
        return Growth(shape, chars, seconds)
    return _compare(row, shape, chars)


def seems_to_grow(row: Row, shape: Shape) -> bool:
    """Look cheaply, once, at a quarter of the cost: what is linear passes here and needs no closer look."""
    chars = row.smallest
    seconds = seconds_of(row, shape.of(chars))
    while chars <= row.bound // 4:
        of_four = seconds_of(row, shape.of(4 * chars))
        if of_four >= ENOUGH_SECONDS:
            return of_four > _SUSPICIOUS * seconds
        chars, seconds = 4 * chars, of_four
    return False


def _compare(row: Row, shape: Shape, chars: int) -> Growth:
    """Measure both; what seems to grow too fast is measured again: a machine has hiccups, a function has none."""
    growth = Growth(shape, chars, 0.0)
    for _ in range(_TRIES):
        one, four = (seconds_of(row, shape.of(count), _RUNS) for count in (chars, 4 * chars))
        growth = Growth(shape, chars, one, four if four >= ENOUGH_SECONDS else 0.0)
        if growth.ratio <= MOST_GROWTH:
            break
    return growth
