"""README's table, row by row, and each face once: one host full of what is easily mixed up, watched by one daemon.

The host is staged once, then each test asks. What costs more has a file of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.docker.conftest import TestEngine
from tests.docker.daemon import Daemon
from tests.outputs.alertmanager.receiver import Receiver, receiving
from tests.outputs.mcp.pipes import HELLO, READY, call, hear, running, say
from tests.outputs.messages.receivers import HttpReceiver
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.docker

TIGHT = ("-m", "24m", "--memory-swap", "24m")
ASKS_DB = "while :; do echo 'ERROR connect to db:5432 failed: connection refused'; sleep 1; done"
CHATS = "while :; do echo 'INFO finished: 0 errors, last error: none'; sleep 1; done"
FILLS_CACHE = "dd if=/dev/zero of=/file bs=1M count=58 2>/dev/null; sleep 900"
PROBE = ("--health-cmd", "echo 'no answer from port 8080'; exit 1", "--health-interval=1s", "--health-retries=1")
SECRET = "hunter2-of-the-first-look"
SHOP = """\
name: shop
services:
  web: {{image: '{image}', command: [serve], environment: {{MODE: {mode}}}, mem_limit: 64m}}
  mail: {{image: '{image}', command: [serve]}}
"""


@dataclass
class Host:
    """A staged host, and what watches it."""

    engine: TestEngine
    daemon: Daemon
    folder: Path
    phone: HttpReceiver
    alertmanager: Receiver

    def report(self, name: str) -> dict[str, Any]:
        """What the daemon's newest scan says of one container."""
        reports = self.daemon.ask("/api/v1/diagnosis").json()["result"]["reports"]
        return next(
            (one for one in reports if one["container_name"] == name), {"symptoms": [], "summary": "", "status": ""}
        )

    def symptoms(self, name: str) -> dict[str, str]:
        """The severity of each symptom of one container."""
        return {one["type"]: one["severity"] for one in self.report(name)["symptoms"]}

    def wait_for(self, name: str, symptom: str) -> dict[str, Any]:
        """The report of a container as soon as it has the symptom."""
        wait_until(lambda: symptom in self.symptoms(name), f"{symptom} of {name}; {self.report(name)}")
        return self.report(name)

    def command(self, *words: str, codes: tuple[int, ...] = (0,), environ: dict[str, str] | None = None) -> str:
        """What a command prints beside the daemon, in a terminal of 80 columns."""
        where = [f"--docker.host={self.engine.host}", f"--web.listen-address=127.0.0.1:{self.daemon.port}"]
        line = [sys.executable, "-m", "bcon_exporter", *words, *where]
        settings = {**os.environ, "COLUMNS": "80", **(environ or {})}
        done = subprocess.run(
            line, capture_output=True, text=True, check=False, timeout=90, env=settings, cwd=self.folder
        )
        assert done.returncode in codes, f"{words}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def host(engine_of_session: TestEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """The host of this file: staged before the first test, and gone after the last one."""
    engine, folder = engine_of_session, tmp_path_factory.mktemp("first-look")
    flags = ("--scan.diagnose-interval=2s", "--scan.drift-interval=2s", f"--compose.roots={folder}")
    with HttpReceiver() as phone, receiving() as alertmanager:
        urls = (
            f"--notify.url=json://127.0.0.1:{phone.port}/",
            *(f"--alertmanager.url={alertmanager.url}", "--alertmanager.job=bcon", "--alertmanager.instance=attic"),
        )
        with Daemon(folder, engine.host, *flags, *urls) as daemon:
            daemon.wait_until_ready()
            stage(engine, folder)
            yield Host(engine, daemon, folder, phone, alertmanager)
    engine.remove_everything()


def stage(engine: TestEngine, folder: Path) -> None:
    """Start a container for each row of the table."""

    def run(name: str, *words: str) -> None:
        engine.docker("run", "-d", "--name", name, *words)

    image = engine.image
    run("loop", "--restart", "always", image, "sh", "-c", "exit 3")
    run("hog", *TIGHT, image, "eat-memory")
    run("db", *TIGHT, image, "eat-memory")
    run("api", image, "sh", "-c", ASKS_DB)
    run("parent", *TIGHT, image, "lose-child")
    run("sick", *PROBE, image, "sleep", "900")
    run("starved", "--cpus", "0.2", image, "burn-cpu")
    run("cached", "-m", "64m", "--memory-swap", "64m", image, "sh", "-c", FILLS_CACHE)
    run("migration", image, "true")
    run("chatty", image, "sh", "-c", CHATS)
    run("killed", image, "sleep", "900")
    run("too-slow", image, "sleep", "900")
    run(
        "leaky", "-e", f"DB_PASSWORD={SECRET}", image, "sh", "-c", f"echo 'ERROR login with {SECRET} failed'; sleep 900"
    )
    engine.docker("kill", "killed")
    engine.docker("stop", "-t", "1", "too-slow")
    write_shop(folder, engine.image)
    engine.compose("up", "-d", cwd=folder)


def write_shop(folder: Path, image: str, mode: str = "prod") -> None:
    """Write the project's file."""
    (folder / "compose.yaml").write_text(SHOP.format(image=image, mode=mode))


def test_exit_137_is_an_oom_kill_a_kill_or_a_stop_that_was_too_slow(host: Host) -> None:
    assert "out of memory" in host.wait_for("hog", "oom_killed")["summary"]
    killed = host.wait_for("killed", "exit_error")
    assert "somebody killed it without asking it to stop" in killed["summary"]
    assert host.wait_for("too-slow", "exit_error")["status"] == "healthy"
    assert "It was stopped as asked" in host.report("too-slow")["summary"]


def test_a_deployment_is_no_crash(host: Host) -> None:
    host.engine.compose("up", "-d", "--force-recreate", cwd=host.folder)
    series = 'bcon_container_running{container="shop-web-1",project="shop",service="web"}'
    host.daemon.wait_for_sample(series, 1)
    scans = host.daemon.sample('bcon_scans_total{scan="diagnose"}') or 0.0
    wait_until(lambda: (host.daemon.sample('bcon_scans_total{scan="diagnose"}') or 0.0) > scans + 1, "two more scans")
    assert host.symptoms("shop-web-1") == {}


def test_restarts_are_counted_over_a_start_by_hand_that_resets_the_engines_count(host: Host) -> None:
    host.wait_for("loop", "restart_loop")
    host.engine.docker("restart", "loop")
    assert int(host.engine.docker("inspect", "-f", "{{.RestartCount}}", "loop")) < 3
    restarts = 'bcon_container_restarts_last_hour{container="loop",project="",service=""}'
    wait_until(lambda: (host.daemon.sample(restarts) or 0.0) >= 3, "the restarts of before to count")
    assert host.wait_for("loop", "restart_loop")["status"] == "critical"


def test_a_refused_connection_names_the_one_that_was_killed(host: Host) -> None:
    def points_to_db() -> bool:
        causes = host.report("api").get("likely_causes", [])
        return bool(causes) and "db" in causes[0]["description"] and "OOM-killed" in causes[0]["description"]

    wait_until(points_to_db, "api's trouble to be put down to db")
    assert host.report("api")["root"] == "db"


def test_a_lost_child_is_told_while_the_container_goes_on(host: Host) -> None:
    report = host.wait_for("parent", "oom_killed")
    assert "killed a child process" in report["summary"]
    assert report["state"] == "running"


def test_a_failing_probe_is_told_with_what_it_printed(host: Host) -> None:
    symptoms = host.wait_for("sick", "unhealthy")["symptoms"]
    assert any("no answer from port 8080" in words for one in symptoms for words in one["evidence"])


def test_cpu_is_told_of_what_the_container_may_use(host: Host) -> None:
    def is_starved() -> bool:
        stats = host.daemon.ask("/api/v1/containers/starved/stats").json()["result"]
        return bool(stats["cpu_count"] == 0.2 and stats["cpu_percent"] > 25 and stats["throttled_percent"] is not None)

    wait_until(is_starved, "more than the 20 % that it can have of one CPU")


def test_page_cache_is_not_memory_in_use(host: Host) -> None:
    stats = wait_until(
        lambda: host.daemon.ask("/api/v1/containers/cached/stats").json().get("result"), "usage to be read"
    )
    assert stats["memory_percent"] < 50, "58 of its 64 MB are page cache"
    assert host.symptoms("cached") == {}


def test_a_migration_that_ended_well_is_done(host: Host) -> None:
    wait_until(lambda: host.report("migration")["status"] == "healthy", "it to be seen")
    assert "exited with code 0" in host.report("migration")["summary"]


def test_an_info_line_with_the_word_error_is_no_error(host: Host) -> None:
    wait_until(lambda: host.report("chatty")["status"] == "healthy", "it to be seen")
    assert host.symptoms("chatty") == {}


def test_drift_names_the_field_also_when_it_was_changed_behind_composes_back(host: Host) -> None:
    write_shop(host.folder, host.engine.image, mode="canary-value")
    host.engine.docker("update", "--memory", "96m", "--memory-swap", "96m", "shop-web-1")

    def fields() -> set[str]:
        told = host.daemon.ask("/api/v1/drift/shop").json().get("result", {"differences": []})["differences"]
        return {one["field"] for one in told}

    wait_until(lambda: fields() >= {"environment.MODE", "mem_limit"}, "both differences")
    assert "canary-value" not in host.daemon.ask("/api/v1/drift/shop").text
    assert "MODE" in host.command("drift", str(host.folder / "compose.yaml"), codes=(1,))
    write_shop(host.folder, host.engine.image)


def test_check_foretells_an_up_that_fails_and_one_that_works(host: Host, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(f"name: till\nservices: {{till: {{image: '{host.engine.image}', command: [serve]}}}}\n")
    bad.write_text("name: till\nservices: {till: {image: 'not/here:1', pull_policy: never, env_file: [gone.env]}}\n")
    assert json.loads(host.command("check", "-f", str(good), "--format=json"))["result"]["verdict"] != "fails"
    assert "gone.env" in host.command("check", "-f", str(bad), codes=(1,))


def test_verify_tells_a_deployment_that_works_from_one_that_crashes(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text(f"name: till\nservices: {{till: {{image: '{host.engine.image}', command: [serve]}}}}\n")
    host.engine.compose("up", "-d", cwd=tmp_path)
    watch = ("verify", "till", "--for=3s")
    host.command(*watch)
    file.write_text(file.read_text().replace("[serve]", "[sh, -c, 'echo FATAL no STORE; exit 3']"))
    host.engine.compose("up", "-d", cwd=tmp_path)
    assert "till" in host.command(*watch, codes=(1,))


@pytest.mark.parametrize(("format_", "shown"), [("table", "hog"), ("json", '"result"'), ("markdown", "# ")])
def test_the_terminal_shows_what_the_daemon_judges(host: Host, format_: str, shown: str) -> None:
    host.wait_for("hog", "oom_killed")
    said = host.command("diagnose", f"--format={format_}", codes=(1,))
    assert shown in said
    assert "hog" in said
    if format_ == "table":
        assert max(map(len, said.splitlines())) <= 80


def test_the_page_shows_the_same(host: Host) -> None:
    host.wait_for("hog", "oom_killed")
    page = host.daemon.ask("/")
    assert page.status == 200
    assert "hog" in page.text
    assert "no answer from port 8080" in host.daemon.ask("/c/sick").text


def test_an_agent_over_a_pipe_is_told_the_same(host: Host) -> None:
    host.wait_for("hog", "oom_killed")
    with running("--daemon", f"http://127.0.0.1:{host.daemon.port}", "--docker.host", host.engine.host) as process:
        say(process, HELLO)
        assert hear(process)["result"]["serverInfo"]["name"] == "bcon-exporter"
        say(process, READY, call(2, "diagnose_all"))
        assert "hog" in hear(process)["result"]["content"][0]["text"]


def test_one_failure_is_one_incident_one_message_and_one_alert(host: Host) -> None:
    host.wait_for("hog", "oom_killed")
    wait_until(lambda: any("hog" in got.text for got in host.phone.got), "the message")
    told = host.daemon.ask("/api/v1/incidents?open=true").json()["result"]["incidents"]
    (incident,) = [one for one in told if one["root"]["container"] == "hog"]
    assert "ran out of memory" in host.command("incidents", incident["id"])
    assert host.daemon.ask(f"/i/{incident['id']}").status == 200
    wait_until(lambda: any("hog" in json.dumps(body) for body in host.alertmanager.batches), "the alert")
    assert len([got for got in host.phone.got if "hog" in got.text]) == 1, [got.text for got in host.phone.got]


def test_a_secret_is_shown_on_no_face(host: Host) -> None:
    host.wait_for("leaky", "log_error")
    pages = (
        "/",
        "/c/leaky",
        "/metrics",
        "/api/v1/containers/leaky",
        "/api/v1/containers/leaky/logs",
        "/api/v1/diagnosis",
    )
    said = [host.daemon.ask(page).text for page in pages] + [host.command("diagnose", "leaky", codes=(1,))]
    assert any("leaky" in text for text in said)
    assert [text for text in said if SECRET in text] == []
    assert SECRET not in host.daemon.log


@pytest.mark.promise("F1")
def test_green_from_before_the_engine_hung_is_not_shown_as_green(host: Host) -> None:
    """The last test: it freezes the engine for a moment."""
    host.engine.pause()
    try:
        host.daemon.wait_for_sample("bcon_up", 0, timeout_seconds=20)
        assert host.daemon.ask("/-/healthy").status == 200
    finally:
        host.engine.resume()
    host.daemon.wait_for_sample("bcon_up", 1)
