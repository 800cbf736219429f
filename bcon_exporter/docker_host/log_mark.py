"""Whether a container has written since its log was last read: by a look at its log file's size and time, not into it.

Most containers write seldom, and an engine that is asked for a log opens and searches the file to answer that there is
nothing new. Where the file can be seen (its folder is root's), that question is spared.
"""

import os
from dataclasses import dataclass

_TRUSTED_SECONDS = 300.0
"""A log is read at least so often all the same: what is at the path may be a copy that somebody mounted there."""
_DRIVER = "json-file"
"""The engine writes each line of it at once, to one file. Others have none (journald), or a format of their own."""


@dataclass(frozen=True, slots=True)
class LogMark:
    """What a log file looked like.

    Attributes:
        seen_at: On the monotonic clock.
        stamp: Device and inode, size in bytes, time of change in nanoseconds.
    """

    seen_at: float
    stamp: tuple[int, int, int, int]

    def still_holds(self, current: "LogMark | None") -> bool:
        """Return whether nothing was written between the two."""
        return current is not None and current.stamp == self.stamp and current.seen_at - self.seen_at < _TRUSTED_SECONDS


def look_at_log(log_file: str | None, driver: str | None, container_id: str, now: float) -> LogMark | None:
    """Look at a container's log file; None when it cannot be seen.

    Args:
        log_file: As the engine says; of an engine on another machine it does not exist here.
        driver: Log driver.
        container_id: Full id; a path without it is not this container's.
        now: On the monotonic clock.
    """
    if log_file is None or driver != _DRIVER or container_id not in log_file:
        return None
    try:
        found = os.lstat(log_file)
    except (OSError, ValueError):
        return None
    return LogMark(now, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))
