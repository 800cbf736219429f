"""OOM kills that the engine does not tell of, told as its `oom` events: by the kernel's log, and by its counters.

With cgroup v2 and the systemd driver 20 of 25 kills of a main process came with neither flag nor event
(containerd/containerd#8893). The kernel's log names the container. Where it cannot be read, a container's own count
tells of its children; the count of the slice around them all goes on when a container's own is gone, and explains
the ends with SIGKILL that nobody asked for, as long as there are no more of them than kills.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bcon_exporter.docker_host.cgroup import KillCounts
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent

_KILL_CODE = 137
_SIGKILL = 9
_SAME_KILL = timedelta(seconds=5)
_REPORTED_WITHIN = timedelta(seconds=10)
"""A busy engine reports an end so long after the kernel's kill; the counter may have been read in between."""
_LATE_SHARE = 5e-5
"""The kernel's log counts time by a clock that nobody sets right: some seconds in a day or two."""
_REMEMBERED = timedelta(minutes=2)


@dataclass(slots=True)
class _Unexplained:
    """Kills that a slice has counted between two looks, and no container is known for yet."""

    since: datetime
    until: datetime
    kills: int


class OomKills:
    """Adds to what the engine tells; to be used by one thread at a time.

    Args:
        read_log: Time and container of each kill since the last call, as the kernel's log has it.
        read_counts: What the counters said when they were read last; None where they cannot be read.
    """

    def __init__(
        self, read_log: Callable[[], list[tuple[datetime, str]]], read_counts: Callable[[], KillCounts | None]
    ) -> None:
        self._read_log = read_log
        self._read_counts = read_counts
        self._counts: KillCounts | None = None
        self._read_at: datetime | None = None
        self._told: dict[str, list[datetime]] = {}
        self._unexplained: list[_Unexplained] = []
        self._deaths: dict[str, LifecycleEvent] = {}
        self._killed: dict[str, datetime] = {}
        self._of_unknown: list[tuple[datetime, str]] = []

    def complete(self, batch: EventBatch, containers: Iterable[ContainerFacts], now: datetime) -> EventBatch:
        """Return the engine's events with an `oom` of each kill that it has left out, oldest first.

        Args:
            batch: What the engine told since the last call.
            containers: As they were read last: they say whose kill it is, and when it ended.
            now: When both were read.
        """
        facts = {container.id: container for container in containers}
        events = [
            event for event in batch.events if event.action != "oom" or self._is_new(event.container_id, event.at)
        ]
        self._note_deaths(events)
        found = self._from_log(facts, now)
        counts, before, since = self._read_counts(), self._counts, self._read_at
        if counts is not None and counts is not before:
            self._counts, self._read_at = counts, now
            if before is not None and since is not None:
                found += self._from_own_counts(facts, before, counts, since, now)
                self._note_unexplained(before, counts, since, now)
        found += self._explain_deaths()
        if facts:
            self._forget(now, facts)
        if not found and len(events) == len(batch.events):
            return batch
        return replace(batch, events=tuple(sorted([*events, *found], key=lambda event: event.at)))

    def _is_new(self, container_id: str, at: datetime) -> bool:
        """Whether no kill of this container at about this time has been told; from now on it has."""
        told = self._told.setdefault(container_id, [])
        is_new = not any(abs(at - other) <= _SAME_KILL for other in told)
        told.append(at)
        return is_new

    def _from_log(self, facts: Mapping[str, ContainerFacts], now: datetime) -> list[LifecycleEvent]:
        found = []
        kills, self._of_unknown = [*self._of_unknown, *self._read_log()], []
        for logged_at, container_id in kills:
            container = facts.get(container_id)
            if container is None:
                self._of_unknown.append((logged_at, container_id))  # made after the containers were read, or long gone
                continue
            at = self._at_an_end(container, logged_at, now)
            if self._is_new(container_id, at):
                found.append(_oom_event(container, at))
        return found

    def _at_an_end(self, container: ContainerFacts, logged_at: datetime, now: datetime) -> datetime:
        """Return the time of the end that the log means, if it is one: its clock and the engine's differ."""
        death = self._deaths.get(container.id)
        ends = [] if death is None else [death.at]
        if not container.is_running and container.finished_at is not None and container.exit_code == _KILL_CODE:
            ends.append(container.finished_at)
        late = _REPORTED_WITHIN + (now - logged_at) * _LATE_SHARE
        return next((at for at in ends if abs(at - logged_at) <= late), logged_at)

    def _from_own_counts(
        self,
        facts: Mapping[str, ContainerFacts],
        before: KillCounts,
        counts: KillCounts,
        since: datetime,
        now: datetime,
    ) -> list[LifecycleEvent]:
        """Tell of a container that lives on and in which more was killed than is told: once, as of now."""
        if counts.own == before.own:
            return []
        found = []
        for container_id, count in counts.own.items():
            container = facts.get(container_id)
            kills = count - before.own.get(container_id, count)
            told = sum(at >= since - _SAME_KILL for at in self._told.get(container_id, ()))
            if container is not None and kills > 0 and not told:
                self._told.setdefault(container_id, []).append(now)
                found.append(_oom_event(container, now))
        return found

    def _note_deaths(self, events: Iterable[LifecycleEvent]) -> None:
        """Remember the ends by SIGKILL that nobody has asked the engine for."""
        for event in events:
            if event.action == "kill" and event.signal == _SIGKILL:
                self._killed[event.container_id] = event.at
        for event in events:
            if event.action != "die" or event.exit_code != _KILL_CODE:
                continue
            asked_at = self._killed.get(event.container_id)
            if asked_at is None or abs(event.at - asked_at) > _REPORTED_WITHIN:
                self._deaths[event.container_id] = event

    def _note_unexplained(self, before: KillCounts, counts: KillCounts, since: datetime, now: datetime) -> None:
        if counts.around == before.around:
            return
        kills = sum(count - before.around.get(path, count) for path, count in counts.around.items())
        kills -= sum(max(0, count - before.own.get(each, count)) for each, count in counts.own.items())
        if kills > 0:
            self._unexplained.append(_Unexplained(since, now, kills))

    def _explain_deaths(self) -> list[LifecycleEvent]:
        found: list[LifecycleEvent] = []
        for span in self._unexplained:
            within = [each for each in self._deaths.values() if _is_within(each.at, span)]
            silent = [each for each in within if self._is_untold(each)]
            if len(within) > span.kills:
                continue  # somebody else has killed one of them, and nobody knows which
            for death in silent:
                self._told.setdefault(death.container_id, []).append(death.at)
                found.append(replace(death, action="oom", exit_code=None))
        return found

    def _is_untold(self, death: LifecycleEvent) -> bool:
        return not any(abs(death.at - at) <= _REPORTED_WITHIN for at in self._told.get(death.container_id, ()))

    def _forget(self, now: datetime, facts: Mapping[str, ContainerFacts]) -> None:
        since = now - _REMEMBERED
        self._of_unknown = [kill for kill in self._of_unknown if kill[0] >= since]
        self._unexplained = [span for span in self._unexplained if span.until >= since]
        self._deaths = {key: death for key, death in self._deaths.items() if death.at >= since}
        self._killed = {key: at for key, at in self._killed.items() if at >= since}
        self._told = {key: told[-8:] for key, told in self._told.items() if key in facts or told[-1] >= since}


def _is_within(at: datetime, span: _Unexplained) -> bool:
    return span.since - _REPORTED_WITHIN <= at <= span.until + _REPORTED_WITHIN


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
