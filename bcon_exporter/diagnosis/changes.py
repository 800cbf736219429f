"""Connects a failure with the change just before it: another image since the last recreation."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bcon_exporter.diagnosis.finding import Finding
from bcon_exporter.diagnosis.numbers import in_seconds, name_images
from bcon_exporter.diagnosis.rules import RULE_OF
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, Severity, Symptom, Urgency
from bcon_exporter.model.lifecycle import LifecycleFacts
from bcon_exporter.model.signatures import SuggestionText

SOON_SECONDS = 600
"""A failure this soon after a change is likely its consequence."""


def find_image_change(container: ContainerFacts, symptoms: Sequence[Symptom], now: datetime) -> list[Finding]:
    """The change of image since which it fails, if it did not fail before."""
    past = container.lifecycle
    failing = [one for one in symptoms if RULE_OF[one.type].is_failure and one.severity.rank >= Severity.ERROR.rank]
    if past is None or not failing or past.image_changed_at is None or past.previous_image is None:
        return []
    changed = past.image_changed_at
    since = (now - changed).total_seconds()
    if since > timedelta(days=1).total_seconds() or _failed_before(past, changed):
        return []
    first = _first_failure(past, changed)
    soon = first is not None and (first - changed).total_seconds() <= SOON_SECONDS
    young = first is None and since <= SOON_SECONDS
    previous, own = name_images(container)
    cause = LikelyCause(
        id="image_changed",
        description=f"It fails since its image changed from {previous} to {own}, {in_seconds(since)} ago.",
        confidence=0.75 if soon else 0.6 if young else 0.45,
        evidence=(f"with {previous} it did not fail in the time that is known",),
        related_symptoms=tuple(one.type for one in failing),
    )
    return [Finding(cause, (_COMPARE_IMAGES,))]


def _failed_before(past: LifecycleFacts, changed: datetime) -> bool:
    crashes = [end for end in past.exits if not (end.requested or end.shutdown) and (end.exit_code or end.oom)]
    return any(at < changed for at in (*(end.at for end in crashes), *past.restarts, *past.oom_kills))


def _first_failure(past: LifecycleFacts, changed: datetime) -> datetime | None:
    ends = (end.at for end in past.exits if not (end.requested or end.shutdown) and (end.exit_code or end.oom))
    return min((at for at in (*ends, *past.restarts, *past.oom_kills) if at >= changed), default=None)


_COMPARE_IMAGES = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Compare the two images (release notes, variables, data format); the earlier one is known to have run.",
    rationale="The image changed from {previous_image} to {image}; the failures began after that.",
    check="docker inspect -f '{{.Config.Image}} {{.Image}} {{.Created}}' {name}",
)


CAUSES = {
    "image_changed": "it fails since its image changed (its name, or what its tag points to), and did not before",
}
"""What this module names, and when: for the docs."""
