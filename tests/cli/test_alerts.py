"""`alerts` shows what the running daemon says fires, in every form, and says in one line when none answers."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration


def alerts(port: int, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "bcon_exporter", "alerts", f"--web.listen-address=127.0.0.1:{port}", *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_it_shows_what_the_daemon_judges_even_without_an_engine(tmp_path: Path) -> None:
    with Daemon(tmp_path, "unix:///nowhere.sock", "--scan.diagnose-interval=1s") as daemon:
        wait_until(lambda: "BconWatchdog" in daemon.ask("/api/v1/alerts").text, "the first round")
        shown = alerts(daemon.port)
        listed = alerts(daemon.port, "--format", "json")
        firing = daemon.sample("bcon_alerts_firing")

    assert shown.returncode == 0, shown.stderr
    assert "Nothing fires." in shown.stdout
    assert "Alerting works.  firing for" in shown.stdout
    names = {one["name"]: one["state"] for one in json.loads(listed.stdout)["result"]["alerts"]}
    assert names == {"BconWatchdog": "firing"}
    assert firing == 1


def test_without_a_daemon_it_says_so_in_one_line() -> None:
    done = alerts(1)

    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "no daemon answers at 127.0.0.1:1" in done.stderr
