"""The only module that reads a clock."""

import time
from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the wall clock as an aware UTC datetime; it may step back or forth."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Return seconds of a clock that never steps: for deadlines and durations only."""
    return time.monotonic()


def process_cpu_seconds() -> float:
    """Return the CPU seconds this process has used so far."""
    return time.process_time()
