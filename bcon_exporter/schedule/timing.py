"""When scans are due: APScheduler's trigger, and what corrects it after a step of the clock.

APScheduler 3.11 counts in wall time. Two things go wrong with it: its own interval trigger lists every slot that a
clock has jumped over, and after a clock was set back it waits until the clock has caught up.
"""

import logging
import threading
from contextlib import suppress
from datetime import datetime, timedelta

from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.base import BaseScheduler
from apscheduler.triggers.base import BaseTrigger

from bcon_exporter import clock

_log = logging.getLogger(__name__)

_CHECK_SECONDS = 1.0


class NextSlot(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """Fires at once or after a first delay, then at a fixed interval; passed slots are skipped."""

    __slots__ = ("first_delay", "interval")

    def __init__(self, interval_seconds: float, first_delay_seconds: float = 0.0) -> None:
        self.interval = timedelta(seconds=interval_seconds)
        self.first_delay = timedelta(seconds=first_delay_seconds)

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Return the next slot after `now` on the grid of the previous one."""
        if previous_fire_time is None:
            return now + self.first_delay
        behind = max(timedelta(0), now - previous_fire_time)
        return previous_fire_time + (behind // self.interval + 1) * self.interval


def watch_clock(scheduler: BaseScheduler, stopped: threading.Event) -> None:
    """Look every second of the monotonic clock whether the wall clock was set back, until `stopped`."""
    while not stopped.wait(_CHECK_SECONDS):
        try:
            bring_forward(scheduler, clock.scheduler_now())
        except Exception:  # noqa: BLE001 -- the thread's boundary
            _log.exception("looking for a step of the clock failed because of a defect")


def bring_forward(scheduler: BaseScheduler, now: datetime) -> None:
    """Make each job due now that is due later than one interval from now, which it is after the clock was set back."""
    for job in scheduler.get_jobs():
        if job.next_run_time - now > job.trigger.interval + timedelta(seconds=_CHECK_SECONDS):
            with suppress(JobLookupError):  # the scheduler may have been stopped
                job.modify(next_run_time=now)


def count_missed(seconds: float, interval_seconds: float) -> int:
    """Return how many slots lie between two turns that are so many seconds apart, neither of them counted."""
    return max(0, round(seconds / interval_seconds) - 1)
