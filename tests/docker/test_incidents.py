"""A failure on a real engine is one incident, told by address, tool, command and gauge, also after a restart."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.contract]

QUICK = ("--scan.diagnose-interval=1s", "--scan.drift-interval=1s")


def open_incidents(daemon: Daemon) -> list[dict[str, Any]]:
    answer = daemon.ask("/api/v1/incidents?open=true")
    assert answer.status == 200, answer.text
    return list(answer.json()["result"]["incidents"])


def command(daemon: Daemon, *words: str) -> str:
    """What the command prints of the daemon's state file; it needs no engine."""
    flags = ("--docker.host", "unix:///nowhere", "--state.path", str(daemon.folder / "state.db"))
    line = [sys.executable, "-m", "bcon_exporter", "incidents", *words, *flags]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "120"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_crashed_root_and_who_suffers_from_it_are_one_incident_over_a_restart_of_the_exporter(
    engine: TestEngine, tmp_path: Path
) -> None:
    tag = tmp_path.parent.name  # the engine remembers the names of other tests
    db, web = f"failing-db-{tag}", f"suffering-web-{tag}"
    engine.docker("network", "create", "shop")
    ask = f"while :; do nc -z {db} 5432 || echo 'ERROR connect to {db}:5432 failed: connection refused'; sleep 1; done"
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        wait_until(lambda: daemon.ask("/-/ready").status == 200, "the first scan")
        engine.docker("run", "-d", "--name", db, "--network", "shop", engine.image, "sh", "-c", "sleep 2; exit 3")
        engine.docker("run", "-d", "--name", web, "--network", "shop", engine.image, "sh", "-c", ask)
        wait_until(
            lambda: [one["suffers"] for one in open_incidents(daemon)] == [[web]], "web to join", timeout_seconds=60
        )
        (incident,) = open_incidents(daemon)
        assert (incident["root"]["container"], incident["root"]["code"]) == (db, "exit_error")
        address = f"/api/v1/incidents/{incident['id']}"

        def changes() -> list[str]:
            whole = daemon.ask(address).json()["result"]
            assert [member["container"] for member in whole["members"]] == [db, web]
            return [change["kind"] for change in whole["changes"] if change["container"] == db]

        wait_until(lambda: changes() == ["start"], "the journal to tell of the start")
        assert daemon.sample(
            f'bcon_incident_info{{incident="{incident["id"]}",root="{db}",project="",code="exit_error"}}'
        )
        assert daemon.sample(f'bcon_container_explained{{container="{web}",project="",service="",root="{db}"}}') == 1
        assert f"{db} has failed; {web} suffers from it" in command(daemon, "--open")
        assert "## Changed before" in command(daemon, incident["id"], "--format", "markdown")

        def told_alike() -> bool:  # no scan may end between the two requests
            by_tool = daemon.ask("/api/v1/tools/get_incident", "POST", {"incident_id": incident["id"]})
            return bool(by_tool.json() == daemon.ask(address).json())

        wait_until(told_alike, "the tool and the address to tell the same")
        assert daemon.ask("/api/v1/incidents/2026-nothing").json()["error"]["code"] == "not_found"
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        wait_until(lambda: daemon.ask("/-/ready").status == 200, "the first scan")
        assert [one["id"] for one in open_incidents(daemon)] == [incident["id"]]
        assert daemon.sample('bcon_incidents_open{severity="error"}') == 1


def tell(daemon: Daemon, *words: str) -> str:
    """What a command prints that tells the daemon something."""
    line = [sys.executable, "-m", "bcon_exporter", *words, f"--web.listen-address=127.0.0.1:{daemon.port}"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "120"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_person_mutes_a_container_and_is_on_its_incident(engine: TestEngine, tmp_path: Path) -> None:
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        engine.docker("run", "--name", "db", engine.image, "sh", "-c", "sleep 1; exit 3", check=False)
        (incident,) = wait_until(lambda: open_incidents(daemon), "the incident")
        assert tell(daemon, "quiet", "db", "1h", "--why", "moving").startswith("db is quiet until ")
        assert "acknowledged at" in tell(daemon, "incidents", incident["id"], "--acknowledge")
        daemon.wait_for_sample('bcon_container_quiet{container="db",project="",service=""}', 1)
        assert "moving" in tell(daemon, "quiet")
        assert "open, acknowledged" in command(daemon, "--open")
        assert open_incidents(daemon)[0]["acknowledged_at"] is not None
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_for_sample('bcon_container_quiet{container="db",project="",service=""}', 1)
        assert tell(daemon, "unquiet", "db") == "db is not quiet any more\n"
        daemon.wait_for_sample('bcon_container_quiet{container="db",project="",service=""}', None)
        assert tell(daemon, "quiet") == "Nothing is quiet.\n"
