"""Turns each report into blocks."""

from collections.abc import Sequence
from typing import Any

from bcon_exporter.model.alerts import AlertsReport
from bcon_exporter.model.check_report import CheckReport
from bcon_exporter.model.digest import DigestReport
from bcon_exporter.model.disk import DiskReport
from bcon_exporter.model.incidents import Incident, IncidentsReport
from bcon_exporter.model.journal import HistoryReport
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


def build_blocks(value: Any, *, healthy_too: bool, brief: bool) -> Sequence[Block]:
    """Return a tool's result as blocks.

    Args:
        value: What a tool returned.
        healthy_too: Of a host's diagnosis: the healthy containers in full as well.
        brief: Of a host's diagnosis: the top cause and the newest evidence only.

    Raises:
        TypeError: No tool returns such a value.
    """
    match value:
        case DiagnoseAllReport():
            return diagnosis.host_blocks(value, healthy_too=healthy_too, brief=brief)
        case DiagnosisReport():
            return (diagnosis.container_section(value),)
        case DriftFindings():
            return drift.findings_blocks(value)
        case DriftReport():
            return drift.project_blocks(value)
        case ErrorExplanation():
            return logs.explanation_blocks(value)
        case LogAnalysis():
            return (logs.analysis_section(value),)
        case ContainerLogs():
            return logs.log_blocks(value)
        case _:
            return _small_blocks(value)


def _small_blocks(value: Any) -> Sequence[Block]:
    match value:
        case AlertsReport():
            return listings.alerts_blocks(value)
        case CheckReport():
            return check.check_blocks(value)
        case HistoryReport():
            return listings.history_blocks(value)
        case CostReport():
            return listings.cost_blocks(value)
        case _:
            return _host_blocks(value)


def _host_blocks(value: Any) -> Sequence[Block]:
    match value:
        case ContainerInfo():
            return (listings.info_section(value),)
        case ContainerStats() | (ContainerStats(), *_):
            return (listings.stats_table((value,) if isinstance(value, ContainerStats) else tuple(value)),)
        case (ContainerInfo(), *_):
            return (listings.containers_table(tuple(value)),)
        case ():
            return (line(dim("Nothing matches.")),)
        case _:
            return _other_blocks(value)


def _other_blocks(value: Any) -> Sequence[Block]:
    match value:
        case HealthCheck():
            return (listings.health_section(value),)
        case DiskReport():
            return disk.disk_blocks(value)
        case IncidentsReport():
            return incidents.list_blocks(value)
        case DigestReport():
            return digest.digest_blocks(value)
        case QuietReport():
            return incidents.quiet_blocks(value)
        case Incident():
            return incidents.incident_blocks(value)
        case DeploymentsReport():
            return deployments.list_blocks(value)
        case _:
            return _last_blocks(value)


def _last_blocks(value: Any) -> Sequence[Block]:
    match value:
        case VerifyReport():
            return deployments.verify_blocks(value)
        case NotesReport():
            return notes.list_blocks(value)
        case WrittenNote():
            return notes.written_blocks(value)
        case _:
            msg = f"no text form of {type(value).__name__}"
            raise TypeError(msg)
