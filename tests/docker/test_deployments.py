"""Promise: the daemon judges a deployment by itself, and says so by journal, tool, address and gauge."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

COMPOSE = """
services:
  web: {{image: "{image}", command: [serve], stop_grace_period: 1s}}
  job: {{image: "{image}", command: [sh, -c, "echo FATAL no licence; exit 3"]}}
"""


def run_command(engine: TestEngine, folder: Path, *words: str) -> str:
    """Ask the daemon's state file on the command line; return what it prints."""
    flags = ("--state.path", str(folder / "state.db"), f"--docker.host={engine.host}")
    line = [sys.executable, "-m", "bcon_exporter", *words, *flags]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


def test_a_failed_deployment_has_its_verdict_a_minute_later(
    engine: TestEngine, tmp_path: Path, project_name: str
) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text(COMPOSE.format(image=engine.image))
    flags = ("--scan.diagnose-interval", "2s", "--compose.roots", str(tmp_path))
    with Daemon(tmp_path, engine.host, *flags) as daemon:
        daemon.wait_until_ready()
        engine.compose("-p", project_name, "up", "-d", "--pull", "never", cwd=tmp_path)
        address = f"/api/v1/deployments?project={project_name}"
        wait_until(lambda: daemon.ask(address).json()["result"]["total"], "the verdict", timeout_seconds=120)
        record = daemon.ask(address).json()["result"]["deployments"][0]
        exposition = daemon.ask("/metrics").text
        history = daemon.ask(f"/api/v1/history?name={project_name}&kind=deployment").json()["result"]["entries"]

        asked = run_command(engine, tmp_path, "deployments", project_name, "--format", "json")
    with Daemon(tmp_path, engine.host, *flags) as daemon:
        daemon.wait_until_ready()
        after_a_restart = daemon.ask("/metrics").text

    assert json.loads(asked)["result"]["deployments"] == [record]
    assert f'bcon_deployment_verdict{{project="{project_name}"}} 0' in after_a_restart
    assert f'bcon_deployment_timestamp_seconds{{project="{project_name}"}}' in after_a_restart
    assert record["verdict"] == "bad"
    assert {one["service"]: one["code"] for one in record["services"]} == {"job": "crashed", "web": None}
    assert f'bcon_deployment_verdict{{project="{project_name}"}} 0' in exposition
    assert f'bcon_deployment_timestamp_seconds{{project="{project_name}"}}' in exposition
    assert [one["text"] for one in history] == [f"deployment bad: {record['summary']}"]


CHANGED = """
services:
  web: {{image: "{image}", command: [serve], stop_grace_period: 1s}}
  job:
    image: "{image}"
    command: [sh, -c, "test $$MODE = good && exec sleep 900; sleep 1; exit 3"]
    environment: {{MODE: {mode}}}
    restart: always
    stop_grace_period: 1s
"""


def test_what_changed_is_told_right_after_up_by_file_by_project_and_with_a_time(
    engine: TestEngine, tmp_path: Path, project_name: str
) -> None:
    file = tmp_path / "compose.yaml"
    up = ("-p", project_name, "up", "-d", "--pull", "never")
    with Daemon(tmp_path, engine.host, "--compose.roots", str(tmp_path)) as daemon:
        file.write_text(CHANGED.format(image=engine.image, mode="good"))
        engine.compose(*up, cwd=tmp_path)
        wait_until(lambda: project_name in daemon.ask("/api/v1/drift").text, "its look at the first version")
        file.write_text(CHANGED.format(image=engine.image, mode="bad"))
        engine.compose(*up, cwd=tmp_path)

        where = (f"--docker.host={engine.host}", f"--web.listen-address=127.0.0.1:{daemon.port}", "--state.path=none")
        by_file = ("-f", str(file), "-p", project_name)
        changes = {}
        for words in (by_file, (project_name,), (project_name, "--since", "1m")):
            line = [sys.executable, "-m", "bcon_exporter", "verify", *words, "--for", "6s", "--format", "json", *where]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            services = {one["service"]: one for one in json.loads(done.stdout)["result"]["services"]}
            changes[words] = (services["job"]["verdict"], services["job"]["changes"], services["job"]["changes_known"])

    assert set(map(str, changes.values())) == {str(("bad", ["configuration changed: environment.MODE"], True))}
