"""Tools about bcon-exporter itself: is it well, what has it seen, what did it cost."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

from bcon_exporter.errors import BconError, DeadlineExceededError, InvalidInputError
from bcon_exporter.journal import EntryFilter
from bcon_exporter.latest_scans import ScanName
from bcon_exporter.memory import read_deployment
from bcon_exporter.model.journal import HISTORY_KEPT, HistoryReport
from bcon_exporter.model.journal_kinds import CHANGES, JournalKind
from bcon_exporter.model.reports import CostReport, HealthCheck
from bcon_exporter.model.tool_inputs import GetCostReportInput, GetHistoryInput, HealthCheckInput, ListDeploymentsInput
from bcon_exporter.model.verify_report import DeploymentsReport
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.cost import sum_costs
from bcon_exporter.tools.tool import Tool

_HISTORY_BY_DEFAULT = timedelta(days=1)
_PERIOD_DAYS = {"day": 1, "week": 7, "month": 30}


def health_check(context: Context, request: HealthCheckInput) -> HealthCheck:  # noqa: ARG001 -- tools share a shape
    """Return how bcon-exporter itself is; never fails: a dead engine is an answer."""
    now = context.now()
    docker_version, problem = _ask_engine(context)
    endpoints = dict(context.host.endpoints_up())
    status, message = _judge(problem, endpoints, context.memory.status)
    return HealthCheck(
        status=status,
        docker_connected=problem is None and bool(endpoints),  # a snapshot has none
        docker_version=docker_version,
        timestamp=now,
        message=message,
        version=context.version,
        endpoints=endpoints,
        state_database=context.memory.status,
        last_diagnose_age_seconds=_age(context, "diagnose"),
        last_drift_age_seconds=_age(context, "drift"),
    )


def get_cost_report(context: Context, request: GetCostReportInput) -> CostReport:
    """Return what the tool calls of the last day, week or 30 days cost."""
    end = context.now()
    start = end - timedelta(days=_PERIOD_DAYS[request.period])
    return sum_costs(context.memory.costs(start, end), start, end)


def get_history(context: Context, request: GetHistoryInput) -> HistoryReport:
    """Return what happened on this host, as the daemon wrote it down; a command reads its state file."""
    until = request.until or context.now()
    since = request.since or until - _HISTORY_BY_DEFAULT
    if since >= until:
        msg = "since must lie before until"
        raise InvalidInputError(msg, {"errors": [{"field": "since", "message": "not before until"}]})
    kinds: tuple[JournalKind, ...] = () if request.kind is None else (request.kind,)
    if request.changes:
        kinds = tuple(kind for kind in kinds or sorted(CHANGES) if kind in CHANGES)
        if not kinds:
            msg = f"kind {request.kind} is no change; leave out changes or kind"
            raise InvalidInputError(msg, {"errors": [{"field": "kind", "message": "is no change"}]})
    wanted = EntryFilter(since, until, request.name, kinds, request.words)
    return HistoryReport(
        since=since,
        until=until,
        total=context.memory.count_entries(wanted),
        entries=tuple(context.memory.find_entries(wanted, request.limit, request.offset)),
        known_since=context.memory.journal_since,
    )


def list_deployments(context: Context, request: ListDeploymentsInput) -> DeploymentsReport:
    """Return the daemon's verdict on each deployment it has seen, newest first; a command reads its state file."""
    now = context.now()
    until = now + timedelta(days=1)  # also what was written before a clock that was ahead was set right
    wanted = EntryFilter(now - HISTORY_KEPT, until, request.project, (JournalKind.DEPLOYMENT,))
    entries, total = context.memory.find_entries(wanted, request.limit), context.memory.count_entries(wanted)
    records = tuple(record for entry in entries if (record := read_deployment(entry)) is not None)
    return DeploymentsReport(total=total, deployments=records, known_since=context.memory.observed_since)


def _ask_engine(context: Context) -> tuple[str | None, str | None]:
    """Return the engine's version, or None and what is wrong.

    With containerd frozen the engine's answer about itself hangs while lists come: then the last scan knows it.
    """
    try:
        return context.host.engine().server_version, None
    except DeadlineExceededError as error:
        known = context.scans.diagnosis.snapshot.engine if context.scans.diagnosis else None
        if known is not None and context.host.is_up():
            return known.server_version, None
        return None, error.message
    except BconError as error:
        return None, error.message


def _judge(
    problem: str | None, endpoints: Mapping[str, bool], database: str
) -> tuple[Literal["healthy", "degraded", "unhealthy"], str]:
    if problem is not None:
        return "unhealthy", problem
    hanging = sorted(name for name, up in endpoints.items() if not up)
    if hanging:
        return "degraded", f"the engine answers, but not on: {', '.join(hanging)}"
    if database == "memory":
        return "degraded", "the engine answers; the state file cannot be used, so the past is kept in memory only"
    return "healthy", "the engine answers" if endpoints else "this is a snapshot: no engine was asked"


def _age(context: Context, name: ScanName) -> float | None:
    """Return how long ago the last good scan ended, on the clock that never steps."""
    age = context.scans.age_seconds(name, context.monotonic())
    return None if age is None else round(age, 3)


HISTORY = Tool(
    "get_history",
    "Say what happened to containers, newest first: starts, stops, crashes, OOM kills, health, images, findings.",
    GetHistoryInput,
    HistoryReport,
    get_history,
    works=False,
    of_past=True,
    rows="entries",
)
UTILITY_TOOLS = (
    HISTORY,
    Tool(
        "list_deployments",
        "Say of each deployment whether it succeeded, and if not, which service, why, and who suffers.",
        ListDeploymentsInput,
        DeploymentsReport,
        list_deployments,
        works=False,
        of_past=True,
        rows="deployments",
    ),
    Tool(
        "health_check",
        "Say whether bcon-exporter works and reaches the engine.",
        HealthCheckInput,
        HealthCheck,
        health_check,
        works=False,
        toolset="core",
    ),
    Tool(
        "get_cost_report",
        "Say what the tool calls cost: tokens as an agent reads them, engine calls, seconds.",
        GetCostReportInput,
        CostReport,
        get_cost_report,
        works=False,
    ),
)
