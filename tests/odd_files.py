"""What may stand in a file's place: things that hang whoever opens them, never end, or are too large."""

from __future__ import annotations

import os
import shutil
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ODD_KINDS = {
    "pipe": "is a pipe, not a regular file",
    "directory": "is a directory, not a regular file",
    "device": "is a device, not a regular file",
    "socket": "is a socket, not a regular file",
    "large": "is larger than",
}
"""Kind → what a refusal says."""


def put_in_place(path: Path, kind: str, size: int = 2 * 1024 * 1024) -> None:
    """Put something of a kind in the place of a file; `device` is a link to /dev/zero."""
    take_away(path)
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
        case "socket":
            with socket.socket(socket.AF_UNIX) as listener:
                directory = os.open(path.parent, os.O_RDONLY)  # a long path is too long for a socket
                try:
                    listener.bind(f"/proc/self/fd/{directory}/{path.name}")
                finally:
                    os.close(directory)
        case "large":
            with path.open("wb") as file:
                file.truncate(size)
        case _:
            raise ValueError(kind)


def take_away(path: Path) -> None:
    """Remove whatever stands at a path."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
