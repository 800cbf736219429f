"""Tables: rows of several queries side by side, as columns that are named, ordered, coloured and linked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grafana_foundation_sdk.builders import table
from grafana_foundation_sdk.builders.common import TableSortByFieldState
from grafana_foundation_sdk.builders.dashboard import DashboardLink
from grafana_foundation_sdk.models.common import (
    FieldTextAlignment,
    TableCellBackgroundDisplayMode,
    TableCellHeight,
    TableColoredBackgroundCellOptions,
)
from grafana_foundation_sdk.models.dashboard import DataTransformerConfig, DynamicConfigValue

from grafana.dashboards.meaning import mapped, steps
from grafana.dashboards.panels import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grafana_foundation_sdk.builders.prometheus import Dataquery


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        source: A label, or `Value`, or `Value #B` for the values of query B where there are several queries.
        texts: Value → text and colour; `coloured` fills the cell with it.
    """

    title: str
    source: str
    width: int | None = None
    unit: str | None = None
    texts: Mapping[str, tuple[str, str]] | None = None
    coloured: bool = False
    links: tuple[DashboardLink, ...] = ()

    def properties(self) -> Iterator[DynamicConfigValue]:
        """What differs from the defaults of the table."""
        if self.width is not None:
            yield DynamicConfigValue(id_val="custom.width", value=self.width)
        if self.unit is not None:
            yield DynamicConfigValue(id_val="unit", value=self.unit)
        if self.texts is not None:
            yield DynamicConfigValue(id_val="mappings", value=mapped(self.texts))
        if self.coloured:
            cell = TableColoredBackgroundCellOptions(mode=TableCellBackgroundDisplayMode.BASIC)
            yield DynamicConfigValue(id_val="custom.cellOptions", value=cell)
        if self.links:
            yield DynamicConfigValue(id_val="links", value=[each.build() for each in self.links])


def listing(
    title: str, description: str, queries: Sequence[Dataquery], columns: Sequence[Column], *, worst: str, nothing: str
) -> table.Panel:
    """A table of the named columns only, whatever labels a scrape configuration adds; `worst` sorts it, largest first.

    Rows of several queries become one where the labels agree that all of the queries have.
    """
    panel = (
        table.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit("none")
        .no_value(nothing)
        .thresholds(steps())
        .align(FieldTextAlignment.LEFT)
        .filterable(True)
        .cell_height(TableCellHeight.SM)
        .sort_by([TableSortByFieldState().display_name(worst).desc(True)])
        .targets(list(queries))
        .transformations(list(_transformations(columns, several=len(queries) > 1)))
    )
    for column in columns:
        if properties := list(column.properties()):
            panel = panel.override_by_name(column.title, properties)
    return panel


def _transformations(columns: Sequence[Column], *, several: bool) -> Iterator[DataTransformerConfig]:
    sources = [column.source for column in columns]
    organized: dict[str, Any] = {
        "indexByName": {source: index for index, source in enumerate(sources)},
        "renameByName": {column.source: column.title for column in columns},
        "excludeByName": {},
    }
    if several:
        yield DataTransformerConfig(id_val="merge", options={})
    yield DataTransformerConfig(id_val="filterFieldsByName", options={"include": {"names": sources}})
    yield DataTransformerConfig(id_val="organize", options=organized)
