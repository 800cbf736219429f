"""The next slot is the first still to come, and a clock that was set back holds no scan up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from apscheduler.schedulers.background import BackgroundScheduler

from bcon_exporter.schedule.timing import NextSlot, bring_forward, count_missed
from tests.stepping_clock import stepping_clock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("delay", [0.0, 60.0])
def test_the_first_run_comes_after_the_first_delay(delay: float) -> None:
    assert NextSlot(30, delay).get_next_fire_time(None, START) == START + timedelta(seconds=delay)


@pytest.mark.parametrize(
    ("late_seconds", "next_seconds"),
    [(0, 30), (0.5, 30), (29.9, 30), (30, 60), (31, 60), (59.9, 60), (86400 * 365 * 5, 86400 * 365 * 5 + 30)],
)
def test_the_next_run_is_the_first_slot_still_to_come(late_seconds: float, next_seconds: float) -> None:
    following = NextSlot(30).get_next_fire_time(START, START + timedelta(seconds=late_seconds))

    assert following == START + timedelta(seconds=next_seconds)


def test_a_clock_behind_the_last_run_does_not_repeat_it() -> None:
    assert NextSlot(30).get_next_fire_time(START, START - timedelta(hours=1)) == START + timedelta(seconds=30)


@pytest.fixture
def paused() -> Iterator[Any]:
    """A scheduler that keeps its jobs and runs none."""
    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.start(paused=True)
    yield scheduler
    scheduler.shutdown()


@pytest.mark.promise("F9")
@pytest.mark.parametrize(("due_seconds", "then_seconds"), [(-5, -5), (30, 30), (31, 31), (31.1, 0), (3600, 0)])
def test_a_run_that_is_due_later_than_an_interval_from_now_is_due_at_once(
    paused: Any, due_seconds: float, then_seconds: float
) -> None:
    job = paused.add_job(print, NextSlot(30), next_run_time=START + timedelta(seconds=due_seconds))

    bring_forward(paused, START)

    assert job.next_run_time == START + timedelta(seconds=then_seconds)


@pytest.mark.parametrize(("seconds", "missed"), [(0, 0), (3, 0), (30, 0), (31, 0), (60, 1), (300, 9)])
def test_counts_the_slots_between_two_turns(seconds: float, missed: int) -> None:
    assert count_missed(seconds, 30) == missed


PROGRAM = """
import sys, threading, time
from datetime import datetime, timezone
from bcon_exporter.schedule import Intervals, Scheduler
from tests.outputs.scenes import make_context
from tests.waiting import wait_until

class Job:
    runs = 0
    def run(self, context):
        self.runs += 1

jobs = {"diagnose": Job(), "drift": Job()}
context = make_context()
scheduler = Scheduler(context, Intervals(1, 1), lambda _: None, jobs)
scheduler.start()
wait_until(lambda: all(job.runs for job in jobs.values()), "the first scans")
before, started = {name: job.runs for name, job in jobs.items()}, time.monotonic()
with open(sys.argv[1], "w") as step:
    step.write(sys.argv[2])
wait_until(lambda: all(jobs[name].runs >= before[name] + 3 for name in jobs), "three further scans")
took = time.monotonic() - started
most = max(jobs[name].runs - before[name] for name in jobs)
missed = max(context.scans.status(name).missed for name in jobs)
print(datetime.now(timezone.utc).year, most <= took + 2, missed <= took, took <= 25)
"""


@pytest.mark.promise("F9")
@pytest.mark.integration
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler to make a stepping clock")
@pytest.mark.parametrize("step_years", [-5, 5])
def test_a_step_of_the_real_clock_neither_stops_nor_multiplies_nor_miscounts_scans(
    tmp_path: Path, step_years: int
) -> None:
    clock = stepping_clock(tmp_path)
    arguments = [sys.executable, "-c", PROGRAM, str(clock.file), str(step_years * 365 * 86400)]
    done = subprocess.run(
        arguments, env=dict(os.environ) | clock.environ, capture_output=True, text=True, timeout=60, check=False
    )

    year, *holds = done.stdout.split()
    assert abs(int(year) - datetime.now(UTC).year - step_years) <= 1
    assert holds == ["True"] * 3, "scans are not multiplied, none is counted as missed, and they come in time"
