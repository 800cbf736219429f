"""Reads the host once, with its past: what every diagnosis starts from."""

from bcon_exporter.docker_host import Wants
from bcon_exporter.errors import BconError
from bcon_exporter.model.facts import HostSnapshot
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.tools.context import Context


def observe(context: Context, wants: Wants, deadline_seconds: float | None = None) -> HostSnapshot:
    """Return a fresh snapshot with each container's lifecycle and last-known usage.

    Events are taken before and after the host is read. Before: what happened tells which containers to inspect again.
    After: a container that was stopped meanwhile is listed as ended, and only its events say that somebody asked to.

    Args:
        context: Names the host and its history.
        wants: What to read.
        deadline_seconds: Of the reading; None for that of a whole scan.

    Raises:
        DockerConnectionError, PermissionDeniedError, DeadlineExceededError: The containers could not be listed.
    """
    now = context.now()
    seconds = context.scan_deadline_seconds if deadline_seconds is None else deadline_seconds
    batch, problem = _drain(context)
    context.history.record_events(batch, now)
    snapshot = context.host.take_snapshot(now, seconds, wants)
    if problem is None:
        batch, problem = _drain(context)
        context.history.record_events(batch, context.now())
    if problem is not None:
        snapshot = snapshot.model_copy(update={"unread": {**snapshot.unread, "events": problem}})
    snapshot = context.history.enrich(snapshot)
    context.history.remember(snapshot)
    return snapshot


def _drain(context: Context) -> tuple[EventBatch, str | None]:
    """Return the events, or none and the reason: the list call then says whether the engine is there at all."""
    try:
        return context.host.drain_events(), None
    except BconError as error:
        return EventBatch(events=(), covers_since=None), error.message
