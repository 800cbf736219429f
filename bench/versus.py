"""Is a scan of this checkout dearer than one of another? CPU time at 500 containers, runs of both in turn.

    python -m bench.versus OLD_CHECKOUT [--containers 500] [--rounds 7]

Both scan the same private engine, each run in a process of its own that imports the package of its checkout; the
ratio is that of the medians, which a busy machine changes little since both are measured in the same minutes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.fleet import Fleet
from tests.docker.daemon import WITHOUT_CGROUP_FILES

ROOT = Path(__file__).parents[1]
WAYS: dict[str, tuple[str, ...]] = {"cgroup files": (), "Engine API alone": WITHOUT_CGROUP_FILES}
SCANS_A_ROUND = 3


@dataclass(frozen=True)
class Ratio:
    """One way of scanning: medians of both checkouts in CPU seconds a scan."""

    way: str
    old_seconds: float
    new_seconds: float

    @property
    def ratio(self) -> float:
        """How many times as dear the new one is."""
        return self.new_seconds / self.old_seconds


def scan(checkout: Path, way: str, host: str) -> float:
    """Median CPU seconds of some whole scans in one process that imports a checkout's package."""
    done = subprocess.run(
        [*WAYS[way], sys.executable, str(ROOT / "bench" / "whole_scan.py"), host, str(SCANS_A_ROUND)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return statistics.median(map(float, done.stdout.split()))


def compare(old: Path, containers: int, rounds: int) -> list[Ratio]:
    """Scan with both in turn, so that what slows the machine down slows both."""
    seconds: dict[tuple[str, Path], list[float]] = {(way, checkout): [] for way in WAYS for checkout in (old, ROOT)}
    fleet = Fleet().start()
    try:
        fleet.grow_to(containers)
        for number in range(rounds):
            for way in WAYS:
                for checkout in (old, ROOT) if number % 2 else (ROOT, old):
                    seconds[way, checkout].append(scan(checkout, way, fleet.engine.host))
    finally:
        fleet.stop()
    return [Ratio(way, statistics.median(seconds[way, old]), statistics.median(seconds[way, ROOT])) for way in WAYS]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("old", type=Path)
    parser.add_argument("--containers", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    print("way | CPU ms a scan, old | this | ratio")
    for found in compare(asked.old.resolve(), asked.containers, asked.rounds):
        print(f"{found.way} | {found.old_seconds * 1e3:.1f} | {found.new_seconds * 1e3:.1f} | {found.ratio:.2f}")


if __name__ == "__main__":
    main()
