"""The place in a panel where time runs to the right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grafana.preview.fields import clock
from grafana.preview.reading import Span
from grafana.preview.svg import FAINT, Box, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grafana.preview.asking import Series

NARROW = 300


@dataclass(frozen=True)
class Plot:
    """A box with the scales of time and of values."""

    box: Box
    span: Span
    low: float = 0.0
    high: float = 1.0

    def x(self, at: float) -> float:
        """Where a moment is; what lies outside of the range is at its edge."""
        return self.box.x + self.box.width * min(max((at - self.span.start) / self.span.seconds, 0), 1)

    def y(self, value: float) -> float:
        """Where a value is."""
        return self.box.bottom - self.box.height * (value - self.low) / (self.high - self.low)

    def times(self, y: float) -> Iterator[str]:
        """Some times of day below it."""
        parts = (0.15, 0.85) if self.box.width < NARROW else (0.1, 0.3, 0.5, 0.7, 0.9)
        for at in (self.span.start + self.span.seconds * part for part in parts):
            yield text(self.x(at), y, clock(at), size=10, fill=FAINT, anchor="middle")

    def is_gap(self, earlier: float, later: float) -> bool:
        """Whether nothing was seen between two points."""
        return later - earlier > self.span.step_seconds * 1.5


def runs(series: Series, plot: Plot) -> list[Sequence[tuple[float, float]]]:
    """The points of a series, parted at its gaps."""
    found: list[list[tuple[float, float]]] = []
    for point in series.points:
        if not found or plot.is_gap(found[-1][-1][0], point[0]):
            found.append([])
        found[-1].append(point)
    return [tuple(run) for run in found]
