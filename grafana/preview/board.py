"""Draws a whole dashboard: its head with the chosen variables, and every panel in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grafana.preview.asking import ask, ask_moments
from grafana.preview.charts import draw_lines
from grafana.preview.fields import clock, coloured, field_of, shown
from grafana.preview.reading import all_chosen, load, variables
from grafana.preview.svg import EDGE, FAINT, INK, PANEL, Box, page, rect, text
from grafana.preview.tables import draw_table
from grafana.preview.timelines import draw_states

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grafana.preview.asking import Prometheus, Series
    from grafana.preview.reading import Json, Span

COLUMN, ROW, GAP, HEAD = 62.0, 30.0, 6.0, 92.0
NOTICE = "PREVIEW, not a screenshot of Grafana: drawn from a real Prometheus' answers to this dashboard's own queries"


def draw(prometheus: Prometheus, uid: str, span: Span, chosen: Mapping[str, str]) -> str:
    """The dashboard as an SVG picture; `chosen` are the variables of which not All is chosen."""
    board = load(uid)
    values = {**all_chosen(board), **chosen}
    shapes = list(_head(board, chosen, span))
    notes = board["annotations"].get("list", ())
    moments = [at for note in notes for at in ask_moments(prometheus, note, values, span)]
    bottom = HEAD
    for panel in board["panels"]:
        place = panel["gridPos"]
        box = Box(12 + place["x"] * COLUMN, HEAD + place["y"] * ROW, place["w"] * COLUMN - GAP, place["h"] * ROW - GAP)
        bottom = max(bottom, box.bottom)
        if panel["type"] == "row":
            shapes.append(text(box.x + 4, box.y + 18, f"⌄  {panel['title']}", size=15, bold=True))
            continue
        answers = [ask(prometheus, target, values, span) for target in panel["targets"]]
        shapes += [rect(box, PANEL, edge=EDGE, radius=2), *_panel(panel, answers, box, span, moments)]
    return page(24 + 24 * COLUMN - GAP, bottom + 12, f"{board['title']}: preview", shapes)


def _head(board: Json, chosen: Mapping[str, str], span: Span) -> Iterator[str]:
    yield rect(Box(12, 8, 24 * COLUMN - GAP, 24), "#3d2f00", radius=2)
    yield text(22, 24.5, NOTICE, size=12.5, fill="#fade2a", bold=True)
    yield text(14, 54, board["title"], size=17, bold=True)
    told = f"{clock(span.start)} to {clock(span.end)} UTC   ⟳ {board['refresh']}"
    yield text(12 + 24 * COLUMN - GAP, 54, told, size=12, fill=FAINT, anchor="end")
    x = 14.0
    for name, variable in variables(board).items():
        if variable.get("hide"):
            continue
        value = "Prometheus" if variable["type"] == "datasource" else chosen.get(name, "All")
        for words, ink in ((variable["label"], FAINT), (value, INK)):
            width = len(words) * 6.8 + 16
            yield rect(Box(x, 64, width, 22), PANEL, edge=EDGE, radius=2)
            yield text(x + 8, 79, words, size=12, fill=ink)
            x += width
        x += 10


def _panel(
    panel: Json, answers: Sequence[Sequence[Series]], box: Box, span: Span, moments: Sequence[float]
) -> Iterator[str]:
    yield text(box.x + 9, box.y + 17, panel["title"], size=12.5, bold=True, width=box.width - 16)
    inner = box.inner(8, 26, 8, 6)
    match panel["type"]:
        case "stat":
            shapes = list(_numbers(panel, answers, inner, span))
        case "bargauge":
            shapes = list(_bars(panel, answers, inner, span))
        case "table":
            shapes = list(draw_table(panel, answers, inner, span.end))
        case "state-timeline":
            shapes = list(draw_states(panel, answers, inner, span))
        case _:
            shapes = list(draw_lines(panel, answers, inner, span, moments))
    nothing = panel["fieldConfig"]["defaults"]["noValue"]
    middle = (box.x + box.width / 2, box.y + box.height / 2 + 8)
    yield from shapes or [text(*middle, nothing, size=14, fill=FAINT, anchor="middle", width=box.width - 16)]


def _numbers(panel: Json, answers: Sequence[Sequence[Series]], box: Box, span: Span) -> Iterator[str]:
    found = [
        (target["refId"], each) for target, series in zip(panel["targets"], answers, strict=True) for each in series
    ]
    for index, (ref, each) in enumerate(found):
        config = field_of(panel, each.name, ref)
        words = shown(config, each.last, span.end)
        middle = box.x + box.width * (index + 0.5) / len(found)
        size = min(34, box.width / len(found) / (max(len(words), 1) * 0.6))
        if len(found) > 1:
            yield text(middle, box.y + 14, each.name, size=12, fill=INK, anchor="middle")
        yield text(middle, box.y + 52, words, size=size, fill=coloured(config, each.last), anchor="middle", bold=True)


def _bars(panel: Json, answers: Sequence[Sequence[Series]], box: Box, span: Span) -> Iterator[str]:
    series = sorted(answers[0], key=lambda each: each.last, reverse=True)
    largest = max((each.last for each in series), default=1)
    left = box.width * 0.42
    for index, each in enumerate(series):
        config = field_of(panel, each.name)
        y = box.y + 4 + index * 27
        yield text(box.x + left - 8, y + 15, each.name, size=12, anchor="end", width=left - 8)
        bar = Box(box.x + left, y, (box.width - left - 50) * each.last / largest, 21)
        yield rect(Box(bar.x, y, box.width - left - 50, 21), "#22252b")
        yield rect(bar, coloured(config, each.last), opacity=0.85)
        yield text(box.right, y + 16, shown(config, each.last, span.end), size=13, anchor="end", bold=True)
