"""The whole daemon on the fleet: its peak memory, its scans' own durations, and scrapes while a scan runs."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import wait_until

PORT = 19977
SCRAPES = 3000
SECONDS_AT_MOST = 60.0
SAMPLE = re.compile(
    rb'^bcon_scan_last_(duration_seconds|run_timestamp_seconds)\{scan="diagnose"\} (\S+)$', re.MULTILINE
)


@dataclass(frozen=True)
class DaemonMeasurement:
    """What the daemon took.

    Attributes:
        scrapes_in_scan: Number of scrapes that overlapped a running scan; the percentiles are theirs.
    """

    peak_memory_bytes: int
    scan_seconds: float
    scrape_p50_seconds: float
    scrape_p99_seconds: float
    scrapes_in_scan: int
    scrape_bytes: int


@dataclass(frozen=True)
class Scrape:
    """One scrape: when it began and ended on the wall clock."""

    start: float
    end: float
    compressed_bytes: int


def measure_daemon(host: str) -> DaemonMeasurement:
    """Run the daemon with the shortest interval and scrape it over and over, compressed, on one connection."""
    with tempfile.TemporaryDirectory() as folder:
        log = (Path(folder) / "log").open("wb")
        command = [sys.executable, "-m", "bcon_exporter", "serve", f"--docker.host={host}"]
        flags = [f"--web.listen-address=127.0.0.1:{PORT}", f"--state.path={folder}/state.db"]
        intervals = ["--scan.diagnose-interval=1s", "--scan.drift-interval=10s"]
        daemon = subprocess.Popen([*command, *flags, *intervals], stdout=log, stderr=log)
        try:
            wait_until(lambda: _answers("/-/ready"), "the daemon to be ready", timeout_seconds=60)
            _warm_up()
            scrapes, scans = _scrape()
            peak = int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{daemon.pid}/status").read_text())[0]) * 1024
        finally:
            daemon.terminate()
            daemon.wait(20)
            log.close()
    during = [
        scrape.end - scrape.start
        for scrape in scrapes
        if any(scrape.start < ended and scrape.end > began for began, ended in scans)
    ]
    durations = sorted(ended - began for began, ended in scans)
    during.sort()
    return DaemonMeasurement(
        peak,
        durations[len(durations) // 2],
        during[len(during) // 2],
        during[int(len(during) * 0.99)],
        len(during),
        scrapes[-1].compressed_bytes,
    )


def _warm_up() -> None:
    deadline = time.monotonic() + 8
    while time.monotonic() < deadline:
        _answers("/metrics")
        time.sleep(0.5)


def _scrape() -> tuple[list[Scrape], list[tuple[float, float]]]:
    """Scrape as fast as it goes; the scans that ran meanwhile come from a second reading, uncompressed."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=5)
    scrapes: list[Scrape] = []
    scans: set[tuple[float, float]] = set()
    deadline = time.monotonic() + SECONDS_AT_MOST
    while len(scrapes) < SCRAPES and time.monotonic() < deadline:
        start = time.time()
        connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
        body = connection.getresponse().read()
        scrapes.append(Scrape(start, time.time(), len(body)))
        if len(scrapes) % 20 == 0:
            connection.request("GET", "/metrics", headers={"Accept-Encoding": "identity"})
            found = dict(SAMPLE.findall(connection.getresponse().read()))
            ended = float(found[b"run_timestamp_seconds"])
            scans.add((ended - float(found[b"duration_seconds"]), ended))
        time.sleep(0.005)
    connection.close()
    return scrapes, sorted(scans)


def _answers(path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
