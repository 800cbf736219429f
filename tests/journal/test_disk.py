"""Promise: who fills the disk, and how fast, is known also over a restart of the exporter."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.model.disk import DiskKind, LogFile, LogReading, StoredData, StoredLayer, StoredVolume
from tests.factories import NOON, full_id
from tests.journal.keepers import container, open_keeper, scan

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.journal import MemoryKeeper

API = full_id("api")
HOUR = timedelta(hours=1)


def read(keeper: MemoryKeeper, at: datetime, size: int) -> None:
    log = LogFile(container_id=API, name="api", driver="json-file", is_bounded=False, size_bytes=size)
    layer = StoredLayer(container_id=API, name="api", size_bytes=size)
    keeper.keep_disk(LogReading(at=at, engine_id="one", logs=(log,)), at)
    keeper.keep_disk(StoredData(at=at, layers=(layer,), volumes=(StoredVolume(name="data", size_bytes=size),)), at)


def rate(keeper: MemoryKeeper, kind: DiskKind = DiskKind.LOG, name: str = API) -> float | None:
    growth = keeper.memory.disk.growth_of(kind, name)
    return None if growth is None else growth.bytes_per_hour


def rows(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM disk").fetchone()[0])


@pytest.mark.parametrize("clean", [True, False], ids=["stopped", "killed"])
def test_growth_goes_on_after_a_restart(tmp_path: Path, clean: bool) -> None:
    first = open_keeper(tmp_path / "state.db")
    for hour in range(4):
        read(first, NOON + hour * HOUR, 100 * hour)
    before = first.memory.disk
    if clean:
        first.close()
    second = open_keeper(tmp_path / "state.db") if clean else open_as_killed(tmp_path)

    assert second.memory.disk.logs == before.logs
    assert second.memory.disk.stored == before.stored
    assert second.memory.disk.asked_at == NOON + 3 * HOUR
    assert rate(second) == 100
    read(second, NOON + 5 * HOUR, 1000)
    assert rate(second) == 200
    assert rate(second, DiskKind.VOLUME, "data") == 200
    second.close()


def test_a_log_that_was_emptied_does_not_shrink_after_a_restart(tmp_path: Path) -> None:
    first = open_keeper(tmp_path / "state.db")
    for hour, size in enumerate((4000, 4200, 0, 200)):
        read(first, NOON + hour * HOUR, size)
    first.close()
    second = open_keeper(tmp_path / "state.db")

    assert rate(second) == 200
    (seen,) = scan(second, container(log_is_bounded=False), now=NOON + 3 * HOUR).containers
    assert seen.log_growth is not None
    assert seen.log_growth.bytes_per_hour == 200
    second.close()


def open_as_killed(folder: Path) -> MemoryKeeper:
    """The state file as a killed process leaves it."""
    for name in ("state.db", "state.db-wal"):
        (folder / f"killed-{name}").write_bytes((folder / name).read_bytes())
    (folder / "killed-state.db-wal").rename(folder / "killed.db-wal")
    (folder / "killed-state.db").rename(folder / "killed.db")
    return open_keeper(folder / "killed.db")


def test_what_weighs_most_is_written_every_ten_minutes_and_at_the_end(tmp_path: Path) -> None:
    first = open_keeper(tmp_path / "state.db")
    for minutes in (0, 5):
        read(first, NOON + timedelta(minutes=minutes), minutes)
    killed = open_as_killed(tmp_path)
    assert killed.memory.disk.logs is not None
    assert (killed.memory.disk.logs.at, killed.memory.disk.asked_at) == (NOON, NOON + HOUR / 12)
    killed.close()
    first.close()
    second = open_keeper(tmp_path / "state.db")
    assert second.memory.disk.logs is not None
    assert second.memory.disk.logs.at == NOON + HOUR / 12
    second.close()


def test_why_the_engine_did_not_answer_is_known_too(tmp_path: Path) -> None:
    first = open_keeper(tmp_path / "state.db")
    read(first, NOON, 1)
    first.keep_disk("not answered within 180 s", NOON + HOUR)
    first.close()
    second = open_keeper(tmp_path / "state.db")

    assert second.memory.disk.problem == "not answered within 180 s"
    assert second.memory.disk.stored is not None
    second.close()


def test_a_size_of_an_hour_is_a_row_for_a_day(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    for minutes in range(0, 50 * 60, 30):
        at = NOON + timedelta(minutes=minutes)
        scan(keeper, container(), now=at)
        read(keeper, at, minutes)
    keeper.close()

    # a log, a layer, a volume, and all of each kind; pruned once an hour, and a day is 25 hours there
    assert 24 * 6 <= rows(tmp_path / "state.db") <= 27 * 6


def test_a_scan_brings_the_growth_of_a_log_that_nothing_bounds() -> None:
    keeper = open_keeper()
    read(keeper, NOON, 0)
    read(keeper, NOON + HOUR, 60)
    unbounded, bounded = container(log_is_bounded=False), container(log_is_bounded=True)

    (own,) = scan(keeper, unbounded, now=NOON + HOUR).containers
    (other,) = scan(keeper, bounded, now=NOON + HOUR).containers
    assert own.log_growth is not None
    assert own.log_growth.bytes_per_hour == 60
    assert other.log_growth is None


def test_a_damaged_row_costs_that_reading_alone(tmp_path: Path) -> None:
    first = open_keeper(tmp_path / "state.db")
    read(first, NOON, 5)
    read(first, NOON + HOUR, 10)
    first.close()
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection, connection:
        connection.execute("UPDATE memory SET value = 'x' WHERE key = 'disk/logs'")
    second = open_keeper(tmp_path / "state.db")

    assert second.memory.disk.logs is None
    assert second.memory.disk.stored is not None
    assert rate(second) == 5
    second.close()
