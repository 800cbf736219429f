"""Sets the interpreter up for a daemon that runs for months, and for a command that is over in half a second."""

import ctypes
import gc
import sys
from contextlib import suppress
from pathlib import Path

SWITCH_INTERVAL_SECONDS = 0.0001
"""How long a scan may keep a scrape waiting, each of the several times that one must be let in; by default 5 ms."""
FULL_COLLECTION_SECONDS = 60.0
"""Once an hour let a megabyte in cycles pile up every 100 s under churn: 12,000 blocks that were never used again."""
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # glibc, malloc.h
_MAPPED_BYTES = 128 * 1024
_NEVER = 1_000_000
_COMMAND_THRESHOLD = 100_000


def tune() -> None:
    """Let scrapes in soon, and keep memory in one place; to be called once everything is imported and made."""
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    _limit_heap()
    gc.collect()
    gc.freeze()  # modules live as long as the process: a collection need not walk them
    # A full collection walks all that scans keep, and holds every thread for 35 ms at 500 containers. Reports are
    # freed by their counts; what is left in cycles waits for `collect_if_due`.
    gc.set_threshold(*gc.get_threshold()[:2], _NEVER)


def tune_command() -> None:
    """Collect cycles rarely: a command mostly imports, and what it makes goes with it.

    Together with `leave_all_to_kernel` that saves 0.15 of 0.60 s of CPU of `diagnose` (`python -m bench.commands`).
    """
    gc.set_threshold(_COMMAND_THRESHOLD)


def leave_all_to_kernel() -> None:
    """Have the interpreter's end look for no cycles among all that was imported."""
    gc.freeze()


def collect_if_due(last: float, now: float) -> float:
    """Collect everything once a minute.

    Args:
        last: When that was last done, on the monotonic clock.
        now: The same clock.

    Returns:
        When it was done last now.
    """
    if now - last < FULL_COLLECTION_SECONDS:
        return last
    gc.collect()
    return now


def go_first_where_memory_runs_out() -> None:
    """Have the kernel's OOM killer take this process before others; for a command beside a daemon, in its container."""
    with suppress(OSError):  # not Linux, or the score is higher already
        Path("/proc/self/oom_score_adj").write_text("500")


def _limit_heap() -> None:
    """Have glibc serve all threads from one heap, and what is large from outside it.

    Each scan has a thread of its own, and freed space stays with a thread's heap. Large pieces (answers of the engine,
    rendered text) glibc stops mapping once it has freed some of their size, and in the heap they leave holes.
    Measured at 500 containers: the one takes 11 MB off the peak, the other 4. Other C libraries have no such knobs,
    nor the need.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
