"""Ends a process whose scheduler makes no turn any more, also when one thread never lets go of the interpreter.

Such a process answers no request and no signal, so nothing that runs in the interpreter can end it: the time-out is
kept by a thread of C. The stacks of all threads go to standard error, and whoever started the process starts it again.

The time-out is on the monotonic clock, which goes on while a process is stopped or its cgroup frozen: a process that
was paused (`docker pause`) for longer ends when it goes on, once; the next one begins with a whole time-out.

The stacks are read without stopping the other threads. While these run, as after a pause, the reader may fall over one
that changes: the process then ends by SIGSEGV instead of with code 1, without the rest of the stacks.
"""

import faulthandler
from collections.abc import Callable

LEAST_SECONDS = 120.0
INTERVALS = 4
_STANDARD_ERROR = 2
"""By its number: it may be closed, and the watchdog is needed all the same."""


def watchdog_seconds(diagnose_interval_seconds: float) -> float:
    """Return how long the scheduler may make no turn."""
    return max(LEAST_SECONDS, INTERVALS * diagnose_interval_seconds)


class Watchdog:
    """One per process, as what it is made of; `seconds` returns the time-out in force.

    To be called by the scheduler's own thread alone: a scan or the event loop may go on while that one hangs.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds

    def turn(self) -> None:
        """Begin the time-out anew."""
        faulthandler.dump_traceback_later(self._seconds(), exit=True, file=_STANDARD_ERROR)

    def stop(self) -> None:
        """Let the process be."""
        faulthandler.cancel_dump_traceback_later()
