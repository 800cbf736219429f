"""Runs what is to be run as a user without rights, wherever Python and the checkout lie."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from shlex import quote

import pytest

CHECKOUT = Path(__file__).parents[2]

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can become another user"
)


def as_nobody() -> tuple[str, ...]:
    """What a command is run below; folders that others may not enter, as a home of mode 0700, stay closed."""
    needed = {Path(sys.prefix), Path(sys.base_prefix), CHECKOUT}
    hidden: dict[Path, set[Path]] = {}
    for path in needed:
        closed = next((parent for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001), None)
        if closed is not None:
            hidden.setdefault(closed, set()).add(path)
    ways_in = [word for closed, paths in sorted(hidden.items()) for word in _way_in(closed, paths)]
    return (*ways_in, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def _way_in(closed: Path, paths: set[Path]) -> tuple[str, ...]:
    """Replace a folder, for what is run below this alone, by one that holds only these paths and that all may enter."""
    steps = ["umask 022", "mount -t tmpfs -o mode=755 tmpfs /mnt"]
    for path in sorted(paths):
        place = quote(str(Path("/mnt") / path.relative_to(closed)))
        steps += [f"mkdir -p {place}", f"mount --bind {quote(str(path))} {place}"]
    steps += [f"mount --move /mnt {quote(str(closed))}", 'cd "$PWD"', 'exec "$0" "$@"']
    return ("unshare", "--mount", "--propagation", "private", "sh", "-c", " && ".join(steps))
