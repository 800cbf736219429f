"""The rows of a table panel: those of all queries, merged, filtered, named and sorted as its transformations say."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.grafana.asking import Series
    from tests.grafana.reading import Json

Row = dict[str, float | str]


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
