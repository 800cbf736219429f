"""Turns each report into blocks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bcon_exporter.model.alerts import AlertsReport
from bcon_exporter.model.check_report import CheckReport
from bcon_exporter.model.digest import DigestReport
from bcon_exporter.model.disk import DiskReport
from bcon_exporter.model.incidents import Incident, IncidentsReport
from bcon_exporter.model.journal import FoldedHistory, HistoryReport
from bcon_exporter.model.log_reports import ErrorExplanation, LogAnalysis
from bcon_exporter.model.notes import NotesReport, WrittenNote
from bcon_exporter.model.quiet import QuietReport
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
from bcon_exporter.model.verify_report import DeploymentsReport, VerifyReport
from bcon_exporter.outputs.text import (
    check,
    deployments,
    diagnosis,
    digest,
    disk,
    drift,
    incidents,
    listings,
    logs,
    notes,
)
from bcon_exporter.outputs.text.blocks import Block, dim, line
from bcon_exporter.tools.drift import DriftFindings

_Build = Callable[[Any], Sequence[Block]]


def _alone(build: Callable[[Any], Block]) -> _Build:
    return lambda value: (build(value),)


_BLOCKS: Mapping[type, _Build] = {
    AlertsReport: listings.alerts_blocks,
    CheckReport: check.check_blocks,
    ContainerInfo: _alone(listings.info_section),
    ContainerLogs: logs.log_blocks,
    ContainerStats: _alone(lambda value: listings.stats_table((value,))),
    CostReport: listings.cost_blocks,
    DeploymentsReport: deployments.list_blocks,
    DiagnosisReport: _alone(diagnosis.container_section),
    DigestReport: digest.digest_blocks,
    DiskReport: disk.disk_blocks,
    DriftFindings: drift.findings_blocks,
    DriftReport: drift.project_blocks,
    ErrorExplanation: logs.explanation_blocks,
    HealthCheck: _alone(listings.health_section),
    FoldedHistory: listings.history_blocks,
    HistoryReport: lambda report: listings.history_blocks(listings.fold_report(report)),
    Incident: incidents.incident_blocks,
    IncidentsReport: incidents.list_blocks,
    LogAnalysis: _alone(logs.analysis_section),
    NotesReport: notes.list_blocks,
    QuietReport: incidents.quiet_blocks,
    VerifyReport: deployments.verify_blocks,
    WrittenNote: notes.written_blocks,
}
_TABLES: Mapping[type, _Build] = {
    ContainerInfo: _alone(listings.containers_table),
    ContainerStats: _alone(listings.stats_table),
}


def build_blocks(value: Any, *, healthy_too: bool, brief: bool) -> Sequence[Block]:
    """Return a tool's result as blocks.

    Args:
        value: What a tool returned.
        healthy_too: Of a host's diagnosis: the healthy containers in full as well.
        brief: Of a host's diagnosis: the top cause and the newest evidence only.

    Raises:
        TypeError: No tool returns such a value.
    """
    if isinstance(value, DiagnoseAllReport):
        return diagnosis.host_blocks(value, healthy_too=healthy_too, brief=brief)
    rows = tuple(value) if isinstance(value, tuple | list) else None
    if rows == ():
        return (line(dim("Nothing matches.")),)
    build = _BLOCKS.get(type(value)) if rows is None else _TABLES.get(type(rows[0]))
    if build is None:
        msg = f"no text form of {type(value).__name__}"
        raise TypeError(msg)
    return build(value if rows is None else rows)
