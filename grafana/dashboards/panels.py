"""The kinds of panels that the dashboards are made of, each with the defaults that all of its kind share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from grafana_foundation_sdk.builders import bargauge, stat, statetimeline, timeseries
from grafana_foundation_sdk.builders.common import (
    GraphThresholdsStyleConfig,
    LineStyle,
    ReduceDataOptions,
    StackingConfig,
    VizLegendOptions,
    VizTooltipOptions,
)
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models.common import (
    BarGaugeDisplayMode,
    BigValueColorMode,
    BigValueGraphMode,
    BigValueJustifyMode,
    DataSourceRef,
    GraphDrawStyle,
    GraphThresholdsStyleMode,
    LegendDisplayMode,
    LegendPlacement,
    LineInterpolation,
    SortOrder,
    StackingMode,
    TooltipDisplayMode,
    VisibilityMode,
    VizOrientation,
)
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from grafana.dashboards.meaning import (
    NEUTRAL,
    PLAIN,
    WARNING,
    as_property,
    by_name,
    by_threshold,
    fixed,
    mapped,
    steps,
    zero_is_good,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grafana_foundation_sdk.builders.dashboard import DashboardLink
    from grafana_foundation_sdk.builders.table import Panel as Table

    Panel: TypeAlias = bargauge.Panel | stat.Panel | statetimeline.Panel | timeseries.Panel | Table

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
THRESHOLD = "threshold"
NOT_SEEN = "not seen"
IN_A_LEGEND = ("lastNotNull", "max")


def now(expr: str, legend: str = "", ref: str = "A") -> Dataquery:
    """Ask for the values at the end of the time range."""
    return Dataquery().expr(expr).legend_format(legend).ref_id(ref).datasource(SOURCE).instant()


def rows(expr: str, ref: str = "A") -> Dataquery:
    """Ask for the values at the end of the time range, as rows of a table."""
    return now(expr, ref=ref).format(PromQueryFormat.TABLE)


def over_time(expr: str, legend: str, ref: str = "A") -> Dataquery:
    """Ask for the course over the time range."""
    return Dataquery().expr(expr).legend_format(legend).ref_id(ref).datasource(SOURCE).range()


def numbers(title: str, description: str, *queries: Dataquery, unit: str = "none") -> stat.Panel:
    """Some numbers in large type, coloured by their thresholds or mappings."""
    panel = (
        stat.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .no_value(NOT_SEEN)
        .color_scheme(by_threshold())
        .thresholds(steps())
        .color_mode(BigValueColorMode.VALUE)
        .graph_mode(BigValueGraphMode.NONE)
        .justify_mode(BigValueJustifyMode.CENTER)
        .orientation(VizOrientation.VERTICAL)
        .reduce_options(_last())
    )
    return panel.targets(list(queries))


def tally(title: str, description: str, query: Dataquery, colour: str) -> stat.Panel:
    """One number that is good when it is 0, and has a colour above."""
    return numbers(title, description, query).thresholds(zero_is_good(colour))


def colour_above_zero(panel: stat.Panel, name: str, colour: str) -> stat.Panel:
    """Give one of several numbers a colour of its own; 0 has none."""
    return panel.override_by_name(name, [as_property(steps((0, NEUTRAL), (1, colour)))])


def _last() -> ReduceDataOptions:
    return ReduceDataOptions().calcs(["lastNotNull"]).values(False)


def lines(
    title: str,
    description: str,
    *queries: Dataquery,
    unit: str,
    links: Sequence[DashboardLink] = (),
    nothing: str = NOT_SEEN,
    lowest: float | None = 0,
) -> timeseries.Panel:
    """Lines over time, the largest first in the legend; a gap is where nothing was seen."""
    panel = timeseries.Panel() if lowest is None else timeseries.Panel().min(lowest)
    return (
        panel.title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .no_value(nothing)
        .color_scheme(by_name())
        .thresholds(steps())
        .line_width(1)
        .fill_opacity(0)
        .show_points(VisibilityMode.NEVER)
        .span_nulls(False)
        .legend(_legend())
        .tooltip(VizTooltipOptions().mode(TooltipDisplayMode.MULTI).sort(SortOrder.DESCENDING))
        .data_links(list(links))
        .targets(list(queries))
    )


def _legend() -> VizLegendOptions:
    return (
        VizLegendOptions()
        .display_mode(LegendDisplayMode.TABLE)
        .placement(LegendPlacement.BOTTOM)
        .show_legend(True)
        .calcs(list(IN_A_LEGEND))
        .sort_by("Last *")
        .sort_desc(True)
    )


def stacked(panel: timeseries.Panel, colours: Mapping[str, str]) -> timeseries.Panel:
    """Stack the series of a panel as areas, each in the colour of its meaning."""
    panel = panel.stacking(StackingConfig().mode(StackingMode.NORMAL).group("A")).fill_opacity(40).line_width(0)
    for name, colour in colours.items():
        panel = panel.override_by_name(name, [_colour(colour)])
    return panel


def as_bars(panel: timeseries.Panel) -> timeseries.Panel:
    """Draw bars instead of lines: for what is counted within each interval."""
    return panel.draw_style(GraphDrawStyle.BARS).fill_opacity(70).axis_soft_max(1)


def as_steps(panel: timeseries.Panel) -> timeseries.Panel:
    """Draw steps: for whole numbers that jump."""
    return panel.line_interpolation(LineInterpolation.STEP_AFTER).decimals(0).axis_soft_max(1)


def with_line(
    panel: timeseries.Panel, query: Dataquery, name: str = THRESHOLD, colour: str = WARNING
) -> timeseries.Panel:
    """Draw a limit or a threshold that Prometheus knows as a dashed line."""
    dashed = DynamicConfigValue(id_val="custom.lineStyle", value=LineStyle().fill("dash").dash([8, 8]).build())
    return panel.with_target(query).override_by_name(name, [_colour(colour), dashed])


def with_threshold(panel: timeseries.Panel, value: float, colour: str = WARNING) -> timeseries.Panel:
    """Draw a fixed threshold as a dashed line."""
    style = GraphThresholdsStyleConfig().mode(GraphThresholdsStyleMode.DASHED)
    return panel.thresholds(steps((value, colour))).thresholds_style(style)


def _colour(colour: str) -> DynamicConfigValue:
    return DynamicConfigValue(id_val="color", value=fixed(colour).build())


def states(
    title: str, description: str, *queries: Dataquery, texts: Mapping[str, tuple[str, str]], nothing: str = NOT_SEEN
) -> statetimeline.Panel:
    """A bar for each series, coloured by its state over time; a gap is where nothing was seen."""
    return (
        statetimeline.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit("none")
        .no_value(nothing)
        .color_scheme(by_threshold())
        .thresholds(steps())
        .mappings(list(mapped(texts)))
        .merge_values(True)
        .show_value(VisibilityMode.NEVER)
        .row_height(0.8)
        .per_page(15)
        .fill_opacity(80)
        .legend(
            VizLegendOptions().display_mode(LegendDisplayMode.LIST).placement(LegendPlacement.BOTTOM).show_legend(True)
        )
        .targets(list(queries))
    )


def bars(
    title: str, description: str, query: Dataquery, *, links: Sequence[DashboardLink], colour: str = PLAIN, nothing: str
) -> bargauge.Panel:
    """Horizontal bars, one for each series: who has the most."""
    return (
        bargauge.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit("short")
        .decimals(0)
        .min(0)
        .no_value(nothing)
        .color_scheme(fixed(colour))
        .thresholds(steps())
        .display_mode(BarGaugeDisplayMode.BASIC)
        .orientation(VizOrientation.HORIZONTAL)
        .max_viz_height(30)
        .reduce_options(_last())
        .data_links(list(links))
        .targets([query])
    )
