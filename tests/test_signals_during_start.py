"""F12: a signal counts from the daemon's first moments on; commands keep what Python does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration

SIGNALLED = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
number, moment, what = int(sys.argv[1]), sys.argv[2], sys.argv[3]
sent = []
def send(event, args):
    if not sent and event == moment and what in map(str, args):
        sent.append(os.kill(os.getpid(), number))
sys.addaudithook(send)
sys.argv[1:] = sys.argv[4:]
runpy.run_module("bcon_exporter", run_name="__main__", alter_sys=True)
"""
"""Runs the program, as in the foreground; it signals itself when it first comes to one of Python's audit events."""
MOMENTS = [
    ("import", "bcon_exporter.cli"),
    ("import", "pydantic"),
    ("import", "bcon_exporter.daemon"),
    ("import", "uvicorn"),
    ("socket.bind", "('127.0.0.1', 0)"),
]
"""In the order in which a starting daemon comes to them."""


def signalled(number: signal.Signals, moment: tuple[str, str], *words: str) -> list[str]:
    return [sys.executable, "-c", SIGNALLED, str(int(number)), *moment, *words]


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("BCON_")}


def serve(folder: Path) -> list[str]:
    flags = ["--docker.host", f"unix://{folder}/absent.sock", "--web.listen-address", "127.0.0.1:0"]
    return ["serve", *flags, "--state.path", str(folder / "state.db")]


@pytest.mark.promise("F12")
@pytest.mark.parametrize("moment", MOMENTS, ids=" ".join)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_daemon_that_still_starts_ends_well_when_told_to(
    tmp_path: Path, number: signal.Signals, moment: tuple[str, str]
) -> None:
    command = signalled(number, moment, *serve(tmp_path))

    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=30, check=False)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.promise("F12")
@pytest.mark.parametrize("moment", MOMENTS, ids=" ".join)
def test_a_reload_that_comes_too_early_is_made_up_for(tmp_path: Path, moment: tuple[str, str]) -> None:
    log = tmp_path / "daemon.log"
    with (
        log.open("wb") as out,
        subprocess.Popen(signalled(signal.SIGHUP, moment, *serve(tmp_path)), stderr=out, env=environment()) as daemon,
    ):
        try:
            wait_until(lambda: daemon.poll() is not None or "settings reloaded" in log.read_text(), "the reload")
        finally:
            daemon.terminate()
        code = daemon.wait(10)

    assert code == 0
    assert re.findall("serving on|settings reloaded", log.read_text()) == ["serving on", "settings reloaded"]


@pytest.mark.parametrize("words", [("explain", "serve", "x"), ("serve", "--config.check")], ids=" ".join)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -15), (signal.SIGINT, 130), (signal.SIGHUP, -1)])
def test_a_command_ends_as_ever(tmp_path: Path, words: tuple[str, ...], number: signal.Signals, code: int) -> None:
    (tmp_path / "own.yml").write_text("signatures: []\n")
    moment = ("open", str(tmp_path / "own.yml"))
    command = signalled(number, moment, *words, "--catalogue.directory", str(tmp_path))

    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=30, check=False)

    assert (done.returncode, done.stderr) == (code, "")
