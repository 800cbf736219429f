"""Small kernel files, read again and again: kept open within a budget, since opening costs six times the reading."""

import os
from contextlib import suppress

from bcon_exporter.docker_host.open_files import open_files_limit

_READ_BYTES = 16384
_SPARE_FILES = 2048


def read_once(path: str) -> bytes | None:
    """Return a small file's content; None when it is not there, or vanished while being read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        return os.read(fd, _READ_BYTES)
    except OSError:
        return None
    finally:
        os.close(fd)


class OpenBudget:
    """How many files may stay open.

    Args:
        limit: None for what the process may open, less what connections need; at least a third.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self.used = 0

    def has_room(self) -> bool:
        """Return whether one more file may stay open."""
        if self._limit is None:
            most = open_files_limit()  # when first needed: a daemon raises it at its start
            self._limit = max(most // 3, most - _SPARE_FILES)
        return self.used < self._limit


class KernelFile:
    """One file of a cgroup; a removed one's descriptor fails to read (ENODEV), so it is never stale."""

    __slots__ = ("_budget", "_fd", "_path")

    def __init__(self, path: str, budget: OpenBudget) -> None:
        self._path = path
        self._budget = budget
        self._fd = -1

    def read(self) -> bytes | None:
        """Return the content as it is now; None when the file cannot be read."""
        if self._fd >= 0:
            try:  # hot: no suppress()
                return os.pread(self._fd, _READ_BYTES, 0)
            except OSError:
                self.close()
        if not self._budget.has_room():
            return read_once(self._path)
        try:
            self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        self._budget.used += 1
        with suppress(OSError):
            return os.pread(self._fd, _READ_BYTES, 0)
        self.close()
        return None

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self._budget.used -= 1
