"""What a scan costs the memory: folding 500 containers in, and saving what has changed.

`python -m bench.memory` prints CPU milliseconds (best and median of 120 scans) and what a day writes to disk
(`/proc/self/io`), for a host on which nothing happens, one on which every fifth container crashes at each scan, and an
idle one of 50.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bcon_exporter.memory import observe_events, observe_snapshot
from bcon_exporter.model.container_facts import HostSnapshot
from tests.factories import NOON, usage
from tests.journal.keepers import batch, container, crash_loop, open_keeper

if TYPE_CHECKING:
    from bcon_exporter.journal import MemoryKeeper

SCAN = timedelta(seconds=30)
SCANS = 140
WARM_UP = 20
"""Scans that are not counted: the first writes down every container."""
DAY_OF_SCANS = 86400 / SCAN.total_seconds()


class Cost(NamedTuple):
    """Milliseconds of CPU, best and median; bytes written a day."""

    fold: tuple[float, float]
    whole: tuple[float, float]
    bytes_a_day: float


def take(count: int, now: datetime) -> HostSnapshot:
    """A host of so many running containers, each with usage of its own."""
    seen = (container(name=f"c{n}", usage=usage(memory_usage_bytes=now.microsecond + n)) for n in range(count))
    return HostSnapshot(taken_at=now, containers=tuple(seen))


def written_bytes() -> int:
    """What this process has had written to disk so far."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["write_bytes"])


def measure(keeper: MemoryKeeper, count: int, crashing: int) -> Cost:
    """Scan so many times; each crashing container ends and starts once a scan."""
    folds, wholes, written = [], [], 0
    for number in range(SCANS):
        now = NOON + number * SCAN
        snapshot = take(count, now)
        events = batch(*(event for n in range(crashing) for event in crash_loop(1, name=f"c{n}", last=now)))
        began = time.thread_time()
        observe_snapshot(observe_events(keeper.memory, events, now), snapshot)
        folds.append(1000 * (time.thread_time() - began))
        began, before = time.thread_time(), written_bytes()
        keeper.add_events(events, now)
        keeper.observe(snapshot)
        wholes.append(1000 * (time.thread_time() - began))
        written += written_bytes() - before if number >= WARM_UP else 0
    folds, wholes = folds[WARM_UP:], wholes[WARM_UP:]
    return Cost(
        (min(folds), statistics.median(folds)),
        (min(wholes), statistics.median(wholes)),
        written / (SCANS - WARM_UP) * DAY_OF_SCANS,
    )


def main() -> None:
    """Print the table."""
    for title, count, crashing in (("500 idle", 500, 0), ("500, 100 crashing", 500, 100), ("50 idle", 50, 0)):
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:  # a real disk: what tmpfs takes is not counted
            keeper = open_keeper(Path(folder) / "state.db")
            cost = measure(keeper, count, crashing)
            keeper.close()
        print(
            f"{title:18}  fold {cost.fold[0]:.1f} / {cost.fold[1]:.1f} ms  with saving {cost.whole[0]:.1f} /"
            f" {cost.whole[1]:.1f} ms  {cost.bytes_a_day / 1e6:.0f} MB a day"
        )


if __name__ == "__main__":
    main()
