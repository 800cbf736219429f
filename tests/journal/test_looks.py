"""Promise: what somebody asks for changes nothing that is remembered, not even while it is read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from bcon_exporter.model.container_facts import HostSnapshot
from tests.factories import NOON, usage
from tests.journal.keepers import batch, container, crash_loop, open_keeper, scan

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.journal import MemoryKeeper
    from bcon_exporter.memory import Memory


class WatchedSnapshot(HostSnapshot):
    """Notes what the memory is each time when it is copied."""

    keeper: ClassVar[MemoryKeeper]
    seen: ClassVar[list[Memory]] = []

    def model_copy(self, **how: Any) -> WatchedSnapshot:
        self.seen.append(self.keeper.memory)
        return super().model_copy(**how)


def test_who_reads_the_memory_meanwhile_sees_no_container_that_no_scan_has_seen(tmp_path: Path) -> None:
    first = open_keeper(tmp_path / "state.db")
    first.add_events(batch(*crash_loop(3, name="stored")), NOON)
    scan(first, container(name="stored", usage=usage()))
    first.close()
    keeper = open_keeper(tmp_path / "state.db")
    scan(keeper, container(name="api"))
    before, WatchedSnapshot.keeper = keeper.memory, keeper
    asked = WatchedSnapshot(taken_at=NOON, containers=(container(name="stored"), container(name="new")))
    looked = keeper.look(asked)

    told = looked.containers[0].lifecycle
    assert told is not None
    assert told.restarts_total == 3
    assert asked.seen
    for memory in (*asked.seen, keeper.memory):
        assert replace(memory, pasts=before.pasts, last_usage=before.last_usage) == before
