"""What the daemon shows across an engine's or its own restart: kept, withheld, whole again, and never a false loop.

Other faults of the engine stand in test_daemon_faults.py and test_faults_partial.py.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.docker.scraping import scrape, wait_for_whole_scan
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

INTERVAL = 2.0
QUICK = ("--scan.diagnose-interval=2s", "--scan.drift-interval=3s")
SLACK = 1.0
NAMES = {"some-0", "some-1", "some-2"}


def start_some(engine: TestEngine) -> None:
    for name in sorted(NAMES):
        engine.docker("run", "-d", "--restart", "always", "--name", name, engine.image, "serve")


def failures_until_whole(daemon: Daemon) -> float:
    """How many scans fail from now on until one that begins now is whole: the one that is under way may."""
    before = scrape(daemon).value("bcon_scan_failures_total", scan="diagnose") or 0
    wait_for_whole_scan(daemon, timeout_seconds=60)
    return (scrape(daemon).value("bcon_scan_failures_total", scan="diagnose") or 0) - before


@pytest.mark.promise("F1")
def test_values_of_a_hung_engine_are_kept_for_three_intervals(engine: TestEngine, tmp_path: Path) -> None:
    start_some(engine)
    interval = 4.0
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval=4s", "--scan.drift-interval=4s") as daemon:
        wait_for_whole_scan(daemon)
        last = scrape(daemon).scan("last_success_timestamp_seconds")
        assert last is not None
        engine.pause()
        while (before := time.time()) < last + 6 * interval:
            metrics = scrape(daemon)
            after = time.time()
            if metrics.scan("last_success_timestamp_seconds") != last:  # a scan had begun just before the pause
                last = metrics.scan("last_success_timestamp_seconds") or 0.0
            if after < last + 3 * interval:
                assert metrics.containers() == NAMES
            if before > last + 3 * interval + SLACK:
                assert metrics.containers() == set()
                assert metrics.scan("success") == 0


@pytest.mark.promise("F2")
def test_after_a_resume_the_next_scan_is_whole(engine: TestEngine, tmp_path: Path) -> None:
    start_some(engine)
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_until_ready()
        engine.pause()
        daemon.wait_for_sample("bcon_up", 0)
        engine.resume()
        assert failures_until_whole(daemon) <= 1
        daemon.wait_for_sample("bcon_up", 1)
        metrics = scrape(daemon)
        assert metrics.containers() == NAMES
        assert metrics.value("bcon_symptoms", symptom="restart_loop") == 0
        assert "Traceback" not in daemon.log


@pytest.mark.promise("F2")
def test_an_engine_killed_three_times_raises_no_false_restart_loop(engine: TestEngine, tmp_path: Path) -> None:
    start_some(engine)
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_until_ready()
        for _ in range(3):
            engine.kill_and_restart()
            assert failures_until_whole(daemon) <= 1
        wait_until(lambda: len(engine.docker("ps", "-q").split()) == len(NAMES), "the containers to run again")
        wait_for_whole_scan(daemon)
        metrics = scrape(daemon)
        assert metrics.containers() == NAMES
        for symptom in ("restart_loop", "exit_error"):
            assert metrics.value("bcon_symptoms", symptom=symptom) == 0, symptom
        assert "Traceback" not in daemon.log


@pytest.mark.promise("F4")
def test_an_engine_that_comes_later_is_found(engine: TestEngine, tmp_path: Path) -> None:
    link = tmp_path / "late.sock"
    with Daemon(tmp_path, f"unix://{link}", *QUICK) as daemon:
        daemon.wait_for_sample("bcon_up", 0)
        assert daemon.ask("/-/ready").status == 503
        link.symlink_to(engine.socket)
        assert failures_until_whole(daemon) <= 1
        daemon.wait_for_sample("bcon_up", 1)
        assert "Traceback" not in daemon.log


def test_a_restarted_daemon_remembers_restarts_and_first_seen_times(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--restart", "always", "--name", "looper", engine.image, "sh", "-c", "sleep 0.1; exit 1")
    labels = {"container": "looper", "symptom": "restart_loop"}
    answers = []
    for _ in range(2):
        with Daemon(tmp_path, engine.host, *QUICK) as daemon:
            series = 'bcon_container_symptom{container="looper",project="",service="",symptom="restart_loop"}'
            daemon.wait_for_sample(series, 1)
            answers.append(scrape(daemon))
            daemon.end()
    first, second = answers
    since = "bcon_container_symptom_start_timestamp_seconds"
    assert second.value(since, **labels) == first.value(since, **labels)
    before = first.value("bcon_container_restarts_total", container="looper") or 0
    after = second.value("bcon_container_restarts_total", container="looper") or 0
    assert after >= before >= 3
