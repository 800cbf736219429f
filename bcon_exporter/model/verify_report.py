"""What `verify` says of a deployment: one verdict, and why, for each service of the files."""

from enum import StrEnum

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.findings import LikelyCause


class DeploymentVerdict(StrEnum):
    """Whether a deployment succeeded; of several, the first one of this order that a service has."""

    BAD = "bad"
    UNSURE = "unsure"
    GOOD = "good"


class VerifyCode(StrEnum):
    """Stable names of what went wrong with a service (docs/deployments.md), the most specific first."""

    HOOK_FAILED = "hook_failed"
    START_FAILED = "start_failed"
    OOM_KILLED = "oom_killed"
    ONE_SHOT_FAILED = "one_shot_failed"
    CRASH_LOOP = "crash_loop"
    CRASHED = "crashed"
    WAITS_FOR = "waits_for"
    NOT_CREATED = "not_created"
    WRONG_REPLICAS = "wrong_replicas"
    NOT_RUNNING = "not_running"
    PORT_REFUSED = "port_refused"
    UNHEALTHY = "unhealthy"
    DIFFERS = "differs"
    NEW_ERRORS = "new_errors"


class ServiceVerdict(Frozen):
    """What became of one service.

    Attributes:
        code: What went wrong; None unless it is bad.
        root: The service, or the container outside of the project, whose trouble explains this one's; None where the
            service itself is the trouble, or is well.
        message: One sentence: what happened, or why it is unsure.
        certain: Nothing that may still happen in the window changes this verdict.
        causes: Of the diagnosis, the likeliest first.
        evidence: What shows it, the newest last; masked log lines among it.
        changes: What is different since the container that this one replaced; names of environment keys, never values.
        changes_known: Whether the replaced container was seen; `changes` says something only then, or of an image that
            a state file remembers.
        containers: Names.
    """

    service: str
    verdict: DeploymentVerdict
    code: VerifyCode | None = None
    root: str | None = None
    message: str
    certain: bool = False
    causes: tuple[LikelyCause, ...] = ()
    evidence: tuple[Untrusted, ...] = ()
    changes: tuple[Untrusted, ...] = ()
    changes_known: bool = False
    containers: tuple[str, ...] = ()


class VerifyReport(Frozen):
    """Whether a deployment succeeded.

    Attributes:
        since: When the deployment began: what was there before counts as before.
        watched_from, watched_until: The time in which it was looked at.
        window_seconds: How long it was to be watched; it ends earlier once nothing can change the verdict.
        services: Those of the files that are wanted now, bad ones first, each root before those that suffer from it.
        notes: What changes no verdict: an extra container, an engine that was away, files that changed meanwhile
            or that `up` has not used, a slower start.
        config_files: The Compose files.
        files: Path of each file that was read last → its SHA-256; empty in the daemon.
        reason: Why the whole is unsure, where no service is: files that cannot be resolved, an engine that is away.
    """

    project: str
    verdict: DeploymentVerdict
    summary: str
    since: UtcDatetime
    watched_from: UtcDatetime
    watched_until: UtcDatetime
    window_seconds: float
    services: tuple[ServiceVerdict, ...] = ()
    notes: tuple[str, ...] = ()
    config_files: tuple[str, ...] = ()
    files: dict[str, str] = {}
    reason: str | None = None

    @property
    def record(self) -> "DeploymentRecord":
        """What is kept of it: no line of a container is in it."""
        return DeploymentRecord(
            project=self.project,
            at=self.watched_until,
            since=self.since,
            verdict=self.verdict,
            summary=self.summary,
            services=tuple(DeployedService.model_validate(one.model_dump(include=_KEPT)) for one in self.services),
        )

    @property
    def is_certain(self) -> bool:
        """Whether nothing that may still happen changes the verdict of any service."""
        return bool(self.services) and all(service.certain for service in self.services)


class DeployedService(Frozen):
    """What is kept of one service; see `ServiceVerdict`."""

    service: str
    verdict: DeploymentVerdict
    code: VerifyCode | None = None
    root: str | None = None
    message: str
    changes: tuple[Untrusted, ...] = ()


_KEPT = set(DeployedService.model_fields)


class DeploymentRecord(Frozen):
    """The daemon's own verdict on one deployment.

    Attributes:
        at: When it was judged: a minute after the last container of it was made or started.
        since: When it began.
    """

    project: str
    at: UtcDatetime
    since: UtcDatetime
    verdict: DeploymentVerdict
    summary: str
    services: tuple[DeployedService, ...] = ()


class DeploymentsReport(Frozen):
    """The deployments that a daemon has seen.

    Attributes:
        total: How many there are, also beyond the limit.
        deployments: Newest first.
        known_since: Since when events are known; None when none could be read.
    """

    total: int
    deployments: tuple[DeploymentRecord, ...]
    known_since: UtcDatetime | None
