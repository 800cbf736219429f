"""Runs a drift benchmark that lies outside of this repository against the program, on a private engine.

    make drift-oracle ORACLE=FOLDER [ORACLE_ARGS="--split dev"]

The folder holds a program `bench.py` that brings projects up and calls a detector in process
(`--py INTERPRETER:MODULE:FUNCTION`, the function as `detect` below); it needs DOCKER_HOST, the Compose binary as DC, an
image `bb:1` with busybox, and ruamel.yaml. Results go to .state/oracle.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING

from bcon_exporter.app import build_context
from bcon_exporter.model.tool_inputs import DetectDriftInput
from bcon_exporter.settings import load_settings
from bcon_exporter.tools.drift import detect_drift
from tests.docker.engine import PrivateEngine, sweep_leftovers
from tests.docker.image import build_image

if TYPE_CHECKING:
    from bcon_exporter.model.reports import DriftReport

ROOT = Path(__file__).parents[2]
STATE = ROOT / ".state" / "oracle"
USAGE = 2


def detect(compose_file: str, project_name: str | None) -> DriftReport:
    """Compare as the command line does, in the environment and folder of this moment."""
    context = build_context(load_settings({"docker": {"host": os.environ["DOCKER_HOST"]}}), one_shot=True)
    try:
        return detect_drift(context, DetectDriftInput(compose_file=compose_file, project_name=project_name))
    finally:
        context.host.close()


def main(arguments: list[str]) -> int:
    """FOLDER and what the benchmark is to be told; without a folder there is nothing to do."""
    if not arguments or not arguments[0]:
        sys.stdout.write("drift-oracle: no benchmark was named (ORACLE=FOLDER with a bench.py), nothing was compared\n")
        return 0
    program = Path(arguments[0]).absolute() / "bench.py"
    if not program.is_file():
        sys.stderr.write(f"drift-oracle: there is no {program}\n")
        return USAGE
    sweep_leftovers()
    engine = PrivateEngine().start()
    try:
        build_image(engine.host, "bb:1")
        return _run(program, engine, arguments[1:])
    finally:
        engine.destroy()


def _run(program: Path, engine: PrivateEngine, more: list[str]) -> int:
    interpreter = _interpreter()
    tools = {"DC": str(Path(sys.executable).parent / "docker-compose"), "DOCKER_HOST": engine.host}
    environment = {**os.environ, **tools, "PYTHONPATH": str(ROOT), "DRIFT_WORK": str(STATE / "work")}
    detector = f"{sys.executable}:tests.drift_corpus.oracle:detect"
    command = [str(interpreter), str(program), "--py", detector, "--out", str(STATE / "results.json"), *more]
    return subprocess.run(command, env=environment, check=False).returncode


def _interpreter() -> Path:
    """A Python of its own with what the benchmark imports and we do not."""
    python = STATE / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(STATE / "venv", with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "ruamel.yaml"], check=True)
    return python


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
