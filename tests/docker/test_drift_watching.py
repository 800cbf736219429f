"""Promise: drift is seen within seconds of what made it, an event or a changed file, long before the next interval."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

SELDOM = ("--scan.diagnose-interval", "1h", "--scan.drift-interval", "1h")
SECONDS = 10.0
"""Two are the design, a tick of a second and a second of quiet; the rest is for a busy machine."""
DRIFTED = 'bcon_compose_project_status{project="%s",status="drifted"}'


def bring_up(engine: TestEngine, folder: Path, name: str) -> Path:
    """Start a project with an env file whose name hangs on a variable."""
    home = folder / name
    home.mkdir()
    (home / "compose.yaml").write_text(
        f"name: {name}\nservices:\n  web:\n    image: {engine.image}\n    command: sleep 1000\n    mem_limit: 64m\n"
        "    env_file: ${ENV_FILE:-app.env}\n"
    )
    (home / "app.env").write_text("A=1\n")
    engine.compose("up", "-d", cwd=home)
    return home


def test_events_and_changed_files_bring_the_look_forward(engine: TestEngine, tmp_path: Path) -> None:
    home = bring_up(engine, tmp_path, "watched")
    bring_up(engine, tmp_path, "still")
    override = home / "compose.override.yaml"
    steps: dict[str, tuple[Callable[[], object], int]] = {
        "another value in an env file": (lambda: (home / "app.env").write_text("A=2\n"), 1),
        "the value as it was": (lambda: (home / "app.env").write_text("A=1\n"), 0),
        "an override file": (lambda: override.write_text("services: {web: {user: '5'}}\n"), 1),
        "no override file": (override.unlink, 0),
        "a limit by hand": (lambda: update_memory(engine, 96), 1),
        "the limit as it was": (lambda: update_memory(engine, 64), 0),
    }

    with Daemon(tmp_path, engine.host, *SELDOM, f"--compose.roots={tmp_path}") as daemon:
        daemon.wait_for_sample(DRIFTED % "watched", 0)
        took: dict[str, float] = {}
        for what, (change, drifted) in steps.items():
            change()
            took[what] = daemon.wait_for_sample(DRIFTED % "watched", drifted, timeout_seconds=SECONDS)
        assert daemon.sample(DRIFTED % "still") == 0
    assert statistics.median(took.values()) < 5, took


def update_memory(engine: TestEngine, megabytes: int) -> None:
    """Change the limit behind the back of Compose."""
    engine.docker("update", "--memory", f"{megabytes}m", "--memory-swap", f"{2 * megabytes}m", "watched-web-1")
