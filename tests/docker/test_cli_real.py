"""Promise: the commands work on a real engine from the first call, without a daemon and without any settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.shell import press_tab, put_program_in_path
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.contract]


class Commands:
    """Runs commands as a user does: as processes, with DOCKER_HOST set."""

    def __init__(self, host: str, state: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BCON_", "DOCKER_"))}
        self._environ = {**kept, "DOCKER_HOST": host, "XDG_STATE_HOME": str(state)}

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bcon_exporter", *words],
            capture_output=True,
            text=True,
            env=self._environ,
            timeout=120,
            check=False,
        )


@pytest.fixture
def run(engine: TestEngine, tmp_path: Path) -> Commands:
    return Commands(engine.host, tmp_path / "state")


def test_diagnose_says_what_why_and_what_to_do(run: Commands, engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "calm", engine.image, "sleep", "1000")
    assert run("diagnose").returncode == 0
    engine.docker("run", "-d", "--name", "crash", engine.image, "sh", "-c", "echo 'panic: no config'; exit 3")
    wait_until(lambda: engine.docker("ps", "-aq", "--filter", "exited=3").split(), "the crash")
    done = run("diagnose")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.index("crash") < done.stdout.index("calm")
    assert "exit_error" in done.stdout
    assert "panic: no config" in done.stdout
    assert run("diagnose", "--fail-on", "never").returncode == 0


def test_tab_completes_the_names_of_containers_and_projects(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("create", "--name", "shop-web-1", "--label", "com.docker.compose.project=shop", engine.image, "serve")
    engine.docker("create", "--name", "plain", engine.image, "serve")
    environ = put_program_in_path(tmp_path) | {"DOCKER_HOST": engine.host}

    assert press_tab("info ", environ) == {"shop-web-1", "plain"}
    assert press_tab("logs shop", environ) == {"shop-web-1"}
    assert press_tab("diagnose s", environ) == {"shop", "shop-web-1"}
    assert press_tab("drift -p ", environ) == {"shop"}
    assert press_tab(f"info --docker.host={engine.host} p", environ | {"DOCKER_HOST": "unix:///nowhere"}) == {"plain"}


def test_drift_needs_no_file_when_the_project_runs(
    run: Commands, engine: TestEngine, project_name: str, tmp_path: Path
) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text(f"name: {project_name}\nservices:\n  web: {{image: '{engine.image}', command: [sleep, '1000']}}\n")
    engine.compose("up", "-d", cwd=tmp_path)
    assert run("drift").returncode == 0
    file.write_text(file.read_text().replace("'1000'", "'2000'"))
    done = run("drift")
    assert done.returncode == 1
    assert "config_mismatch" in done.stdout
    assert run("drift", str(file), "--format", "json").returncode == 1
    file.unlink()
    assert run("drift").returncode == 4
    assert run("drift", str(file)).returncode == 4


def test_a_variable_that_nobody_knows_here_is_doubt_and_one_that_up_would_lack_is_drift(
    run: Commands, engine: TestEngine, project_name: str, tmp_path: Path
) -> None:
    file = tmp_path / "compose.yaml"
    web = f"{{image: '{engine.image}', command: [sleep, '1000'], environment: {{MODE: '${{BAD_MODE}}'}}}}"
    file.write_text(f"name: {project_name}\nservices:\n  web: {web}\n")
    (tmp_path / ".env").write_text("BAD_MODE=prod\n")
    engine.compose("up", "-d", cwd=tmp_path)
    assert run("drift").returncode == 0
    (tmp_path / ".env").unlink()
    whole = run("drift", "--format", "json")
    (report,) = json.loads(whole.stdout)["result"]["reports"]
    assert (whole.returncode, report["status"], report["differences"]) == (4, "unknown", [])
    assert [one["field"] for one in report["doubts"]] == ["environment.MODE"]
    asked = run("drift", str(file), "--format", "json")
    report = json.loads(asked.stdout)["result"]
    assert (asked.returncode, report["status"]) == (1, "drifted")
    assert [(one["field"], one["confidence"]) for one in report["differences"]] == [("environment.MODE", 0.6)]


def test_a_snapshot_of_the_host_replays_without_it(run: Commands, engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "crash", engine.image, "sh", "-c", "exit 3")
    wait_until(lambda: engine.docker("ps", "-aq", "--filter", "exited=3").split(), "the crash")
    file = tmp_path / "host.json"
    report = tmp_path / "report.json"
    assert run("snapshot", "--output", str(file)).returncode == 0
    part = run("snapshot", "--for-report", "crash", "--output", str(report))
    assert part.returncode == 0
    assert "about crash. The diagnosis says the same as with the whole host at hand.\n" in part.stderr
    engine.docker("rm", "-f", "crash")
    for snapshot in (file, report):
        replayed = run("diagnose", "--from-snapshot", str(snapshot), "--format", "json")
        assert replayed.returncode == 1
        assert [one["container_name"] for one in json.loads(replayed.stdout)["result"]["summaries"]] == ["crash"]


def test_a_hung_engine_fails_in_time_with_one_line(run: Commands, engine: TestEngine) -> None:
    engine.pause()
    done = run("list", "--scan.deadline", "2s")
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("bcon-exporter: ")


def test_a_command_writes_nothing_to_the_state_folder(run: Commands, engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "calm", engine.image, "sleep", "1000")
    assert run("diagnose").returncode == 0
    assert not (tmp_path / "state").exists()
