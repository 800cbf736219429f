"""An engine that hangs, dies or is forbidden never takes the daemon with it, and the daemon says so at once."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.docker.nobody import as_nobody, needs_root
from tests.stepping_clock import stepping_clock
from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

QUICK = ("--scan.diagnose-interval", "2s", "--scan.drift-interval", "4s")
SLOW = ("--scan.diagnose-interval", "30s", "--scan.drift-interval", "30s")
SCANS = 'bcon_scans_total{scan="diagnose"}'
RUNNING = 'bcon_container_running{container="web",project="",service=""}'
RESTART_LOOP = 'bcon_container_symptom{container="web",project="",service="",symptom="restart_loop"}'


def run_web(engine: TestEngine) -> None:
    """Start one container that runs well and outlives the engine's restart."""
    engine.docker("run", "-d", "--name", "web", "--restart", "always", engine.image, "sleep", "1000")


@pytest.mark.promise("F1")
@pytest.mark.alone
def test_a_hung_engine_is_told_within_six_seconds_while_scrapes_go_on(
    engine: TestEngine, tmp_path: Path, figure: Figure
) -> None:
    """No scan runs meanwhile that could notice: the heartbeat does."""
    run_web(engine)

    with Daemon(tmp_path, engine.host, *SLOW) as daemon:
        daemon.wait_for_sample(RUNNING, 1)
        wait_until(lambda: daemon.sample('bcon_scans_total{scan="drift"}'), "the first scans to have ended")
        scans = daemon.sample(SCANS)
        engine.pause()
        seconds = daemon.wait_for_sample("bcon_up", 0, timeout_seconds=10)
        kept = daemon.sample(RUNNING)
        p99 = best_p99_of_scrapes(daemon)
        healthy, ready = daemon.ask("/-/healthy").status, daemon.ask("/-/ready").status
        scans_later = daemon.sample(SCANS)
        engine.resume()
        back = daemon.wait_for_sample("bcon_up", 1, timeout_seconds=10)

    figure(f"`bcon_up` 0 after {seconds:.1f} s, scrapes p99 {p99 * 1000:.0f} ms")
    assert seconds <= 6.0
    assert kept == 1
    assert p99 < 0.05
    assert (healthy, ready) == (200, 503)
    assert scans_later == scans
    assert back <= 6.0
    assert "Traceback" not in daemon.log


@pytest.mark.promise("F1")
def test_scans_of_a_hung_engine_do_not_pile_up_and_the_next_one_is_whole(engine: TestEngine, tmp_path: Path) -> None:
    run_web(engine)

    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_for_sample(RUNNING, 1)
        threads_before = most_threads = count_threads(daemon)
        engine.pause()

        def is_withheld() -> bool:
            nonlocal most_threads
            most_threads = max(most_threads, count_threads(daemon))
            return daemon.sample(RUNNING) is None

        wait_until(is_withheld, "three intervals to be over", timeout_seconds=15)
        healthy = daemon.ask("/-/healthy").status
        engine.resume()
        back = daemon.wait_for_sample(RUNNING, 1, timeout_seconds=15)
        failures = daemon.sample(RESTART_LOOP)

    assert most_threads <= threads_before + 3, "a scan that hangs, one of the other kind that waits, and verdicts"
    assert healthy == 200
    assert back <= 2 * 2 + 2
    assert failures == 0
    assert "Traceback" not in daemon.log


def best_p99_of_scrapes(daemon: Daemon) -> float:
    """The p99 of 200 scrapes; the best of three rounds, since others may want the processors during one."""
    p99 = float("inf")
    for _ in range(3):
        seconds = sorted(daemon.ask("/metrics").seconds for _ in range(200))
        p99 = min(p99, seconds[197])
        if p99 < 0.05:
            break
    return p99


def count_threads(daemon: Daemon) -> int:
    """The process's threads as the kernel counts them."""
    return len(list(Path(f"/proc/{daemon.process.pid}/task").iterdir()))


@pytest.mark.promise("F2")
def test_a_killed_engine_that_comes_back_is_whole_again_without_a_false_restart_loop(
    engine: TestEngine, tmp_path: Path
) -> None:
    run_web(engine)

    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_for_sample(RUNNING, 1)
        for _ in range(3):
            engine.kill_and_restart()
        daemon.wait_for_sample("bcon_up", 1, timeout_seconds=10)
        daemon.wait_for_sample('bcon_scan_success{scan="diagnose"}', 1, timeout_seconds=10)
        daemon.wait_for_sample(RUNNING, 1, timeout_seconds=10)
        looping = daemon.sample(RESTART_LOOP)

    assert looping == 0
    assert "Traceback" not in daemon.log


@pytest.mark.promise("F12")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly_when_told_to(engine: TestEngine, tmp_path: Path, number: signal.Signals) -> None:
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_until_ready()
        code, seconds = daemon.end(number)

    assert code == 0
    assert seconds <= 5
    assert "Traceback" not in daemon.log


@pytest.mark.promise("F12")
def test_it_ends_within_five_seconds_while_scan_and_request_hang(
    engine: TestEngine, tmp_path: Path, figure: Figure
) -> None:
    run_web(engine)

    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_until_ready()
        engine.pause()
        try:
            asking = subprocess.Popen(
                ["curl", "-s", "-m", "20", "-X", "POST", f"http://127.0.0.1:{daemon.port}/api/v1/tools/diagnose_all"],
                stdout=subprocess.DEVNULL,
            )
            daemon.wait_for_sample("bcon_up", 0, timeout_seconds=10)
            code, seconds = daemon.end()
            asking.terminate()
            asking.wait(5)
        finally:
            engine.resume()

    assert code == 0
    figure(f"ended after {seconds:.1f} s")
    assert seconds <= 5
    assert "Traceback" not in daemon.log


@pytest.mark.promise("F4")
def test_an_engine_that_was_never_there_is_no_reason_to_end(tmp_path: Path) -> None:
    with Daemon(tmp_path, f"unix://{tmp_path}/absent.sock", *QUICK) as daemon:
        wait_until(lambda: daemon.sample('bcon_scan_failures_total{scan="diagnose"}'), "a failed scan")
        ready, healthy = daemon.ask("/-/ready"), daemon.ask("/-/healthy")
        tool = daemon.ask("/api/v1/tools/list_containers", "POST", {})
        code, _ = daemon.end()

    assert (ready.status, healthy.status, code) == (503, 200, 0)
    assert "absent.sock" in ready.text
    assert (tool.status, tool.json()["error"]["code"]) == (503, "docker_connection_failed")


@pytest.mark.promise("F4")
def test_a_socket_that_nobody_listens_on_is_told_as_such(tmp_path: Path) -> None:
    dead = tmp_path / "dead.sock"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(dead))

    with Daemon(tmp_path, f"unix://{dead}", *QUICK) as daemon:
        wait_until(lambda: daemon.sample('bcon_scan_failures_total{scan="diagnose"}'), "a failed scan")
        ready, healthy = daemon.ask("/-/ready"), daemon.ask("/-/healthy")
        tool = daemon.ask("/api/v1/tools/list_containers", "POST", {})

    assert (ready.status, healthy.status) == (503, 200)
    assert "refuses connections" in ready.text
    assert "Start the engine" in ready.text
    assert (tool.status, tool.json()["error"]["code"]) == (503, "docker_connection_failed")


def test_a_hung_engine_is_told_as_such_and_a_resumed_one_is_ready(engine: TestEngine, tmp_path: Path) -> None:
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_until_ready()
        engine.pause()
        hint = wait_until(
            lambda: answer.text if (answer := daemon.ask("/-/ready")).status == 503 else None, "the probe to fall"
        )
        hint = wait_until(
            lambda: answer.text if "hangs" in (answer := daemon.ask("/-/ready")).text else None,
            f"a hint that fits, not {hint!r}",
        )
        engine.resume()
        daemon.wait_until_ready()

    assert "did not answer in time" in hint
    assert "containerd" in hint


@pytest.mark.promise("F12")
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--scan.diagnose-intervall=5s",), "--scan.diagnose-interval"),
        (("--scan.diagnose-interval=soon",), "scan.diagnose-interval"),
        (("--config.file=/nonexistent/bcon.yaml",), "/nonexistent/bcon.yaml"),
        (("--web.config.file=/nonexistent/web.yaml",), "/nonexistent/web.yaml"),
        (("--alertmanager.config.file=/nonexistent/am.yaml",), "/nonexistent/am.yaml"),
        (("--alertmanager.config.file=/etc/passwd",), "/etc/passwd: "),
        (("--docker.host=ftp://host",), "ftp://host"),
        (("--web.listen-address=127.0.0.1:99999",), "web.listen-address"),
    ],
)
def test_a_bad_setting_at_the_start_is_one_line_and_exit_2(flags: tuple[str, ...], said: str) -> None:
    command = [sys.executable, "-m", "bcon_exporter", "serve", "--web.listen-address=127.0.0.1:0", "--state.path=none"]

    ended = subprocess.run([*command, *flags], capture_output=True, text=True, timeout=60, check=False)

    assert ended.returncode == 2, ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert said in ended.stderr


@pytest.mark.promise("F4")
@needs_root
def test_a_forbidden_socket_is_told_as_such(engine: TestEngine, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    Path(engine.host.removeprefix("unix://")).chmod(0o600)

    with Daemon(tmp_path, engine.host, *QUICK, below=as_nobody()) as daemon:
        wait_until(lambda: daemon.sample('bcon_scan_failures_total{scan="diagnose"}'), "a failed scan")
        ready, healthy = daemon.ask("/-/ready"), daemon.ask("/-/healthy")
        tool = daemon.ask("/api/v1/tools/list_containers", "POST", {})

    assert (ready.status, healthy.status) == (503, 200)
    assert "may not use" in ready.text
    assert (tool.status, tool.json()["error"]["code"]) == (403, "permission_denied")


@pytest.mark.promise("F12")
def test_a_reload_with_a_broken_file_keeps_the_old_settings(engine: TestEngine, tmp_path: Path) -> None:
    file = tmp_path / "bcon.yaml"
    file.write_text("scan: {diagnose-interval: 2s, drift-interval: 4s}\nthresholds: {cpu-ratio: 0.7}\n")
    threshold = 'bcon_symptom_threshold_ratio{symptom="high_cpu"}'

    with Daemon(tmp_path, engine.host, "--config.file", str(file)) as daemon:
        daemon.wait_for_sample(threshold, 0.7)
        file.write_text("scan: {diagnose-intervall: 1s}\n")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_for_sample("bcon_config_last_reload_successful", 0, timeout_seconds=10)
        kept = (daemon.sample(threshold), daemon.sample('bcon_scan_interval_seconds{scan="diagnose"}'))
        file.write_text("scan: {diagnose-interval: 1s, drift-interval: 4s}\nthresholds: {cpu-ratio: 0.6}\n")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_for_sample("bcon_config_last_reload_successful", 1, timeout_seconds=10)
        daemon.wait_for_sample(threshold, 0.6, timeout_seconds=10)
        interval = daemon.sample('bcon_scan_interval_seconds{scan="diagnose"}')

    assert list(kept) == [0.7, 2.0]
    assert interval == 1.0
    assert "diagnose-intervall" in daemon.log
    assert "Traceback" not in daemon.log


@pytest.mark.promise("F9")
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler to put a stepping clock before the daemon")
@pytest.mark.parametrize("step_seconds", [-3600, 3600, -5 * 365 * 86400, 5 * 365 * 86400])
def test_a_step_of_the_clock_neither_stops_nor_multiplies_scans(
    engine: TestEngine, tmp_path: Path, step_seconds: int, figure: Figure
) -> None:
    clock = stepping_clock(tmp_path)
    scans = 'bcon_scans_total{scan="diagnose"}'
    run_web(engine)

    with Daemon(
        tmp_path, engine.host, "--scan.diagnose-interval", "1s", "--scan.drift-interval", "1s", environ=clock.environ
    ) as daemon:
        daemon.wait_until_ready()
        before = daemon.sample(scans) or 0
        stepped_at = time.monotonic()
        clock.step(step_seconds)
        wait_until(lambda: (daemon.sample(scans) or 0) >= before + 4, "four more scans", timeout_seconds=10)
        seconds = time.monotonic() - stepped_at
        count = (daemon.sample(scans) or 0) - before
        missed = daemon.sample('bcon_scans_missed_total{scan="diagnose"}') or 0
        healthy, running = daemon.ask("/-/healthy").status, daemon.sample(RUNNING)
        code, _ = daemon.end()

    figure(f"{count:.0f} scans at 1 s in {seconds:.1f} s after a step of {step_seconds} s")
    assert 2.5 <= seconds <= 8
    assert count <= seconds + 2
    assert missed <= seconds
    assert (healthy, running, code) == (200, 1, 0)
