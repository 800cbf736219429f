"""Promise: an end that nobody watched is judged by what is left of it, never called healthy for want of a reason."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

Reports = dict[str, dict[str, Any]]
NO_DAEMON = ("--web.listen-address", "127.0.0.1:1")
RING = 256


@pytest.fixture
def look(engine: TestEngine, tmp_path: Path) -> Callable[..., Reports]:
    """A fresh command: what `diagnose` says of each container, without a daemon unless flags name one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BCON_", "DOCKER_"))}
    environ = {**kept, "DOCKER_HOST": engine.host, "XDG_STATE_HOME": str(tmp_path / "nothing")}

    def look(*flags: str) -> Reports:
        command = [sys.executable, "-m", "bcon_exporter", "diagnose", "--all", "--format", "json"]
        done = subprocess.run(
            [*command, *(flags or NO_DAEMON)], capture_output=True, text=True, env=environ, timeout=120, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        result = json.loads(done.stdout)["result"]
        return {"": result, **{one["container_name"]: one for one in result["reports"]}}

    return look


def kinds_of(report: dict[str, Any]) -> dict[str, str]:
    """Its symptoms with their severities."""
    return {one["type"]: one["severity"] for one in report["symptoms"]}


def is_state(engine: TestEngine, name: str, state: str) -> Callable[[], bool]:
    return lambda: engine.docker("inspect", "-f", "{{.State.Status}}", name) == state


def fill_ring(engine: TestEngine) -> None:
    """Let the engine forget: health checks fill its memory of 256 events."""
    check = ("--health-cmd", "true", "--health-interval", "1s")
    for number in range(8):
        engine.docker("run", "-d", "--name", f"checked-{number}", *check, engine.image, "sleep", "600")

    def is_flooded() -> bool:
        events = engine.docker("events", "--since", "10m", "--until", "0s", "--format", "{{.Action}}").splitlines()
        return len(events) >= RING and all(event.startswith("exec_") or "health" in event for event in events)

    wait_until(is_flooded, "the health checks to fill the engine's ring", timeout_seconds=60)
    engine.docker("rm", "-f", *(f"checked-{number}" for number in range(8)))


def test_ends_that_the_engine_has_forgotten(engine: TestEngine, look: Callable[..., Reports]) -> None:
    limits = ("-m", "64m", "--memory-swap", "64m")
    engine.docker("run", "-d", "--name", "killed", engine.image, "sleep", "600")
    engine.docker("run", "-d", "--name", "killed-under-policy", "--restart", "always", engine.image, "sleep", "600")
    engine.docker("run", "-d", "--name", "killed-below-limit", *limits, engine.image, "sleep", "600")
    engine.docker("run", "-d", "--name", "stopped", "--init", engine.image, "sleep", "600")
    engine.docker("run", "-d", "--name", "failed", engine.image, "sh", "-c", "exit 255")
    engine.docker("run", "-d", "--name", "gave-up", "--restart", "on-failure:2", engine.image, "sh", "-c", "exit 3")
    engine.docker("run", "-d", "--name", "done", engine.image, "true")
    engine.docker("kill", "killed", "killed-under-policy", "killed-below-limit")
    engine.docker("stop", "stopped")
    wait_until(is_state(engine, "gave-up", "exited"), "the engine to give up")
    seen = look()
    assert seen["killed"]["status"] == "error", "as long as the engine remembers the kill"
    fill_ring(engine)

    seen = look()

    for name in ("killed", "killed-under-policy", "killed-below-limit"):
        assert kinds_of(seen[name]) == {"exit_error": "warning"}, seen[name]
        assert "it is not known whether somebody asked for it" in seen[name]["summary"]
        assert "code 137 (SIGKILL)" in seen[name]["summary"]
    assert "probably out of memory" in seen["killed-below-limit"]["summary"]
    assert kinds_of(seen["stopped"]) == {"exit_error": "info"}
    assert kinds_of(seen["failed"]) == {"exit_error": "error"}, "255 alone is the program's own"
    assert kinds_of(seen["gave-up"]) == {"exit_error": "critical"}
    assert "done: healthy, exited with code 0" in seen["done"]["summary"]
    assert seen[""]["not_checked"] == 0, seen[""]["unchecked"]


@pytest.fixture
def crashed(engine: TestEngine) -> TestEngine:
    """An engine that was killed with -9, and came up again."""
    engine.docker("run", "-d", "--name", "worker", engine.image, "serve")
    engine.docker("run", "-d", "--name", "stopped", engine.image, "serve")
    engine.docker("run", "-d", "--name", "api", "--restart", "always", engine.image, "serve")
    engine.docker("stop", "stopped")
    engine.kill_and_restart()
    wait_until(is_state(engine, "worker", "exited"), "the engine to end what was left")
    wait_until(is_state(engine, "api", "running"), "the engine to start what has a policy")
    return engine


@pytest.mark.usefixtures("crashed")
def test_what_the_engines_crash_took_down_is_told_by_a_fresh_command(look: Callable[..., Reports]) -> None:
    """All that the new engine knows is that it sent kill, die and stop: as if somebody had asked."""
    seen = look()

    assert kinds_of(seen["worker"]) == {"not_started_again": "warning"}, seen["worker"]
    assert "was not started again: it has no restart policy" in seen["worker"]["summary"]
    assert seen["api"]["status"] == "healthy"


def test_what_the_engines_crash_took_down_is_told_by_a_daemon_that_watched(engine: TestEngine, tmp_path: Path) -> None:
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval", "1s") as daemon:
        daemon.wait_until_ready()
        engine.docker("run", "-d", "--name", "worker", engine.image, "serve")
        engine.docker("run", "-d", "--name", "graceful", engine.image, "serve")
        wait_until(lambda: len(reports_of(daemon)) == 2, "both to be scanned")
        engine.docker("stop", "graceful")
        wait_until(lambda: reports_of(daemon)["graceful"]["state"] == "exited", "the stop to be seen")
        engine.kill_and_restart()

        def is_told() -> bool:
            worker = reports_of(daemon).get("worker", {"summary": ""})
            return "was not started again: it has no restart policy" in worker["summary"]

        wait_until(is_told, "the crash to be told", timeout_seconds=30)
        seen = reports_of(daemon)
        assert kinds_of(seen["worker"]) == {"not_started_again": "warning"}
        assert kinds_of(seen["graceful"]) == {}, "it was stopped before"
        daemon.wait_for_sample('bcon_containers{status="warning"}', 1)
        assert daemon.sample("bcon_containers_not_checked") == 0


def reports_of(daemon: Daemon) -> Reports:
    """The reports of the daemon's last scan."""
    reports = daemon.ask("/api/v1/diagnosis").json()["result"]["reports"]
    return {one["container_name"]: one for one in reports}


def test_code_255_of_a_host_that_crashed(engine: TestEngine, look: Callable[..., Reports]) -> None:
    """The engine, its shims and all processes die at once: the next engine cannot learn how they ended."""
    engine.docker("run", "-d", "--name", "lost", engine.image, "sleep", "600")
    engine.docker("run", "-d", "--name", "back", "--restart", "unless-stopped", engine.image, "sleep", "600")
    engine.docker("run", "-d", "--name", "own", engine.image, "sh", "-c", "exit 255")
    wait_until(is_state(engine, "own", "exited"), "its own end")
    engine.kill()
    for name in ("containerd-shim", "sleep"):
        engine.signal(name, signal.SIGKILL)
    engine.restart()
    wait_until(is_state(engine, "back", "running"), "the engine to start what has a policy")
    assert engine.docker("inspect", "-f", "{{.State.ExitCode}}", "lost") == "255"

    seen = look()

    assert kinds_of(seen["lost"]) == {"not_started_again": "warning"}, seen["lost"]
    assert "It went down with the engine" in seen["lost"]["summary"]
    assert "and was not started again" in seen["lost"]["summary"]
    assert seen["back"]["status"] == "healthy"


def test_an_orderly_shutdown_of_the_engine_is_no_crash(engine: TestEngine, look: Callable[..., Reports]) -> None:
    engine.docker("run", "-d", "--name", "worker", engine.image, "serve")
    engine.shut_down()
    engine.restart()

    assert kinds_of(look()["worker"]) == {}


STOPPED_WITH_1 = "trap 'exit 1' TERM; while :; do sleep 60 & wait $!; done"
"""A code that without the stop would be a failure."""


def test_the_daemon_and_a_command_tell_the_same_stop_alike(
    engine: TestEngine, tmp_path: Path, look: Callable[..., Reports]
) -> None:
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval", "1s") as daemon:
        daemon.wait_until_ready()
        engine.docker("run", "-d", "--name", "asked", engine.image, "sh", "-c", STOPPED_WITH_1)
        engine.docker("run", "-d", "--name", "killed", engine.image, "sleep", "600")
        engine.docker("stop", "asked")
        engine.docker("kill", "killed")
        fill_ring(engine)
        wait_until(lambda: reports_of(daemon)["killed"]["state"] == "exited", "the ends to be seen")
        by_daemon = reports_of(daemon)
        by_command = look("--web.listen-address", f"127.0.0.1:{daemon.port}")
        by_file = look(*NO_DAEMON, "--state.path", str(tmp_path / "state.db"))
        alone = look()

    for seen in (by_daemon, by_command, by_file):
        assert kinds_of(seen["asked"]) == {}, seen["asked"]
        assert kinds_of(seen["killed"]) == {"exit_error": "error"}, seen["killed"]
        assert "somebody killed it" in seen["killed"]["summary"]
    assert by_command[""]["unread"] == by_file[""]["unread"] == {}
    assert kinds_of(alone["asked"]) == {"exit_error": "error"}
    assert kinds_of(alone["killed"]) == {"exit_error": "warning"}
    assert "judged without a daemon's memory" in alone[""]["unread"]["memory"]
    assert "events reach back to 20" in alone["asked"]["detailed_explanation"]


def test_the_memory_of_another_engines_daemon_is_left_alone(
    engine: TestEngine, tmp_path: Path, look: Callable[..., Reports]
) -> None:
    with Daemon(tmp_path, "unix:///nowhere/docker.sock") as daemon:
        engine.docker("run", "--name", "failed", engine.image, "sh", "-c", "exit 1", check=False)

        seen = look("--web.listen-address", f"127.0.0.1:{daemon.port}")

    assert kinds_of(seen["failed"]) == {"exit_error": "error"}
    assert "judged without a daemon's memory" in seen[""]["unread"]["memory"]


def test_used_up_restarts_are_told_for_as_long_as_it_is_down(
    engine: TestEngine, tmp_path: Path, look: Callable[..., Reports]
) -> None:
    later = ("--thresholds.restart-quiet-seconds", "10", "--thresholds.restart-window-seconds", "60")
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval", "1s", "--thresholds.hold-seconds", "1") as daemon:
        daemon.wait_until_ready()
        for granted in (2, 3):
            policy = ("--restart", f"on-failure:{granted}")
            engine.docker("run", "-d", "--name", f"gave-up-{granted}", *policy, engine.image, "sh", "-c", "exit 3")
        wait_until(is_state(engine, "gave-up-3", "exited"), "the engine to give up")
        wait_until(lambda: reports_of(daemon).get("gave-up-3", {"state": ""})["state"] == "exited", "a scan of it")
        settled = ("inspect", "-f", "{{.State.Status}} {{.RestartCount}}", "gave-up-3")
        wait_until(lambda: engine.docker(*settled) == "exited 3", "all restarts to be used")

        def is_critical() -> bool:
            return {reports_of(daemon)[name]["status"] for name in ("gave-up-2", "gave-up-3")} == {"critical"}

        wait_until(is_critical, "both to be critical")
    seen = look(*NO_DAEMON, "--state.path", str(tmp_path / "state.db"), *later)
    assert kinds_of(seen["gave-up-2"]) == {"exit_error": "critical"}
    assert kinds_of(seen["gave-up-3"]) == {"restart_loop": "critical", "exit_error": "critical"}
    engine.docker("start", "gave-up-2")
    wait_until(is_state(engine, "gave-up-2", "exited"), "it to give up once more")
    engine.docker("rm", "gave-up-3")
    assert "gave-up-3" not in look()
