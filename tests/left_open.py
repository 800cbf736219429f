"""What a test opens and leaves open, as a process does that dies: it is let go of when the test is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bcon_exporter.history import History

_LEFT_OPEN: list[History] = []


def close_later(history: History) -> History:
    """Return the history; its file is closed after the test, and nothing more is written into it."""
    _LEFT_OPEN.append(history)
    return history


def close_all() -> None:
    """Close the files of all that were left open, or closed already."""
    while _LEFT_OPEN:
        _LEFT_OPEN.pop()._database.close()
