"""Reads files that a setting or a person names: at once or not at all.

A pipe would hang whoever opens it, a device never end, some devices act on being opened.
"""

import os
import stat
from pathlib import Path
from typing import cast

MAX_FILE_BYTES = 1024 * 1024
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class UnreadableFileError(Exception):
    """Why a file cannot be read; its text ends a sentence that begins with the file ("is a pipe, ...")."""


def read_regular_file(path: Path, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Return what a regular file holds; links are followed.

    Args:
        path: The file.
        max_bytes: How much it may hold.

    Raises:
        UnreadableFileError: It is absent, forbidden, too large or no regular file.
    """
    try:
        _refuse_other_kinds(os.stat(path))  # noqa: PTH116 - before it is opened: a device may act on that
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as file:
            _refuse_other_kinds(os.fstat(descriptor))
            content = cast("bytes | None", file.read(max_bytes + 1))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        msg = f"cannot be read: {getattr(error, 'strerror', None) or 'no file name'}"
        raise UnreadableFileError(msg) from None
    if content is None:  # the kernel's log calls itself a regular file, and makes its readers wait
        msg = "cannot be read: it waits for what is still to come"
        raise UnreadableFileError(msg)
    if len(content) > max_bytes:
        msg = f"is larger than {_size(max_bytes)}"
        raise UnreadableFileError(msg)
    return content


def check_regular_file(path: Path, max_bytes: int = MAX_FILE_BYTES) -> None:
    """Do as if to read a file that others will open by its name: OpenSSL, Compose.

    Raises:
        UnreadableFileError: As `read_regular_file` says.
    """
    read_regular_file(path, max_bytes)


def _refuse_other_kinds(facts: os.stat_result) -> None:
    for is_kind, name in _KINDS:
        if is_kind(facts.st_mode):
            msg = f"is {name}, not a regular file"
            raise UnreadableFileError(msg)


def _size(count: int) -> str:
    return f"{count // (1024 * 1024)} MiB" if count >= 1024 * 1024 else f"{count // 1024} KiB"
