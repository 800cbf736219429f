"""Draws time series: lines, steps, bars and areas, with their axes and legend."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grafana.preview.asking import Series
from grafana.preview.fields import COLOURS, coloured, field_of, shown
from grafana.preview.plot import Plot, runs
from grafana.preview.reading import Json
from grafana.preview.svg import EDGE, FAINT, Box, area, path, rect, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grafana.preview.reading import Span

LEGEND_ROW = 17
TICKS = 4
STARTED = "#5794f2"


@dataclass(frozen=True)
class Course:
    """One series with how it is drawn; `below` is what it is stacked upon at each moment."""

    series: Series
    config: Json
    colour: str
    below: Mapping[float, float]

    @property
    def custom(self) -> Json:
        """Its graph style."""
        found: Json = self.config["custom"]
        return found

    def base(self, at: float) -> float:
        """Where it begins at a moment."""
        return self.below.get(at, 0.0)

    def top(self, at: float, value: float) -> float:
        """Where a point of it is drawn."""
        return self.base(at) + (-value if self.custom.get("transform") == "negative-Y" else value)


def draw_lines(
    panel: Json, answers: Sequence[Sequence[Series]], box: Box, span: Span, moments: Sequence[float]
) -> Iterator[str]:
    """A time series panel; `moments` are those of an annotation, as vertical lines."""
    courses = _courses(panel, answers)
    if not courses:
        return
    room = min(len(courses), max(int(box.height * 0.42 / LEGEND_ROW) - 1, 1))
    inner = box.inner(46, 6, 8, 22 + LEGEND_ROW * (room + 1))
    defaults = panel["fieldConfig"]["defaults"]
    steps = [each for each in defaults["thresholds"]["steps"] if each["value"]]
    tops = [course.top(*point) for course in courses for point in course.series.points]
    largest = max(*tops, *(each["value"] for each in steps), defaults["custom"].get("axisSoftMax", 0)) or 1
    plot = Plot(inner, span, min(0.0, *tops), largest * 1.08)
    yield from _axes(defaults, plot)
    for at in moments:
        yield path([(plot.x(at), inner.y), (plot.x(at), inner.bottom)], STARTED, width=0.8, dashed=True)
    for course in courses:
        yield from _course(course, plot)
    for each in steps:
        yield path(
            [(inner.x, plot.y(each["value"])), (inner.right, plot.y(each["value"]))],
            COLOURS[each["color"]],
            dashed=True,
        )
    yield from _legend(courses, Box(box.x, inner.bottom + 22, box.width, 0), span, room)


def _courses(panel: Json, answers: Sequence[Sequence[Series]]) -> list[Course]:
    found: list[Course] = []
    below: dict[float, float] = defaultdict(float)
    for target, told in zip(panel["targets"], answers, strict=True):
        for series in told:
            config = field_of(panel, series.name, target["refId"])
            course = Course(series, config, coloured(config, series.last, len(found)), {})
            if course.custom.get("stacking", {}).get("mode") == "normal":
                course = replace(course, below=dict(below))
                for at, value in series.points:
                    below[at] += value
            found.append(course)
    return found


def _axes(defaults: Json, plot: Plot) -> Iterator[str]:
    values = [plot.low + (plot.high - plot.low) * tick / TICKS for tick in range(TICKS + 1)]
    if defaults.get("decimals") == 0:
        values = sorted({float(int(value)) for value in values})
    for value in values:
        y = plot.y(value)
        yield path([(plot.box.x, y), (plot.box.right, y)], EDGE, width=0.7)
        label = shown({"unit": defaults["unit"], "decimals": defaults.get("decimals")}, abs(value), plot.span.end)
        yield text(plot.box.x - 5, y + 4, label, size=10, fill=FAINT, anchor="end", width=46)
    yield from plot.times(plot.box.bottom + 15)


def _course(course: Course, plot: Plot) -> Iterator[str]:
    opacity = course.custom.get("fillOpacity", 0) / 100
    for run in runs(course.series, plot):
        upper = [(plot.x(at), plot.y(course.top(at, value))) for at, value in run]
        lower = [(plot.x(at), plot.y(course.base(at))) for at, _ in run]
        if course.custom.get("drawStyle") == "bars":
            width = max(plot.box.width * plot.span.step_seconds / plot.span.seconds * 0.7, 1)
            for (x, y), (_, floor) in zip(upper, lower, strict=True):
                if floor > y:
                    yield rect(Box(x - width / 2, y, width, floor - y), course.colour, opacity=opacity)
            continue
        if course.custom.get("lineInterpolation") == "stepAfter":
            ends = [*upper[1:], upper[-1]]
            upper = [point for one, two in zip(upper, ends, strict=True) for point in (one, (two[0], one[1]))]
        if opacity:
            yield area([*upper, *reversed(lower)], course.colour, opacity)
        if course.custom.get("lineWidth", 1):
            yield path(upper, course.colour, dashed="lineStyle" in course.custom)


def _legend(courses: Sequence[Course], box: Box, span: Span, room: int) -> Iterator[str]:
    ranked = sorted(courses, key=lambda each: each.series.last, reverse=True)
    yield text(box.right - 62, box.y + 12, "Last *", size=10.5, fill=FAINT, anchor="end", bold=True)
    yield text(box.right - 4, box.y + 12, "Max", size=10.5, fill=FAINT, anchor="end", bold=True)
    for index, course in enumerate(ranked[:room]):
        y = box.y + 12 + LEGEND_ROW * (index + 1)
        yield rect(Box(box.x + 4, y - 5, 12, 3), course.colour)
        yield text(box.x + 21, y, course.series.name, size=11, width=box.width - 150)
        largest = max(value for _, value in course.series.points)
        for right, value in ((box.right - 62, course.series.last), (box.right - 4, largest)):
            yield text(right, y, shown(course.config, value, span.end), size=11, anchor="end")
