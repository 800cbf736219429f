"""What is remembered from scan to scan, as one frozen value, and how an observation is folded into it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from bcon_exporter.memory.config_changes import SeenConfig
from bcon_exporter.memory.deployments import Deployments
from bcon_exporter.memory.disk_usage import DiskMemory
from bcon_exporter.memory.engine_stops import date_shutdowns
from bcon_exporter.memory.event_coverage import (
    Coverage,
    cover,
    decide_breaks,
    is_bridged,
    known_since,
    note_engine_start,
)
from bcon_exporter.memory.identity import identity_of, identity_of_event
from bcon_exporter.memory.journal_entries import has_events_to_journal
from bcon_exporter.memory.lifecycle_facts import HOUR, KnownLifecycle, ScanKnowledge, find_lifecycle
from bcon_exporter.memory.log_counts import LogCounts
from bcon_exporter.memory.lost_restarts import CountedContainer, Missing, find_missing, infer_restarts
from bcon_exporter.memory.memory_tracks import MemoryTrack, follow_all, growth_of
from bcon_exporter.memory.oom_kills import OomMemory, add_unreported_kills
from bcon_exporter.memory.repetitions import Repetitions
from bcon_exporter.memory.timeline import (
    KEPT_ACTIONS,
    NO_PAST,
    Past,
    add_events,
    add_new,
    configure,
    counted_as,
    find_new,
    move_events,
    name_containers,
    note_late,
)
from bcon_exporter.memory.usage_slots import OpenSlot
from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot, UsageFacts
from bcon_exporter.model.disk import DiskKind
from bcon_exporter.model.hysteresis import HoldState
from bcon_exporter.model.incidents import IncidentState
from bcon_exporter.model.lifecycle import EventBatch, FailedRun, LifecycleEvent
from bcon_exporter.model.messages import ReceiverState
from bcon_exporter.model.notes import NoteBook
from bcon_exporter.model.quiet import Quiet
from bcon_exporter.readings import KillReadings, Readings

FindingKind = Literal["symptom", "drift", "explained"]


@dataclass(frozen=True, slots=True)
class LossCheck:
    """Events have been lost: the next two snapshots tell by the restart counts what is missing.

    Attributes:
        began_at: Since when events may be lost.
        ended_at: From when on all are known; None where the last start may still lie in the gap.
        missing: What the first snapshot after it has shown; None before it.
    """

    began_at: datetime
    ended_at: datetime | None = None
    missing: tuple[Missing, ...] | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """All that is carried from one scan to the next.

    Attributes:
        journaled: What of the coverage the journal has told.
        pasts: By identity (see `identity_of`): of containers that are there, and of others as far as they were needed.
        identities: By full container id.
        configs: The newest configuration, by identity; of this process alone.
        counted: Restart counts by full container id.
        readings: What logs and usage are read on from: cursors, kept lines, samples.
        oom: Of the kernel's kills, to tell each once.
        last_usage: Newest usage by full container id, also of containers that run no more.
        memory_tracks: How their working sets went over their runs, by full container id.
        usage_slot: What containers used in the five minutes that go on.
        first_seen: Since when a symptom, a difference or an explanation has been there, by kind and key.
        log_counts: Events in logs by level, and up to which line they are counted.
        hysteresis: Symptoms that are held, and what was said of them.
        failed_runs: Of the last day; see `FailedRun`.
        repetitions: What the journal counts of the hours that go on.
        engine_name: Of the host, as the engine calls itself; empty before the first scan.
        deployments: Which were seen, and the last verdict of each project; the journal has the verdicts.
        incidents: The open ones.
        quiets: What people have muted.
        notes: What people know; pending ones wait for a person. No judgement heeds them.
        messages: What each receiver of messages has been told, by its name.
        disk: Who fills the disk, and how fast.
        alerts: State of the alerts as their judge wrote it; None before the first.
        lifecycles: Facts by full container id, to be used again as long as they hold.
    """

    coverage: Coverage = field(default_factory=Coverage)
    journaled: Coverage = field(default_factory=Coverage)
    pasts: Mapping[str, Past] = field(default_factory=dict)
    identities: Mapping[str, str] = field(default_factory=dict)
    configs: Mapping[str, SeenConfig] = field(default_factory=dict)
    counted: Mapping[str, CountedContainer] = field(default_factory=dict)
    readings: Readings = field(default_factory=Readings)
    oom: OomMemory = field(default_factory=OomMemory)
    last_usage: Mapping[str, UsageFacts] = field(default_factory=dict)
    memory_tracks: Mapping[str, MemoryTrack] = field(default_factory=dict)
    usage_slot: OpenSlot = field(default_factory=OpenSlot)
    first_seen: Mapping[FindingKind, Mapping[str, datetime]] = field(default_factory=dict)
    log_counts: LogCounts = field(default_factory=LogCounts)
    hysteresis: HoldState = field(default_factory=HoldState)
    deployments: Deployments = field(default_factory=Deployments)
    incidents: IncidentState = field(default_factory=IncidentState)
    quiets: tuple[Quiet, ...] = ()
    notes: NoteBook = field(default_factory=NoteBook)
    messages: Mapping[str, ReceiverState] = field(default_factory=dict)
    disk: DiskMemory = field(default_factory=DiskMemory)
    alerts: str | None = None
    failed_runs: tuple[FailedRun, ...] = ()
    repetitions: Repetitions = field(default_factory=Repetitions)
    engine_name: str = ""
    loss_check: LossCheck | None = None
    lifecycles: Mapping[str, KnownLifecycle] = field(default_factory=dict)


def find_named(memory: Memory, events: Iterable[LifecycleEvent]) -> set[str]:
    """Return the identities that events are about, also those that a renamed container leaves."""
    named: set[str] = set()
    for event in events:
        identity = _identify(event, memory.identities)
        named.update(one for one in (identity, memory.identities.get(event.container_id)) if one is not None)
    return named


def _identify(event: LifecycleEvent, identities: Mapping[str, str]) -> str | None:
    return identity_of_event(event) if event.name or event.project else identities.get(event.container_id)


def find_killed(memory: Memory, events: Iterable[LifecycleEvent], readings: KillReadings) -> dict[str, set[str]]:
    """Return the containers of which kills are told now, each with the identities whose pasts may know of these."""
    ooms = [event for event in events if event.action == "oom"]
    logged = (*memory.oom.of_unknown_containers, *readings.logged)
    killed: dict[str, set[str]] = {one: set() for one in (*(e.container_id for e in ooms), *(one for _, one in logged))}
    if not killed:
        return killed
    owners = [(event.container_id, _identify(event, memory.identities)) for event in ooms]
    owners += [(one, memory.identities.get(one)) for one in killed]
    owners += [(container.id, identity_of(container)) for container in readings.containers if container.id in killed]
    for container_id, identity in owners:
        if identity is not None:
            killed[container_id].add(identity)
    return killed


def observe_kills(
    memory: Memory, batch: EventBatch, readings: KillReadings, now: datetime, seen_before: datetime | None
) -> tuple[Memory, EventBatch]:
    """Return the memory with what the kernel says of OOM kills, and the events with those that the engine left out.

    Args:
        memory: Before it, with the pasts of `find_killed`.
        batch: The engine's events.
        readings: What the kernel says: after a start, all that it still holds.
        now: When both were read.
        seen_before: Until when an earlier process has told of kills; None when there was none.
    """
    told = {} if seen_before is None else _find_told(memory, find_killed(memory, batch.events, readings), seen_before)
    oom, completed = add_unreported_kills(memory.oom, batch, readings, now, told)
    return replace(memory, oom=oom), completed


def _find_told(memory: Memory, killed: Mapping[str, Iterable[str]], until: datetime) -> dict[str, list[datetime]]:
    """Return the times of the kills that the pasts hold, by full container id."""
    return {
        container_id: [
            event.at
            for identity in identities
            for event in _past(memory.pasts, identity).events
            if event.action == "oom" and event.container_id == container_id and event.at <= until
        ]
        for container_id, identities in killed.items()
    }


def observe_events(memory: Memory, batch: EventBatch, now: datetime) -> Memory:
    """Return the memory with new events, whatever their order; what is known already is not kept twice."""
    pasts, identities = dict(memory.pasts), dict(memory.identities)
    waiting: dict[str, list[LifecycleEvent]] = {}
    overlaps = False
    for event in batch.events:
        identity = _identify(event, identities)
        if event.action not in KEPT_ACTIONS or identity is None:
            continue
        before = identities.get(event.container_id)
        if event.action == "rename" and before not in (None, identity):
            overlaps = _add_all(pasts, waiting) or overlaps
            pasts[identity] = move_events(_past(pasts, before), _past(pasts, identity), event.container_id)
        identities[event.container_id] = identity
        waiting.setdefault(identity, []).append(event)
    overlaps = _add_all(pasts, waiting) or overlaps
    coverage, lost = cover(memory.coverage, batch, now, overlaps=overlaps)
    before_batch, check = memory.coverage.observed_until, memory.loss_check
    if before_batch is None and batch.covers_since is not None:
        # The engine remembers 256 events; a container that is younger than an hour has counted the others.
        check = LossCheck(now - HOUR, batch.covers_since)
    elif lost and before_batch is not None:
        check = LossCheck(before_batch)
    return replace(memory, pasts=pasts, identities=identities, coverage=coverage, loss_check=check)


def _past(pasts: Mapping[str, Past], identity: str | None) -> Past:
    return pasts.get(identity or "") or NO_PAST


def _add_all(pasts: dict[str, Past], waiting: dict[str, list[LifecycleEvent]]) -> bool:
    """Add the events that wait, by identity; return whether one of them was known."""
    overlaps = False
    for identity, events in waiting.items():
        past = _past(pasts, identity)
        new = find_new(past, events)
        overlaps = overlaps or len(new) < len(events)
        pasts[identity] = name_containers(note_late(add_new(past, new), new), events)
    waiting.clear()
    return overlaps


def observe_snapshot(
    memory: Memory, snapshot: HostSnapshot, readings: Readings | None = None
) -> tuple[Memory, HostSnapshot]:
    """Return the memory with a snapshot folded in, and the snapshot with each container's lifecycle and last usage.

    Only a snapshot of the whole host tells of its shutdowns, of restarts that no event told, and of who is gone.

    Args:
        memory: Before it.
        snapshot: What was seen.
        readings: What the next one reads logs and usage on from; None to go on from the same.
    """
    if readings is not None:
        memory = replace(memory, readings=readings)
    now, containers = snapshot.taken_at, snapshot.containers
    if not snapshot.partial:
        coverage = note_engine_start(memory.coverage, snapshot.engine_started_at)
        decided = decide_breaks(coverage, containers, now, snapshot.engine_started_at)
        dated = date_shutdowns(memory.coverage.shutdowns, decided.shutdowns, memory.pasts, containers)
        memory = replace(
            memory, coverage=replace(decided, shutdowns=dated) if dated is not decided.shutdowns else decided
        )
        memory = _infer_lost_restarts(memory, containers)
    if snapshot.engine is not None:
        memory = replace(memory, engine_name=snapshot.engine.name)
    memory, filled = _find_lifecycles(memory, containers, now, partial=snapshot.partial)
    filled = [_with_log_growth(_with_last_usage(container, memory.last_usage), memory.disk) for container in filled]
    filled = [_with_memory_growth(container, memory.memory_tracks) for container in filled]
    if not snapshot.partial:
        memory = _note_containers(memory, containers)
    return memory, snapshot.model_copy(update={"containers": tuple(filled)})


def _infer_lost_restarts(memory: Memory, containers: Sequence[ContainerFacts]) -> Memory:
    """Add the restarts that a gap has swallowed.

    The first snapshot after a gap says what is missing. Events of its last restarts may still be under way, so what
    they do not tell is inferred at the second.
    """
    check = memory.loss_check
    if check is None:
        return memory
    if check.missing is None:
        missing = find_missing(containers, memory.counted, check.began_at)
        return replace(memory, loss_check=replace(check, missing=missing))
    pasts = dict(memory.pasts)
    for missing_restarts in check.missing:
        past = _past(pasts, missing_restarts.identity)
        own = [event for event in past.events if event.container_id == missing_restarts.container_id]
        told = [event.at for event in own if event.action == "start"]
        inferred = infer_restarts(missing_restarts, told, check.began_at, check.ended_at)
        if check.ended_at is not None:
            # A total that took in, a scan later, what happened before the first would tell of restarts just now.
            past = replace(past, counted=past.counted.union(map(counted_as, inferred)))
        pasts[missing_restarts.identity] = add_events(past, inferred)
    return replace(memory, pasts=pasts, loss_check=None)


def _find_lifecycles(
    memory: Memory, containers: Sequence[ContainerFacts], now: datetime, *, partial: bool
) -> tuple[Memory, list[ContainerFacts]]:
    identities = [identity_of(container) for container in containers]
    claims = {one: memory.identities[one] for one in memory.lifecycles if one in memory.identities} if partial else {}
    claims.update(zip((container.id for container in containers), identities, strict=True))
    holders: dict[str, list[str]] = {}
    for container_id, identity in claims.items():
        holders.setdefault(identity, []).append(container_id)
    pasts, lifecycles = dict(memory.pasts), dict(memory.lifecycles) if partial else {}
    for container, identity in zip(containers, identities, strict=True):
        pasts[identity] = configure(_past(pasts, identity), container)
    since, gaps = known_since(memory.coverage, now)
    filled = []
    for container, identity in zip(containers, identities, strict=True):
        around = ScanKnowledge(
            now=now,
            shutdowns=memory.coverage.shutdowns,
            since=since,
            is_observed=memory.coverage.observed_since is not None,
            complete=all(is_bridged(container, gap) for gap in gaps),
            rivals=tuple(other for other in holders[identity] if other != container.id),
        )
        pasts[identity], known = find_lifecycle(pasts[identity], container, around, memory.lifecycles.get(container.id))
        lifecycles[container.id] = known
        filled.append(container.model_copy(update={"lifecycle": known.facts}))
    return replace(memory, pasts=pasts, lifecycles=lifecycles), filled


def _with_last_usage(container: ContainerFacts, last_usage: Mapping[str, UsageFacts]) -> ContainerFacts:
    last = last_usage.get(container.id)
    if container.usage is not None or last is None:
        return container
    return container.model_copy(update={"last_usage": last})


def _with_memory_growth(container: ContainerFacts, tracks: Mapping[str, MemoryTrack]) -> ContainerFacts:
    growth = growth_of(tracks.get(container.id))
    return container if growth is None else container.model_copy(update={"memory_growth": growth})


def _with_log_growth(container: ContainerFacts, disk: DiskMemory) -> ContainerFacts:
    growth = disk.growth_of(DiskKind.LOG, container.id) if container.log_is_bounded is False else None
    return container if growth is None else container.model_copy(update={"log_growth": growth})


def _note_containers(memory: Memory, containers: Sequence[ContainerFacts]) -> Memory:
    """Keep what the snapshot itself tells: identities, restart counts, usage; forget them of who is gone."""
    last_usage = {one.id: memory.last_usage[one.id] for one in containers if one.id in memory.last_usage}
    last_usage.update({one.id: one.usage for one in containers if one.usage is not None and not one.usage.stale})
    counted = {}
    for container in containers:
        current = CountedContainer(container.restart_count, container.started_at)
        before = memory.counted.get(container.id)
        counted[container.id] = before if before == current else current
    return replace(
        memory,
        identities={container.id: identity_of(container) for container in containers},
        counted=counted,
        last_usage=last_usage,
        memory_tracks=follow_all(memory.memory_tracks, containers),
    )


def conclude_first_seen(
    memory: Memory, kind: FindingKind, present: Collection[str], now: datetime
) -> tuple[Memory, dict[str, datetime]]:
    """Return the memory, and since when each present key has been there without a break; absent keys are forgotten."""
    before = memory.first_seen.get(kind, {})
    after = {key: before.get(key, now) for key in sorted(present)}
    if after != before:
        memory = replace(memory, first_seen={**memory.first_seen, kind: after})
    return memory, {key: min(at, now) for key, at in after.items()}


def forget_absent(memory: Memory) -> Memory:
    """Let go of the pasts that no container has any more, and of which the journal has all."""
    held = set(memory.identities.values())
    pasts = {
        identity: past for identity, past in memory.pasts.items() if identity in held or has_events_to_journal(past)
    }
    return memory if len(pasts) == len(memory.pasts) else replace(memory, pasts=pasts)
