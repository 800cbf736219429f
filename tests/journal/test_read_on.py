"""Promise: after a short restart usage has its mean at once, and never from samples of other times."""

from __future__ import annotations

import sqlite3
from array import array
from contextlib import closing
from datetime import timedelta
from math import nan
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.journal.memory_rows import Record, read_memory, read_window, window_records
from bcon_exporter.model.container_facts import HostSnapshot
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


def scan(keeper: MemoryKeeper, now: datetime) -> None:
    """A scan, which has read a container's usage."""
    keeper.observe(HostSnapshot(taken_at=now, containers=(container(),)), Readings(usage={API: OF_API}))


def test_a_restart_goes_on_from_the_samples_that_were_read(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    scan(keeper, NOON)
    keeper.close()

    again = open_keeper(tmp_path / "state.db", now=NOON + MINUTE)
    assert again.memory.readings.usage == {API: OF_API}


@pytest.mark.parametrize(("away", "is_known"), [(2 * MINUTE - SECOND, True), (2 * MINUTE, False)])
def test_samples_from_before_a_longer_absence_are_no_part_of_a_mean(
    tmp_path: Path, away: timedelta, is_known: bool
) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    scan(keeper, NOON)
    keeper.close()

    again = open_keeper(tmp_path / "state.db", now=NOON + away)
    assert (API in again.memory.readings.usage) is is_known


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
    assert read_memory([Record("seen/symptom/x", damaged)]).first_seen["symptom"] == {}
