"""What containers whose health flips all the time, and one in a loop of restarts, write in an hour.

`python -m bench.fair_share` lets ten containers flip five times a second, as a check with `--interval=1ms` does, and
one restart each minute, for two hours with a scan a minute. It prints the rows of the journal by kind, those of the
second hour by day, and the size of the file.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from tests.factories import NOON
from tests.journal.keepers import batch, container, crash_loop, event, open_keeper, scan

HOURS = 2
FLIPS_A_SECOND = 5
NOISY = tuple(f"noisy-{number}" for number in range(10))
MINUTE = timedelta(minutes=1)


def fill(path: Path) -> None:
    """Let the hours pass, with the daemon's own keeper."""
    keeper = open_keeper(path, now=NOON)
    keeper.add_events(batch(), NOON)
    seen = [container(name=name) for name in (*NOISY, "loop")]
    for minute in range(60 * HOURS):
        now = NOON + minute * MINUTE
        flips = [
            event(now + number * MINUTE / (60 * FLIPS_A_SECOND), "health_status", name, health=health)
            for name in NOISY
            for number, health in enumerate(("unhealthy", "healthy") * (30 * FLIPS_A_SECOND))
        ]
        loop = crash_loop(1, name="loop", last=now + MINUTE / 2)
        keeper.add_events(batch(*flips, *loop, since=now), now + MINUTE)
        scan(keeper, *seen, now=now + MINUTE)
    keeper.close()


def main() -> None:
    """Print rows and size."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        path = Path(folder) / "state.db"
        fill(path)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        with closing(sqlite3.connect(path)) as connection:
            rows = connection.execute(
                "SELECT container = 'loop', kind, count(*), sum(at >= ?) FROM journal GROUP BY 1, 2",
                (int((NOON + 60 * MINUTE).timestamp() * 1e6),),
            ).fetchall()
        for is_loop, kind, count, of_second_hour in rows:
            who = "one in a loop of restarts" if is_loop else "ten that flip"
            print(f"{who:26} {kind:8} {count:9,} rows in {HOURS} hours, {24 * of_second_hour:11,} a day")
        print(f"{size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
