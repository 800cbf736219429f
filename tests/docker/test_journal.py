"""What happens on a real engine is written down as it was, and told by address, tool and command alike."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING, Any

import pytest

from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.contract]

QUICK = ("--scan.diagnose-interval=1s", "--scan.drift-interval=1s")


def history(daemon: Daemon, name: str) -> list[dict[str, Any]]:
    """What is written of a container, oldest first."""
    answer = daemon.ask(f"/api/v1/history?name={name}&since=10m")
    assert answer.status == 200, answer.text
    return list(reversed(answer.json()["result"]["entries"]))


def kinds(daemon: Daemon, name: str) -> list[str]:
    return [entry["kind"] for entry in history(daemon, name)]


def lives(daemon: Daemon, name: str) -> list[str]:
    """Kinds without findings: whether a scan sees a run that removes itself is chance."""
    return [kind for kind in kinds(daemon, name) if not kind.startswith(("symptom_", "drift_", "incident_"))]


def command(daemon: Daemon, *words: str) -> str:
    """What the command prints of the daemon's state file; it needs no engine."""
    flags = ("--docker.host", "unix:///nowhere", "--state.path", str(daemon.folder / "state.db"))
    line = [sys.executable, "-m", "bcon_exporter", "history", *words, *flags]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "120"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_at_a_terminal(engine: TestEngine, *words: str) -> None:
    """Do `docker run --rm -it`, at a terminal of 80 by 24."""
    ours, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    line = ["docker", "run", "--rm", "-it", *words]
    subprocess.run(line, stdin=terminal, stdout=terminal, stderr=terminal, env=engine.environment(), check=False)
    os.close(terminal)
    os.close(ours)


def test_stops_crashes_kills_and_a_run_that_removed_itself_are_told_apart(engine: TestEngine, tmp_path: Path) -> None:
    tag = tmp_path.parent.name  # the engine remembers the names of other tests
    stopped, crashed, killed, once, typed = (
        f"{name}-{tag}" for name in ("stopped", "crashed", "killed", "once", "typed")
    )
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        wait_until(lambda: daemon.ask("/-/ready").status == 200, "the first scan")
        for name in (stopped, killed):
            engine.docker("run", "-d", "--name", name, engine.image, "serve")
        engine.docker("run", "-d", "--name", crashed, engine.image, "sh", "-c", "exit 3")
        engine.docker("run", "--rm", "--name", once, engine.image, "sh", "-c", "exit 7", check=False)
        run_at_a_terminal(engine, "--name", typed, engine.image, "sh", "-c", "sleep 3; exit 7")
        engine.docker("stop", stopped)
        engine.docker("kill", killed)
        wait_until(lambda: kinds(daemon, stopped)[-1:] == ["stop"], "the stop")
        wait_until(lambda: "kill" in kinds(daemon, killed), "the kill")
        wait_until(lambda: {"crash", "symptom_on"} <= set(kinds(daemon, crashed)), "the crash")
        wait_until(lambda: lives(daemon, once) == ["start", "crash", "remove"], "the run that removed itself")

        (end,) = (entry for entry in history(daemon, once) if entry["kind"] == "crash")
        assert (end["data"]["exit_code"], end["container"]) == (7, once)
        (ended,) = (run for run in daemon.ask("/api/v1/diagnosis").json()["result"]["ended"] if run["name"] == once)
        assert ended["exit_code"] == 7
        going_on = daemon.ask("/api/v1/incidents?open=true").json()["result"]["incidents"]
        assert f"{once} has failed" in {incident["title"] for incident in going_on}, "as a job of a timer is run"
        assert lives(daemon, typed) == ["start", "crash", "remove"]
        assert not any(typed in incident["title"] for incident in going_on), history(daemon, typed)  # its person saw it
        assert daemon.sample(f'bcon_removed_failures{{project="",name="{once}"}}') == 1
        crash, found = (entry for entry in history(daemon, crashed) if entry["kind"] in ("crash", "symptom_on"))
        assert (crash["kind"], found["code"], found["severity"]) == ("crash", "exit_error", "error")
        engine.docker("start", crashed)
        wait_until(lambda: kinds(daemon, crashed).count("crash") == 2, "the second crash")
        tool = daemon.ask("/api/v1/tools/get_history", "POST", {"name": stopped, "kind": "stop"}).json()["result"]
        assert [entry["kind"] for entry in tool["entries"]] == ["stop"]
        printed = command(daemon, once)
        assert "crashed" in printed
        assert "exit code 7" in printed
        as_json = json.loads(command(daemon, stopped, "--format", "json"))["result"]
        assert [entry["kind"] for entry in as_json["entries"]] == ["stop", "start"]
        before = history(daemon, crashed)
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        wait_until(lambda: daemon.ask("/-/ready").status == 200, "the first scan")
        assert [entry for entry in history(daemon, crashed) if entry in before] == before
        assert kinds(daemon, stopped) == ["start", "stop"], "told once, over a restart of the exporter"


def test_health_is_told_when_it_changes(engine: TestEngine, tmp_path: Path) -> None:
    name = f"app-{tmp_path.parent.name}"
    probe = ("--health-cmd", "test -e /well", "--health-interval", "300ms", "--health-retries", "1")
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        engine.docker("run", "-d", *probe, "--name", name, engine.image, "serve")
        wait_until(lambda: "health" in kinds(daemon, name), "the failing probe")
        engine.docker("exec", name, "touch", "/well")
        wait_until(lambda: kinds(daemon, name).count("health") == 2, "its recovery")
        texts = [entry["text"] for entry in history(daemon, name) if entry["kind"] == "health"]
        assert texts == ["became unhealthy", "healthy again"]


def test_what_a_replaced_container_has_got_and_what_was_changed_in_place_is_told_by_field(
    engine: TestEngine, tmp_path: Path
) -> None:
    name = f"db-{tmp_path.parent.name}"
    changes = {"config_change", "network_connect", "network_disconnect"}

    def told(daemon: Daemon) -> list[tuple[str, Any]]:
        entries = [entry for entry in history(daemon, name) if entry["kind"] in changes]
        return [(entry["kind"], entry["data"].get("environment") or entry["data"].get("fields")) for entry in entries]

    def run(*words: str) -> None:
        engine.docker("run", "-d", "--name", name, *words, engine.image, "serve")

    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        run("-e", "PASSWORD=hunter2-before", "-m", "64m")
        wait_until(lambda: "start" in kinds(daemon, name), "the start")
        compared = 'bcon_scans_total{scan="drift"}'
        scans = daemon.sample(compared) or 0
        wait_until(lambda: (daemon.sample(compared) or 0) >= scans + 2, "two looks at its configuration")
        engine.docker("rm", "-f", name)
        run("-e", "PASSWORD=hunter2-after", "-m", "64m")
        wait_until(lambda: told(daemon) == [("config_change", ["PASSWORD"])], "the other password")
        engine.docker("update", "-m", "32m", "--memory-swap", "64m", name)
        wait_until(lambda: len(told(daemon)) == 2, "the other limit")
        assert told(daemon)[1] == ("config_change", ["mem_limit"])
        engine.docker("network", "create", "more")
        engine.docker("network", "connect", "more", name)
        wait_until(lambda: [kind for kind, _ in told(daemon)][2:] == ["network_connect"], "the network")
        assert "hunter2" not in json.dumps(history(daemon, name))
        assert "configuration changed: mem_limit" in command(daemon, name)
