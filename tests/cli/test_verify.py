"""Promise: `verify` refuses words that it does not understand before it looks, and says when there is no engine."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from bcon_exporter.cli import main
from bcon_exporter.cli.exits import Exit
from tests.architecture.sources import ROOT
from tests.engine.fleet_engine import FleetEngine


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--for", "60"], "--for"),
        (["--since", "some day"], "--since"),
        (["--since", "2026-01-31T12:00:00"], "--since"),
        (["shop", "-p", "other"], "--project-name"),
        (["--out", "sarif=x"], "--out"),
    ],
    ids=["no unit", "no time", "no zone", "two projects", "a format of another command"],
)
def test_words_that_are_wrong_are_refused(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", *words, "--docker.host", "unix:///nonexistent.sock"], {}) == Exit.USAGE
    assert complaint in capsys.readouterr().err


@pytest.mark.integration
def test_an_engine_that_is_never_reached_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "shop", "--for", "0s", "--format", "json", f"--docker.host=unix://{tmp_path}/none.sock"]
    assert main(words, {}) == Exit.NO_ENGINE
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "docker_connection_failed"


@pytest.mark.integration
def test_a_terminal_shows_how_far_the_watch_is_and_each_verdict_once_it_is_certain(tmp_path: Path) -> None:
    shown, terminal = pty.openpty()
    file = tmp_path / "compose.yaml"
    file.write_text("services: {s0: {image: 'registry.example/shop/app0:1.0'}, s1: {image: 'other:1'}}")
    with FleetEngine(tmp_path / "engine.sock", 2) as engine:
        words = [
            "verify",
            "-f",
            str(file),
            "-p",
            "fleet0",
            "--for",
            "3s",
            "--format",
            "json",
            f"--docker.host={engine.url}",
        ]
        environ = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "bcon_exporter", *words, "--state.path=none"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=terminal, text=True, check=False
        )
    os.close(terminal)
    text = read_all(shown)
    assert "Watching fleet0: " in text
    assert " left" in text
    for service in json.loads(done.stdout)["result"]["services"]:
        assert text.count(f"{service['service']}: {service['verdict']}") == 1


def read_all(terminal: int) -> str:
    """What was written to a terminal whose other side is closed."""
    parts = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError:  # the end
        pass
    os.close(terminal)
    return b"".join(parts).decode()
