"""A deployment that fails, as `verify` shows it: for a picture."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROJECT = "bcon-demo-shop"
WATCHED = "25s"
FIRST_LOOK_SECONDS = 4.0
"""After these the containers that will be replaced have been seen."""
_PASSING = {"test": ["CMD", "true"], "interval": "1s"}
_DATABASE = '[ -n "$$STORE" ] || { echo "FATAL: STORE is not set"; exit 1; }; exec serve'


def render_file(version: str, *, with_store: bool) -> str:
    """Return the Compose file; without its store the database ends at once, and who waits for it never starts."""
    common = {"image": "bcon-demo:1", "stop_grace_period": "1s"}
    api = {"db": {"condition": "service_healthy"}, "migrate": {"condition": "service_completed_successfully"}}
    services = {
        "migrate": {**common, "command": ["sh", "-c", "echo migrated"]},
        "db": {
            **common,
            "command": ["sh", "-c", _DATABASE],
            "environment": {"STORE": "/data"} if with_store else {},
            "healthcheck": _PASSING,
        },
        "api": {
            **common,
            "command": ["serve"],
            "environment": {"VERSION": version},
            "depends_on": api,
            "healthcheck": _PASSING,
        },
        "web": {
            **common,
            "command": ["serve"],
            "environment": {"VERSION": version},
            "depends_on": {"api": {"condition": "service_healthy"}},
        },
    }
    return yaml.safe_dump({"name": PROJECT, "services": services})


def watch_failed_deployment(folder: Path, compose: str, environment: Mapping[str, str]) -> str:
    """Deploy a project that works, deploy a change to it that does not, and return what `verify` prints beside that.

    Args:
        folder: Of the project; made, and taken away.
        compose: The Compose binary.
        environment: Of all programs; names the engine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "compose.yaml"

    def run(*words: str) -> None:
        command = [compose, "--progress", "quiet", "-f", str(file), *words]
        subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)

    try:
        file.write_text(render_file("1", with_store=True))
        run("up", "-d", "--pull", "never", "--timeout", "1")
        file.write_text(render_file("2", with_store=False))
        verify = [sys.executable, "-m", "bcon_exporter", "verify", "--for", WATCHED, "--state.path=none"]
        with subprocess.Popen(verify, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
            threading.Event().wait(FIRST_LOOK_SECONDS)
            run("up", "-d", "--pull", "never", "--timeout", "1")
            return process.communicate(timeout=120)[0]
    finally:
        run("down", "-v", "--timeout", "1")
        file.unlink()
        folder.rmdir()
