"""Contexts for the tests of tools: a host that replays a snapshot, and ways to break it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.engine import RequestCounts, Wants
from bcon_exporter.latest_scans import LatestScans
from bcon_exporter.readings import NOTHING_READ, Observation, Readings
from bcon_exporter.tools import Context
from bcon_exporter.tools.replay import SnapshotCompose, SnapshotHost, SnapshotMemory
from tests.factories import NOON, container, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bcon_exporter.engine import EndpointCounts
    from bcon_exporter.model.container_facts import HostSnapshot
    from bcon_exporter.model.lifecycle import EventBatch
    from bcon_exporter.model.reports import CostEntry


class Ledger(SnapshotMemory):
    """A past that keeps the cost entries it is given."""

    def __init__(self) -> None:
        self.entries: list[CostEntry] = []

    def record_cost(self, entry: CostEntry) -> None:
        self.entries.append(entry)

    def costs(self, since: datetime, until: datetime) -> tuple[CostEntry, ...]:
        return tuple(entry for entry in self.entries if since <= entry.timestamp <= until)


class ScriptedHost(SnapshotHost):
    """A replayed host whose reads can be made to fail or to wait, and are counted."""

    def __init__(self, facts: HostSnapshot, before_snapshot: Callable[[], None] = lambda: None) -> None:
        super().__init__(facts)
        self.before_snapshot = before_snapshot
        self.wants: list[Wants] = []
        self.drain_error: Exception | None = None

    def observe(
        self, now: datetime, deadline_seconds: float, wants: Wants, before: Readings = NOTHING_READ
    ) -> Observation:
        self.wants.append(wants)
        self.before_snapshot()
        return super().observe(now, deadline_seconds, wants, before)

    def drain_events(self) -> EventBatch:
        if self.drain_error is not None:
            raise self.drain_error
        return super().drain_events()

    def requests(self) -> RequestCounts:
        return RequestCounts(endpoints={"list": counts_of(len(self.wants))})


def counts_of(requests: int) -> EndpointCounts:
    """Return counts of one endpoint that only its number of requests matters of."""
    from bcon_exporter.engine import DURATION_BUCKETS_SECONDS, EndpointCounts

    return EndpointCounts(
        requests=requests, failures=0, seconds=0.0, buckets=(0,) * (len(DURATION_BUCKETS_SECONDS) + 1)
    )


def context_of(facts: HostSnapshot | None = None, **parts: Any) -> Context:
    """Return a context that replays the facts, of one healthy container named api unless told."""
    facts = facts or snapshot(container())
    made = Context(
        host=SnapshotHost(facts),
        memory=SnapshotMemory(),
        compose=SnapshotCompose(facts),
        catalogue=load_catalogue(),
        scans=LatestScans(),
        now=lambda: NOON,
    )
    return replace(made, **parts)
