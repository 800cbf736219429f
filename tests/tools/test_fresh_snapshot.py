"""A host is read between two looks at its events, so that an end seen in the list never stands without its reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bcon_exporter.engine import Wants
from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent
from bcon_exporter.tools import observe
from bcon_exporter.tools.replay import SnapshotMemory
from tests.factories import NOON, exited, snapshot
from tests.tools.hosts import ScriptedHost, context_of

if TYPE_CHECKING:
    from datetime import datetime


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
