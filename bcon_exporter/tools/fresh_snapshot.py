"""Reads the host once, with its past: what every diagnosis starts from."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from bcon_exporter.engine import Wants
from bcon_exporter.errors import BconError
from bcon_exporter.host_secrets import hide_in_events, hide_in_snapshot
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.tools.context import Context

Learned = TypeVar("Learned")


def observe(
    context: Context, wants: Wants, deadline_seconds: float | None = None, *, remember: bool = False
) -> HostSnapshot:
    """Return a fresh snapshot with each container's lifecycle and last-known usage.

    Events are taken before and after the host is read. Before: what happened tells which containers to inspect again.
    After: a container that was stopped meanwhile is listed as ended, and only its events say that somebody asked to.
    Nobody else takes events between: they would be folded in too late for this reading, or after a later one.

    Args:
        context: Names the host and what is remembered of it.
        wants: What to read.
        deadline_seconds: Of the reading; None for that of a whole scan.
        remember: For a scheduled scan: fold the snapshot into the memory. A tool that somebody asks for only looks.

    Raises:
        DockerConnectionError, PermissionDeniedError, DeadlineExceededError: The containers could not be listed.
    """
    seconds = context.scan_deadline_seconds if deadline_seconds is None else deadline_seconds
    began = context.monotonic()
    with context.host.exclusive_access(seconds):
        snapshot = _observe(context, wants, seconds - (context.monotonic() - began), remember=remember)
    return snapshot if context.recall is None else context.recall(snapshot)


def _observe(context: Context, wants: Wants, seconds: float, *, remember: bool) -> HostSnapshot:
    """Do so while nobody else does."""
    now = context.now()
    batch, problem = _drain(context)
    if wants.logs:
        wants = replace(wants, outlasts=context.catalogue.outlasts)
    try:
        observation = context.host.observe(now, seconds, wants, context.memory.memory.readings)
        snapshot = learn_env_files(context, observation.snapshot)
    finally:  # only now it is known what must not be kept of an event
        context.memory.add_events(hide_in_events(batch, context.secrets), now)
    if problem is None:
        batch, problem = _drain(context)
        context.memory.add_events(hide_in_events(batch, context.secrets), context.now())
    if problem is not None:
        snapshot = snapshot.model_copy(update={"unread": {**snapshot.unread, "events": problem}})
    if remember or context.one_shot:
        return context.memory.observe(snapshot, observation.readings)
    return context.memory.look(snapshot)


def learn_env_files(context: Context, snapshot: HostSnapshot) -> HostSnapshot:
    """Return the snapshot with what the env files of its projects hold hidden in it."""
    claims = [facts.compose for facts in snapshot.containers if facts.compose is not None]
    return hide_learned(context, snapshot, lambda: context.compose.learn_env_files(claims))[1]


def hide_learned(
    context: Context, snapshot: HostSnapshot, learn: Callable[[], Learned]
) -> tuple[Learned, HostSnapshot]:
    """Return what `learn` returns, and the snapshot with hidden in it what is known of its projects now.

    Other threads learn of Compose files too, while the host is read and afterwards.
    """
    learned = learn()
    return learned, hide_in_snapshot(snapshot, context.secrets)


def _drain(context: Context) -> tuple[EventBatch, str | None]:
    """Return the events, or none and the reason: the list call then says whether the engine is there at all.

    OOM kills are looked for at once: who waits for a scan must not fold what others have told meanwhile as if it were
    new.
    """
    try:
        batch, problem = context.host.drain_events(), None
    except BconError as error:
        batch, problem = EventBatch(events=(), covers_since=None), error.message
    kills = context.host.read_kills()
    return batch if kills is None else context.memory.add_kills(batch, kills, context.now()), problem
