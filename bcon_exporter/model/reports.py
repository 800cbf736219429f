"""What leaves the program: the JSON contract of the API, the command line and MCP (docs/api.md)."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.container_facts import ContainerState, HealthStatus
from bcon_exporter.model.desired import ProjectProblem
from bcon_exporter.model.findings import (
    DriftType,
    LikelyCause,
    NotEvaluated,
    ServiceDrift,
    Status,
    Suggestion,
    Symptom,
    SymptomType,
)
from bcon_exporter.model.lifecycle import FailedRun
from bcon_exporter.model.notes import ShownNotes


class ContainerInfo(Frozen):
    """One container as a list shows it.

    Attributes:
        id: Short id (12 hex digits).
        health: None for a container that does not run: a stopped one's health is frozen and means nothing.
        ports: "80/tcp" → "8080", or None when exposed but not published.
    """

    id: str
    name: str
    image: str
    state: ContainerState
    status: str
    created: UtcDatetime
    ports: dict[str, str | None] = {}
    labels: dict[Untrusted, Untrusted] = {}
    health: HealthStatus | None = None
    exit_code: int | None = None
    oom_killed: bool | None = None
    restart_count: int | None = None
    started_at: UtcDatetime | None = None
    finished_at: UtcDatetime | None = None
    restart_policy: str | None = None
    compose_project: str | None = None
    compose_service: str | None = None


class ContainerStats(Frozen):
    """Resource usage of one container.

    Attributes:
        cpu_percent: 0-100, of the CPUs that the container may use; None when one sample only could be had.
        memory_usage_bytes: Working set, without page cache, as `docker stats` shows it.
        memory_limit_bytes: Its limit, or the host's memory where it has none.
        throttled_percent: Share of CPU periods in which it was throttled, 0-100; None without a quota.
        last_known: The values are not of now but of `timestamp`: it has stopped since, or is running and its usage
            could not be read anew.
    """

    container_id: str
    container_name: str
    timestamp: UtcDatetime
    cpu_percent: float | None
    cpu_count: float | None
    memory_usage_bytes: int | None
    memory_limit_bytes: int | None
    memory_percent: float | None
    network_rx_bytes: int | None
    network_tx_bytes: int | None
    block_read_bytes: int | None
    block_write_bytes: int | None
    pids: int | None = None
    throttled_percent: float | None = None
    last_known: bool = False


class LogEntry(Frozen):
    """One log line, masked; untrusted text."""

    timestamp: UtcDatetime | None
    stream: Literal["stdout", "stderr"]
    message: Untrusted


class ContainerLogs(Frozen):
    """The newest log lines, oldest first. `truncated`: older lines were cut by the byte cap."""

    container_id: str
    container_name: str
    entries: tuple[LogEntry, ...]
    tail: int
    since: UtcDatetime | None = None
    until: UtcDatetime | None = None
    truncated: bool = False


class DiagnosisReport(Frozen):
    """Everything said about one container. No symptom means healthy only as far as `not_evaluated` is empty.

    Attributes:
        checked: False when one of the rules that decide (exit_error, oom_killed, restart_loop, start_failed, unhealthy)
            could not be judged: it is not known to be healthy then, even with this status.
        uptime: Seconds since it started; None when it does not run.
        summary: One line.
        rule_errors: Names of rules that raised; a defect of ours, counted.
        rule_faults: Rule → what it raised, and where; in no answer of the API.
        root: Name of the other container whose trouble is behind this one's; its own report says why.
        explains: Names of the containers whose trouble comes from this one.
        notes: What people know of it, in their words; none of this changes for them.
    """

    container_id: str
    container_name: str
    timestamp: UtcDatetime
    state: ContainerState
    uptime: float | None
    status: Status
    checked: bool = True
    symptoms: tuple[Symptom, ...] = ()
    likely_causes: tuple[LikelyCause, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    summary: str
    detailed_explanation: str
    not_evaluated: tuple[NotEvaluated, ...] = ()
    rule_errors: tuple[SymptomType, ...] = ()
    rule_faults: dict[str, str] = Field({}, exclude=True, repr=False)
    project: str | None = None
    service: str | None = None
    root: str | None = None
    explains: tuple[str, ...] = ()
    notes: ShownNotes = ()

    @property
    def is_unchecked(self) -> bool:
        """Whether nothing is seen wrong with it, yet it is not known to be healthy."""
        return self.status == "healthy" and not self.checked


class ContainerHealthSummary(Frozen):
    """One line of the host's report.

    Attributes:
        checked: As in `DiagnosisReport`.
        root: Name of the other container whose trouble is behind this one's.
    """

    container_id: str
    container_name: str
    status: Status
    checked: bool = True
    top_issue: str | None = None
    root: str | None = None

    @property
    def is_unchecked(self) -> bool:
        """Whether nothing is seen wrong with it, yet it is not known to be healthy."""
        return self.status == "healthy" and not self.checked


class RootCause(Frozen):
    """A container whose trouble explains that of others: where to begin.

    Attributes:
        status: None when the container itself is not judged (filters, bcon.ignore).
        issue: Its own worst symptom; None when nothing is wrong with it, as after a requested stop.
        explains: Names of the others, sorted.
    """

    container_id: str
    container_name: str
    status: Status | None
    issue: str | None
    explains: tuple[str, ...]


class DiagnoseAllReport(Frozen):
    """The whole host. total_containers = healthy + warning + error + critical; well are healthy - not_checked.

    Attributes:
        not_checked: Those of `healthy` that carry `checked: false`.
        unchecked: Their lines, asked or not.
        summaries: Worst first; without the healthy ones unless asked.
        ignored: Containers left out by filters or by the label bcon.ignore=true; not in the total.
        incomplete: Names of containers of which not all facts could be read.
        unread: Host-level facts that could not be read → the reason.
        roots: The containers whose trouble explains that of others, the one that explains most first.
        ended: Runs of the last day that failed and removed themselves, newest first, at most 50; in no count.
        reports: Every container's full report; in the scheduled scan and `GET /api/v1/diagnosis`, else empty.
        notes: What people know of the host and of its containers, in their words; none of this changes for them.
        judged: The full reports behind `summaries` where `reports` is empty. Never written as JSON: agents are told
            parts of them.
    """

    timestamp: UtcDatetime
    total_containers: int
    healthy: int
    warning: int
    error: int
    critical: int
    not_checked: int = 0
    unchecked: tuple[ContainerHealthSummary, ...] = ()
    summaries: tuple[ContainerHealthSummary, ...] = ()
    ignored: int = 0
    incomplete: tuple[str, ...] = ()
    unread: dict[str, str] = {}
    roots: tuple[RootCause, ...] = ()
    ended: tuple[FailedRun, ...] = ()
    reports: tuple[DiagnosisReport, ...] = ()
    notes: ShownNotes = ()
    judged: tuple[DiagnosisReport, ...] = Field((), exclude=True, repr=False)


class DriftStatus(StrEnum):
    """Whether a project runs as its files say."""

    SYNCED = "synced"
    DRIFTED = "drifted"
    UNKNOWN = "unknown"


DRIFT_STATUS_RANK = {
    status: rank for rank, status in enumerate((DriftStatus.DRIFTED, DriftStatus.UNKNOWN, DriftStatus.SYNCED))
}
"""The order in which projects are shown."""


class ServiceReplicas(Frozen):
    """Replica counts of one service, for the gauges.

    Attributes:
        unread: What its containers are made of could not be read, or not all of it: that nothing differs is no claim.
    """

    service_name: str
    desired: int
    running: int
    stop_requested: bool = False
    unread: bool = False


class DriftReport(Frozen):
    """The differences between one project's Compose files and what runs.

    Attributes:
        project_name: Compose project.
        compose_file: The first file; `compose_files` has all.
        untracked: Names of running containers that the file does not define, of this project or none.
        differences: What differs; each makes the status drifted.
        doubts: What differs only if a variable that is unknown here has the value that it seems to have. No drift
            until that is known: not counted; alone they make the status unknown.
        unknown_reason, unknown_detail: Why status is unknown, or what is doubtful.
        ignored: Number of differences left out by an ignore rule.
        remarks: What Compose would do although nothing differs (labels that Watchtower left stale, a hash of another
            version of Compose). No drift: not counted, and not part of `status`.
        rule_errors: Rules that raised; a defect of ours, counted.
        rule_faults: Rule → what it raised, and where; in no answer of the API.
        notes: What people know of it, in their words; none of this changes for them.
    """

    timestamp: UtcDatetime
    project_name: str
    compose_file: str
    compose_files: tuple[str, ...] = ()
    status: DriftStatus
    differences: tuple[ServiceDrift, ...] = ()
    doubts: tuple[ServiceDrift, ...] = ()
    untracked: tuple[str, ...] = ()
    summary: str
    services: tuple[ServiceReplicas, ...] = ()
    unknown_reason: ProjectProblem | None = None
    unknown_detail: str | None = None
    unresolved: tuple[str, ...] = ()
    ignored: int = 0
    remarks: tuple[ServiceDrift, ...] = ()
    rule_errors: tuple[DriftType, ...] = ()
    rule_faults: dict[str, str] = Field({}, exclude=True, repr=False)
    notes: ShownNotes = ()


class HealthCheck(Frozen):
    """The state of bcon-exporter itself."""

    status: Literal["healthy", "degraded", "unhealthy"]
    docker_connected: bool
    docker_version: str | None
    timestamp: UtcDatetime
    message: str
    version: str
    endpoints: dict[str, bool] = {}
    state_database: Literal["file", "memory", "none"] = "none"
    last_diagnose_age_seconds: float | None = None
    last_drift_age_seconds: float | None = None


class TokenUsage(Frozen):
    """Size of a call as an agent would read it; money only where a paid model was called."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    estimated_cost_usd: float = 0.0


class CostEntry(Frozen):
    """One tool call. `docker_calls` and `seconds` are what it cost the engine and the clock."""

    timestamp: UtcDatetime
    operation: str
    usage: TokenUsage
    cached: bool
    docker_calls: int = 0
    seconds: float = 0.0
    failed: bool = False


class OperationCost(Frozen):
    """Sum over one operation."""

    operations: int
    input_tokens: int
    output_tokens: int
    docker_calls: int
    seconds: float
    cost_usd: float = 0.0


class CostReport(Frozen):
    """What the tools cost in a period. `note` says why the money is 0."""

    period_start: UtcDatetime
    period_end: UtcDatetime
    total_cost_usd: float
    total_operations: int
    by_operation: dict[str, OperationCost] = {}
    entries: tuple[CostEntry, ...] = ()
    cache_hit_rate: float
    estimated_savings_usd: float
    note: str
