"""`quiet`, `unquiet` and `incidents --acknowledge` ask the daemon, since only it writes its state."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command where no daemon listens."""
    command = [sys.executable, "-m", "bcon_exporter", *words, "--web.listen-address=127.0.0.1:1"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "words", [("quiet",), ("quiet", "shop", "1h"), ("unquiet", "shop"), ("quiet", "shop", "--end"),
              ("incidents", "2026-x", "--acknowledge")]
)  # fmt: skip
def test_without_a_daemon_they_say_so_in_one_line_and_exit_with_3(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("\n") == 1
    assert "no daemon answers at 127.0.0.1:1" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"), [(("quiet", "--end"), "quiet NAME --end"), (("incidents", "--acknowledge"), "name the incident")]
)
def test_what_is_missing_is_named(words: tuple[str, ...], says: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_password_file_that_cannot_be_read_is_named() -> None:
    done = run("quiet", "--user", "ada", "--password-file", "/nowhere")
    assert done.returncode == 2
    assert "--password-file: /nowhere" in done.stderr
