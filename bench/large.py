"""The whole daemon on thousands of containers, which a made engine answers for: what a scan takes, and who is left out.

    python -m bench.large 5000 [--deadline 20] [--checkout FOLDER]    # of another version, to compare

The engine is a process of its own that answers stats at whole seconds, as a real one does.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.docker.daemon import Daemon
from tests.docker.processes import read_process
from tests.docker_host.fleet_engine import FleetEngineProcess
from tests.waiting import wait_until

SCANS = 3


@dataclass(frozen=True)
class ScanCost:
    """One scan of the daemon, and the process after it."""

    wall_seconds: float
    cpu_seconds: float
    incomplete: int
    peak_memory_bytes: int


@dataclass(frozen=True)
class Large:
    """What the daemon took on a number of containers."""

    containers: int
    scans: tuple[ScanCost, ...]
    series: int
    dropped: int
    text_bytes: int


def measure(containers: int, deadline_seconds: int, checkout: Path | None) -> Large:
    """Run the daemon for some scans."""
    with (
        tempfile.TemporaryDirectory() as folder,
        FleetEngineProcess(Path(folder) / "engine.sock", containers) as engine,
    ):
        flags = [f"--scan.deadline={deadline_seconds}s", "--scan.diagnose-interval=30s", "--scan.drift-interval=1h"]
        with Daemon(Path(folder), engine.url, *flags, checkout=checkout) as daemon:
            scans = tuple(_wait_for_scan(daemon, number) for number in range(1, SCANS + 1))
            text = daemon.ask("/metrics").text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    dropped = next((line.split()[1] for line in lines if line.startswith("bcon_series_dropped ")), "0")
    return Large(containers, scans, len(lines), int(float(dropped)), len(text.encode()))


def _wait_for_scan(daemon: Daemon, number: int) -> ScanCost:
    done = 'bcon_scans_total{scan="diagnose"}'
    pid = daemon.process.pid
    before = _cpu_seconds(pid)
    wait_until(lambda: (daemon.sample(done) or 0) >= number, f"scan {number}", timeout_seconds=180, every_seconds=0.5)
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


def render(small: Large, large: Large) -> str:
    """The figures, as a table and what each further container adds."""
    lines = ["containers | scan | wall s | CPU s | incomplete | peak MB"]
    for found in (small, large):
        for number, scan in enumerate(found.scans, 1):
            costs = f"{scan.wall_seconds:.2f} | {scan.cpu_seconds:.2f} | {scan.incomplete}"
            lines.append(f"{found.containers} | {number} | {costs} | {scan.peak_memory_bytes / 1e6:.0f}")
        series = f"{found.series} series ({found.dropped} left out), {found.text_bytes / 1e6:.1f} MB of text"
        lines.append(f"{found.containers}: {series}")
    more = large.containers - small.containers
    memory = (large.scans[-1].peak_memory_bytes - small.scans[-1].peak_memory_bytes) / more
    cpu = (large.scans[0].cpu_seconds - small.scans[0].cpu_seconds) / more
    lines.append(f"each further container: {memory / 1e3:.1f} kB, {cpu * 1e3:.2f} ms of CPU in the first scan")
    return "\n".join(lines)


def main() -> None:
    """Measure a fifth of the containers, and all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("containers", type=int)
    parser.add_argument("--deadline", type=int, default=20)
    parser.add_argument("--checkout", type=Path)
    asked = parser.parse_args()
    small, large = (measure(n, asked.deadline, asked.checkout) for n in (asked.containers // 5, asked.containers))
    print(render(small, large))


if __name__ == "__main__":
    main()
