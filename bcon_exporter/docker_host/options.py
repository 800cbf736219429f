"""How an engine is to be read: limits of one host, and what one snapshot wants."""

from dataclasses import dataclass
from pathlib import Path

_PROBE_SHARE = 0.9


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
        log_files: Look at the size of log files, where they can be seen, before a log is asked for.
        parallel: Connections for inspect and logs. Requests are sent ahead, so few keep the engine as busy as many;
            two, so that a container whose log hangs holds up no more than half. Stats use one for each container.
        patience_seconds: The second is opened only when the first has not done all by then.
        depth: Requests sent ahead on each of those; each time some are sent, the engine and we wake up.
        probe_interval_seconds: A hanging endpoint is probed no more often; see `probe_interval`.
        refresh_seconds: Age at which a container is inspected again although nothing seems to have changed.
        refresh_health_seconds: The same for one with a health check, whose probes change without an event.
        event_wait_seconds: How long the first scan waits for the event stream's back-fill.
    """

    connect_timeout_seconds: float = 3.0
    read_timeout_seconds: float = 5.0
    ping_timeout_seconds: float = 2.5
    heartbeat_seconds: float = 2.0
    log_bytes_per_container: int = 256 * 1024
    log_bytes_total: int = 32 * 1024 * 1024
    usage_window_seconds: float = 60.0
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
    event_wait_seconds: float = 2.0


@dataclass(frozen=True)
class Wants:
    """What one snapshot is to hold beyond state.

    Attributes:
        config: Each container's configuration and the host's networks and volumes, for drift.
        log_window_seconds: Log lines of this long before the snapshot.
        log_tail: At most this many newest lines of each container.
        only: Full ids of the containers wanted; None for all.
        wait_for_usage: Take a second usage sample a second later, where there is none from before: for commands that
            run once.
    """

    logs: bool = True
    usage: bool = True
    config: bool = False
    log_window_seconds: float = 600.0
    log_tail: int = 200
    only: tuple[str, ...] | None = None
    wait_for_usage: bool = False
