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
    earlier_end = _earlier_end(container)
    if earlier_end is not None and _was_asked_to_restart(container):
        return max(now - window, earlier_end)
    return now - window


def _was_asked_to_restart(container: ContainerFacts) -> bool:
    """Whether the end before the present run was asked for: what it said while stopping is no news."""
    if container.lifecycle is None or not container.lifecycle.exits:
        return False
    last = container.lifecycle.exits[-1]
    return last.requested or last.shutdown


def _earlier_end(container: ContainerFacts) -> datetime | None:
    """When the run before the present one ended; None where there was none.

    The border between the two is this end and not `started_at`: the engine notes a start only after the program has
    written its first lines.
    """
    started = container.started_at if container.is_running else None
    if started is None:
        return None
    exits = container.lifecycle.exits if container.lifecycle else ()
    ends = [container.finished_at, *(end.at for end in exits)]
    return max((at for at in ends if at is not None and at < started), default=None)


def is_before_start(at: datetime | None, container: ContainerFacts) -> bool:
    """Whether what was said at a time belongs to the run before the present one."""
    earlier_end = _earlier_end(container)
    return earlier_end is not None and at is not None and at <= earlier_end


def softened(severity: Severity, events: Sequence[LogEvent], container: ContainerFacts, *, well: bool) -> Severity:
    """A warning at most when all of it stands before a restart since which the container runs well."""
    if well and severity.rank > Severity.WARNING.rank and all(is_before_start(event.at, container) for event in events):
        return Severity.WARNING
    return severity
