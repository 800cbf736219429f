"""Feeds a keeper as the scan does: events, then a snapshot."""

import contextlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.container_facts import ContainerFacts, EngineFacts, HostSnapshot
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent, LifecycleFacts
from tests import factories
from tests.factories import NOON, ago, full_id
from tests.left_open import close_later

RETENTION_SECONDS = 32 * 86400.0


def open_keeper(path: Path | None = None, *, now: datetime = NOON, read_only: bool = False) -> MemoryKeeper:
    """Open a keeper with the default retention; a daemon that had this file before has died without closing it."""
    if path is not None and not read_only:
        with contextlib.suppress(NotADirectoryError):
            path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
    return open_beside(path, now=now, read_only=read_only)


def open_beside(path: Path | None, *, now: datetime = NOON, read_only: bool = False) -> MemoryKeeper:
    """Open a keeper while another daemon may have the file."""
    return close_later(MemoryKeeper.open(path, retention_seconds=RETENTION_SECONDS, now=now, read_only=read_only))


def event(at: datetime, action: str, name: str = "api", **fields: Any) -> LifecycleEvent:
    """An event of the container of this name, that `container(name=...)` makes."""
    return LifecycleEvent(**{"at": at, "action": action, "container_id": full_id(name), "name": name, **fields})


def batch(*events: LifecycleEvent, since: datetime | None = None, **fields: Any) -> EventBatch:
    """What the stream brought; it covers the last day unless told."""
    return EventBatch(events=events, covers_since=since or ago(days=1), **fields)


def container(**facts: Any) -> ContainerFacts:
    """A container that runs under a restart policy, with nothing known of its past."""
    return factories.container(**{"restart_policy": "always", "lifecycle": None, "usage": None, "logs": None, **facts})


def scan(
    keeper: MemoryKeeper, *containers: ContainerFacts, now: datetime = NOON, engine_started_at: datetime | None = None
) -> HostSnapshot:
    """Fold in a snapshot of these containers."""
    engine = None
    if engine_started_at is not None:
        engine = EngineFacts(name="h", server_version="28", api_version="1.51", started_at=engine_started_at)
    return keeper.observe(HostSnapshot(taken_at=now, containers=containers, engine=engine))


def past_of(keeper: MemoryKeeper, seen: ContainerFacts, now: datetime = NOON) -> LifecycleFacts:
    """Return the lifecycle that a scan of one container gives it."""
    facts = scan(keeper, seen, now=now).containers[0].lifecycle
    assert facts is not None
    return facts


def crash_loop(count: int, *, name: str = "api", every_seconds: float = 20, last: datetime = NOON) -> Iterable[Any]:
    """Events of so many crashes, each followed by the policy's restart; the newest start is `last`."""
    from datetime import timedelta

    for n in reversed(range(count)):
        start = last - timedelta(seconds=n * every_seconds)
        yield event(start - timedelta(seconds=1), "die", name, exit_code=1)
        yield event(start, "start", name)
