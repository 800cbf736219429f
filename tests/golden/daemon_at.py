"""Runs the daemon with clocks that whoever has started it moves: `python daemon_at.py DESCRIPTOR NANOSECONDS serve …`.

The wall clock stands still between two moves. The one for durations goes on, slowly, so that a busy machine exceeds no
deadline; each move takes it further. The scheduler's stands still for ever: after the first two, a scan begins when it
is asked for.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial

import apscheduler.schedulers.base

import bcon_exporter.clock

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BEGAN_AT = datetime.now(UTC)
SLOWER = 100
SETTLED_WITHIN_SECONDS = 120.0
STAYING = frozenset(
    {"MainThread", "moved-clocks", "APScheduler", "watch-clock", "bcon-events", "bcon-heartbeat", "alerts", "request"}
)
"""Threads that do not end by themselves; all others have been started for a piece of work."""


class StandingStill(datetime):
    """What the scheduler reads the time from."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        """When this process began."""
        return BEGAN_AT.astimezone(tz)


class MovedClocks:
    """The wall clock, and the one for durations."""

    def __init__(self, nanoseconds: int) -> None:
        self._now = _time_at(nanoseconds)
        self._began = time.monotonic()
        self._moved_seconds = 0.0

    def utc_now(self) -> datetime:
        """The time of the last move."""
        return self._now

    def monotonic(self) -> float:
        """All moves, and a hundredth of the time that has really passed."""
        return self._began + self._moved_seconds + (time.monotonic() - self._began) / SLOWER

    def follow(self, orders: socket.socket) -> None:
        """Move them by each line, "NANOSECONDS SECONDS", once what was going on has ended; answer with the line.

        Whoever gives the orders has ended when no more can come; so does this process then.
        """
        with orders, orders.makefile("rw") as lines:
            for line in lines:
                nanoseconds, seconds = line.split()
                settle()
                self._now = _time_at(int(nanoseconds))
                self._moved_seconds += float(seconds)
                lines.write(line)
                lines.flush()
        os._exit(1)


def settle() -> None:
    """Wait for every thread that ends, also those that they start."""
    while working := [thread for thread in threading.enumerate() if thread.name not in STAYING]:
        for thread in working:
            thread.join(SETTLED_WITHIN_SECONDS)
            if thread.is_alive():
                msg = f"the thread {thread.name} does not end"
                raise TimeoutError(msg)


def _time_at(nanoseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=nanoseconds // 1000)


if __name__ == "__main__":
    descriptor, began_at = int(sys.argv.pop(1)), int(sys.argv.pop(1))
    clocks = MovedClocks(began_at)
    bcon_exporter.clock.utc_now = clocks.utc_now
    bcon_exporter.clock.monotonic = clocks.monotonic
    bcon_exporter.clock.scheduler_now = partial(StandingStill.now, UTC)
    apscheduler.schedulers.base.datetime = StandingStill
    follower = threading.Thread(
        target=clocks.follow, args=(socket.socket(fileno=descriptor),), name="moved-clocks", daemon=True
    )
    follower.start()
    from bcon_exporter.__main__ import main  # after the clocks, whose functions others take by name

    main()
