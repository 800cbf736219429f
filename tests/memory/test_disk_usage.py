"""Promise: growth is told of what was read, over the last day at most, and of no time that is too short to tell."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from bcon_exporter.memory import DiskMemory, DiskSample, fold_disk, recall_samples
from bcon_exporter.model.disk import DiskKind, DiskSpace, LogFile, LogReading, StoredData, StoredLayer, StoredVolume
from bcon_exporter.model.growth import Growth, show_growth
from tests.factories import NOON, full_id

API = full_id("api")
HOUR = timedelta(hours=1)
MIB = 2**20
EMPTIED = ((0, 1000), (1, 4000), (2, 100), (3, 160))
"""Hours after noon, and the size of a log that was emptied within the second."""


def logs(at: datetime, size: int | None, *, is_bounded: bool = False, used: int | None = None) -> LogReading:
    """One container's log; `used`: of the disk."""
    log = LogFile(container_id=API, name="api", driver="json-file", is_bounded=is_bounded, size_bytes=size)
    space = None if used is None else DiskSpace(path="/d", used_bytes=used, free_bytes=1)
    return LogReading(at=at, logs=(log,), space=space)


def stored(at: datetime, size: int | None = MIB, *, name: str = "api") -> StoredData:
    layer = StoredLayer(container_id=full_id(name), name=name, size_bytes=size)
    return StoredData(at=at, layers=(layer,), volumes=(StoredVolume(name="data", size_bytes=size),), images_bytes=size)


def fold(*readings: LogReading | StoredData) -> tuple[DiskMemory, list[DiskSample]]:
    """What is remembered of readings, and all that was to be stored."""
    disk = DiskMemory()
    due: list[DiskSample] = []
    for reading in readings:
        disk, new = fold_disk(disk, reading, reading.at)
        due += new
    return disk, due


def rate(disk: DiskMemory, kind: DiskKind = DiskKind.LOG, name: str = API) -> float | None:
    growth = disk.growth_of(kind, name)
    return None if growth is None else growth.bytes_per_hour


def test_growth_is_bytes_an_hour_since_the_oldest_reading() -> None:
    disk, _ = fold(logs(NOON, 0, used=100), logs(NOON + HOUR / 2, 30, used=400))

    assert disk.growth_of(DiskKind.LOG, API) == Growth(bytes_per_hour=60, known_for_seconds=1800)
    assert disk.growth_of(DiskKind.LOG) == Growth(bytes_per_hour=60, known_for_seconds=1800)
    assert disk.space_growth == Growth(bytes_per_hour=600, known_for_seconds=1800)
    assert disk.known_since == NOON


@pytest.mark.parametrize(("seconds", "expected"), [(119, None), (120, 30.0), (121, 29.8)])
def test_nothing_is_told_of_too_short_a_time(seconds: int, expected: float | None) -> None:
    disk, _ = fold(logs(NOON, 0), logs(NOON + timedelta(seconds=seconds), 1))

    assert rate(disk) == (expected if expected is None else pytest.approx(expected, abs=0.1))


def test_it_is_the_growth_of_the_last_day_at_most() -> None:
    readings = [logs(NOON + number * HOUR, 100 if number < 10 else 100 + 60 * (number - 10)) for number in range(60)]
    disk, _ = fold(*readings)
    growth = disk.growth_of(DiskKind.LOG, API)

    assert growth == Growth(bytes_per_hour=60, known_for_seconds=86_400)


def test_a_size_an_hour_is_kept_and_stored_however_often_it_is_read() -> None:
    minutes = range(0, 180, 5)
    disk, due = fold(*(logs(NOON + timedelta(minutes=minute), minute) for minute in minutes))
    own = disk.samples[f"log/{API}"]

    assert [sample.at for sample in own] == [NOON, NOON + HOUR, NOON + 2 * HOUR, NOON + timedelta(minutes=175)]
    assert [sample.at for sample in due if sample.subject == f"log/{API}"] == [NOON, NOON + HOUR, NOON + 2 * HOUR]
    assert rate(disk) == pytest.approx(60)


def test_what_was_stored_goes_on_after_a_restart() -> None:
    _, due = fold(*(logs(NOON + number * HOUR, 60 * number) for number in range(5)))
    disk = recall_samples(DiskMemory(), reversed(due))

    assert rate(disk) == pytest.approx(60)
    disk, _ = fold_disk(disk, logs(NOON + 5 * HOUR, 600), NOON + 5 * HOUR)
    assert rate(disk) == pytest.approx(120)


def test_a_log_that_was_emptied_begins_anew_unless_it_rotates() -> None:
    unbounded, _ = fold(*(logs(NOON + number * HOUR, size) for number, size in EMPTIED))
    rotated, _ = fold(*(logs(NOON + number * HOUR, size, is_bounded=True) for number, size in EMPTIED))

    assert unbounded.growth_of(DiskKind.LOG, API) == Growth(bytes_per_hour=60, known_for_seconds=3600)
    assert rate(rotated) == pytest.approx(-280)


@pytest.mark.parametrize(("is_bounded", "before", "after"), [(False, 60, 90), (True, -280, -180)])
def test_a_log_that_was_emptied_has_begun_anew_after_a_restart_too(
    *, is_bounded: bool, before: float, after: float
) -> None:
    readings = [logs(NOON + number * HOUR, size, is_bounded=is_bounded) for number, size in EMPTIED]
    disk, due = fold(*readings)
    again = recall_samples(DiskMemory(logs=readings[-1]), due)
    assert rate(again) == rate(disk) == pytest.approx(before)

    again, _ = fold_disk(again, logs(NOON + 4 * HOUR, 280, is_bounded=is_bounded), NOON + 4 * HOUR)
    assert rate(again) == pytest.approx(after)


def test_whether_a_log_rotates_is_known_with_the_first_reading_at_the_latest() -> None:
    _, due = fold(*(logs(NOON + number * HOUR, size) for number, size in EMPTIED))
    again = recall_samples(DiskMemory(), due)
    again, _ = fold_disk(again, logs(NOON + 4 * HOUR, 280), NOON + 4 * HOUR)

    assert rate(again) == pytest.approx(90)


def test_what_is_gone_is_forgotten_and_the_rest_is_not() -> None:
    both, _ = fold(stored(NOON), logs(NOON, 5), stored(NOON + HOUR, 3 * MIB))
    assert (rate(both, DiskKind.LAYER), rate(both, DiskKind.VOLUME, "data")) == (2 * MIB, 2 * MIB)
    assert rate(both, DiskKind.IMAGE, "") == 2 * MIB

    after, _ = fold_disk(both, stored(NOON + 2 * HOUR, name="web"), NOON + 2 * HOUR)
    assert rate(after, DiskKind.LAYER) is None
    assert f"log/{API}" in after.samples


def test_what_was_not_told_is_no_size() -> None:
    disk, due = fold(logs(NOON, None), stored(NOON, None))

    assert (disk.samples, due) == ({}, [])


def test_an_engine_that_does_not_answer_leaves_what_it_said_before() -> None:
    disk, _ = fold(stored(NOON))
    disk, due = fold_disk(disk, "not answered within 180 s", NOON + HOUR)

    assert (disk.problem, disk.asked_at, due) == ("not answered within 180 s", NOON + HOUR, ())
    assert disk.stored == stored(NOON)
    disk, _ = fold_disk(disk, stored(NOON + 2 * HOUR), NOON + 2 * HOUR)
    assert (disk.problem, disk.asked_at) == ("", NOON + 2 * HOUR)


def test_a_clock_that_was_set_back_gives_no_growth_of_the_future() -> None:
    disk, _ = fold(logs(NOON + HOUR, 900), logs(NOON, 100))

    assert disk.growth == {}
    assert [sample.at for sample in disk.samples[f"log/{API}"]] == [NOON]


@pytest.mark.parametrize(
    ("bytes_per_hour", "seconds", "words"),
    [
        (1.5 * MIB, 86_400, "+1.5 MiB/h"),
        (-2 * MIB, 600, "-2.0 MiB/h for 10 min"),
        (1023, 21_600, "steady"),
        (1024, 21_599, "+1.0 KiB/h for 5 h 59 min"),
    ],
)
def test_growth_in_words(bytes_per_hour: float, seconds: float, words: str) -> None:
    assert show_growth(Growth(bytes_per_hour=bytes_per_hour, known_for_seconds=seconds)) == words
    assert show_growth(None) == "-"
