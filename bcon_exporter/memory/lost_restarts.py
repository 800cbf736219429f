"""Restarts that only the restart count tells of, because their events were lost in a gap."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.memory.identity import identity_of
from bcon_exporter.memory.restarts import INFERRED_RESTART
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.lifecycle import LifecycleEvent

_LATE = timedelta(seconds=2)
"""A start event comes a little after StartedAt."""

INFERRED_AT_MOST = 100


@dataclass(frozen=True, slots=True)
class CountedContainer:
    """A container's own count of restarts, as last seen; None where inspect was not read."""

    restart_count: int | None
    started_at: datetime | None


@dataclass(frozen=True, slots=True)
class Missing:
    """A container whose count has grown over a gap.

    Attributes:
        restarts: How many the engine has counted since `since`.
    """

    container_id: str
    identity: str
    restarts: int
    since: datetime
    started_at: datetime


def find_missing(
    containers: Iterable[ContainerFacts], before: Mapping[str, CountedContainer], gap_began: datetime
) -> tuple[Missing, ...]:
    """Compare the restart counts after a gap with those before it.

    The count begins anew at a manual start and at the engine's: a smaller one is all since then.
    """
    found = []
    for container in containers:
        count, started = container.restart_count, container.started_at
        if not count or started is None or started <= gap_began:
            continue
        known = before.get(container.id)
        if known is None and container.created_at < gap_began:
            continue
        earlier = known.restart_count or 0 if known else 0
        since = max(known.started_at if known and known.started_at else gap_began, container.created_at)
        grown = count - earlier if count >= earlier else count
        if grown > 0:
            found.append(Missing(container.id, identity_of(container), grown, since, started))
    return tuple(found)


def infer_restarts(
    missing: Missing, told: Iterable[datetime], gap_began: datetime, gap_ended: datetime | None = None
) -> tuple[LifecycleEvent, ...]:
    """Return events for the restarts that no event told of, evenly spread over the gap up to the last known start.

    Their true times are lost; that they lie between the gap's begin and the last start is sure.

    Args:
        missing: The container and how far its count has grown.
        told: Times of its starts that events did tell.
        gap_began: Since when events were lost.
        gap_ended: From when on all events are known; None when the last start may still lie in the gap.
    """
    seen = sum(missing.since < at <= missing.started_at + _LATE for at in told)
    lost = min(missing.restarts - seen, INFERRED_AT_MOST)
    began = max(gap_began, missing.since)
    ended = min(missing.started_at, gap_ended or missing.started_at)
    if lost <= 0 or ended <= began:
        return ()
    step = (ended - began) / lost
    return tuple(
        LifecycleEvent(at=ended - step * n, action=INFERRED_RESTART, container_id=missing.container_id, name="")
        for n in reversed(range(lost))
    )
