"""The whole daemon on thousands of containers, which a made engine answers for: what a scan takes, and who is left out.

    python -m bench.large [--deadline 20]                              # writes its table into docs/performance.md
    python -m bench.large --sizes 1000 5000 --checkout FOLDER          # of another version, to compare: prints it only

The engine is a process of its own that answers stats at whole seconds, as a real one does. Cgroup files are made as
well: the daemon runs below another `/sys/fs/cgroup`, for which it takes to be root.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.document import write_section
from tests.docker.daemon import Daemon
from tests.docker.processes import read_process
from tests.engine.fleet_engine import FleetEngineProcess, id_of
from tests.waiting import wait_until

SIZES = (50, 1000, 5000)
SCANS = 3
FIRST_SCANS = 9
"""So many fresh daemons tell how long a first scan takes: one alone tells how fast the machine was just then."""
LOOK_EVERY_SECONDS = 2.0
"""Each look is a scrape: of thousands of containers it takes time too."""
CGROUP_FILES = {
    "cpu.stat": "usage_usec 4200000\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
    "memory.current": "9000000\n",
    "memory.stat": "anon 8000000\nfile 900000\ninactive_file 81920\nactive_file 40960\n",
    "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n",
    "pids.current": "3\n",
    "io.stat": "8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n",
}


@dataclass(frozen=True)
class ScanCost:
    """One scan of the daemon, and the process after it.

    Attributes:
        cpu_seconds: Of the process, since the scan before: rendering, scrapes and a look for drift are part of it.
    """

    wall_seconds: float
    cpu_seconds: float
    incomplete: int
    peak_memory_bytes: int


@dataclass(frozen=True)
class Large:
    """What the daemon took on a number of containers."""

    containers: int
    has_cgroups: bool
    scans: tuple[ScanCost, ...]
    series: int
    dropped: int
    text_bytes: int
    load: float

    @property
    def last(self) -> ScanCost:
        """The last scan: everything has been read before."""
        return self.scans[-1]


@dataclass(frozen=True)
class FirstScan:
    """The first scan of a fresh daemon, and what a fixed piece of work took just before: how fast the machine was."""

    wall_seconds: float
    fixed_work_seconds: float


def measure_first_scan(containers: int, deadline_seconds: int, checkout: Path | None) -> FirstScan:
    """Run a fresh daemon until its first scan is over."""
    began = time.process_time()
    sum(number * number for number in range(4_000_000))
    fixed_work = time.process_time() - began
    found = measure(containers, deadline_seconds, checkout, has_cgroups=True, scans=1)
    return FirstScan(found.last.wall_seconds, fixed_work)


def measure(
    containers: int, deadline_seconds: int, checkout: Path | None, *, has_cgroups: bool, scans: int = SCANS
) -> Large:
    """Run the daemon for some scans."""
    with (
        tempfile.TemporaryDirectory() as folder,
        FleetEngineProcess(Path(folder) / "engine.sock", containers) as engine,
    ):
        cgroups = Path(folder, "cgroup")
        make_cgroups(cgroups, containers if has_cgroups else 0)
        below = (
            *("unshare", "--mount", "--propagation", "private", "sh", "-c"),
            f'mount --bind {cgroups} /sys/fs/cgroup && exec "$0" "$@"',
        )
        flags = [f"--scan.deadline={deadline_seconds}s", "--scan.diagnose-interval=30s", "--scan.drift-interval=1h"]
        with Daemon(Path(folder), engine.url, *flags, below=below, checkout=checkout) as daemon:
            costs = tuple(_wait_for_scan(daemon, number) for number in range(1, scans + 1))
            text = daemon.ask("/metrics").text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    dropped = next((line.split()[1] for line in lines if line.startswith("bcon_series_dropped ")), "0")
    return Large(
        containers, has_cgroups, costs, len(lines), int(float(dropped)), len(text.encode()), os.getloadavg()[0]
    )


def make_cgroups(folder: Path, containers: int) -> None:
    """Make the files of cgroup v2 for so many containers of the made engine."""
    folder.mkdir()
    (folder / "cgroup.controllers").write_text("cpu io memory pids\n")
    for number in range(containers):
        scope = folder / "system.slice" / f"docker-{id_of(number)}.scope"
        scope.mkdir(parents=True)
        for name, text in CGROUP_FILES.items():
            (scope / name).write_text(text)


def _wait_for_scan(daemon: Daemon, number: int) -> ScanCost:
    done = 'bcon_scans_total{scan="diagnose"}'
    pid = daemon.process.pid
    before = _cpu_seconds(pid)
    wait_until(
        lambda: (daemon.sample(done) or 0) >= number,
        f"scan {number}",
        timeout_seconds=180,
        every_seconds=LOOK_EVERY_SECONDS,
    )
    return ScanCost(
        daemon.sample('bcon_scan_last_duration_seconds{scan="diagnose"}') or 0.0,
        _cpu_seconds(pid) - before,
        int(daemon.sample('bcon_scan_incomplete_containers{scan="diagnose"}') or 0),
        int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) * 1024,
    )


def _cpu_seconds(pid: int) -> float:
    process = read_process(pid)
    assert process is not None
    return process.cpu_seconds


def render(results: list[Large], firsts: list[FirstScan], deadline_seconds: int) -> str:
    """The table for the document, and by how much a container costs more among many."""
    loads = ", ".join(f"{found.load:.0f}" for found in results)
    lines = [
        f"`python -m bench.large` on {os.cpu_count()} cores, one run: a made engine, deadline {deadline_seconds} s; "
        f"the first scan and scan {SCANS}. CPU is the daemon's until then, with scrapes and the first look for drift. "
        f"The machine's load at the end of each row was {loads}: wall times beside others on two cores say little.",
        "",
        "| containers | usage from | first, wall s | later | CPU s | incomplete | memory | series | not shown | text |",
        "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for found in results:
        way = "cgroup files" if found.has_cgroups else "the engine"
        lines.append(
            f"| {found.containers:,} | {way} | {found.scans[0].wall_seconds:.2f} | {found.last.wall_seconds:.2f} "
            f"| {sum(scan.cpu_seconds for scan in found.scans):.1f} "
            f"| {', '.join(str(scan.incomplete) for scan in found.scans)} "
            f"| {found.last.peak_memory_bytes / 1e6:.0f} MB "
            f"| {found.series:,} | {found.dropped:,} | {found.text_bytes / 1e6:.1f} MB |"
        )
    few, *_, many = with_cgroups = [found for found in results if found.has_cgroups]
    growth = _each(many, "wall_seconds") / _each(few, "wall_seconds")
    cpu = ", ".join(f"{_each(found, 'cpu_seconds') * 1e3:.2f} among {found.containers:,}" for found in with_cgroups)
    held = (many.last.peak_memory_bytes - few.last.peak_memory_bytes) / (many.containers - few.containers)
    lines += [
        "",
        f"Of the wall time of scan {SCANS} a container takes {growth:.2f} times as much among {many.containers:,} as "
        f"among {few.containers:,}. CPU a container in that scan's interval, in ms: {cpu}. Each further one takes "
        f"{held / 1e3:.0f} kB of memory.",
        "",
        f"The first scan of {many.containers:,} in {len(firsts)} fresh daemons, one after the other: "
        f"{_spread([first.wall_seconds for first in firsts])}. A fixed piece of work before each of them: "
        f"{_spread([first.fixed_work_seconds for first in firsts])}: so much did the speed of the machine vary.",
    ]
    return "\n".join(lines)


def _spread(seconds: list[float]) -> str:
    return f"{min(seconds):.2f} to {max(seconds):.2f} s, the median {statistics.median(seconds):.2f} s"


def _each(found: Large, cost: str) -> float:
    """A container's share of what the last scan took."""
    return float(getattr(found.last, cost)) / found.containers


def main() -> None:
    """Measure all sizes with cgroup files, and the largest one without."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--deadline", type=int, default=20)
    parser.add_argument("--checkout", type=Path)
    asked = parser.parse_args()
    sizes = sorted(asked.sizes)
    results = [measure(size, asked.deadline, asked.checkout, has_cgroups=True) for size in sizes]
    results.append(measure(sizes[-1], asked.deadline, asked.checkout, has_cgroups=False))
    firsts = [measure_first_scan(sizes[-1], asked.deadline, asked.checkout) for _ in range(FIRST_SCANS)]
    text = render(results, firsts, asked.deadline)
    print(text, flush=True)
    print(results)
    if asked.checkout is None and tuple(sizes) == SIZES:
        write_section("large", text)


if __name__ == "__main__":
    main()
