"""Tools that say what is wrong, why, and what to do."""

from dataclasses import replace

from bcon_exporter.diagnosis import Surroundings, diagnose_host, diagnose_one, explain, is_well, summary_of
from bcon_exporter.engine import Wants
from bcon_exporter.model.findings import STATUS_RANK
from bcon_exporter.model.log_reports import ErrorExplanation
from bcon_exporter.model.reports import ContainerHealthSummary, DiagnoseAllReport, DiagnosisReport
from bcon_exporter.model.tool_inputs import DiagnoseAllInput, DiagnoseContainerInput, ExplainErrorInput
from bcon_exporter.tools.containers import find_container
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.first_seen import date_symptoms
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.notes import with_notes, with_notes_of_host
from bcon_exporter.tools.tool import Tool

_EXPLAIN_TAIL = 5000


def diagnose_container(context: Context, request: DiagnoseContainerInput) -> DiagnosisReport:
    """Return everything said about one container, from a fresh snapshot of the whole host: causes have peers."""
    full_id = context.host.resolve(request.container_id)
    snapshot = observe(context, _wants(context, logs=request.include_logs, log_tail=request.log_tail))
    policy = replace(context.policy, use_logs=context.policy.use_logs and request.include_logs)
    diagnosis = diagnose_one(snapshot, full_id, context.thresholds, context.catalogue, policy)
    return with_notes(context, date_symptoms(diagnosis, context.memory.first_seen("symptom")))


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
    full_id = context.host.resolve(request.container_id)
    snapshot = observe(context, Wants(logs=False, usage=False))
    facts = find_container(snapshot, full_id, request.container_id)
    logs = context.host.read_logs(facts.id, tail=_EXPLAIN_TAIL, since=None, until=None)
    with_logs = facts.model_copy(update={"logs": logs})
    well = is_well(facts, snapshot.taken_at, context.thresholds)
    surroundings = Surroundings(snapshot, context.thresholds)
    return explain(
        with_logs, request.error_pattern, request.context_lines, context.catalogue, well=well, surroundings=surroundings
    )


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
