"""Runs the daemon with its one clock set to the time that a file names: `python daemon_at.py FILE serve …`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bcon_exporter.clock

FILE = Path(sys.argv.pop(1))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now() -> datetime:
    """The time in the file, in nanoseconds since the epoch."""
    return EPOCH + timedelta(microseconds=int(FILE.read_text()) // 1000)


bcon_exporter.clock.utc_now = now

if __name__ == "__main__":
    from bcon_exporter.__main__ import main

    main()
