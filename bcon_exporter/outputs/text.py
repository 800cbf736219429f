"""Shows any tool's result as text for people: on a terminal, or as Markdown."""

from typing import Any

from rich.console import RenderableType
from rich.text import Text

from bcon_exporter.model.alerts import AlertsReport
from bcon_exporter.model.log_reports import ErrorExplanation, LogAnalysis
from bcon_exporter.model.reports import (
    ContainerInfo,
    ContainerLogs,
    ContainerStats,
    CostReport,
    DiagnoseAllReport,
    DiagnosisReport,
    DriftReport,
    HealthCheck,
)
from bcon_exporter.outputs import text_alerts, text_diagnosis, text_drift, text_log, text_markdown, text_tables
from bcon_exporter.tools.drift import DriftFindings


def render_text(value: Any, *, healthy_too: bool = False) -> RenderableType:
    """Return a tool's result for a terminal.

    Args:
        value: What a tool returned.
        healthy_too: Of a host's diagnosis: show the healthy containers in full as well.

    Raises:
        TypeError: No tool returns such a value.
    """
    match value:
        case DiagnoseAllReport():
            return text_diagnosis.show_host(value, healthy_too=healthy_too)
        case DiagnosisReport():
            return text_diagnosis.show_container(value)
        case ErrorExplanation():
            return text_diagnosis.show_explanation(value)
        case LogAnalysis():
            return text_log.show_log(value)
        case DriftFindings():
            return text_drift.show_findings(value)
        case DriftReport():
            return text_drift.show_report(value)
        case AlertsReport():
            return text_alerts.show_alerts(value)
        case _:
            return _render_table(value)


def _render_table(value: Any) -> RenderableType:
    match value:
        case ContainerInfo():
            return text_tables.show_info(value)
        case ContainerStats():
            return text_tables.show_stats((value,))
        case ContainerLogs():
            return text_tables.show_logs(value)
        case HealthCheck():
            return text_tables.show_health(value)
        case CostReport():
            return text_tables.show_cost(value)
        case (ContainerStats(), *_):
            return text_tables.show_stats(tuple(value))
        case (ContainerInfo(), *_):
            return text_tables.show_list(tuple(value))
        case ():
            return Text("Nothing matches.", style="dim")
        case _:
            msg = f"no text form of {type(value).__name__}"
            raise TypeError(msg)


def render_markdown(value: Any) -> str:
    """Return a tool's result as Markdown, ending in a line feed.

    Raises:
        TypeError: No tool returns such a value.
    """
    return text_markdown.write_markdown(value)
