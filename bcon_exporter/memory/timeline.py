"""The past of one identity (a service's replica, else a name): its events, what was counted, what they tell."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Literal

from bcon_exporter.memory.exit_reasons import (
    Circumstances,
    ImageChange,
    Shutdown,
    classify_exits,
    find_health_changes,
    find_image_change,
    find_oom_kills,
)
from bcon_exporter.memory.restarts import INFERRED_RESTART, find_restarts
from bcon_exporter.memory.runs import Run, find_runs, order_of
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.exit_codes import parse_signal
from bcon_exporter.model.lifecycle import CONTAINER_ACTIONS, HEALTH_EVENTS_KEPT, ExitFacts, LifecycleEvent

EVENTS_PER_IDENTITY = 1000
"""The newest of them are kept: a crash loop of a month must not fill the disk."""

HEALTH_EVENTS_PER_IDENTITY = HEALTH_EVENTS_KEPT
"""Of these at most so many tell of health: a check that flips all the time pushes out no start and no end."""

EXITS_WITH_LINES = 5
"""Of so many ends, the newest, the last lines are kept: of all, a fleet that crashes would hold hundreds of MB."""

KEPT_ACTIONS = CONTAINER_ACTIONS - {"update"} | {INFERRED_RESTART}

_TAKEN_AWAY = "taken away"
"""In place of "no" where the engine has counted restarts since the last start by hand (`docker update`)."""

CountedEvent = tuple[str, datetime, Literal["restart", "oom"]]
"""Container id, time and kind of an event that a total holds."""


@dataclass(frozen=True, slots=True)
class Configured:
    """How a container of the identity is set up, also a removed one that events still tell of; None is unknown.

    Attributes:
        name: As it was last called.
        stop_signal: Its own, as a number.
        policy: Restart policy.
        image_version: Of its image, by label, else by tag.
        has_person: Somebody ran it at a terminal (`docker run -it`).
    """

    stop_signal: int | None = None
    policy: str | None = None
    image_id: str | None = None
    name: str | None = None
    image_version: str | None = None
    has_person: bool | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the events of an identity tell, before it is cut to windows."""

    runs: tuple[Run, ...]
    exits: tuple[tuple[Run, ExitFacts], ...]
    restarts: tuple[tuple[str, datetime], ...]
    oom_kills: tuple[tuple[str, datetime], ...]
    health_changes: tuple[datetime, ...]
    image_change: ImageChange | None


@dataclass(frozen=True, slots=True)
class Past:
    """What is remembered of an identity, over recreation of its containers.

    Attributes:
        events: Sorted, at most `EVENTS_PER_IDENTITY`.
        restarts_total, oom_kills_total: Never shrink, though events are forgotten.
        counted: Of the events, those that the totals hold.
        containers: By full id.
        last_lines: Of the newest ends that have some: container id and time of the end → log lines.
        journaled_until: Its events until then are in the journal; None when none is.
        late_events: Times of events that became known after later ones were journaled.
        untold: So many events were forgotten before the journal could tell of them.
        timeline: What the events tell, where it was asked for since they changed.
        told_under: The shutdowns that were known then.
    """

    events: tuple[LifecycleEvent, ...] = ()
    restarts_total: int = 0
    oom_kills_total: int = 0
    counted: frozenset[CountedEvent] = frozenset()
    containers: Mapping[str, Configured] = field(default_factory=dict)
    last_lines: Mapping[tuple[str, datetime], tuple[str, ...]] = field(default_factory=dict)
    journaled_until: datetime | None = None
    late_events: frozenset[datetime] = frozenset()
    untold: int = 0
    timeline: Timeline | None = None
    told_under: tuple[Shutdown, ...] = ()

    def circumstances(self, shutdowns: tuple[Shutdown, ...]) -> Circumstances:
        """Return what else is known about its containers."""
        known = self.containers.items()
        return Circumstances(
            {one: configured.stop_signal for one, configured in known if configured.stop_signal is not None},
            {one: configured.policy for one, configured in known if configured.policy is not None},
            shutdowns,
        )


NO_PAST = Past()
"""Of an identity of which nothing is known: one value for all."""
_NO_TIMELINE = Timeline((), (), (), (), (), None)
_UNKNOWN = Configured()


def bare(event: LifecycleEvent) -> LifecycleEvent:
    """Return the event without what is not kept of it: equal to what is loaded from the state file."""
    return LifecycleEvent(
        at=event.at,
        action=event.action,
        container_id=event.container_id,
        name="",
        image=event.image,
        exit_code=event.exit_code if event.action == "die" else None,
        signal=event.signal if event.action == "kill" else None,
        health=event.health if event.action == "health_status" else None,
    )


def find_new(past: Past, events: Iterable[LifecycleEvent]) -> list[LifecycleEvent]:
    """Return, without what is not kept of them, the events that the past does not hold.

    Of a terminal that is resized the first event is kept: it tells that there is one.
    """
    new: list[LifecycleEvent] = []
    for event in map(bare, events):
        is_known = event in new or _is_among(event, past.events)
        if not is_known and not (event.action == "resize" and _has_terminal(event, (*past.events, *new))):
            new.append(event)
    return new


def _has_terminal(event: LifecycleEvent, events: Iterable[LifecycleEvent]) -> bool:
    return any(known.action == "resize" and known.container_id == event.container_id for known in events)


def add_events(past: Past, events: Iterable[LifecycleEvent]) -> Past:
    """Return the past with some events in their places; the same value when all were known."""
    return add_new(past, find_new(past, events))


def add_new(past: Past, new: Sequence[LifecycleEvent]) -> Past:
    """Do the same with events of `find_new`."""
    if not new:
        return past
    ordered = sorted(new, key=order_of)
    if past.events and order_of(ordered[0]) < order_of(past.events[-1]):
        ordered = sorted((*past.events, *ordered), key=order_of)
    else:
        ordered = [*past.events, *ordered]
    past = replace(past, events=tuple(ordered), timeline=None)
    return past if len(ordered) <= HEALTH_EVENTS_PER_IDENTITY else _drop_oldest(past)


def note_late(past: Past, new: Iterable[LifecycleEvent]) -> Past:
    """Return the past with those of some new events noted that the journal would pass over: it has told later ones."""
    until = past.journaled_until
    late = [] if until is None else [event.at for event in new if event.at <= until]
    return replace(past, late_events=past.late_events.union(late)) if late else past


def is_to_be_journaled(past: Past, at: datetime) -> bool:
    """Whether an event of that time is not in the journal yet."""
    return past.journaled_until is None or at > past.journaled_until or at in past.late_events


def _is_among(event: LifecycleEvent, events: Sequence[LifecycleEvent]) -> bool:
    position = bisect_left(events, order_of(event), key=order_of)
    while position < len(events) and events[position].at == event.at:
        if events[position] == event:
            return True
        position += 1
    return False


def _drop_oldest(past: Past) -> Past:
    """Forget the oldest events; they will not be told again, so that they were counted need not be known."""
    beyond = sum(event.action == "health_status" for event in past.events) - HEALTH_EVENTS_PER_IDENTITY
    dropped: list[LifecycleEvent] = []
    kept: list[LifecycleEvent] = []
    for event in past.events:
        is_dropped = event.action == "health_status" and beyond > 0
        beyond -= is_dropped
        (dropped if is_dropped else kept).append(event)
    dropped += kept[:-EVENTS_PER_IDENTITY]
    kept = kept[-EVENTS_PER_IDENTITY:]
    if not dropped:
        return past
    ids = {event.container_id for event in kept}
    gone = {event.container_id for event in dropped} - ids
    return replace(
        past,
        events=tuple(kept),
        untold=past.untold + sum(is_to_be_journaled(past, event.at) for event in dropped),
        counted=past.counted - {counted_as(event) for event in dropped},
        containers={one: configured for one, configured in past.containers.items() if one not in gone},
    )


def counted_as(event: LifecycleEvent) -> CountedEvent:
    """Return under what an event is counted, if it is."""
    return event.container_id, event.at, "oom" if event.action == "oom" else "restart"


def may_be_counted(event: LifecycleEvent) -> bool:
    """Whether an event is of a kind that totals hold: an OOM kill, or a start that may have been a restart."""
    return event.action in ("oom", "start", INFERRED_RESTART)


def configure(past: Past, container: ContainerFacts) -> Past:
    """Return the past with how a container is set up."""
    policy = container.restart_policy
    if policy == "no" and container.restart_count:
        policy = _TAKEN_AWAY
    before = past.containers.get(container.id, _UNKNOWN)
    signal = None if container.stop_signal is None else parse_signal(container.stop_signal)
    after = Configured(
        stop_signal=before.stop_signal if signal is None else signal,
        policy=before.policy if policy is None else policy,
        image_id=before.image_id if container.image_id is None else container.image_id,
        name=container.name,
        image_version=container.image_version,
        has_person=before.has_person if container.has_person is None else container.has_person,
    )
    if after == before:
        return past
    containers = {**past.containers, container.id: after}
    if past.timeline is not None and replace(before, name=after.name) != after:  # more than a new name
        return replace(past, containers=containers, timeline=None)
    return replace(past, containers=containers)


def name_containers(past: Past, events: Iterable[LifecycleEvent]) -> Past:
    """Return the past with what events call its containers."""
    names = {event.container_id: event.name for event in events if event.name}
    new = {
        one: replace(past.containers.get(one, _UNKNOWN), name=name)
        for one, name in names.items()
        if one not in past.containers or past.containers[one].name != name
    }
    return replace(past, containers={**past.containers, **new}) if new else past


def keep_lines(past: Past, container_id: str, at: datetime, lines: tuple[str, ...]) -> Past:
    """Return the past with the last lines before an end; now and then those of all but the newest ends go."""
    kept = {**past.last_lines, (container_id, at): lines}
    if len(kept) > 2 * EXITS_WITH_LINES:
        newest = sorted(kept, key=lambda end: end[1])[-EXITS_WITH_LINES:]
        kept = {end: kept[end] for end in newest}
    return replace(past, last_lines=kept)


def move_events(source: Past, target: Past, container_id: str) -> Past:
    """Return the target with what the source knows of a container that was renamed.

    The source keeps the events, and the journal has them from it, or will: under the name of then.
    """
    moved = [event for event in source.events if event.container_id == container_id]
    if not moved:
        return target
    own = {event.at for event in target.events if is_to_be_journaled(target, event.at)}
    until = max(moved[-1].at, target.journaled_until or moved[-1].at)
    lines = {end: lines for end, lines in source.last_lines.items() if end[0] == container_id}
    return replace(
        add_events(target, moved),
        counted=target.counted | {key for key in source.counted if key[0] == container_id},
        last_lines={**target.last_lines, **lines},
        journaled_until=until,
        late_events=frozenset(at for at in own if at <= until),
    )


def with_timeline(past: Past, shutdowns: tuple[Shutdown, ...]) -> tuple[Past, Timeline]:
    """Return the past with its timeline, and with what it tells added to the totals; they never shrink."""
    if not past.events:
        return past, _NO_TIMELINE
    if past.timeline is not None and past.told_under == shutdowns:
        return past, past.timeline
    timeline = make_timeline(past.events, past, shutdowns)
    return _count(replace(past, timeline=timeline, told_under=shutdowns), timeline), timeline


def make_timeline(events: Iterable[LifecycleEvent], past: Past, shutdowns: tuple[Shutdown, ...]) -> Timeline:
    """Judge sorted events, all or some of an identity's."""
    ordered = list(events)
    if not ordered:
        return _NO_TIMELINE
    circumstances = past.circumstances(shutdowns)
    images = {one: known.image_id for one, known in past.containers.items() if known.image_id is not None}
    versions = {one: known.image_version for one, known in past.containers.items()}
    runs = find_runs(ordered)
    exits = classify_exits(runs, circumstances)
    return Timeline(
        runs=runs,
        exits=exits,
        restarts=find_restarts(exits, runs, ordered, circumstances),
        oom_kills=find_oom_kills(ordered),
        health_changes=find_health_changes(ordered),
        image_change=find_image_change(ordered, images, versions),
    )


def _count(past: Past, timeline: Timeline) -> Past:
    restarts: set[CountedEvent] = {(*key, "restart") for key in timeline.restarts}
    oom_kills: set[CountedEvent] = {(*key, "oom") for key in timeline.oom_kills}
    restarts -= past.counted
    oom_kills -= past.counted
    if not restarts and not oom_kills:
        return past
    return replace(
        past,
        restarts_total=past.restarts_total + len(restarts),
        oom_kills_total=past.oom_kills_total + len(oom_kills),
        counted=past.counted.union(restarts, oom_kills),
    )


def join_pasts(stored: Past, current: Past, *, continues: bool) -> Past:
    """Return what two sources know of one identity.

    Args:
        stored: What a state file holds.
        current: What was seen while it could not be used.
        continues: The current totals went on from the stored ones; else they began at 0, and both are added up but for
            what both have counted.
    """
    joined = add_events(stored, current.events)
    both = stored.counted & current.counted
    restarts = [stored.restarts_total, current.restarts_total]
    oom_kills = [stored.oom_kills_total, current.oom_kills_total]
    twice = sum(kind == "oom" for *_, kind in both)
    end_times = (stored.journaled_until, current.journaled_until)
    return replace(
        joined,
        restarts_total=max(restarts) if continues else sum(restarts) - (len(both) - twice),
        oom_kills_total=max(oom_kills) if continues else sum(oom_kills) - twice,
        counted=stored.counted | current.counted,
        containers={**stored.containers, **current.containers},
        last_lines=dict(chain(stored.last_lines.items(), current.last_lines.items())),
        journaled_until=max((at for at in end_times if at is not None), default=None),
        timeline=None,
    )
