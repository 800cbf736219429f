"""The kernel's own log: which container it killed a process of for want of memory. One record a read, never blocking.

The record names the cgroup, and so the container, on cgroup v1 and v2 and with any driver; the engine's flag and event
are often missing (docs/symptoms.md#oom_killed). It can be read by root, elsewhere only where the host allows it.
"""

import os
import re  # noqa: TID251 - sees one record of the kernel's, at most 8 KiB
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

_RECORD_BYTES = 8192
_RECORDS_AT_ONCE = 50_000
_LEVELS = frozenset(b"%d" % level for level in range(8))
"""Of the kernel's own records; programs that write to its log have numbers above them."""
_KILL = b";oom-kill:"
_OF_CONTAINER = re.compile(rb"task_memcg=[^,\s]*([0-9a-f]{64})")


class KernelLog:
    """Reads what was not read yet, at first all that the kernel still holds; to be used by one thread at a time."""

    def __init__(self, path: Path, proc: Path) -> None:
        self._path = path
        self._proc = proc
        self._fd: int | None = None
        self._refused = False

    def read_kills(self) -> list[tuple[datetime, str]]:
        """Return time and container of each OOM kill since the last call; none where the log cannot be read."""
        if self._fd is None:
            self._open()
        started_at = read_boot_time(self._proc)
        if self._fd is None or started_at is None:
            return []
        return [kill for record in self._records(self._fd) if (kill := parse_kill(record, started_at)) is not None]

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        self._refused = True

    def _open(self) -> None:
        if self._refused:
            return
        try:
            self._fd = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            self._refused = True

    @staticmethod
    def _records(fd: int) -> Iterator[bytes]:
        for _ in range(_RECORDS_AT_ONCE):
            try:
                record = os.read(fd, _RECORD_BYTES)
            except BrokenPipeError:  # the kernel has overwritten the next ones: go on with the oldest that is left
                continue
            except OSError:  # BlockingIOError: nothing more for now
                return
            if not record:
                return
            yield record


def parse_kill(record: bytes, started_at: datetime) -> tuple[datetime, str] | None:
    """Read "6,4711,1234567,-;oom-kill:constraint=...,task_memcg=/docker/ID,task=java,pid=1,uid=0"; None for others.

    Args:
        record: Level, number, microseconds since the kernel's start, flags; then the text.
        started_at: When that was.
    """
    if _KILL not in record:
        return None
    level, _number, stamp, *_ = [*record.split(b",", 3), b"", b""]
    match = _OF_CONTAINER.search(record)
    if level not in _LEVELS or match is None or not stamp.isdigit() or len(stamp) > 17:  # noqa: PLR2004 - 3,000 years
        return None
    return started_at + timedelta(microseconds=int(stamp)), match.group(1).decode()


def read_boot_time(proc: Path) -> datetime | None:
    """Return when the kernel started, to the second: the same at each call, unless the clock was set."""
    try:
        content = (proc / "stat").read_bytes()
    except OSError:
        return None
    for line in content.splitlines():
        key, _, digits = line.partition(b" ")
        if key == b"btime" and digits.isdigit() and len(digits) <= 11:  # noqa: PLR2004 - until the year 5138
            return datetime.fromtimestamp(int(digits), UTC)
    return None
