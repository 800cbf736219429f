"""What a test opens and leaves open, as a process does that dies: it is let go of when the test is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bcon_exporter.journal import MemoryKeeper

_LEFT_OPEN: list[MemoryKeeper] = []


def close_later(keeper: MemoryKeeper) -> MemoryKeeper:
    """Return the keeper; its file is closed after the test, and nothing more is written into it."""
    _LEFT_OPEN.append(keeper)
    return keeper


def close_all() -> None:
    """Close the files of all that were left open, or closed already."""
    while _LEFT_OPEN:
        keeper = _LEFT_OPEN.pop()
        with keeper._lock:  # a thread that the test did not wait for may be writing: SQLite would crash
            keeper._state.close()
