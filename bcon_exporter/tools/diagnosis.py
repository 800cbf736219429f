"""Tools that say what is wrong, why, and what to do."""

from dataclasses import replace
from datetime import timedelta

from pydantic import Field

from bcon_exporter.diagnosis import (
    Surroundings,
    diagnose_host,
    diagnose_one,
    explain,
    find_last_words,
    is_well,
    summary_of,
)
from bcon_exporter.engine import Wants
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.host_secrets import hide_in_snapshot
from bcon_exporter.model.base import Frozen
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.findings import STATUS_RANK
from bcon_exporter.model.log_reports import ErrorExplanation
from bcon_exporter.model.reports import ContainerHealthSummary, DiagnoseAllReport, DiagnosisReport
from bcon_exporter.model.tool_inputs import (
    ContainerRef,
    DiagnoseAllInput,
    DiagnoseContainerInput,
    ExplainErrorInput,
    Whole,
)
from bcon_exporter.tools.containers import find_container
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.first_seen import date_symptoms
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.notes import with_notes, with_notes_of_host
from bcon_exporter.tools.tool import Tool

_EXPLAIN_TAIL = 5000


class LastWordsInput(Frozen):
    """Input of explain_error without a pattern, for people at a terminal."""

    container_id: ContainerRef
    context_lines: Whole = Field(5, ge=0, le=50)


def diagnose_container(context: Context, request: DiagnoseContainerInput) -> DiagnosisReport:
    """Return everything said about one container, from a fresh snapshot of the whole host: causes have peers."""
    full_id = context.host.resolve(request.container_id)
    usual = Wants().log_tail
    snapshot = observe(context, _wants(context, logs=request.include_logs, log_tail=usual))
    if request.include_logs and request.log_tail != usual:
        snapshot = _read_other_tail(context, snapshot, full_id, request.log_tail)
    policy = replace(context.policy, use_logs=context.policy.use_logs and request.include_logs)
    diagnosis = diagnose_one(snapshot, full_id, context.thresholds, context.catalogue, policy)
    return with_notes(context, date_symptoms(diagnosis, context.memory.first_seen("symptom")))


def _read_other_tail(context: Context, snapshot: HostSnapshot, full_id: str, tail: int) -> HostSnapshot:
    """Return the snapshot with so many newest lines of one container: scans keep the usual number of each."""
    facts = find_container(snapshot, full_id, full_id)
    if facts.logs is None:  # it cannot be read, and the snapshot says why
        return snapshot
    window = timedelta(seconds=context.thresholds.log_window_seconds)
    since = snapshot.taken_at - window if facts.is_running else None
    logs = context.host.read_logs(full_id, tail=tail, since=since, until=None)
    others = (
        other if other.id != full_id else facts.model_copy(update={"logs": logs}) for other in snapshot.containers
    )
    return hide_in_snapshot(snapshot.model_copy(update={"containers": tuple(others)}), context.secrets)


def diagnose_all(context: Context, request: DiagnoseAllInput) -> DiagnoseAllReport:
    """Return one line per ailing container, worst first, and the counts."""
    report = diagnose_fully(context, include_healthy=request.include_healthy)
    return report.model_copy(update={"reports": (), "judged": report.reports})


def diagnose_fully(context: Context, *, include_healthy: bool = False) -> DiagnoseAllReport:
    """Return the host's report with each container's full report."""
    snapshot = observe(context, _wants(context, logs=True, log_tail=Wants().log_tail))
    report, _ = diagnose_host(snapshot, context.thresholds, context.catalogue, policy=context.policy)
    since = context.memory.first_seen("symptom")
    dated = tuple(date_symptoms(diagnosis, since) for diagnosis in sorted(report.reports, key=_worst_first))
    report = with_notes_of_host(context, report.model_copy(update={"reports": dated}))
    return report.model_copy(update={"summaries": _summaries(report, include_healthy=include_healthy)})


def explain_error(context: Context, request: ExplainErrorInput) -> ErrorExplanation:
    """Return what a pattern found in the newest 5,000 lines of a container's log, and what it means: on this host."""
    return _explain(context, request.container_id, request.error_pattern, request.context_lines)


def _explain_last_words(context: Context, request: LastWordsInput) -> ErrorExplanation:
    """Do so for the newest error in the log, or else for its last line.

    Raises:
        InvalidInputError: The container has written nothing.
    """
    return _explain(context, request.container_id, None, request.context_lines)


def _explain(context: Context, container_id: str, pattern: str | None, context_lines: int) -> ErrorExplanation:
    full_id = context.host.resolve(container_id)
    snapshot = observe(context, Wants(logs=False, usage=False))
    facts = find_container(snapshot, full_id, container_id)
    logs = context.host.read_logs(facts.id, tail=_EXPLAIN_TAIL, since=None, until=None)
    with_logs = facts.model_copy(update={"logs": logs})
    well = is_well(facts, snapshot.taken_at, context.thresholds)
    surroundings = Surroundings(snapshot, context.thresholds)
    if pattern is None:
        pattern = find_last_words(with_logs, context.catalogue)
    if pattern is None:
        msg = f"{facts.name} has written nothing, so there are no last words to explain"
        raise InvalidInputError(msg, {"container_id": facts.short_id})
    return explain(with_logs, pattern, context_lines, context.catalogue, well=well, surroundings=surroundings)


def _wants(context: Context, *, logs: bool, log_tail: int) -> Wants:
    wants = Wants(logs=logs, usage=True, log_tail=log_tail, wait_for_usage=context.one_shot)
    return replace(wants, log_window_seconds=context.thresholds.log_window_seconds)


def _worst_first(one: DiagnosisReport) -> tuple[int, str, str]:
    return (-STATUS_RANK[one.status], one.project or "", one.container_name)


def _summaries(report: DiagnoseAllReport, *, include_healthy: bool) -> tuple[ContainerHealthSummary, ...]:
    """Return one line a container in the order of the reports (worst first)."""
    known = {summary.container_id: summary for summary in report.summaries}
    return tuple(
        known.get(one.container_id) or summary_of(one)
        for one in report.reports
        if include_healthy or one.status != "healthy"
    )


LAST_WORDS = Tool(
    "explain_error", "What the last words in a log mean.", LastWordsInput, ErrorExplanation, _explain_last_words
)
DIAGNOSIS_TOOLS = (
    Tool(
        "diagnose_container",
        "Say what is wrong with one container, why, and what to do.",
        DiagnoseContainerInput,
        DiagnosisReport,
        diagnose_container,
        toolset="core",
    ),
    Tool(
        "explain_error",
        "Find an error in a container's log and say what it means.",
        ExplainErrorInput,
        ErrorExplanation,
        explain_error,
        toolset="core",
    ),
    Tool(
        "diagnose_all",
        "Say of every container whether it is healthy, and the worst about those that are not.",
        DiagnoseAllInput,
        DiagnoseAllReport,
        diagnose_all,
        toolset="core",
        rows="summaries",
    ),
)
