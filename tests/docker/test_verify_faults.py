"""Promise: `verify` gives the verdict so far when it is broken off, and goes on when the engine is away for a while."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.app import build_context
from bcon_exporter.cli.exits import Exit
from bcon_exporter.model.verify_report import DeploymentVerdict
from bcon_exporter.settings import load_settings
from bcon_exporter.tools.watch_deployment import DeploymentWatch, WatchRequest
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker


@pytest.fixture
def project(engine: TestEngine, tmp_path: Path) -> Path:
    """A project that runs well."""
    service = f'{{image: "{engine.image}", command: [serve], stop_grace_period: 1s}}'
    (tmp_path / "compose.yaml").write_text(f"name: shop\nservices: {{web: {service}}}\n")
    engine.compose("up", "-d", "--pull", "never", cwd=tmp_path)
    return tmp_path


@contextmanager
def verifying(engine: TestEngine, folder: Path, window: str) -> Iterator[subprocess.Popen[str]]:
    """A `verify` that runs, in the folder of the project."""
    words = ["verify", "--for", window, "--format", "json", "--state.path", "none", f"--docker.host={engine.host}"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job's children would ignore it
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "bcon_exporter", *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            yield process
    finally:
        signal.signal(signal.SIGINT, before)


def answer(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    """Its exit code and its report."""
    out, errors = process.communicate(timeout=60)
    assert out, errors
    report: dict[str, Any] = json.loads(out)["result"]
    return process.returncode, report


def has_looked(engine: TestEngine) -> bool:
    """Whether somebody follows the engine's events: the first look is under way by then."""
    fds = engine.docker("info", "--format", "{{.NFd}} {{.NEventsListener}}")
    return fds.split()[-1] not in ("0", "")


def test_breaking_it_off_gives_the_verdict_so_far(engine: TestEngine, project: Path) -> None:
    with verifying(engine, project, "60s") as process:
        wait_until(lambda: has_looked(engine), "it to watch", timeout_seconds=30)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=4)
        process.send_signal(signal.SIGINT)
        code, report = answer(process)

    assert (code, report["verdict"]) == (Exit.FINE, "good")
    assert report["notes"][-1].startswith("Broken off after")


@pytest.mark.usefixtures("project")
def test_an_engine_that_comes_back_is_told_and_gone_on_with(engine: TestEngine) -> None:
    settings = load_settings({"docker": {"host": engine.host}, "state": {"path": "none"}}, {})
    context = build_context(settings, one_shot=True)
    steps = [engine.pause, engine.resume]

    def wait(seconds: float) -> None:
        """Between two looks: the second meets an engine that does not answer, the third one that does."""
        if steps:
            steps.pop(0)()
        else:
            threading.Event().wait(seconds)

    watch = DeploymentWatch(context, WatchRequest(window_seconds=300, running="shop"), wait)
    try:
        report = watch.run(lambda _: None, lambda report: bool(report.notes))
    finally:
        context.host.close()
        context.memory.close()

    assert steps == []
    assert report.verdict is DeploymentVerdict.GOOD
    assert any(note.startswith("The engine could not be read for a while") for note in report.notes), report


def test_an_engine_that_stays_away_leaves_it_open(engine: TestEngine, project: Path) -> None:
    with verifying(engine, project, "10s") as process:
        wait_until(lambda: has_looked(engine), "it to watch", timeout_seconds=30)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=3)
        engine.pause()
        code, report = answer(process)
        engine.resume()

    assert (code, report["verdict"], report["services"][0]["verdict"]) == (Exit.FAILED, "unsure", "unsure")
    assert report["reason"]
