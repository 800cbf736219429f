"""Promise: of forty secrets and more, in every place a container or Compose file can hold one, none is ever shown.

Looked at is all that leaves the process: every tool over HTTP and as a command in every format, the snapshot, metrics,
pages, the OpenAPI document, the daemon's log at its most talkative, errors, and the state file with its journal.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.cli.main import main
from bcon_exporter.tools import TOOLS
from tests.docker.canaries import Canaries, start_containers, start_project, write_broken
from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

NAMES = ("everything", "terminal", "refused")
PAGES = (
    *("/", "/metrics", "/-/healthy", "/-/ready", "/openapi.json", "/api/v1/tools", "/api/v1/health", "/api/v1/cost"),
    *(
        "/api/v1/diagnosis",
        "/api/v1/drift",
        "/api/v1/alerts",
        "/api/v1/memory",
        "/api/v1/containers?all=true",
        "/api/v1/nowhere",
    ),
)


class Shown:
    """All that was shown, by where."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, where: str, text: str) -> None:
        assert text, where
        self.texts[where] = text

    def leaks(self, canaries: Canaries) -> dict[str, list[str]]:
        """The secrets that are shown, each with where."""
        found: dict[str, list[str]] = {}
        for where, text in self.texts.items():
            for place in canaries.found_in(text):
                found.setdefault(place, []).append(where)
        return found


def written_files(folder: Path) -> list[Path]:
    """The state file and its journal; not the lock, which is empty."""
    return [file for file in folder.glob("state.db*") if file.suffix != ".lock"]


def payloads(name: str, containers: list[str], files: list[Path], canaries: Canaries) -> list[dict[str, Any]]:
    """Inputs for a tool, good ones and bad ones with a secret in them."""
    found: list[dict[str, Any]] = [{"container_id": 7, "password": canaries.password(f"input of {name}")}]
    if name in ("get_container_info", "get_container_stats", "get_container_logs", "diagnose_container"):
        found += [{"container_id": one} for one in containers]
    elif name == "explain_error":
        found += [{"container_id": one, "error_pattern": "re:.", "context_lines": 50} for one in containers]
    elif name == "detect_drift":
        found += [{"compose_file": str(file)} for file in files]
    elif name == "get_untracked_containers":
        found += [{}, *({"compose_file": str(file)} for file in files[:2])]
    elif name == "list_containers":
        found.append({"all": True})
    elif name == "diagnose_all":
        found.append({"include_healthy": True})
    else:
        found.append({})
    return found


def ask_daemon(daemon: Daemon, shown: Shown, canaries: Canaries, containers: list[str], files: list[Path]) -> None:
    for path in PAGES:
        shown.add(f"GET {path}", daemon.ask(path).text)
    for one in containers:
        for tail in ("", "/stats", "/logs", "/diagnosis"):
            shown.add(f"GET container {one}{tail}", daemon.ask(f"/api/v1/containers/{one}{tail}").text)
    for tool in TOOLS:
        for payload in payloads(tool.name, containers, files, canaries):
            answer = daemon.ask(f"/api/v1/tools/{tool.name}", "POST", payload)
            assert answer.status < 500 or payload.get("container_id") == 7, answer.text
            shown.add(f"POST {tool.name} {payload.get('container_id') or payload.get('compose_file')}", answer.text)


def commands(containers: list[str], files: list[Path], snapshot: Path) -> list[list[str]]:
    """Every command in every format."""
    found = [["snapshot"], ["snapshot", "--output", str(snapshot)], ["check-config"]]
    for form in ("table", "json", "markdown"):
        plain = [["diagnose"], ["drift"], ["list", "--all"], ["info", "everything"], ["logs", "everything"]]
        plain += [["explain", "everything", "re:."], ["drift", str(files[0])]]
        found += [[*words, "--format", form] for words in plain]
    others = [["untracked"], ["health"], ["cost"], ["stats", "everything"], ["logs", "terminal"], ["info", "refused"]]
    found += [["diagnose", containers[-1]], *others, *(["drift", str(file)] for file in files[1:])]
    return found


def run_here(shown: Shown, lists: list[list[str]], capfd: pytest.CaptureFixture[str], *flags: str) -> None:
    """Run commands in this process, which saves a second each."""
    for words in lists:
        code = main([*words, *flags], {})
        out, err = capfd.readouterr()
        shown.add(f"$ {' '.join(words)}", f"{out}{err}exit {code}")


def run_as_process(shown: Shown, words: list[str], environ: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bcon_exporter", *words], capture_output=True, env=environ, timeout=120, check=False
    )
    shown.add(f"$ {' '.join(words)} (a process)", done.stdout.decode() + done.stderr.decode())


@pytest.mark.promise("S9")
def test_no_secret_of_a_host_full_of_them_is_shown_anywhere(
    engine: TestEngine, project_name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    canaries, shown = Canaries(), Shown()
    start_containers(engine, canaries, tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    compose_file = start_project(engine, canaries, project, project_name)
    files = [compose_file, *write_broken(canaries, tmp_path)]
    containers = [*NAMES, f"{project_name}-web-1"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("BCON_", "DOCKER_"))}
    environ |= {
        "AWS_SECRET_ACCESS_KEY": canaries.password("the exporter's own environment"),
        "DOCKER_HOST": engine.host,
    }
    flags = ("--log.level", "debug", "--scan.diagnose-interval", "2s", "--scan.drift-interval", "10s")
    labels = "com.example.api-key,com.example.home,com.example.note,traefik.users,vcs,maintainer.password"
    with Daemon(
        tmp_path, engine.host, *flags, "--compose.roots", str(tmp_path), "--compose.files",
        ",".join(map(str, files)), "--metrics.container-labels", labels, environ=environ,
    ) as daemon:  # fmt: skip
        daemon.wait_until_ready()
        wait_until(lambda: daemon.ask("/api/v1/drift").status == 200, "a drift scan")
        wait_until(lambda: engine.docker("inspect", "-f", "{{.RestartCount}}", "everything") != "0", "a restart")
        ask_daemon(daemon, shown, canaries, containers, files)
        here = ("--docker.host", engine.host, "--state.path", str(tmp_path / "state.db"))
        run_here(shown, commands(containers, files, tmp_path / "host.json"), capfd, *here)
        run_as_process(shown, ["diagnose", "everything", "--log.level", "debug"], environ)
        elsewhere = f"tcp://u:{canaries.password('engine address')}@127.0.0.1:1"
        run_here(shown, [["list"], ["check-config"]], capfd, "--docker.host", elsewhere)
        engine.pause()
        run_here(shown, [["list"], ["diagnose"]], capfd, *here, "--scan.deadline", "1s")
        engine.resume()
        for file in written_files(tmp_path):
            shown.add(file.name, file.read_bytes().decode("latin-1"))
        daemon.end()
        shown.add("daemon log", daemon.log)
    shown.add("snapshot file", (tmp_path / "host.json").read_text())
    for file in written_files(tmp_path):
        shown.add(f"{file.name} at the end", file.read_bytes().decode("latin-1"))
    private = [tmp_path / "host.json", *tmp_path.glob("state.db*")]
    assert {file.stat().st_mode & 0o777 for file in private} == {0o600}
    assert len(canaries.by_place) >= 40
    assert "exit_error" in shown.texts["$ diagnose --format json"], "the scene must be one that tells much"
    assert json.loads(shown.texts["GET /api/v1/drift"])["result"]["reports"]
    leaks = shown.leaks(canaries)
    assert not leaks, "\n".join(f"{place}: {', '.join(where)[:300]}" for place, where in leaks.items())
