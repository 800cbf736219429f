"""Signatures that show without reading a file whether it has changed: kind, inode, size and times."""

import os
import stat
from pathlib import Path

from bcon_exporter.compose.files import FILE_BYTES

Signature = tuple[int, ...]
"""Device, inode, size and times of a regular file; only the kind of anything else; ABSENT where there is nothing."""

ABSENT: Signature = ()
_SETTLED_SECONDS = 2.0
_NANOSECONDS = 1_000_000_000


def sign(path: str) -> Signature:
    """Return the signature of the file at a path; links are followed."""
    try:
        facts = os.stat(path)  # noqa: PTH116 — hot: pathlib takes three times as long
    except (OSError, ValueError):
        return ABSENT
    if not stat.S_ISREG(facts.st_mode):
        return (stat.S_IFMT(facts.st_mode),)
    return _identity(facts)


def sign_link(path: str) -> Signature:
    """Return the signature of a symbolic link itself; ABSENT where there is none."""
    try:
        facts = os.lstat(path)
    except (OSError, ValueError):
        return ABSENT
    return _identity(facts) if stat.S_ISLNK(facts.st_mode) else ABSENT


def is_settled(signature: Signature, now: float) -> bool:
    """Return whether one more change would give another signature: some file systems' clocks tick every 2 seconds."""
    return len(signature) <= 1 or now - signature[-1] / _NANOSECONDS > _SETTLED_SECONDS


def read_file(file: Path) -> bytes | None:
    """Read a regular file; return None for a pipe or device, which could block the scan forever."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as handle:
            return handle.read(FILE_BYTES + 1) if stat.S_ISREG(os.fstat(handle.fileno()).st_mode) else None
    except (OSError, ValueError):
        return None


def _identity(facts: os.stat_result) -> Signature:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
