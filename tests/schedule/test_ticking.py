"""Scans are due on the clock that never steps: no step of the wall clock delays, repeats or multiplies them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bcon_exporter.schedule.ticking import EPOCH, Every, SteadyTime, count_missed

START = EPOCH


def test_now_in_steady_time_is_the_monotonic_clock() -> None:
    zone = SteadyTime(lambda: 90.0)

    assert datetime.now(zone) == EPOCH + timedelta(seconds=90)
    assert zone.now() == datetime.now(zone)


@pytest.mark.parametrize("wall", [datetime(1970, 1, 1, tzinfo=UTC), datetime(2031, 5, 5, tzinfo=UTC)])
def test_the_wall_clock_changes_nothing(wall: datetime) -> None:
    zone = SteadyTime(lambda: 12.5)

    assert wall.astimezone(zone) == EPOCH + timedelta(seconds=12.5)


@pytest.mark.parametrize("delay", [0.0, 60.0])
def test_the_first_run_comes_after_the_first_delay(delay: float) -> None:
    assert Every(30, delay).get_next_fire_time(None, START) == START + timedelta(seconds=delay)


@pytest.mark.parametrize(
    ("late_seconds", "next_seconds"),
    [(0, 30), (0.5, 30), (29.9, 30), (30, 60), (31, 60), (59.9, 60), (86400 * 365 * 5, 86400 * 365 * 5 + 30)],
)
def test_the_next_run_is_the_first_slot_still_to_come(late_seconds: float, next_seconds: float) -> None:
    following = Every(30).get_next_fire_time(START, START + timedelta(seconds=late_seconds))

    assert following == START + timedelta(seconds=next_seconds)


def test_a_clock_behind_the_last_run_does_not_repeat_it() -> None:
    assert Every(30).get_next_fire_time(START, START - timedelta(hours=1)) == START + timedelta(seconds=30)


@pytest.mark.parametrize(("due_seconds", "missed"), [(30, 0), (31, 0), (60, 1), (300, 9)])
def test_counts_the_slots_between_two_runs(due_seconds: float, missed: int) -> None:
    assert count_missed(START, START + timedelta(seconds=due_seconds), 30) == missed


def test_nothing_is_missed_before_the_first_run() -> None:
    assert count_missed(None, START, 30) == 0
