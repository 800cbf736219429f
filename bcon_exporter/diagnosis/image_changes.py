"""Connects a failure with a change of the image just before it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.finding import Finding, finding_of
from bcon_exporter.diagnosis.rules import RULE_OF
from bcon_exporter.diagnosis.usage_in_words import name_images
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import Severity, Symptom
from bcon_exporter.model.lifecycle import LifecycleFacts
from bcon_exporter.model.quantities import show_duration

SOON_SECONDS = 600
"""A failure this soon after a change is likely its consequence."""


def find_image_change(container: ContainerFacts, symptoms: Sequence[Symptom], now: datetime) -> list[Finding]:
    """Find the change of image since which the container fails, if it did not fail before."""
    lifecycle = container.lifecycle
    failing = [
        symptom
        for symptom in symptoms
        if RULE_OF[symptom.type].is_failure and symptom.severity.rank >= Severity.ERROR.rank
    ]
    if lifecycle is None or not failing or lifecycle.image_changed_at is None or lifecycle.previous_image is None:
        return []
    changed = lifecycle.image_changed_at
    since = (now - changed).total_seconds()
    if since > timedelta(days=1).total_seconds() or _failed_before(lifecycle, changed):
        return []
    first = _first_failure(lifecycle, changed)
    soon = first is not None and (first - changed).total_seconds() <= SOON_SECONDS
    young = first is None and since <= SOON_SECONDS
    previous, own = name_images(container)
    cause = known_cause(
        "image_changed.soon" if soon else "image_changed.young" if young else "image_changed",
        previous=previous,
        own=own,
        since=show_duration(since),
    )
    evidence = (f"with {previous} it did not fail in the time that is known",)
    return [finding_of(cause, evidence, tuple(symptom.type for symptom in failing))]


def _failed_before(lifecycle: LifecycleFacts, changed: datetime) -> bool:
    crashes = [end for end in lifecycle.exits if not (end.requested or end.shutdown) and (end.exit_code or end.oom)]
    return any(at < changed for at in (*(end.at for end in crashes), *lifecycle.restarts, *lifecycle.oom_kills))


def _first_failure(lifecycle: LifecycleFacts, changed: datetime) -> datetime | None:
    ends = (end.at for end in lifecycle.exits if not (end.requested or end.shutdown) and (end.exit_code or end.oom))
    return min((at for at in (*ends, *lifecycle.restarts, *lifecycle.oom_kills) if at >= changed), default=None)
