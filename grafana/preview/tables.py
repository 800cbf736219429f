"""Draws tables: the rows of all queries, merged, filtered, named and sorted as the panel's transformations say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grafana.preview.fields import coloured, field_of, shown
from grafana.preview.svg import EDGE, FAINT, INK, LINK, Box, rect, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grafana.preview.asking import Series
    from grafana.preview.reading import Json

Row = dict[str, float | str]
ROW_HEIGHT = 26


def table_rows(panel: Json, answers: Sequence[Sequence[Series]]) -> list[Row]:
    """The rows as Grafana shows them, by the columns' titles; `answers` are each query's series."""
    several = len(answers) > 1
    frames: list[list[Row]] = [
        [{**each.labels, f"Value #{target['refId']}" if several else "Value": each.last} for each in series]
        for target, series in zip(panel["targets"], answers, strict=True)
    ]
    organized = panel["transformations"][-1]["options"]["renameByName"]
    rows = [{title: row[source] for source, title in organized.items() if source in row} for row in merge(frames)]
    for key in panel["options"].get("sortBy", ()):
        rows.sort(key=lambda row: str(row.get(key["displayName"], "")), reverse=key.get("desc", False))
    return rows


def merge(frames: Sequence[Sequence[Row]]) -> list[Row]:
    """Make one row of those that agree in every field that all frames have, and do not differ in another."""
    filled = [frame for frame in frames if frame]
    names = [set().union(*frame) for frame in filled]
    shared = set.intersection(*names) if names else set()
    rows: list[Row] = []
    for frame in filled:
        for new in frame:
            fits = [row for row in rows if _agree(row, new, shared)]
            for row in fits:
                row.update(new)
            if not fits:
                rows.append(dict(new))
    return rows


def _agree(row: Row, new: Row, shared: set[str]) -> bool:
    keyed = all(row.get(name, "") == new.get(name, "") for name in shared)
    return keyed and all(row.get(name, value) == value for name, value in new.items())


def draw_table(panel: Json, answers: Sequence[Sequence[Series]], box: Box, now: float) -> Iterator[str]:
    """The header and as many rows as there is room for."""
    rows = table_rows(panel, answers)
    if not rows:
        return
    columns = list(panel["transformations"][-1]["options"]["renameByName"].values())
    configs = {column: field_of(panel, column) for column in columns}
    wanted = {column: configs[column]["custom"].get("width", 0) for column in columns}
    spare = max(box.width - sum(wanted.values()), 0) / max(sum(1 for width in wanted.values() if not width), 1)
    scale = min(box.width / sum(wanted[each] or spare for each in columns), 1)
    x = box.x
    for column in columns:
        width = (wanted[column] or spare) * scale
        yield text(x + 6, box.y + 16, column, size=11.5, fill=LINK, bold=True, width=width - 10)
        for index, row in enumerate(rows):
            cell = Box(x, box.y + ROW_HEIGHT * (index + 1), width, ROW_HEIGHT)
            if cell.bottom > box.bottom:
                break
            yield from _cell(configs[column], row.get(column, ""), cell, now)
        x += width
    hidden = len(rows) - int((box.height - ROW_HEIGHT) / ROW_HEIGHT)
    if hidden > 0:
        yield text(box.right, box.bottom - 2, f"{hidden} more: scroll", size=10, fill=FAINT, anchor="end")


def _cell(config: Json, value: float | str, cell: Box, now: float) -> Iterator[str]:
    yield rect(Box(cell.x, cell.y, cell.width, 0.8), EDGE)
    words = shown(config, value, now)
    ink = LINK if config.get("links") and words else INK
    if words and config["custom"].get("cellOptions", {}).get("type") == "color-background":
        yield rect(cell.inner(1, 2, 1, 1), coloured(config, value), radius=2, opacity=0.85)
        ink = "#111217"
    yield text(cell.x + 6, cell.y + 18, words, size=12, fill=ink, width=cell.width - 10)
