"""When scans are due: APScheduler's clock and trigger, on the clock that never steps.

APScheduler 3.11 asks `datetime.now(timezone)`. A wall clock that steps back stops its interval runs until the clock
has caught up, and one that jumps years ahead makes it list every missed run in one loop. `datetime.now` takes its
answer from the time zone's `fromutc`, so a zone that counts the monotonic clock makes the whole scheduler immune.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from apscheduler.triggers.base import BaseTrigger

from bcon_exporter import clock

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""Where steady time starts; any date would do, nobody is shown it."""


class SteadyTime(tzinfo):
    """A time zone whose "now" is the monotonic clock, whatever the wall clock says."""

    def __init__(self, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._monotonic = monotonic

    def now(self) -> datetime:
        """Return steady time: what `datetime.now(self)` gives."""
        return self.fromutc(EPOCH.replace(tzinfo=self))

    def fromutc(self, _wall: datetime) -> datetime:
        """Return steady time instead of the wall time that was asked for."""
        return EPOCH.replace(tzinfo=self) + timedelta(seconds=self._monotonic())

    def utcoffset(self, _at: datetime | None) -> timedelta:
        """Return 0: steady time is compared with steady time only."""
        return timedelta(0)

    def dst(self, _at: datetime | None) -> timedelta:
        """Return 0."""
        return timedelta(0)

    def tzname(self, _at: datetime | None) -> str:
        """Return a name that APScheduler accepts."""
        return "steady"


class Every(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
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


def count_missed(previous: datetime | None, due: datetime, interval_seconds: float) -> int:
    """Return how many slots lie between two runs that were due, neither of them counted."""
    if previous is None:
        return 0
    return max(0, round((due - previous).total_seconds() / interval_seconds) - 1)
