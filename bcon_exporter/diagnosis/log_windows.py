"""Selects the log events that count now: the last minutes of a running container, or those before a failed exit."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bcon_exporter.diagnosis.last_exit import Ending, EndKind
from bcon_exporter.diagnosis.log_events import LogEvent
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.exit_codes import JITTER_SECONDS, STOPPING_SECONDS
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.thresholds import Thresholds

TOO_NEW_SECONDS = 5
"""Longer than a scan takes."""


def counting_events(
    events: Sequence[LogEvent], container: ContainerFacts, ending: Ending, now: datetime, thresholds: Thresholds
) -> tuple[LogEvent, ...]:
    """Leave out events that are too old, or that a requested stop or restart caused.

    An event without a time counts: it stood in the window that was read. A final word counts until the next start.
    """
    since = _since(container, ending, now, thresholds)
    if since is None:
        return ()
    until = stopping_since(container, now)
    return tuple(
        event
        for event in events
        if event.at is None
        or (
            _is_of_now(event, since, container)
            and (until is None or event.at < until)
            and not _is_too_new(event.at, container, now)
        )
    )


def _is_of_now(event: LogEvent, since: datetime, container: ContainerFacts) -> bool:
    """Whether it is young enough, or a final word of this run."""
    if event.at is None or event.at >= since:
        return True
    return event.is_final and container.is_running and not is_before_start(event.at, container)


def _is_too_new(at: datetime, container: ContainerFacts, now: datetime) -> bool:
    """Whether it was logged during the scan: a stop that was requested just before may not be known yet.

    It counts at the next scan. Times further ahead come from an engine whose clock is ahead.
    """
    return container.is_running and timedelta() < at - now <= timedelta(seconds=TOO_NEW_SECONDS)


def stopping_since(container: ContainerFacts, now: datetime) -> datetime | None:
    """Return since when a container that is listed as running has been stopping: what it logs then does not count.

    None when no stop was requested, or when it has run on for so long that it ignored the request.
    """
    asked_at = container.lifecycle.stopping_since if container.lifecycle is not None else None
    if asked_at is None or not container.is_running or now - asked_at > timedelta(seconds=STOPPING_SECONDS):
        return None
    return asked_at - timedelta(seconds=JITTER_SECONDS)


def _since(container: ContainerFacts, ending: Ending, now: datetime, thresholds: Thresholds) -> datetime | None:
    window = timedelta(seconds=thresholds.log_window_seconds)
    if (
        ending.kind in (EndKind.REQUESTED, EndKind.SHUTDOWN, EndKind.LEFT_DOWN)
        or container.state is ContainerState.REMOVING
    ):
        return None
    if ending.kind is EndKind.FAILED:
        return None if ending.aged else (ending.at or now) - window
    asked_end = _requested_end(container)
    return now - window if asked_end is None else max(now - window, asked_end)


def _requested_end(container: ContainerFacts) -> datetime | None:
    """Return the end of the previous run if it was requested: what was logged until then does not count.

    An end after `started_at` came after the container was listed: it has been restarted in the meantime.
    """
    if container.lifecycle is None or not container.lifecycle.exits:
        return None
    last = container.lifecycle.exits[-1]
    if not (last.requested or last.shutdown):
        return None
    ends = [at for at in (last.at, _earlier_end(container)) if at is not None]
    return max(ends) if container.is_running else None


def _earlier_end(container: ContainerFacts) -> datetime | None:
    """Return when the previous run ended; None where there was none.

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
    """Whether something was logged in the previous run."""
    earlier_end = _earlier_end(container)
    return earlier_end is not None and at is not None and at <= earlier_end


def soften_severity(
    severity: Severity, events: Sequence[LogEvent], container: ContainerFacts, *, well: bool
) -> Severity:
    """Lower the severity to a warning if all events precede a restart since which the container runs well."""
    if well and severity.rank > Severity.WARNING.rank and all(is_before_start(event.at, container) for event in events):
        return Severity.WARNING
    return severity
