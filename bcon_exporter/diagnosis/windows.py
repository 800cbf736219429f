"""Which log events count now: the last minutes of a running container, the last lines before a failed exit."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bcon_exporter.diagnosis.endings import Ending, EndKind
from bcon_exporter.diagnosis.logs import LogEvent
from bcon_exporter.model.facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.thresholds import Thresholds


def counting_events(
    events: Sequence[LogEvent], container: ContainerFacts, ending: Ending, now: datetime, thresholds: Thresholds
) -> tuple[LogEvent, ...]:
    """Leave out what is too old, and what a requested stop or restart made a container say.

    An event without a time counts: it came with the window that was read.
    """
    since = _since(container, ending, now, thresholds)
    if since is None:
        return ()
    return tuple(event for event in events if event.at is None or event.at >= since)


def _since(container: ContainerFacts, ending: Ending, now: datetime, thresholds: Thresholds) -> datetime | None:
    window = timedelta(seconds=thresholds.log_window_seconds)
    if ending.kind in (EndKind.REQUESTED, EndKind.SHUTDOWN) or container.state is ContainerState.REMOVING:
        return None
    if ending.kind is EndKind.FAILED:
        return None if ending.aged else (ending.at or now) - window
    if container.is_running and container.started_at is not None and _was_asked_to_restart(container):
        return max(now - window, container.started_at)
    return now - window


def _was_asked_to_restart(container: ContainerFacts) -> bool:
    """Whether the end before the present run was asked for: what it said while stopping is no news."""
    if container.lifecycle is None or not container.lifecycle.exits:
        return False
    last = container.lifecycle.exits[-1]
    return last.requested or last.shutdown


def is_before_start(event: LogEvent, container: ContainerFacts) -> bool:
    """Whether the event belongs to the run before the present one."""
    started = container.started_at if container.is_running else None
    return started is not None and event.at is not None and event.at < started


def softened(severity: Severity, events: Sequence[LogEvent], container: ContainerFacts, *, well: bool) -> Severity:
    """A warning at most when all of it stands before a restart since which the container runs well."""
    if well and severity.rank > Severity.WARNING.rank and all(is_before_start(event, container) for event in events):
        return Severity.WARNING
    return severity
