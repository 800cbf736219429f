"""Finds OOM kills that the engine does not report, in the kernel's log and counters, and adds them as `oom` events.

With cgroup v2 and the systemd driver 20 of 25 kills of a main process came with neither flag nor event
(containerd/containerd#8893). The kernel's log names the container. Where the log cannot be read, a container's own
counter shows kills of its child processes. The counter of the slice around all containers remains when a container's
own is gone: it explains the ends by SIGKILL that nobody requested, as long as they are no more than the kills.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent
from bcon_exporter.readings import KillCounts, KillReadings

_KILL_CODE = 137
_SIGKILL = 9
_SAME_KILL = timedelta(seconds=5)
_REPORTED_WITHIN = timedelta(seconds=10)
"""Longest delay between the kernel's kill and a busy engine's event; the counter may be read in between."""
_LATE_SHARE = 5e-5
"""Drift of the kernel log's clock, which is never adjusted: some seconds in a day or two."""
_REMEMBERED = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Death:
    """An end by SIGKILL that nobody requested from the engine; `is_counted` once counted kills explain it."""

    event: LifecycleEvent
    is_counted: bool = False


@dataclass(frozen=True, slots=True)
class CountedKills:
    """Kills counted between two readings without a known end: in one container, or in any (`container_id` None)."""

    since: datetime
    until: datetime
    kills: int
    container_id: str | None = None

    def may_have_caused(self, death: Death) -> bool:
        """Return whether these kills may explain the death; an end before the first reading was counted before it."""
        event = death.event
        is_of_it = self.container_id in (None, event.container_id)
        return not death.is_counted and is_of_it and self.since <= event.at <= self.until + _REPORTED_WITHIN


@dataclass(frozen=True, slots=True)
class OomMemory:
    """What is remembered of OOM kills, most of it for two minutes.

    Attributes:
        counts: As they were last read.
        reported: When kills of a container were told, by its full id.
        counted_kills: Those that no known end explains yet.
        not_yet_in_slice: Kills that containers have counted, and the slice around them not yet.
        deaths: Ends by SIGKILL that nobody requested.
        killed: When somebody last asked the engine to kill a container, by its full id.
        of_unknown_containers: Kills in the kernel's log, of containers that no scan has read yet.
    """

    counts: KillCounts | None = None
    reported: Mapping[str, tuple[datetime, ...]] = field(default_factory=dict)
    counted_kills: tuple[CountedKills, ...] = ()
    not_yet_in_slice: int = 0
    deaths: tuple[Death, ...] = ()
    killed: Mapping[str, datetime] = field(default_factory=dict)
    of_unknown_containers: tuple[tuple[datetime, str], ...] = ()


def add_unreported_kills(
    memory: OomMemory,
    batch: EventBatch,
    readings: KillReadings,
    now: datetime,
    told_before: Mapping[str, Collection[datetime]] | None = None,
) -> tuple[OomMemory, EventBatch]:
    """Return the memory after it, and the engine's events with one `oom` event for each kill that it did not report.

    Args:
        memory: Of what came before.
        batch: The engine's events since then; they come back oldest first.
        readings: What the kernel says.
        now: When both were read.
        told_before: Times of the kills that an earlier process has told, by full container id.
    """
    search = _Search(memory, told_before or {})
    completed = search.complete(batch, readings, now)
    return search.memory(), completed


class _Search:
    """One fold: the memory's values taken apart, and put together again at the end."""

    def __init__(self, before: OomMemory, told_before: Mapping[str, Collection[datetime]]) -> None:
        self._told_before = told_before
        self._counts = before.counts
        self._reported = {container_id: list(times) for container_id, times in before.reported.items()}
        self._counted_kills = list(before.counted_kills)
        self._not_yet_in_slice = before.not_yet_in_slice
        self._deaths = list(before.deaths)
        self._killed = dict(before.killed)
        self._of_unknown_containers = list(before.of_unknown_containers)

    def memory(self) -> OomMemory:
        """Return what is to be remembered."""
        return OomMemory(
            counts=self._counts,
            reported={container_id: tuple(times) for container_id, times in self._reported.items()},
            counted_kills=tuple(self._counted_kills),
            not_yet_in_slice=self._not_yet_in_slice,
            deaths=tuple(self._deaths),
            killed=self._killed,
            of_unknown_containers=tuple(self._of_unknown_containers),
        )

    def complete(self, batch: EventBatch, readings: KillReadings, now: datetime) -> EventBatch:
        """Return the engine's events with those that it left out."""
        facts = {container.id: container for container in readings.containers}
        events = [event for event in batch.events if event.action != "oom" or self._is_news(event)]
        self._record_deaths(events)
        missing = self._from_log(facts, readings.logged, now)
        has_new_counts = self._count(readings.counts)
        missing += self._explain_deaths()
        if has_new_counts:
            missing += self._report_survivors(facts)
        self._forget(now, facts)
        if not missing and len(events) == len(batch.events):
            return batch
        return replace(batch, events=tuple(sorted([*events, *missing], key=lambda event: event.at)))

    def _is_news(self, event: LifecycleEvent) -> bool:
        """Return whether an engine's event tells of a kill that is not known by another time than the event's."""
        told = self._told_before.get(event.container_id, ())
        is_new = self._is_new(event.container_id, event.at)
        return is_new and (event.at in told or not any(abs(event.at - at) <= _SAME_KILL for at in told))

    def _is_new(self, container_id: str, at: datetime) -> bool:
        """Return whether no kill of this container at about this time was reported before, and record this one."""
        reported = self._reported.setdefault(container_id, [])
        is_new = not any(abs(at - reported_at) <= _SAME_KILL for reported_at in reported)
        reported.append(at)
        return is_new

    def _from_log(
        self, facts: Mapping[str, ContainerFacts], logged: Iterable[tuple[datetime, str]], now: datetime
    ) -> list[LifecycleEvent]:
        events = []
        kills, self._of_unknown_containers = [*self._of_unknown_containers, *logged], []
        for logged_at, container_id in kills:
            container = facts.get(container_id)
            if container is None:
                self._of_unknown_containers.append(
                    (logged_at, container_id)
                )  # made after the containers were read, or long gone
                continue
            if self._was_told_before(container_id, logged_at, now):
                continue
            at = self._match_death_time(container, logged_at, now)
            if self._is_new(container_id, at):
                events.append(_oom_event(container, at))
        return events

    def _was_told_before(self, container_id: str, logged_at: datetime, now: datetime) -> bool:
        """Return whether an earlier process has told a kill, by the engine's time of it or by the log's."""
        late = _lateness(logged_at, now)
        return any(abs(at - logged_at) <= late for at in self._told_before.get(container_id, ()))

    def _match_death_time(self, container: ContainerFacts, logged_at: datetime, now: datetime) -> datetime:
        """Return the engine's time of the end that this kill caused; the log's time when it caused none."""
        ends = [death.event.at for death in self._deaths if death.event.container_id == container.id]
        if not container.is_running and container.finished_at is not None and container.exit_code == _KILL_CODE:
            ends.append(container.finished_at)
        late = _lateness(logged_at, now)
        return next((at for at in ends if abs(at - logged_at) <= late), logged_at)

    def _count(self, counts: KillCounts | None) -> bool:
        """Record the kills counted since the last reading; return whether there was one to compare with.

        The slice's counter is read first. A kill between both readings is in the container's counter only, and comes
        into the slice's at the next reading.
        """
        before = self._counts
        if counts is None or (before is not None and counts.number <= before.number):
            return False
        self._counts = counts
        if before is None:
            return False
        own = [
            CountedKills(before.read_at, counts.read_at, kills, container_id)
            for container_id, count in counts.own.items()
            if (kills := count - before.own.get(container_id, count)) > 0
        ]
        self._counted_kills += own
        if counts.around:
            kills = sum(count - before.around.get(path, count) for path, count in counts.around.items())
            kills -= sum(counted.kills for counted in own) + self._not_yet_in_slice
            self._not_yet_in_slice = max(0, -kills)
            if kills > 0:
                self._counted_kills.append(CountedKills(before.read_at, counts.read_at, kills))
        return True

    def _report_survivors(self, facts: Mapping[str, ContainerFacts]) -> list[LifecycleEvent]:
        """Return an event for each container that has just counted a kill that was not reported."""
        events = []
        for counted in self._counted_kills:
            container = facts.get(counted.container_id or "")
            if container is None or counted.kills == 0 or self._counts is None or counted.until < self._counts.read_at:
                continue
            reported = self._reported.setdefault(container.id, [])
            if not any(at >= counted.since - _SAME_KILL for at in reported):
                reported.append(counted.until)
                events.append(_oom_event(container, counted.until))
        return events

    def _record_deaths(self, events: Iterable[LifecycleEvent]) -> None:
        """Record the ends by SIGKILL that nobody requested from the engine."""
        for event in events:
            if event.action == "kill" and event.signal == _SIGKILL:
                self._killed[event.container_id] = event.at
        for event in events:
            if event.action != "die" or event.exit_code != _KILL_CODE:
                continue
            killed_at = self._killed.get(event.container_id)
            if killed_at is None or abs(event.at - killed_at) > _REPORTED_WITHIN:
                self._deaths.append(Death(event))

    def _explain_deaths(self) -> list[LifecycleEvent]:
        events: list[LifecycleEvent] = []
        kills, self._counted_kills = sorted(self._counted_kills, key=lambda counted: counted.container_id is None), []
        for counted in kills:
            places = [at for at, death in enumerate(self._deaths) if counted.may_have_caused(death)]
            if len(places) > counted.kills:
                # at least one of them was killed by somebody else, and which one is unknown
                self._counted_kills.append(counted)
                continue
            self._counted_kills.append(replace(counted, kills=counted.kills - len(places)))
            for at in places:
                death = self._deaths[at] = replace(self._deaths[at], is_counted=True)
                if not self._is_reported(death):
                    self._reported.setdefault(death.event.container_id, []).append(death.event.at)
                    events.append(replace(death.event, action="oom", exit_code=None))
        return events

    def _is_reported(self, death: Death) -> bool:
        """Return whether a reported kill belongs to this end, and not to another end of the same container."""
        container_id, died_at = death.event.container_id, death.event.at
        ends = [other.event.at for other in self._deaths if other.event.container_id == container_id]
        return any(
            abs(died_at - at) <= _REPORTED_WITHIN and min(ends, key=lambda end: abs(end - at)) == died_at
            for at in self._reported.get(container_id, ())
        )

    def _forget(self, now: datetime, facts: Mapping[str, ContainerFacts]) -> None:
        since = now - _REMEMBERED
        if facts:  # before the first scan every container is unknown
            self._of_unknown_containers = [kill for kill in self._of_unknown_containers if kill[0] >= since]
        self._counted_kills = [counted for counted in self._counted_kills if counted.until >= since]
        self._deaths = [death for death in self._deaths if death.event.at >= since]
        self._killed = {key: at for key, at in self._killed.items() if at >= since}
        # A kill that waits for its container is compared with all that was told of it.
        waiting = {container_id for _, container_id in self._of_unknown_containers}
        self._reported = {
            key: reported if key in waiting else reported[-8:]
            for key, reported in self._reported.items()
            if key in facts or key in waiting or reported[-1] >= since
        }


def _lateness(logged_at: datetime, now: datetime) -> timedelta:
    """Return by how much the log's time of a kill and the engine's may differ."""
    return _REPORTED_WITHIN + (now - logged_at) * _LATE_SHARE


def _oom_event(container: ContainerFacts, at: datetime) -> LifecycleEvent:
    compose = container.compose
    return LifecycleEvent(
        at=at,
        action="oom",
        container_id=container.id,
        name=container.name,
        image=container.image,
        project=compose.project if compose else None,
        service=compose.service if compose else None,
        number=compose.number if compose else None,
        oneoff=compose is not None and not compose.is_replica,
    )
