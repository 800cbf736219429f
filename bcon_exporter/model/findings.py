"""What rules say: symptoms, causes, suggestions and differences."""

from enum import StrEnum
from typing import Literal, Self, get_args

from pydantic import Field

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime

Status = Literal["healthy", "warning", "error", "critical"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""What a container may be, from the best to the worst: the one order of all severities."""
STATUS_RANK = {status: rank for rank, status in enumerate(STATUSES)}


class Severity(StrEnum):
    """How urgently a person should look, from the least to the most; each stands for one of STATUSES."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for info to 3 for critical."""
        return _SEVERITY_RANK[self]

    @property
    def status(self) -> Status:
        """The status of a container with no worse symptom; info counts as healthy."""
        return STATUSES[self.rank]


_SEVERITY_RANK = {severity: rank for rank, severity in enumerate(Severity)}


class SymptomType(StrEnum):
    """Stable names of symptoms (docs/symptoms.md). They are metric label values: never rename one."""

    HIGH_CPU = "high_cpu"
    HIGH_MEMORY = "high_memory"
    OOM_KILLED = "oom_killed"
    RESTART_LOOP = "restart_loop"
    EXIT_ERROR = "exit_error"
    NETWORK_ERROR = "network_error"
    DISK_PRESSURE = "disk_pressure"
    SLOW_RESPONSE = "slow_response"
    LOG_ERROR = "log_error"
    UNHEALTHY = "unhealthy"
    START_FAILED = "start_failed"
    NEVER_STARTED = "never_started"
    PAUSED = "paused"
    CPU_THROTTLED = "cpu_throttled"
    PIDS_LIMIT = "pids_limit"
    HEALTH_FLAPPING = "health_flapping"
    STARTING = "starting"
    LOG_UNBOUNDED = "log_unbounded"
    NOT_STARTED_AGAIN = "not_started_again"
    STALE_NAMESPACE = "stale_namespace"


class Symptom(Frozen):
    """One rule's verdict about one container, with the evidence for it.

    Attributes:
        description: One sentence with this container's numbers.
        evidence: The facts that led to it: numbers, times, masked log lines; newest last.
        detected_at: When this scan saw it.
        first_seen: Since when it has been present; kept over restarts. None before a scheduled scan has seen it.
        confidence: 0 to 1; below 1 when the sign is indirect (an exit 137 with a limit and no kill).
        signatures: Ids of those that its log lines show, the most frequent first. Never written as JSON: it tells
            agents the kind of failure.
        measured_now: Of a kind that mostly comes from the log: this scan has measured it too. Never written as JSON.
        is_held: This scan has looked for it and not seen it any more: it is shown so that it does not flicker. Never
            written as JSON.
    """

    type: SymptomType
    severity: Severity
    description: str
    evidence: tuple[Untrusted, ...] = ()
    detected_at: UtcDatetime
    first_seen: UtcDatetime | None = None
    confidence: float = 1.0
    signatures: tuple[str, ...] = Field((), exclude=True, repr=False)
    measured_now: bool = Field(False, exclude=True, repr=False)
    is_held: bool = Field(False, exclude=True, repr=False)


def _quote_after(text: str, says: str | None) -> str:
    return text if says is None else f'{text} It says: "{says.rstrip(".")}".'


class LikelyCause(Frozen):
    """Why, as far as the facts tell.

    Attributes:
        id: Stable catalogue name, for example "memory_limit_too_low".
        description: In our words alone.
        peer: Name of the other container or host that the cause points to.
        says: The program's own message, where the description alone would fit many failures.
    """

    id: str
    description: str
    confidence: float
    evidence: tuple[Untrusted, ...] = ()
    related_symptoms: tuple[SymptomType, ...] = ()
    peer: Untrusted | None = None
    says: Untrusted | None = None

    @property
    def full_text(self) -> str:
        """The description for people, with the program's message in quotation marks."""
        return _quote_after(self.description, self.says)

    def quoting(self, message: str) -> Self:
        """Return the cause with the program's message."""
        return self.model_copy(update={"says": message})


class Urgency(StrEnum):
    """When to act: at once, within a day, within a week."""

    IMMEDIATE = "immediate"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"


class Suggestion(Frozen):
    """What a person may do. `command` is always None at Level 1: we never suggest running something blindly.

    Attributes:
        action: In our words alone.
        check: A read-only command that shows more; None where none fits.
        says: What the program itself asks for, where the action is to follow that.
    """

    urgency: Urgency
    action: str
    rationale: str
    command: None = None
    check: str | None = None
    says: Untrusted | None = None

    @property
    def full_text(self) -> str:
        """The action for people, with what the program asks for in quotation marks."""
        return _quote_after(self.action, self.says)


ADVISORY = frozenset({SymptomType.LOG_UNBOUNDED})
"""Symptoms that are advice: no failure is missed where they could not be judged, and they explain none."""


class NotEvaluated(Frozen):
    """A rule that could not be judged: silence is never health.

    Of a rule that only advises, it is told where all facts of a container are, and takes no words of a summary.
    """

    symptom: SymptomType
    missing: tuple[str, ...]
    reason: str

    @property
    def is_advisory(self) -> bool:
        """Whether no failure can be missed because of it."""
        return self.symptom in ADVISORY


class DriftType(StrEnum):
    """Stable names of drift types (docs/drift.md). They are metric label values: never rename one."""

    NOT_RUNNING = "not_running"
    EXTRA_CONTAINER = "extra_container"
    REPLICA_MISMATCH = "replica_mismatch"
    IMAGE_MISMATCH = "image_mismatch"
    CONFIG_MISMATCH = "config_mismatch"
    MISSING_SERVICE = "missing_service"


ComposeAction = Literal["recreate", "start", "create", "remove_orphan", "nothing"]
"""What `docker compose up` would do about a service."""


_CHANGED_IN_PLACE = frozenset(
    (
        *("mem_limit", "memswap_limit", "mem_reservation", "cpus", "cpu_shares", "cpu_quota", "cpu_period", "cpuset"),
        *("cpu_rt_runtime", "cpu_rt_period", "pids_limit", "blkio_config", "restart", "container_name", "networks"),
        *("first_network", "image"),
    )
)
"""What `docker update`, `network` and `rename` change of a container, and an updater that keeps its labels."""


def tell_origin(path: str | None) -> str:
    """Return what is known of a difference in a field whose container carries the file's own hash.

    What can be changed on a container that exists has been; in anything else only a copy with the same labels
    differs, or a container of an engine that left the setting out.
    """
    if path is not None and path.partition(".")[0] in _CHANGED_IN_PLACE:
        return "changed behind Compose's back"
    return "though it carries this file's hash"


class ServiceDrift(Frozen):
    """One difference between the Compose files and what runs.

    Attributes:
        service_name: As the file or, for an extra container, its label names it.
        field: Path of the differing field ("environment.DB_HOST"); None where the service as a whole differs.
        expected: Masked; for environment values the kind of change and a keyed fingerprint only.
        container_name: The container it was seen on; None where there is none.
        outside_compose: Compose's hash on the container is the file's, so that Compose sees no difference.
        stop_requested: Of not_running: somebody stopped it. None where unknown or not applicable.
        confidence: Below 1 where the desired value hangs on an unresolved variable or only a hash differs.
        first_seen: Since when; kept over restarts. None before a scheduled scan has seen it.
    """

    service_name: str
    drift_type: DriftType
    expected: Untrusted
    actual: Untrusted
    message: str
    severity: Severity = Severity.WARNING
    field: Untrusted | None = None
    container_name: str | None = None
    outside_compose: bool = False
    stop_requested: bool | None = None
    compose_would: ComposeAction | None = None
    confidence: float = 1.0
    first_seen: UtcDatetime | None = None

    @property
    def origin(self) -> str | None:
        """What is known of where it comes from; None where nothing is."""
        return tell_origin(self.field) if self.outside_compose else None
