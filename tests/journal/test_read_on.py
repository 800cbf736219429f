"""Promise: after a restart reading goes on: lines are counted from where they were, usage has its mean at once."""

from __future__ import annotations

import sqlite3
from array import array
from contextlib import closing
from datetime import timedelta
from math import nan
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.journal.memory_rows import Record, read_memory, read_window, window_records
from bcon_exporter.memory import CountedLog, LogCounts
from bcon_exporter.model.container_facts import HostSnapshot, LogLines
from bcon_exporter.model.hysteresis import HoldState
from bcon_exporter.readings import Readings, UsageRow, UsageSample, UsageWindow
from tests.factories import NOON, full_id
from tests.journal.keepers import container, open_keeper

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from bcon_exporter.journal import MemoryKeeper

API = full_id("api")
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def window(*samples: UsageSample) -> UsageWindow:
    rows = array("d", [number for sample in samples for number in UsageRow.of(sample)])
    return UsageWindow(samples[-1], rows.tobytes())


OF_API = window(UsageSample(NOON - 30 * SECOND, "cgroup", 7), UsageSample(NOON, "cgroup", 9, memory_bytes=2**40))


def scan(keeper: MemoryKeeper, now: datetime, until: datetime = NOON) -> None:
    """A scan, which has read a container's usage, and counted its log up to a time."""
    keeper.observe(HostSnapshot(taken_at=now, containers=(container(),)), Readings(usage={API: OF_API}))
    keeper.conclude(hysteresis=HoldState(), log_counts=LogCounts(since=NOON, counted={API: CountedLog((), until)}))


def counted_until(keeper: MemoryKeeper) -> datetime | None:
    counted = keeper.memory.log_counts.counted.get(API)
    return counted.until if counted is not None else None


def test_a_restart_goes_on_from_what_was_read_and_counted(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    scan(keeper, NOON, NOON - SECOND)
    keeper.close()

    again = open_keeper(tmp_path / "state.db", now=NOON + MINUTE)
    assert again.memory.readings.usage == {API: OF_API}
    assert (counted_until(again), again.memory.log_counts.since) == (NOON - SECOND, None)


@pytest.mark.parametrize(("away", "is_known"), [(2 * MINUTE - SECOND, True), (2 * MINUTE, False)])
def test_samples_from_before_a_longer_absence_are_no_part_of_a_mean(
    tmp_path: Path, away: timedelta, is_known: bool
) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    scan(keeper, NOON)
    keeper.close()

    again = open_keeper(tmp_path / "state.db", now=NOON + away)
    assert (API in again.memory.readings.usage) is is_known
    assert counted_until(again) == NOON


@pytest.mark.parametrize(("scans", "known_of"), [((0,), None), ((0, 1), 0), ((0, 1, 2), 0), ((0, 1, 4, 6, 7), 4)])
def test_a_crash_costs_at_most_what_was_counted_in_five_minutes(
    tmp_path: Path, scans: tuple[int, ...], known_of: int | None
) -> None:
    """A scan saves what the one before it has concluded."""
    keeper = open_keeper(tmp_path / "state.db")
    for minutes in scans:
        scan(keeper, NOON + minutes * MINUTE, NOON + minutes * MINUTE)

    after_a_crash = open_keeper(tmp_path / "state.db", now=NOON + scans[-1] * MINUTE)
    assert counted_until(after_a_crash) == (None if known_of is None else NOON + known_of * MINUTE)
    assert after_a_crash.memory.readings.usage == {}


def test_what_was_saved_holds_no_lines(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    counted = CountedLog(LogLines((1,), ("stdout",), ("long gone",)), NOON)
    keeper.conclude(hysteresis=HoldState(), log_counts=LogCounts(since=NOON, counted={API: counted}))
    keeper.close()
    assert "long gone" not in repr(keeper._saved)


def test_of_a_container_that_is_gone_nothing_is_kept(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    scan(keeper, NOON)
    keeper.close()
    again = open_keeper(tmp_path / "state.db", now=NOON)
    for hours in range(50):
        again.observe(HostSnapshot(taken_at=NOON + timedelta(hours=hours)), Readings())
    again.close()

    with closing(sqlite3.connect(tmp_path / "state.db")) as file:
        assert file.execute("SELECT key FROM memory WHERE key GLOB '*/' || ?", (API,)).fetchall() == []


def test_numbers_that_are_unknown_stay_so() -> None:
    [stored] = window_records({API: OF_API})
    read = read_window(stored.value)
    assert read is not None
    assert read.newest == OF_API.newest
    assert [UsageRow(*read.numbers()[:5]).memory_bytes, UsageRow(*read.numbers()[5:]).memory_bytes] == [
        pytest.approx(nan, nan_ok=True),
        2**40,
    ]


@pytest.mark.parametrize(
    "damaged",
    [
        '{"newest":["2026-01-01T00:00:00","cgroup"],"rows":[1,2,3,4,5]}',
        '{"newest":["2026-01-01T00:00:00Z","cgroup"],"rows":[null,2,3,4,5]}',
        '{"newest":["2026-01-01T00:00:00Z","cgroup"],"rows":[1,2,"Infinity",4,5]}',
        "",
        "{",
        '{"newest":["2026-01-01T00:00:00Z","cgroup"],"rows":[1,2]}',
        "[]",
    ],
)
def test_damaged_samples_are_none(damaged: str) -> None:
    assert read_window(damaged) is None


@pytest.mark.parametrize("damaged", ["soon", "9" * 19, ""])
def test_a_damaged_time_is_none(damaged: str) -> None:
    memory = read_memory([Record(f"counted/{API}", damaged), Record("seen/symptom/x", damaged)])
    assert (memory.log_counts, memory.first_seen["symptom"]) == (LogCounts(), {})
