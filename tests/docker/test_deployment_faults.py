"""Promise: an engine that goes, files that change, a thousand services, hostile files: told, and nothing breaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.cli.exits import Exit
from bcon_exporter.compose import find_binary
from tests.docker.test_verify_faults import answer, has_looked, verifying
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

SERVICES = 1000
BOMB = "x-0: &x0 [x, x, x, x, x, x, x, x]\n" + "".join(
    f"x-{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 8)}]\n" for n in range(1, 10)
)
HOSTILE = {
    "aliases without bound": f"{BOMB}services: {{web: {{image: a}}}}\n",
    "a hundred thousand brackets": "services: " + "[" * 100_000,
    "it includes itself": "include: [compose.yaml]\nservices: {web: {image: a}}\n",
    "two that need each other": "services: {a: {image: a, depends_on: [b]}, b: {image: a, depends_on: [a]}}\n",
    "two billion replicas": "services: {web: {image: a, scale: 2000000000, ports: ['8080:80']}}\n",
    "values of other types": "services: {web: {image: [a], command: {a: b}, volumes: 7}}\n",
    "a subnet that is none": "services: {web: {image: a}}\nnetworks: {default: {ipam: {config: [{subnet: x}]}}}\n",
    "a device as env file": "services: {web: {image: a, env_file: [/dev/zero]}}\n",
    "a device as secret": "services: {web: {image: a, secrets: [s]}}\nsecrets: {s: {file: /dev/zero}}\n",
    "names that act on a terminal": 'services: {web: {image: "a\\e]0;x\\a", labels: {"\\e[31m": "\\e[2J"}}}\n',
    "no text": "\x01\x02\udc80\udcff",
    "nothing": "",
}


def run(engine: TestEngine, folder: Path, *words: str, home: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody does in the project's folder."""
    environment: Mapping[str, str] = {**os.environ, **({} if home is None else {"HOME": home})}
    line = [sys.executable, "-m", "bcon_exporter", *words, "--state.path=none", f"--docker.host={engine.host}"]
    return subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", timeout=120, check=False
    )


def result_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Its JSON: a report, or an error."""
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    result: dict[str, Any] = told.get("result") or told["error"]
    return result


def compose_that_first(line: str, folder: Path) -> str:
    """Make a Compose binary that runs a shell line before it resolves anything; return the home in which it is."""
    binary = find_binary(os.environ["PATH"])
    assert binary is not None
    wrapper = folder / ".docker" / "cli-plugins" / "docker-compose"
    wrapper.parent.mkdir(parents=True)
    wrapper.write_text(f'#!/bin/sh\ncase "$*" in *--format*) {line} ;; esac\nexec {" ".join(binary)} "$@"\n')
    wrapper.chmod(0o755)
    return str(folder)


def test_an_engine_that_goes_in_the_middle_of_a_check_is_told(engine: TestEngine, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(f'services: {{web: {{image: "{engine.image}"}}}}\n')
    pid = next(process.pid for process in engine.processes() if process.name == "dockerd")
    home = compose_that_first(f"kill -STOP {pid}", tmp_path)
    try:
        done = run(engine, tmp_path, "check", "--format", "json", home=home)
    finally:
        engine.resume()

    report = result_of(done)
    assert done.returncode == Exit.FINE, "what could not be seen changes no verdict"
    assert [one["reason"] for one in report["not_checked"]] == ["the engine does not tell of it"]
    assert engine.image.partition(":")[0] in report["not_checked"][0]["what"]


def test_a_file_that_changes_while_it_is_checked_is_told(engine: TestEngine, tmp_path: Path) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text("services: {web: {image: 'a:1'}}\n")
    home = compose_that_first(f"touch {file}", tmp_path)  # more its sandbox lets it not do
    done = run(engine, tmp_path, "check", "--format", "json", home=home)
    assert (done.returncode, result_of(done)["verdict"]) == (Exit.FAILED, "unknown")
    assert "changed while they were read" in result_of(done)["summary"]


def test_a_file_that_changes_in_the_window_is_told_and_judged_anew(engine: TestEngine, tmp_path: Path) -> None:
    service = f'{{image: "{engine.image}", command: [serve], stop_grace_period: 1s}}'
    file = tmp_path / "compose.yaml"
    file.write_text(f"name: shop\nservices: {{web: {service}}}\n")
    engine.compose("up", "-d", "--pull", "never", cwd=tmp_path)
    with verifying(engine, tmp_path, "9s") as process:
        wait_until(lambda: has_looked(engine), "it to watch", timeout_seconds=30)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=3)
        file.write_text(f"name: shop\nservices: {{web: {service}, db: {service}}}\n")
        code, report = answer(process)

    assert (code, report["verdict"]) == (Exit.FINDINGS, "bad")
    assert {one["service"]: one["code"] for one in report["services"]} == {"db": "not_created", "web": None}
    assert "The Compose files changed while they were watched; judged is what they ask for now." in report["notes"]


def test_a_thousand_services_are_judged(engine: TestEngine, tmp_path: Path) -> None:
    services = (f"  s{n}: {{image: '{engine.image}', ports: ['{10_000 + n // 2}:80']}}\n" for n in range(SERVICES))
    (tmp_path / "compose.yaml").write_text("services:\n" + "".join(services))
    checked = result_of(run(engine, tmp_path, "check", "--format", "json"))
    verified = result_of(run(engine, tmp_path, "verify", "--for", "0s", "--format", "json"))
    assert (checked["verdict"], checked["rule_errors"]) == ("fails", [])
    assert sum(one["code"] == "port_twice" for one in checked["findings"]) == SERVICES // 2
    assert {one["code"] for one in verified["services"]} == {"not_created"}
    assert len(verified["services"]) == SERVICES


@pytest.mark.parametrize("command", [("check",), ("verify", "--for", "0s")], ids=["check", "verify"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_break_nothing(engine: TestEngine, tmp_path: Path, text: str, command: tuple[str, ...]) -> None:
    (tmp_path / "compose.yaml").write_text(text, errors="surrogateescape")
    done = run(engine, tmp_path, *command, "--format", "json")
    told = result_of(done)
    assert done.returncode in (Exit.FINE, Exit.FINDINGS, Exit.FAILED)
    assert told.get("summary") or told.get("message")
    assert not told.get("rule_errors")
    assert "Traceback" not in done.stderr
    assert not set(done.stdout + done.stderr) & {"\x1b", "\x07", "\x9b"}
