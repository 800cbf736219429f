"""An engine of which only one part hangs: the rest stays fresh, what hangs is marked, and it is not pestered.

With containerd frozen, ping, list, inspect and logs answer in milliseconds while stats hang.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import WITHOUT_CGROUP_FILES, Daemon
from tests.docker.scraping import scrape, wait_for_whole_scan
from tests.docker.socket_proxy import SocketProxy
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

INTERVAL = 3.0
QUICK = ("--scan.diagnose-interval=3s", "--scan.drift-interval=3s")
STATS_UP = 'bcon_docker_endpoint_up{endpoint="stats"}'
STATS_REQUESTS = 'bcon_docker_requests_total{endpoint="stats"}'
MEMORY = 'bcon_container_memory_usage_bytes{container="%s",project="",service=""}'
RUNNING = 'bcon_container_running{container="%s",project="",service=""}'
SCANS = 'bcon_scans_total{scan="diagnose"}'
NAMES = ("aa", "bb", "cc")


class ScanWatch:
    """Waits, and sees every scan that ends meanwhile: it asks far more often than scans end.

    Attributes:
        longest_seconds: What the longest of them took.
    """

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self.longest_seconds = 0.0

    def wait_for_sample(self, series: str, is_it: Callable[[float | None], bool]) -> None:
        """Wait until a series has a value that is meant."""

        def has_come() -> bool:
            took = self._daemon.sample('bcon_scan_last_duration_seconds{scan="diagnose"}')
            self.longest_seconds = max(self.longest_seconds, took or 0.0)
            return is_it(self._daemon.sample(series))

        wait_until(has_come, series)


def start_three(engine: TestEngine) -> None:
    for name in NAMES:
        engine.docker("run", "-d", "--name", name, engine.image, "serve")


@pytest.mark.promise("F3")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to hide the cgroup files from the daemon")
def test_when_stats_hang_the_rest_is_fresh_and_usage_is_withheld(
    engine: TestEngine, tmp_path: Path, figure: Figure
) -> None:
    start_three(engine)
    with Daemon(tmp_path, engine.host, *QUICK, below=WITHOUT_CGROUP_FILES) as daemon:
        for name in NAMES:
            wait_until(lambda name=name: daemon.sample(MEMORY % name), f"usage of {name}")  # type: ignore[misc]  # a bound default
        engine.pause("containerd")
        watch = ScanWatch(daemon)
        watch.wait_for_sample(STATS_UP, lambda value: value == 0)
        watch.wait_for_sample(MEMORY % "aa", lambda value: value is None)
        asked, frozen_at = daemon.sample(STATS_REQUESTS) or 0, time.monotonic()
        scans = daemon.sample(SCANS) or 0
        watch.wait_for_sample(SCANS, lambda value: (value or 0) >= scans + 3)
        metrics, intervals = scrape(daemon), (time.monotonic() - frozen_at) / INTERVAL
        probes = (daemon.sample(STATS_REQUESTS) or 0) - asked
        stats = daemon.ask("/api/v1/containers/aa/stats").json()
        engine.resume("containerd")
        recovery = daemon.wait_for_sample(STATS_UP, 1, timeout_seconds=20)
        wait_until(lambda: daemon.sample(MEMORY % "cc"), "fresh usage", timeout_seconds=20)

    assert (metrics.value("bcon_up"), metrics.scan("success")) == (1, 1)
    assert {name: metrics.value("bcon_container_running", container=name) for name in NAMES} == dict.fromkeys(NAMES, 1)
    assert metrics.scan("incomplete_containers") == 3
    assert 0 < watch.longest_seconds < INTERVAL + 0.5, "the deadline is the interval"
    assert metrics.value("bcon_scan_failures_total", scan="diagnose") == 0
    assert metrics.value("bcon_container_symptom", container="aa", symptom="high_memory") is None, "was not judged"
    assert metrics.value("bcon_container_symptom", container="aa", symptom="restart_loop") == 0
    figure(f"longest scan {watch.longest_seconds:.1f} s, {probes:.0f} probes in {intervals:.1f} intervals")
    assert 1 <= probes <= intervals + 1
    assert stats["result"]["last_known"] is True
    assert recovery <= 2 * INTERVAL + 2
    assert "Traceback" not in daemon.log


@pytest.mark.promise("F3")
@pytest.mark.promise("F19")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to hide the cgroup files from the daemon")
def test_stats_that_the_proxy_forbids_are_told_once_and_asked_for_once_an_interval(
    engine: TestEngine, tmp_path: Path
) -> None:
    start_three(engine)
    home = tmp_path / "daemon"
    home.mkdir()
    with (
        SocketProxy(tmp_path, engine.socket, refused="stats") as proxy,
        Daemon(home, proxy.host, *QUICK, below=WITHOUT_CGROUP_FILES) as daemon,
    ):
        daemon.wait_for_sample(STATS_UP, 0)
        asked, scans = daemon.sample(STATS_REQUESTS) or 0, daemon.sample(SCANS) or 0
        wait_until(lambda: (daemon.sample(SCANS) or 0) >= scans + 4, "further scans")
        metrics = scrape(daemon)
        probes = (daemon.sample(STATS_REQUESTS) or 0) - asked
        turns = (daemon.sample(SCANS) or 0) - scans
        proxy.stop()
        with SocketProxy(tmp_path, engine.socket, port=proxy.port):
            daemon.wait_for_sample(STATS_UP, 1)
            wait_until(lambda: daemon.sample(MEMORY % "bb"), "usage")
            log = daemon.log

    assert asked <= len(NAMES)
    assert 1 <= probes <= turns + 2, "the one and the other are read one after the other, while scans go on"
    assert (metrics.value("bcon_up"), metrics.scan("success")) == (1, 1)
    assert metrics.value("bcon_docker_endpoint_up", endpoint="logs") == 1
    assert log.count("HTTP 403") == 1
    assert log.count("stats are read again") == 1


def test_list_and_inspect_stay_fresh_while_stats_hang(engine: TestEngine, tmp_path: Path) -> None:
    """A container that comes and one that goes are both seen; usage comes from cgroup files, where there are any."""
    start_three(engine)
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        wait_for_whole_scan(daemon)
        engine.pause("containerd")
        daemon.wait_for_sample(STATS_UP, 0)
        engine.docker("create", "--name", "new", "--restart", "on-failure:7", engine.image, "serve")
        daemon.wait_for_sample(RUNNING % "new", 0, timeout_seconds=3 * INTERVAL)
        info = daemon.ask("/api/v1/containers/new").json()["result"]
        engine.docker("rm", "new")
        daemon.wait_for_sample(RUNNING % "new", None, timeout_seconds=3 * INTERVAL)
        metrics = scrape(daemon)
        health = daemon.ask("/api/v1/health").json()["result"]
        ready = daemon.ask("/-/ready").status
        engine.resume("containerd")
        daemon.wait_for_sample(STATS_UP, 1, timeout_seconds=20)

    assert info["restart_policy"] == "on-failure:7"
    assert (metrics.value("bcon_up"), metrics.scan("success"), ready) == (1, 1, 200)
    for endpoint in ("list", "inspect", "logs", "events"):
        assert metrics.value("bcon_docker_endpoint_up", endpoint=endpoint) == 1, endpoint
    assert (health["status"], health["docker_connected"]) == ("degraded", True)
    assert "stats" in health["message"]
