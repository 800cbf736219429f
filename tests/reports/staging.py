"""Runs a case: a log through `analyze-log`, or in a container that prints it; a script on an engine of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis import analyze as analyze_lines
from bcon_exporter.diagnosis import lines_of
from tests.docker.engine import PrivateEngine
from tests.docker.image import build_image
from tests.reports.cases import SCRIPT
from tests.reports.judge import Answer, answer_of
from tests.waiting import wait_until

if TYPE_CHECKING:
    from bcon_exporter.model.signatures import Catalogue
    from tests.reports.cases import Case

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-m", "bcon_exporter")
IMAGE = "bb:1"
SCRIPT_SECONDS = 900
ANSWER_SECONDS = 60
_RECORDER = """#!/bin/sh
# Runs the product as the script asks and keeps what it says as JSON.
answer="$RECORDED/$(printf %04d "$(ls "$RECORDED" | wc -l)")"
printf '%s' "$1" > "$answer.asked"
PYTHONPATH='{root}' '{python}' -m bcon_exporter "$@" --format json > "$answer.json"
"""


def analyze(case: Case) -> Answer:
    """Read a log as `analyze-log` does."""
    report = analyze_lines(lines_of(case.path.read_text(errors="replace").splitlines()), _catalogue())
    return answer_of(report.model_dump(mode="json"))


@cache
def _catalogue() -> Catalogue:
    return load_catalogue()


def run_in_container(case: Case, engine: PrivateEngine) -> Answer:
    """Let a container print the log and end as the case says, and diagnose it."""
    name = f"report-{case.name}".lower()
    end = "sleep 3600" if case.exit_code is None else f"exit {case.exit_code}"
    engine.docker("create", "--name", name, IMAGE, "sh", "-c", f"cat /report.log; {end}")
    engine.docker("cp", str(case.path), f"{name}:/report.log")
    engine.docker("start", name)
    state = "running" if case.exit_code is None else "exited"
    wait_until(lambda: engine.docker("inspect", "-f", "{{.State.Status}}", name) == state, f"{name} to be {state}")
    done = _ask(engine, "diagnose", name)
    engine.docker("rm", "-f", name)
    return answer_of(_result(done.stdout))


def run_script(case: Case, engine: PrivateEngine) -> Answer | None:
    """Stage a case in an engine's namespaces and read what the product said last."""
    build_image(engine.host, IMAGE)
    with tempfile.TemporaryDirectory(prefix="bcon-report-") as scratch:
        return _run_script(case, engine, Path(scratch))


def run_script_alone(case: Case) -> Answer | None:
    """Stage a case on an engine of its own."""
    engine = PrivateEngine().start()
    try:
        return run_script(case, engine)
    finally:
        engine.destroy()


def start_engine() -> PrivateEngine:
    """An engine with the image that prints logs."""
    engine = PrivateEngine().start()
    build_image(engine.host, IMAGE)
    return engine


def _run_script(case: Case, engine: PrivateEngine, scratch: Path) -> Answer | None:
    folder, programs, recorded = scratch / "case", scratch / "bin", scratch / "said"
    shutil.copytree(case.path, folder)
    programs.mkdir()
    recorded.mkdir()
    recorder = programs / "bcon-exporter"
    recorder.write_text(_RECORDER.replace("{root}", str(ROOT)).replace("{python}", sys.executable))
    recorder.chmod(0o755)
    (programs / "docker-compose").symlink_to(Path(sys.executable).parent / "docker-compose")
    environ = engine.environment() | {
        "PATH": f"{programs}:{os.environ['PATH']}:/usr/sbin:/sbin",
        "RECORDED": str(recorded),
    }
    inside = ["nsenter", f"--target={engine.init_pid()}", "--mount", "--net", "--pid", "--"]
    subprocess.run(
        [*inside, "sh", "-c", f"cd {folder} && sh ./{SCRIPT}"],
        env=environ,
        check=False,
        timeout=SCRIPT_SECONDS,
        capture_output=True,
    )
    return _read_recorded(recorded)


def _read_recorded(recorded: Path) -> Answer | None:
    """Join the last answer of each command; None where there is none."""
    answer: Answer | None = Answer()
    said: dict[str, str] = {}
    if not any(recorded.iterdir()):
        return None
    for asked, answered in zip(sorted(recorded.glob("*.asked")), sorted(recorded.glob("*.json")), strict=True):
        command = asked.read_text()
        text = answered.read_text()
        if command == "diagnose":
            result = _result(text)
            answer = answer_of(result) if "symptoms" in result else None
        else:
            said[command] = _say(text)
    return None if answer is None else replace(answer, said=tuple(said.items()))


def _say(text: str) -> str:
    """Return a command's verdict or status, then all that it said."""
    result = _result(text)
    return f"{result.get('verdict') or result.get('status') or ''} {json.dumps(result, ensure_ascii=False)}"


def _result(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    result = document.get("result", document)
    return result[0] if isinstance(result, list) and result else result if isinstance(result, dict) else {}


def _ask(engine: PrivateEngine, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments, "--format", "json"],
        env=engine.environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=ANSWER_SECONDS,
    )
