"""Small kernel files, read again and again: kept open within a budget, since opening costs six times the reading."""

import os
import resource
from collections.abc import Sequence
from contextlib import suppress

MOST_OPEN_FILES = 12_288
"""Nine cgroup files for each of a thousand containers, and connections: stats need one for each container."""
_READ_BYTES = 16384
_SPARE_FILES = 2048


def kept_open_files() -> int:
    """Return how many files may be open now, at most what any of our budgets can use."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN_FILES if soft == resource.RLIM_INFINITY else min(soft, MOST_OPEN_FILES)


def raise_open_files_limit() -> int:
    """Raise the soft limit toward the hard one; return what it is then.

    For the daemon only, before its first scan: the usual soft limit of 1024 exists for programs that use select(2),
    and would have cgroup files opened anew at every scan from some fifty containers on. A command ends before it gains.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # a sandbox may forbid it: then we live with less
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return kept_open_files()


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
            most = kept_open_files()  # when first needed: a daemon raises it at its start
            self._limit = max(most // 3, most - _SPARE_FILES)
        return self.used < self._limit


class KernelFiles:
    """The files of one cgroup; a removed one's descriptors fail to read (ENODEV), so they are never stale.

    One value for all: thousands of containers have six files each.
    """

    __slots__ = ("_budget", "_fds", "_paths")

    def __init__(self, paths: Sequence[str], budget: OpenBudget) -> None:
        self._paths = tuple(paths)
        self._fds = [-1] * len(self._paths)
        self._budget = budget

    def read(self, number: int) -> bytes | None:
        """Return the content of a file, by its place among the paths, as it is now; None when it cannot be read."""
        fd = self._fds[number]
        if fd >= 0:
            try:  # hot: no suppress()
                return os.pread(fd, _READ_BYTES, 0)
            except OSError:
                self._close(number)
        if not self._budget.has_room():
            return read_once(self._paths[number])
        try:
            fd = self._fds[number] = os.open(self._paths[number], os.O_RDONLY | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        self._budget.used += 1
        with suppress(OSError):
            return os.pread(fd, _READ_BYTES, 0)
        self._close(number)
        return None

    def close(self) -> None:
        """Give the descriptors back."""
        for number in range(len(self._fds)):
            self._close(number)

    def _close(self, number: int) -> None:
        if self._fds[number] >= 0:
            os.close(self._fds[number])
            self._fds[number] = -1
            self._budget.used -= 1
