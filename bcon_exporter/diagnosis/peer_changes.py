"""What changed at a container that runs well since its clients fail: another image, a recreation, other data within."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.diagnosis.endings import was_made_anew
from bcon_exporter.diagnosis.numbers import in_seconds, name_images
from bcon_exporter.diagnosis.peer_state import Around, Span, Trouble
from bcon_exporter.model.facts import ContainerFacts

JITTER_SECONDS = 5
SOON_SECONDS = 600
"""A failure this soon after a change is likely its consequence."""
WORKED_SECONDS = 60
"""A client that ran for so long before its first failure had worked."""
SAID_SECONDS = 15
"""And had said something this long before it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a container, as the rest of a sentence that begins with its name."""

    at: datetime
    text: str
    confidence: float


def change_of(peer: ContainerFacts, asking: ContainerFacts, span: Span, around: Around) -> Trouble | None:
    """The change of a well-looking peer that came just before its client began to fail; None where there is none.

    A change before the client was made itself is none of them: it was made for the peer as it is.
    """
    change = _newest(peer, around.now)
    first = span.first
    if change is None or first is None or asking.created_at > change.at:
        return None
    lead = first - change.at
    if not timedelta(seconds=-JITTER_SECONDS) <= lead <= timedelta(seconds=SOON_SECONDS):
        return None
    return Trouble(id="dependency_changed", text=change.text, confidence=change.confidence)


def has_worked(asking: ContainerFacts, span: Span) -> bool:
    """Whether the client ran, and said something, well before its first failure."""
    first, started = span.first, asking.started_at
    lines = asking.logs.lines if asking.logs is not None else ()
    if first is None or started is None or first - started < timedelta(seconds=WORKED_SECONDS):
        return False
    oldest = next((line.at for line in lines if line.at is not None), None)
    return oldest is not None and first - oldest >= timedelta(seconds=SAID_SECONDS)


def _newest(peer: ContainerFacts, now: datetime) -> Change | None:
    past = peer.lifecycle
    if past is None:
        return None
    if past.image_changed_at is not None and past.previous_image is not None:
        previous, own = name_images(peer)
        ago = in_seconds((now - past.image_changed_at).total_seconds())
        text = f"runs, but its image changed from {previous} to {own}, {ago} ago"
        return Change(past.image_changed_at, text, 0.75)
    if was_made_anew(peer):
        ago = in_seconds((now - peer.created_at).total_seconds())
        return Change(peer.created_at, f"runs, but was made anew {ago} ago, perhaps with other settings", 0.7)
    return None


CAUSES = {
    "dependency_changed": "the named peer runs well, and its image or its settings changed just before the failures",
}
"""What this module names, and when: for the docs."""
