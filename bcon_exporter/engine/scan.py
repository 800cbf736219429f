"""The state of one running scan, shared by its steps."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.failures import NotQueriedError
from bcon_exporter.engine.http import Outcome
from bcon_exporter.engine.minute_counters import MinuteWants
from bcon_exporter.errors import BconError, ContainerNotFoundError

_PROBE_SHARE = 0.9
_NO_LONGER_THERE = ("no such container", "marked for removal", "no container with name or id")


def probe_interval(scan_interval_seconds: float) -> float:
    """Return how often to probe a hanging endpoint: once a scan, a little earlier, so that none is skipped."""
    return _PROBE_SHARE * scan_interval_seconds


@dataclass(frozen=True)
class HostOptions:
    """Limits that hold for everything read from one host.

    Attributes:
        read_timeout_seconds: Wall-clock limit of one request; a batch may take no longer than the scan's deadline.
        ping_timeout_seconds: With `heartbeat_seconds`, the time after which a silent engine counts as down.
        heartbeat_seconds: Time between two pings, and the shortest between two probes of stats.
        log_bytes_per_container: Longer answers keep their newest part.
        log_bytes_total: Log text held at once; what goes beyond keeps fewer lines.
        usage_window_seconds: Usage is the mean over this time.
        minute_wants: What is read of cgroup files once a minute.
        log_files: Look at the size of log files, where they can be seen, before a log is asked for.
        parallel: Connections for inspect and logs. Requests are sent ahead, so few keep the engine as busy as many;
            two, so that a container whose log hangs holds up no more than half. Stats use one for each container.
        patience_seconds: The second is opened only when the first has not done all by then.
        depth: Requests sent ahead on each of those; each time some are sent, the engine and we wake up.
        probe_interval_seconds: A hanging endpoint is probed no more often; see `probe_interval`.
        refresh_seconds: Age at which a container is inspected again although nothing seems to have changed.
        refresh_health_seconds: The same for one with a health check, whose probes change without an event.
        df_timeout_seconds: How long the engine may take to sum up its disk usage, which it walks all layers for.
        event_wait_seconds: How long the first scan waits for the event stream's back-fill.
    """

    connect_timeout_seconds: float = 3.0
    read_timeout_seconds: float = 5.0
    ping_timeout_seconds: float = 2.5
    heartbeat_seconds: float = 2.0
    log_bytes_per_container: int = 256 * 1024
    log_bytes_total: int = 32 * 1024 * 1024
    usage_window_seconds: float = 60.0
    minute_wants: MinuteWants = field(default_factory=MinuteWants)
    cgroup_root: Path = Path("/sys/fs/cgroup")
    proc_root: Path = Path("/proc")
    kernel_log: Path = Path("/dev/kmsg")
    log_files: bool = True
    parallel: int = 2
    patience_seconds: float = 0.1
    depth: int = 32
    stats_connections: int = 512
    probe_interval_seconds: float = 4.0
    refresh_seconds: float = 600.0
    refresh_health_seconds: float = 55.0
    df_timeout_seconds: float = 180.0
    event_wait_seconds: float = 2.0


@dataclass(frozen=True)
class Wants:
    """What one snapshot is to hold beyond state.

    Attributes:
        config: Each container's configuration and the host's networks and volumes, for drift.
        log_window_seconds: Log lines of this long before the snapshot.
        log_tail: At most this many newest lines of each container.
        outlasts: Whether a text holds a line that counts however old it is; None where none does.
        only: Full ids of the containers wanted; None for all.
        wait_for_usage: Take a second usage sample a second later, where there is none from before: for commands that
            run once.
    """

    logs: bool = True
    usage: bool = True
    config: bool = False
    log_window_seconds: float = 600.0
    log_tail: int = 200
    outlasts: Callable[[str], bool] | None = None
    only: tuple[str, ...] | None = None
    wait_for_usage: bool = False


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the moment this many seconds from now."""
        return cls(monotonic() + seconds)

    def left(self, at_most: float = float("inf")) -> float:
        """Return the seconds left, never negative."""
        return max(0.0, min(self.at - monotonic(), at_most))


@dataclass(slots=True)
class Scan:
    """State of one scan.

    Attributes:
        ids: Full ids, in the engine's order.
        gone: Removed while the scan went on: left out silently.
        unread: Per container, what could not be read and why.
        incomplete: Ids of containers that lack something because of time or a failure.
        host_unread: The same for the host as a whole.
    """

    now: datetime
    deadline: Deadline
    wants: Wants
    ids: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    unread: dict[str, dict[str, str]] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)
    host_unread: dict[str, str] = field(default_factory=dict)

    def present(self) -> list[str]:
        """Return the ids of containers not known to be removed."""
        return [container_id for container_id in self.ids if container_id not in self.gone]

    def record_unread(self, container_id: str, fact: str, reason: str) -> None:
        """Record that a container's fact was not read because of time or a failure."""
        self.unread.setdefault(container_id, {})[fact] = reason
        self.incomplete.add(container_id)

    def is_gone(self, container_id: str, outcome: Outcome) -> bool:
        """Return whether an outcome shows that the container was removed meanwhile, and record it as gone."""
        if not isinstance(outcome, BconError) or isinstance(outcome, NotQueriedError):
            return False
        message = outcome.message.lower()
        gone = isinstance(outcome, ContainerNotFoundError) or any(text in message for text in _NO_LONGER_THERE)
        if gone:
            self.gone.add(container_id)
        return gone
