"""Reads the host once, with its past: what every diagnosis starts from."""

from bcon_exporter.docker_host import Wants
from bcon_exporter.errors import BconError
from bcon_exporter.model.facts import HostSnapshot
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.tools.context import Context


def observe(context: Context, wants: Wants) -> HostSnapshot:
    """Return a fresh snapshot with each container's lifecycle and last-known usage.

    Events go first: a container that dies between the two reads is then seen running, and its end is told by the
    next scan; the other way round an end would stand there without its reason.

    Raises:
        DockerConnectionError, PermissionDeniedError, DeadlineExceededError: The containers could not be listed.
    """
    now = context.now()
    batch, problem = _drain(context)
    context.history.record_events(batch, now)
    snapshot = context.host.take_snapshot(now, context.scan_deadline_seconds, wants)
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
