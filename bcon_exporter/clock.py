"""The only module that reads a clock."""

import time
from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the wall clock as an aware UTC datetime; it may step back or forth."""
    return datetime.now(UTC)


def to_local(at: datetime) -> datetime:
    """Return a time by the clock on the wall: in the time zone of TZ or /etc/localtime."""
    return at.astimezone()


def monotonic() -> float:
    """Return seconds of a clock that never steps: for deadlines and durations only."""
    return time.monotonic()


def process_cpu_seconds() -> float:
    """Return the CPU seconds this process has used so far."""
    return time.process_time()


def thread_cpu_seconds() -> float:
    """Return the CPU seconds this thread has used so far, whatever others do meanwhile."""
    return time.thread_time()


def scheduler_now() -> datetime:
    """Return the time by the clock that APScheduler asks, also where a test has set `utc_now`."""
    return datetime.now(UTC)
