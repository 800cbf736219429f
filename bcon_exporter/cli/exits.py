"""Exit codes, on which scripts rely (docs/configuration.md)."""

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from bcon_exporter.errors import BconError, ErrorCode

if TYPE_CHECKING:
    from bcon_exporter.model.findings import Status
    from bcon_exporter.model.reports import DriftReport

NEVER = "never"
UNCHECKED = "unchecked"
"""Exit with 1 for containers that are not checked, too."""


class Exit(IntEnum):
    """The exit codes; 130 and 141 are the shell's own for Ctrl-C and a closed pipe."""

    FINE = 0
    FINDINGS = 1
    USAGE = 2
    NO_ENGINE = 3
    FAILED = 4
    INTERRUPTED = 130
    PIPE_CLOSED = 141


def exit_of_error(error: BconError) -> Exit:
    """Return the exit code of an error; a forbidden file is no forbidden engine, a slow Compose no hung one."""
    match error.code:
        case ErrorCode.INVALID_INPUT:
            return Exit.USAGE
        case ErrorCode.DOCKER_CONNECTION_FAILED:
            return Exit.NO_ENGINE
        case ErrorCode.PERMISSION_DENIED | ErrorCode.TIMEOUT if "endpoint" in error.details:
            return Exit.NO_ENGINE
        case _:
            return Exit.FAILED


def exit_of_result(value: Any, fail_on: str) -> Exit:
    """Return the exit code of a result: findings at or above `fail_on`, any drift, an unknown drift."""
    from bcon_exporter.model.log_reports import LogAnalysis  # slow to import: `version` and --help need none of it
    from bcon_exporter.model.reports import DiagnoseAllReport, DiagnosisReport, DriftReport, HealthCheck
    from bcon_exporter.tools.drift import DriftFindings

    match value:
        case DiagnosisReport():
            return _exit_of_statuses((value.status,), fail_on, unchecked=value.is_unchecked)
        case DiagnoseAllReport():
            statuses = tuple(summary.status for summary in value.summaries)
            return _exit_of_statuses(statuses, fail_on, unchecked=value.not_checked > 0)
        case LogAnalysis():
            return _exit_of_statuses(tuple(symptom.severity.status for symptom in value.symptoms), fail_on)
        case DriftReport():
            return _exit_of_drift((value,))
        case DriftFindings():
            return _exit_of_drift(value.reports)
        case HealthCheck():
            return Exit.NO_ENGINE if value.status == "unhealthy" else Exit.FINE
        case _:
            return Exit.FINE


def _exit_of_statuses(statuses: "tuple[Status, ...]", fail_on: str, *, unchecked: bool = False) -> Exit:
    from bcon_exporter.model.findings import STATUS_RANK  # as above

    if fail_on == NEVER:
        return Exit.FINE
    if fail_on == UNCHECKED:
        if unchecked:
            return Exit.FINDINGS
        fail_on = "warning"
    least = next(rank for status, rank in STATUS_RANK.items() if status == fail_on)
    return Exit.FINDINGS if any(STATUS_RANK[status] >= least for status in statuses) else Exit.FINE


def _exit_of_drift(reports: "tuple[DriftReport, ...]") -> Exit:
    statuses = {report.status for report in reports}
    if "drifted" in statuses:
        return Exit.FINDINGS
    return Exit.FAILED if "unknown" in statuses else Exit.FINE
