"""One daemon a state file: two would count each restart twice and forget what the other has seen."""

import errno
import fcntl
import os
import time
from pathlib import Path

from bcon_exporter.clock import monotonic

_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
"""What file systems say that know no such locks; SQLite's own still keep the file intact there."""
_STEP_SECONDS = 0.02


class TakenError(Exception):
    """Another process holds the lock."""


class FileLock:
    """A lock that is held until it is closed, or its process ends in whatever way."""

    def __init__(self, descriptor: int) -> None:
        self._descriptors = [descriptor]

    def close(self) -> None:
        """Let others have it."""
        while self._descriptors:
            os.close(self._descriptors.pop())


def take_lock(path: Path, wait_seconds: float) -> FileLock:
    """Return the lock that a file stands for.

    It is a file of its own: closing one that SQLite has open would drop SQLite's locks.

    Args:
        path: Made if absent, for its owner only; a symbolic link is refused.
        wait_seconds: How long to wait for another process, one that is about to end.

    Raises:
        TakenError: Another process holds it.
        OSError: The file cannot be made or opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    deadline = monotonic() + wait_seconds
    try:
        while not _is_ours(descriptor):
            if monotonic() >= deadline:
                raise TakenError  # noqa: TRY301 - the descriptor is closed on this way too
            time.sleep(_STEP_SECONDS)
    except BaseException:
        os.close(descriptor)
        raise
    return FileLock(descriptor)


def _is_ours(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True
