"""`notes` asks the daemon, since only it writes its state."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command where no daemon listens."""
    command = [sys.executable, "-m", "bcon_exporter", *words, "--web.listen-address=127.0.0.1:1"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


WRITTEN = json.dumps({"text": "harmless", "dry_run": False})


@pytest.mark.parametrize(
    "words", [("notes",), ("notes", "list"), ("notes", "add", "exits with 3 every Sunday"), ("notes", "approve", "n1"),
              ("notes", "refuse", "n1"), ("notes", "remove", "n1", "n2"),
              ("call", "write_memory", WRITTEN, "--docker.host=unix:///nowhere.sock")]
)  # fmt: skip
def test_without_a_daemon_it_says_so_in_one_line_and_exits_with_3(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("\n") == 1
    assert "no daemon answers at 127.0.0.1:1" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("notes", "add"), "say what you know"),
        (("notes", "approve"), "name the note"),
        (("notes", "approve", "../quiet"), "n and a number"),
        (("notes", "list", "n1"), "takes no more words"),
        (("notes", "add", "harmless", "--about", "web"), "container=NAME"),
        (("notes", "add", "harmless", "--about", "project=a", "--about", "project=b"), "write each once"),
        (("notes", "approve", "n1", "--expires", "1d"), "for notes add"),
        (("notes", "forget", "n1"), "none of list, add"),
    ],
)
def test_what_is_missing_or_wrong_is_named(words: tuple[str, ...], says: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert says in done.stderr
