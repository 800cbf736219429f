"""Finds OOM kills that the engine does not report, in the kernel's log and counters, and adds them as `oom` events.

With cgroup v2 and the systemd driver 20 of 25 kills of a main process came with neither flag nor event
(containerd/containerd#8893). The kernel's log names the container. Where the log cannot be read, a container's own
counter shows kills of its child processes. The counter of the slice around all containers remains when a container's
own is gone: it explains the ends by SIGKILL that nobody requested, as long as they are no more than the kills.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bcon_exporter.engine.cgroup import KillCounts
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent

_KILL_CODE = 137
_SIGKILL = 9
_SAME_KILL = timedelta(seconds=5)
_REPORTED_WITHIN = timedelta(seconds=10)
"""Longest delay between the kernel's kill and a busy engine's event; the counter may be read in between."""
_LATE_SHARE = 5e-5
"""Drift of the kernel log's clock, which is never adjusted: some seconds in a day or two."""
_REMEMBERED = timedelta(minutes=2)


@dataclass(slots=True)
class _Death:
    """An end by SIGKILL that nobody requested from the engine; `is_counted` once counted kills explain it."""

    event: LifecycleEvent
    is_counted: bool = False


@dataclass(slots=True)
class _CountedKills:
    """Kills counted between two readings without a known end: in one container, or in any (`container_id` None)."""

    since: datetime
    until: datetime
    kills: int
    container_id: str | None = None

    def may_have_caused(self, death: _Death) -> bool:
        """Return whether these kills may explain the death; an end before the first reading was counted before it."""
        event = death.event
        is_of_it = self.container_id in (None, event.container_id)
        return not death.is_counted and is_of_it and self.since <= event.at <= self.until + _REPORTED_WITHIN


class OomKills:
    """Adds unreported OOM kills to the engine's events; to be used by one thread at a time."""

    def __init__(self) -> None:
        self._counts: KillCounts | None = None
        self._reported: dict[str, list[datetime]] = {}
        self._counted_kills: list[_CountedKills] = []
        self._not_yet_in_slice = 0
        self._deaths: list[_Death] = []
        self._killed: dict[str, datetime] = {}
        self._of_unknown_containers: list[tuple[datetime, str]] = []

    def complete(
        self,
        batch: EventBatch,
        containers: Iterable[ContainerFacts],
        now: datetime,
        *,
        logged: Iterable[tuple[datetime, str]] = (),
        counts: KillCounts | None = None,
    ) -> EventBatch:
        """Return the engine's events with one `oom` event for each kill that it did not report, oldest first.

        Args:
            batch: The engine's events since the last call.
            containers: As they were last read, for their names and times of exit.
            now: When both were read.
            logged: Time and container id of each kill in the kernel's log since the last call.
            counts: The counters as last read; None where they cannot be read.
        """
        facts = {container.id: container for container in containers}
        events = [
            event for event in batch.events if event.action != "oom" or self._is_new(event.container_id, event.at)
        ]
        self._record_deaths(events)
        missing = self._from_log(facts, logged, now)
        own = self._count(counts)
        missing += self._explain_deaths()
        missing += self._report_survivors(own, facts)
        if facts:
            self._forget(now, facts)
        if not missing and len(events) == len(batch.events):
            return batch
        return replace(batch, events=tuple(sorted([*events, *missing], key=lambda event: event.at)))

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
            at = self._match_death_time(container, logged_at, now)
            if self._is_new(container_id, at):
                events.append(_oom_event(container, at))
        return events

    def _match_death_time(self, container: ContainerFacts, logged_at: datetime, now: datetime) -> datetime:
        """Return the engine's time of the end that this kill caused; the log's time when it caused none."""
        ends = [death.event.at for death in self._deaths if death.event.container_id == container.id]
        if not container.is_running and container.finished_at is not None and container.exit_code == _KILL_CODE:
            ends.append(container.finished_at)
        late = _REPORTED_WITHIN + (now - logged_at) * _LATE_SHARE
        return next((at for at in ends if abs(at - logged_at) <= late), logged_at)

    def _count(self, counts: KillCounts | None) -> list[_CountedKills]:
        """Record the kills counted since the last reading; return those in the containers' own counters.

        The slice's counter is read first. A kill between both readings is in the container's counter only, and comes
        into the slice's at the next reading.
        """
        before = self._counts
        if counts is None or counts is before:
            return []
        self._counts = counts
        if before is None:
            return []
        own = [
            _CountedKills(before.read_at, counts.read_at, kills, container_id)
            for container_id, count in counts.own.items()
            if (kills := count - before.own.get(container_id, count)) > 0
        ]
        self._counted_kills += own
        if counts.around:
            kills = sum(count - before.around.get(path, count) for path, count in counts.around.items())
            kills -= sum(counted.kills for counted in own) + self._not_yet_in_slice
            self._not_yet_in_slice = max(0, -kills)
            if kills > 0:
                self._counted_kills.append(_CountedKills(before.read_at, counts.read_at, kills))
        return own

    def _report_survivors(
        self, own: Iterable[_CountedKills], facts: Mapping[str, ContainerFacts]
    ) -> list[LifecycleEvent]:
        """Return an event for each container that still runs and has counted a kill that was not reported."""
        events = []
        for counted in own:
            container = facts.get(counted.container_id or "")
            if container is None or counted.kills == 0:
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
                self._deaths.append(_Death(event))

    def _explain_deaths(self) -> list[LifecycleEvent]:
        events: list[LifecycleEvent] = []
        for counted in sorted(self._counted_kills, key=lambda counted: counted.container_id is None):
            deaths = [death for death in self._deaths if counted.may_have_caused(death)]
            if len(deaths) > counted.kills:
                continue  # at least one of them was killed by somebody else, and which one is unknown
            counted.kills -= len(deaths)
            for death in deaths:
                death.is_counted = True
                if not self._is_reported(death):
                    self._reported.setdefault(death.event.container_id, []).append(death.event.at)
                    events.append(replace(death.event, action="oom", exit_code=None))
        return events

    def _is_reported(self, death: _Death) -> bool:
        """Return whether a reported kill belongs to this end, and not to another end of the same container."""
        container_id, died_at = death.event.container_id, death.event.at
        ends = [other.event.at for other in self._deaths if other.event.container_id == container_id]
        return any(
            abs(died_at - at) <= _REPORTED_WITHIN and min(ends, key=lambda end: abs(end - at)) == died_at
            for at in self._reported.get(container_id, ())
        )

    def _forget(self, now: datetime, facts: Mapping[str, ContainerFacts]) -> None:
        since = now - _REMEMBERED
        self._of_unknown_containers = [kill for kill in self._of_unknown_containers if kill[0] >= since]
        self._counted_kills = [counted for counted in self._counted_kills if counted.until >= since]
        self._deaths = [death for death in self._deaths if death.event.at >= since]
        self._killed = {key: at for key, at in self._killed.items() if at >= since}
        self._reported = {
            key: reported[-8:] for key, reported in self._reported.items() if key in facts or reported[-1] >= since
        }


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
        oneoff=compose.oneoff if compose else False,
    )
