"""Measure a scan of 50, 200 and 500 containers, ours beside the others, and write the table into docs/performance.md.

python -m bench.scan [SIZE…]
"""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.daemon import DaemonMeasurement, measure_daemon
from bench.document import write_section
from bench.fleet import Fleet
from bench.ways import Measurement

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[1]
NAMES = {
    "naive": "docker-py loop, 32 threads",
    "raw": "the same requests as below, raw sockets",
    "api": "bcon-exporter, Engine API alone",
    "cgroup": "bcon-exporter, cgroup and log files readable",
}
REPETITIONS = {"naive": 1, "raw": 5, "api": 5, "cgroup": 9}


def measure_way(way: str, fleet: Fleet) -> Measurement:
    """Median wall and mean CPU of a way, in a process of its own."""
    arguments = [way, fleet.engine.host, str(fleet.engine.processes()[0].pid), str(REPETITIONS[way])]
    done = subprocess.run(
        [sys.executable, "-m", "bench.ways", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    runs = [Measurement(**each) for each in json.loads(done.stdout)]
    return Measurement(
        statistics.median(run.wall_seconds for run in runs),
        statistics.mean(run.exporter_cpu_seconds for run in runs),
        statistics.mean(run.engine_cpu_seconds for run in runs),
        runs[-1].containers,
    )


def render(results: dict[int, dict[str, Measurement]], daemons: dict[int, DaemonMeasurement]) -> str:
    """The tables and what follows from them, as Markdown."""
    return "\n\n".join((_machine(), _costs(results), _ratios(results), _daemons(daemons)))


def _costs(results: dict[int, dict[str, Measurement]]) -> str:
    rows = []
    for way, name in NAMES.items():
        for size, ways in results.items():
            one = ways[way]
            numbers = (one.wall_seconds, one.exporter_cpu_seconds, one.engine_cpu_seconds, _cpu(one))
            rows.append((name, size, *(f"{number:.3f}" for number in numbers)))
    return _table("way | containers | wall s | CPU s, ours | CPU s, engine | CPU s, both", rows, words=1)


def _ratios(results: dict[int, dict[str, Measurement]]) -> str:
    rows = []
    for size, ways in results.items():
        wall = ways["naive"].wall_seconds / ways["cgroup"].wall_seconds
        cpu = _cpu(ways["naive"]) / _cpu(ways["cgroup"])
        floor = ways["api"].wall_seconds / ways["raw"].wall_seconds
        each = 1e3 * ways["cgroup"].wall_seconds / size
        rows.append((size, f"{wall:.0f}x", f"{cpu:.1f}x", f"{floor:.2f}x", f"{each:.2f} ms"))
    return _table(
        "containers | wall, naive / ours | CPU, naive / ours | API alone / raw sockets | ours, wall per container", rows
    )


def _daemons(daemons: dict[int, DaemonMeasurement]) -> str:
    rows = [
        (
            size,
            f"{daemon.peak_memory_bytes / 1e6:.0f} MB",
            f"{daemon.scan_seconds:.3f} s",
            f"{daemon.in_scan.p50 * 1e3:.1f} ms",
            f"{daemon.in_scan.p99 * 1e3:.1f} ms ({daemon.in_scan.number} scrapes)",
            f"{daemon.bare_in_scan.p50 * 1e3:.1f} ms",
            f"{daemon.bare_in_scan.p99 * 1e3:.1f} ms",
            f"{daemon.scrape_bytes / 1e3:.0f} kB",
        )
        for size, daemon in daemons.items()
    ]
    return _table(
        "the daemon at | peak memory | one scan | scrape in scans, p50 | p99 | bare server p50 | p99 | compressed", rows
    )


def _table(heads: str, rows: Iterable[tuple[object, ...]], words: int = 0) -> str:
    """A table of numbers, behind so many columns of words."""
    columns = heads.count("|") + 1
    lines = [f"| {heads} |", f"|{'---|' * words}{'--:|' * (columns - words)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def _cpu(one: Measurement) -> float:
    return one.exporter_cpu_seconds + one.engine_cpu_seconds


def _machine() -> str:
    models = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    model = models[0] if models else platform.machine()
    command = f"make bench SIZES='{' '.join(sys.argv[1:]) or '50 200 500'}'"
    return f"Made by `{command}` on {os.cpu_count()} cores of {model}, Python {platform.python_version()}, one run."


def main(sizes: list[int]) -> None:
    """Measure every way at every size in one run on one engine."""
    results: dict[int, dict[str, Measurement]] = {}
    daemons: dict[int, DaemonMeasurement] = {}
    fleet = Fleet().start()
    try:
        for size in sizes:
            fleet.grow_to(size)
            results[size] = {}
            for way in NAMES:
                results[size][way] = measure_way(way, fleet)
                print(size, way, results[size][way], flush=True)
            daemons[size] = measure_daemon(fleet.engine.host)
            print(size, daemons[size], flush=True)
    finally:
        fleet.stop()
    write_section("bench", render(results, daemons))


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [50, 200, 500])
