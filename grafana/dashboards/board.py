"""A dashboard as lines of panels, and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grafana_foundation_sdk.builders.dashboard import (
    CustomVariable,
    Dashboard,
    DashboardLink,
    DatasourceVariable,
    QueryVariable,
    Row,
)
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    VariableHide,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

from bcon_exporter import DOCS_URL
from grafana.dashboards.panels import SOURCE
from grafana.dashboards.promql import of_host

if TYPE_CHECKING:
    from grafana.dashboards.panels import Panel

COLUMNS = 24


class Board:
    """Builds one dashboard from top to bottom; panels are numbered in that order."""

    def __init__(self, uid: str, title: str, description: str) -> None:
        self.dashboard = (
            Dashboard(title)
            .uid(uid)
            .description(description)
            .tags(["bcon-exporter", "docker"])
            .readonly()
            .timezone("browser")
            .time("now-6h", "now")
            .refresh("30s")
            .tooltip(DashboardCursorSync.CROSSHAIR)
            .with_variable(DatasourceVariable("datasource").label("Data source").type("prometheus"))
            .with_variable(choice("job", "Job", f"label_values({BUILD}, job)", every=".+"))
            .with_variable(choice("instance", "Instance", f"label_values({of_job(BUILD)}, instance)", every=".+"))
            .with_variable(choice("project", "Project", f"label_values({of_host(STATUS)}, project)", every=".*"))
            .link(_to_document("Metrics", "metrics.md"))
            .link(_to_document("Alerts and runbooks", "alerts.md"))
        )
        self._next_id = 1

    def row(self, title: str) -> None:
        """Begin a new section."""
        self.dashboard = self.dashboard.with_row(Row(title).id(self._take_id()))

    def line(self, height: int, *panels: tuple[int, Panel]) -> None:
        """Place panels side by side, each with its width; together they fill the 24 columns."""
        if sum(width for width, _ in panels) != COLUMNS:
            msg = f"a line is {COLUMNS} columns wide"
            raise ValueError(msg)
        for width, panel in panels:
            self.dashboard = self.dashboard.with_panel(panel.id(self._take_id()).span(width).height(height))

    def _take_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def render(self) -> str:
        """The dashboard as Grafana reads it."""
        scheme = (
            CustomVariable("scheme")
            .description("How a browser reaches the exporters' reports; set by var-scheme=https in the address.")
            .hide(VariableHide.HIDE_VARIABLE)
            .values("http,https")
            .current(VariableOption(text="http", value="http"))
        )
        built = self.dashboard.with_variable(scheme).build()
        return json.dumps(_tidied(json.loads(json.dumps(built, cls=JSONEncoder))), indent=2, ensure_ascii=False) + "\n"


BUILD, STATUS = "bcon_build_info", "bcon_container_status"


def of_job(metric: str) -> str:
    """Select a metric of the chosen jobs, of whatever host."""
    return f'{metric}{{job=~"$job"}}'


def choice(name: str, label: str, query: str, *, every: str | None) -> QueryVariable:
    """A variable whose values Prometheus knows; `every` is the pattern of All, None for a choice of exactly one."""
    variable = (
        QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query({"qryType": 1, "query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery"})
        .definition(query)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_CASE_INSENSITIVE_ASC)
    )
    if every is None:
        return variable.multi(False).include_all(False)
    chosen = VariableOption(text=["All"], value=["$__all"])
    return variable.multi(True).include_all(True).all_value(every).current(chosen)


def _to_document(title: str, name: str) -> DashboardLink:
    return DashboardLink(title).type(DashboardLinkType.LINK).icon("doc").url(f"{DOCS_URL}{name}").target_blank(True)


def _tidied(node: Any) -> Any:
    """Leave out what the SDK adds: keys of other kinds of variables, and a place that hides links and annotations."""
    if isinstance(node, list):
        return [_tidied(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {key: _tidied(value) for key, value in node.items() if key not in _ADDED and value != _HIDDEN_PLACE}


_ADDED = {"auto", "auto_min", "auto_count", "repeatDirection"}
_HIDDEN_PLACE = "inControlsMenu"
