"""The whole daemon on the fleet: its peak memory, its scans' own durations, and scrapes while a scan runs.

Beside each scrape goes one of a bare server, a process of its own that sends as many ready bytes: on few cores most of
the wait is for a core, while the engine answers the scan, and no server is spared that.
"""

from __future__ import annotations

import contextlib
import http.client
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT = 19977
BARE_PORT = 19978
SCRAPES = 3000
SECONDS_AT_MOST = 60.0
SAMPLE = re.compile(
    rb'^bcon_scan_last_(duration_seconds|run_timestamp_seconds)\{scan="diagnose"\} (\S+)$', re.MULTILINE
)


@dataclass(frozen=True)
class Scrape:
    """One scrape: when it began and ended on the wall clock."""

    start: float
    end: float
    compressed_bytes: int


@dataclass(frozen=True)
class Latencies:
    """Percentiles in seconds, and of how many scrapes."""

    p50: float
    p99: float
    number: int

    @classmethod
    def of(cls, scrapes: list[Scrape], scans: list[tuple[float, float]]) -> Latencies:
        """Those of the scrapes that overlapped a scan."""
        during = sorted(
            scrape.end - scrape.start
            for scrape in scrapes
            if any(scrape.start < ended and scrape.end > began for began, ended in scans)
        )
        return cls(during[len(during) // 2], during[int(len(during) * 0.99)], len(during))


@dataclass(frozen=True)
class DaemonMeasurement:
    """What the daemon took.

    Attributes:
        in_scan: Scrapes that overlapped a running scan.
        bare_in_scan: The same of a server that does nothing but answer.
    """

    peak_memory_bytes: int
    scan_seconds: float
    in_scan: Latencies
    bare_in_scan: Latencies
    scrape_bytes: int


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
            with _bare_server(len(_get(PORT, "gzip"))):
                ours, bare, scans = _scrape()
            peak = int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{daemon.pid}/status").read_text())[0]) * 1024
        finally:
            daemon.terminate()
            daemon.wait(20)
            log.close()
    durations = sorted(ended - began for began, ended in scans)
    return DaemonMeasurement(
        peak,
        durations[len(durations) // 2],
        Latencies.of(ours, scans),
        Latencies.of(bare, scans),
        ours[-1].compressed_bytes,
    )


@contextlib.contextmanager
def _bare_server(size: int) -> Iterator[None]:
    server = subprocess.Popen([sys.executable, "-m", "bench.bare_server", str(BARE_PORT), str(size)])
    try:
        wait_until(lambda: _get(BARE_PORT, "gzip"), "the bare server to answer", timeout_seconds=20)
        yield
    finally:
        server.kill()
        server.wait(20)


def _warm_up() -> None:
    deadline = time.monotonic() + 8
    while time.monotonic() < deadline:
        _answers("/metrics")
        time.sleep(0.5)


def _scrape() -> tuple[list[Scrape], list[Scrape], list[tuple[float, float]]]:
    """Scrape both in turn; the scans that ran meanwhile come from a further reading now and then, uncompressed."""
    connections = [http.client.HTTPConnection("127.0.0.1", port, timeout=5) for port in (PORT, BARE_PORT)]
    taken: tuple[list[Scrape], list[Scrape]] = ([], [])
    scans: set[tuple[float, float]] = set()
    deadline = time.monotonic() + SECONDS_AT_MOST
    while len(taken[0]) < SCRAPES and time.monotonic() < deadline:
        for connection, scrapes in zip(connections, taken, strict=True):
            start = time.time()
            connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
            body = connection.getresponse().read()
            scrapes.append(Scrape(start, time.time(), len(body)))
        if len(taken[0]) % 20 == 0:
            found = dict(SAMPLE.findall(_get(PORT, "identity")))
            ended = float(found[b"run_timestamp_seconds"])
            scans.add((ended - float(found[b"duration_seconds"]), ended))
        time.sleep(0.005)
    for connection in connections:
        connection.close()
    return *taken, sorted(scans)


def _get(port: int, encoding: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/metrics", headers={"Accept-Encoding": encoding})
        return connection.getresponse().read()
    except OSError:
        return b""
    finally:
        connection.close()


def _answers(path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
