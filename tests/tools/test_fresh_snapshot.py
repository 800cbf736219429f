"""A host is read between two looks at its events, so that an end seen in the list never stands without its reason."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.engine import Wants
from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent
from bcon_exporter.readings import NOTHING_READ, KillReadings, LogWindow, Observation, Readings
from bcon_exporter.tools import observe
from bcon_exporter.tools.replay import SnapshotMemory
from tests.factories import NOON, ago, container, exited, snapshot
from tests.tools.hosts import ScriptedHost, context_of

if TYPE_CHECKING:
    from datetime import datetime

    from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot


class Heard(SnapshotMemory):
    """A past that notes the actions it is told."""

    def __init__(self) -> None:
        self.actions: list[str] = []

    def add_events(self, batch: EventBatch, now: datetime) -> None:  # noqa: ARG002
        self.actions += [event.action for event in batch.events]


class StoppedMeanwhile(ScriptedHost):
    """A host on which somebody stops a container just before it is listed."""

    def drain_events(self) -> EventBatch:
        super().drain_events()
        happened = ("kill", "die", "stop") if self.wants else ()
        events = tuple(LifecycleEvent(at=NOON, action=action, container_id="a" * 64, name="api") for action in happened)
        return EventBatch(events=events, covers_since=NOON)


def test_a_stop_that_falls_between_events_and_list_is_known_before_the_snapshot_is_judged() -> None:
    past = Heard()
    context = replace(context_of(), host=StoppedMeanwhile(snapshot(exited())), memory=past)

    observe(context, Wants())

    assert past.actions == ["kill", "die", "stop"]


def test_events_that_cannot_be_had_are_asked_for_once_and_said() -> None:
    host = ScriptedHost(snapshot(exited()))
    host.drain_error = DockerConnectionError("the stream is cut")

    seen = observe(replace(context_of(), host=host), Wants())

    assert seen.unread["events"] == "the stream is cut"


class ToldLate(ScriptedHost):
    """A host whose engine tells of an end so many waits after it has listed it."""

    def __init__(
        self, facts: HostSnapshot, actions: tuple[str, ...], *, after_waits: int, is_live: bool = True
    ) -> None:
        super().__init__(facts)
        self.actions, self.after_waits, self.is_live, self.waits = actions, after_waits, is_live, 0

    def now(self) -> datetime:
        return ago(-0.1 * self.waits)

    def wait_for_events(self, seconds: float) -> bool:  # noqa: ARG002
        self.waits += 1
        return self.is_live and self.waits < 50

    def drain_events(self) -> EventBatch:
        actions, at = ("start", *self.actions) if self.waits >= self.after_waits else (), ago(0.2)
        events = tuple(
            LifecycleEvent(
                at=ago(300) if action == "start" else at,
                action=action,
                container_id="a" * 64,
                name="api",
                exit_code=137 if action == "die" else None,
                signal=9 if action == "kill" else None,
            )
            for action in actions
        )
        return EventBatch(events=events, covers_since=ago(days=1))


def look_at(host: ToldLate) -> ContainerFacts:
    """Return the container as it is observed."""
    with closing(MemoryKeeper.open(None, retention_seconds=60, now=NOON)) as memory:
        (seen,) = observe(replace(context_of(), host=host, memory=memory, now=host.now), Wants()).containers
    return seen


def ended_at(seconds_ago: float) -> HostSnapshot:
    """A host whose only container was killed."""
    return snapshot(exited(137, seconds_ago=seconds_ago, name="api", id="a" * 64, lifecycle=None))


@pytest.mark.parametrize("last", ["stop", "destroy"])
def test_the_events_of_an_end_that_the_engine_lists_before_it_tells_of_it_are_waited_for(last: str) -> None:
    host = ToldLate(ended_at(0.2), ("kill", "die", last), after_waits=2)

    seen = look_at(host)

    assert seen.lifecycle is not None
    assert [end.requested for end in seen.lifecycle.exits] == [True]
    assert host.waits == 2


def test_a_crash_is_one_as_soon_as_it_is_told() -> None:
    host = ToldLate(ended_at(0.2), ("die",), after_waits=1)

    seen = look_at(host)

    assert seen.lifecycle is not None
    assert [(end.requested, end.killed) for end in seen.lifecycle.exits] == [(False, False)]
    assert host.waits == 1


def test_what_follows_a_kill_is_waited_for_until_a_second_after_the_end() -> None:
    host = ToldLate(ended_at(0.2), ("kill", "die"), after_waits=0)

    seen = look_at(host)

    assert seen.lifecycle is not None
    assert [(end.requested, end.killed) for end in seen.lifecycle.exits] == [(False, True)]
    assert host.waits == 9


@pytest.mark.parametrize(
    ("seconds_ago", "is_live", "waits"), [(1.1, True, 0), (0.2, False, 1)], ids=["long ago", "stream is down"]
)
def test_nothing_is_waited_for_that_will_not_come(seconds_ago: float, is_live: bool, waits: int) -> None:
    host = ToldLate(ended_at(seconds_ago), ("die",), after_waits=9, is_live=is_live)

    look_at(host)

    assert host.waits == waits


def test_events_are_waited_for_no_longer_than_a_scan_may_take() -> None:
    host = ToldLate(ended_at(0.2), (), after_waits=1)
    clock = iter(range(100))

    observe(replace(context_of(), host=host, monotonic=lambda: next(clock)), Wants(), deadline_seconds=3)

    assert host.waits == 2


class ReadOn(ScriptedHost):
    """A host that counts its readings in what it reads on from; nothing is carried on where nothing was read."""

    def __init__(self) -> None:
        super().__init__(snapshot(exited()))
        self.begun_at: list[int | None] = []

    def observe(
        self, now: datetime, deadline_seconds: float, wants: Wants, before: Readings = NOTHING_READ
    ) -> Observation:
        seen = super().observe(now, deadline_seconds, wants, before).snapshot
        cursor = before.logs["a"].cursor if "a" in before.logs else None
        self.begun_at.append(cursor)
        readings = Readings(logs={"a": LogWindow(cursor=(cursor or 0) + 1)})
        return Observation(seen, readings if wants.logs else None)


def test_only_a_scheduled_scan_that_reads_logs_or_usage_moves_what_the_next_reads_on_from() -> None:
    host = ReadOn()
    with closing(MemoryKeeper.open(None, retention_seconds=60, now=NOON)) as memory:
        context = replace(context_of(), host=host, memory=memory)
        observe(context, Wants(), remember=True)
        observe(context, Wants())
        observe(context, Wants(logs=False, usage=False), remember=True)
        observe(context, Wants(), remember=True)
        observe(context, Wants())

    assert host.begun_at == [None, 1, 1, 1, 2]


class Killing(ScriptedHost):
    """A host whose kernel has killed a process of a container each time that it is asked."""

    def read_kills(self) -> KillReadings:
        return KillReadings(logged=((NOON, "a" * 64),), containers=(container(name="api"),))


class Listed(Heard):
    """A past that also notes how many kills it is told, and knows of each."""

    def add_kills(self, batch: EventBatch, kills: KillReadings, now: datetime) -> EventBatch:  # noqa: ARG002
        killed = LifecycleEvent(at=NOON, action="oom", container_id="a" * 64, name="api", image="api:1")
        return replace(batch, events=(*batch.events, killed))


def test_kills_are_looked_for_as_soon_as_events_are_taken_and_never_by_who_only_replays() -> None:
    past = Listed()
    observe(replace(context_of(), host=Killing(snapshot(exited())), memory=past), Wants())
    assert past.actions == ["oom", "oom"]

    past = Listed()
    observe(replace(context_of(), host=ScriptedHost(snapshot(exited())), memory=past), Wants())
    assert past.actions == []
