"""Draws state timelines: a bar for each series, in the colours of its states, and what the colours mean."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from grafana.preview.fields import coloured, field_of, shown
from grafana.preview.plot import Plot, runs
from grafana.preview.svg import INK, Box, rect, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grafana.preview.asking import Series
    from grafana.preview.reading import Json, Span

ROW_AT_MOST = 30


def draw_states(panel: Json, answers: Sequence[Sequence[Series]], box: Box, span: Span) -> Iterator[str]:
    """A state timeline panel."""
    rows = [(target, series) for target, found in zip(panel["targets"], answers, strict=True) for series in found]
    if not rows:
        return
    left = min(max(len(series.name) for _, series in rows) * 6.4 + 10, box.width * 0.4)
    plot = Plot(box.inner(left, 2, 8, 42), span)
    height = min(plot.box.height / len(rows), ROW_AT_MOST)
    meanings: dict[str, str] = {}
    for index, (target, series) in enumerate(rows):
        config = field_of(panel, series.name, target["refId"])
        y = plot.box.y + height * index
        yield text(plot.box.x - 7, y + height / 2 + 4, series.name, size=11, anchor="end", width=left - 8)
        for start, end, value in states(series, plot):
            bar = Box(plot.x(start), y + height * 0.1, plot.x(end) - plot.x(start), height * 0.8)
            yield rect(bar, coloured(config, value), opacity=0.8)
            meanings[shown(config, value, span.end)] = coloured(config, value)
    yield from plot.times(plot.box.y + height * len(rows) + 14)
    x = box.x + 6
    for name, colour in meanings.items():
        yield rect(Box(x, box.bottom - 13, 12, 4), colour)
        yield text(x + 17, box.bottom - 7, name, size=11, fill=INK)
        x += 30 + len(name) * 6.5


def states(series: Series, plot: Plot) -> Iterator[tuple[float, float, float]]:
    """Start, end and value of each state; a gap ends one."""
    for run in runs(series, plot):
        changes = [at for (_, before), (at, value) in pairwise(run) if value != before]
        values = dict(run)
        starts = [run[0][0], *changes]
        for start, end in zip(starts, [*changes, run[-1][0] + plot.span.step_seconds], strict=True):
            yield start, end, values[start]
