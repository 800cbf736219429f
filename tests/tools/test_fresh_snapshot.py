"""A host is read between two looks at its events, so that an end seen in the list never stands without its reason."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from bcon_exporter.engine import Wants
from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent
from bcon_exporter.readings import NOTHING_READ, KillReadings, LogWindow, Observation, Readings
from bcon_exporter.tools import observe
from bcon_exporter.tools.replay import SnapshotMemory
from tests.factories import NOON, container, exited, snapshot
from tests.tools.hosts import ScriptedHost, context_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from bcon_exporter.model.container_facts import HostSnapshot


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


class TakingTurns(ScriptedHost):
    """A host that notes what is done with it while it is somebody's turn, and what is not."""

    def __init__(self) -> None:
        super().__init__(snapshot(exited()))
        self.done: list[str] = []
        self.taken = False

    @contextmanager
    def exclusive_access(self, deadline_seconds: float) -> Iterator[None]:  # noqa: ARG002
        self.taken = True
        yield
        self.taken = False

    def note(self, what: str) -> None:
        self.done.append(what if self.taken else f"{what} out of turn")

    def drain_events(self) -> EventBatch:
        self.note("drain")
        return super().drain_events()

    def observe(
        self, now: datetime, deadline_seconds: float, wants: Wants, before: Readings = NOTHING_READ
    ) -> Observation:
        self.note("read")
        return super().observe(now, deadline_seconds, wants, before)


class FoldingInTurn(SnapshotMemory):
    """A past that notes when it folds."""

    def __init__(self, host: TakingTurns) -> None:
        super().__init__()
        self._host = host

    def add_events(self, batch: EventBatch, now: datetime) -> None:  # noqa: ARG002
        self._host.note("fold")

    def look(self, taken: HostSnapshot) -> HostSnapshot:
        self._host.note("look")
        return taken


def test_nobody_takes_events_away_from_who_reads_the_host() -> None:
    host = TakingTurns()

    observe(replace(context_of(), host=host, memory=FoldingInTurn(host)), Wants())

    assert host.done == ["drain", "read", "fold", "drain", "fold", "look"]
