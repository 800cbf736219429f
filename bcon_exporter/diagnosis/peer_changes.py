"""Finds what changed at a healthy container before its clients began to fail: image, recreation, data."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.diagnosis.last_exit import was_recreated
from bcon_exporter.diagnosis.peer_state import FailureSpan, HostContext, PeerTrouble
from bcon_exporter.diagnosis.usage_in_words import name_images
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.quantities import show_duration

JITTER_SECONDS = 5
SOON_SECONDS = 600
"""A failure this soon after a change is likely its consequence."""
WORKED_SECONDS = 60
"""A client had worked if it ran for so long before its first failure."""
SAID_SECONDS = 15
"""And if it had logged something so long before it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a container."""

    at: datetime
    trouble: PeerTrouble


def find_change(
    peer: ContainerFacts, client: ContainerFacts, span: FailureSpan, context: HostContext
) -> PeerTrouble | None:
    """Find the change of a healthy peer just before its client began to fail.

    A change before the client was made itself is none of them: it was made for the peer as it is.
    """
    change = _newest(peer, context.now)
    first = span.first
    if change is None or first is None or client.created_at > change.at:
        return None
    if not _is_soon_after(first, change.at):
        return None
    return change.trouble


def find_restart(
    peer: ContainerFacts, client: ContainerFacts, span: FailureSpan, context: HostContext
) -> PeerTrouble | None:
    """Find the start of a peer that had run before, just before its client began to fail: it may have come up wrong.

    The client ran through it: where both were started, neither is known to be the reason.
    """
    started, first = peer.started_at, span.first
    ends = peer.lifecycle.exits if peer.lifecycle is not None else ()
    if started is None or first is None or not any(end.at <= started for end in ends):
        return None
    if client.started_at is None or client.started_at > started or not _is_soon_after(first, started):
        return None
    ago = show_duration((context.now - started).total_seconds())
    return PeerTrouble.known(peer, "dependency_changed.restarted", ago=ago)


def _is_soon_after(first: datetime, change: datetime) -> bool:
    return timedelta(seconds=-JITTER_SECONDS) <= first - change <= timedelta(seconds=SOON_SECONDS)


def has_worked(client: ContainerFacts, span: FailureSpan) -> bool:
    """Whether the client ran, and logged something, well before its first failure."""
    first, started = span.first, client.started_at
    lines = client.logs.lines if client.logs is not None else ()
    if first is None or started is None or first - started < timedelta(seconds=WORKED_SECONDS):
        return False
    oldest = next((line.at for line in lines if line.at is not None), None)
    return oldest is not None and first - oldest >= timedelta(seconds=SAID_SECONDS)


def _newest(peer: ContainerFacts, now: datetime) -> Change | None:
    lifecycle = peer.lifecycle
    if lifecycle is None:
        return None
    if lifecycle.image_changed_at is not None and lifecycle.previous_image is not None:
        previous, own = name_images(peer)
        ago = show_duration((now - lifecycle.image_changed_at).total_seconds())
        trouble = PeerTrouble.known(peer, "dependency_changed.image", previous=previous, own=own, ago=ago)
        return Change(lifecycle.image_changed_at, trouble)
    if was_recreated(peer):
        ago = show_duration((now - peer.created_at).total_seconds())
        return Change(peer.created_at, PeerTrouble.known(peer, "dependency_changed.recreated", ago=ago))
    return None
