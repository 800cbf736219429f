"""SIGHUP puts in force what it says: who may ask is judged by the settings of now, on the addresses of the start."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.odd_files import ODD_KINDS, put_in_place, take_away
from tests.outputs.alertmanager.receiver import receiving
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration

IN_PROCESS = """
from bcon_exporter.app import build_context, refresh_context
from bcon_exporter.daemon import Daemon
from bcon_exporter.engine import DockerHost
from bcon_exporter.settings import Settings

class Recording(DockerHost):
    def set_probe_interval(self, seconds):
        super().set_probe_interval(seconds)
        print(seconds, flush=True)

def settings(interval):
    return Settings(
        docker={"host": "unix:///nonexistent"}, web={"listen_address": "127.0.0.1:0"}, state={"path": "none"},
        scan={"diagnose_interval": interval},
    )

context = build_context(settings("30s"))
"""
PROBING = """
context.host.__class__ = Recording
Daemon(settings("30s"), context, refresh_context, lambda: settings("20s")).reload()
"""
DEFECTIVE = """
daemon = Daemon(settings("30s"), context, refresh_context, lambda: settings("30s") if 1 / 0 else None)
daemon.reload()
print(daemon._own.rows(context.scans.statuses, 0)["bcon_config_last_reload_successful"])
"""
SIGNATURES = """
signatures:
- id: own_failure
  category: other
  explanation: It failed.
  patterns:
  - {regex: 'own failure', matches: ['own failure']}
  causes:
  - {id: own_cause, text: Something., confidence: 0.5}
  suggestions:
  - {urgency: immediate, action: Look., rationale: It failed.}
"""
REFUSED = "the settings were not reloaded, the old ones stay in force"
HASH = "$2b$04$abcdefghijklmnopqrstuuGoEDpGXgL3FjNbBuUyqdqyz4ZDmkbgS"


def start(folder: Path, *flags: str) -> Daemon:
    """A daemon with a settings file and without an engine; its API listens on 127.0.0.1."""
    beside = ("--api.listen-address=127.0.0.1:0", "--config.file", str(folder / "bcon.yml"))
    return Daemon(folder, f"unix://{folder}/absent.sock", *beside, *flags)


def reload(daemon: Daemon) -> None:
    """Send SIGHUP and wait until it is done."""
    before = daemon.log.count("settings reloaded")
    daemon.process.send_signal(signal.SIGHUP)
    wait_until(lambda: daemon.log.count("settings reloaded") > before, f"the reload; log:\n{daemon.log}")


def refused_reload(daemon: Daemon) -> str:
    """Send SIGHUP, wait until the new settings are refused, and return the line that says why."""
    before = daemon.log.count(REFUSED)
    daemon.process.send_signal(signal.SIGHUP)
    wait_until(lambda: daemon.log.count(REFUSED) > before, f"the refusal; log:\n{daemon.log}")
    return next(line for line in reversed(daemon.log.splitlines()) if REFUSED in line)


def outer_port(daemon: Daemon, address: str) -> int:
    """The port of the other listener."""
    found = re.search(rf"http://{re.escape(address)}:(\d+)", daemon.log)
    assert found, daemon.log
    return int(found[1])


def status_of(address: str, port: int, path: str, host: str | None = None) -> int:
    """The HTTP status of one request under a Host name."""
    connection = http.client.HTTPConnection(address, port, timeout=10)
    try:
        connection.request("GET", path, headers={"Host": host or f"{address}:{port}"})
        return connection.getresponse().status
    finally:
        connection.close()


def in_process(work: str) -> subprocess.CompletedProcess[str]:
    """Run a daemon that serves nobody, in a process of its own."""
    program = [sys.executable, "-c", IN_PROCESS + work]
    return subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.promise("S1")
def test_names_and_exposure_follow_the_settings(tmp_path: Path) -> None:
    settings, users = tmp_path / "bcon.yml", tmp_path / "web.yml"
    settings.write_text("web: {allowed-hosts: [old.example]}\n")
    users.write_text("{}\n")
    with start(tmp_path, "--web.listen-address=0.0.0.0:0", f"--web.config.file={users}") as daemon:
        port = outer_port(daemon, "0.0.0.0")
        hosts = ("old.example", "new.example", "proxied.example")
        closed, gauge = status_of("127.0.0.1", port, "/api/v1/tools"), daemon.sample("bcon_insecure_bind")

        settings.write_text(
            "web: {allowed-hosts: [new.example], external-url: 'https://proxied.example/x', allow-insecure: true}\n"
        )
        reload(daemon)
        after = [status_of("127.0.0.1", port, "/api/v1/tools", host) for host in hosts]
        scraped = [status_of("127.0.0.1", port, "/metrics", host) for host in hosts]
        opened, raised = status_of("127.0.0.1", port, "/api/v1/tools"), daemon.sample("bcon_insecure_bind")
        told = "are served beyond loopback without users" in daemon.log

        users.write_text(f"basic_auth_users: {{prometheus: {HASH}}}\n")
        reload(daemon)
        guarded = status_of("127.0.0.1", port, "/api/v1/tools")

    assert (after, scraped) == ([421, 200, 200], [200, 200, 200])
    assert (closed, opened, guarded) == (403, 200, 401)
    assert (gauge, raised, told) == (0, 1, True)


def test_reports_for_anybody_are_served_under_the_names_that_are_listed_and_without_a_list_that_is_told(
    tmp_path: Path,
) -> None:
    (tmp_path / "bcon.yml").write_text("{}\n")
    with start(tmp_path, "--web.listen-address=0.0.0.0:0", "--web.allow-insecure") as daemon:
        port = outer_port(daemon, "0.0.0.0")
        by_name = status_of("127.0.0.1", port, "/api/v1/tools", "any.example")
        by_address = status_of("127.0.0.1", port, "/api/v1/tools", "192.0.2.7")
        scraped = status_of("127.0.0.1", port, "/metrics", "any.example")
        log = daemon.log

    assert (by_name, by_address, scraped) == (421, 200, 200)
    assert "WARNING daemon: web.listen-address: reports are served under this host's addresses only" in log


@pytest.mark.promise("S1")
def test_the_gauge_falls_with_the_setting_and_a_pending_restart_is_told_each_time(tmp_path: Path) -> None:
    settings = tmp_path / "bcon.yml"
    settings.write_text("web: {allow-insecure: true}\n")
    with start(tmp_path, "--web.listen-address=0.0.0.0:0") as daemon:
        raised = daemon.sample("bcon_insecure_bind")
        settings.write_text("thresholds: {usage-window-seconds: 30}\n")
        reload(daemon)
        reload(daemon)
        fallen = daemon.sample("bcon_insecure_bind")
        log = daemon.log

    assert (raised, fallen) == (1, 0)
    assert log.count("thresholds.usage-window-seconds differs") == 2


def test_another_token_counts_for_the_next_alerts_and_a_broken_file_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "bcon.yml").write_text("")
    access = tmp_path / "alertmanager.yml"
    access.write_text("authorization: {credentials: first}\n")
    with receiving() as receiver:
        flags = (f"--alertmanager.url={receiver.url}", "--alertmanager.job=docker", "--alertmanager.instance=h1")
        paced = (*flags, f"--alertmanager.config.file={access}", "--scan.diagnose-interval=1s")
        with start(tmp_path, *paced) as daemon:
            wait_until(lambda: "Bearer first" in receiver.authorizations, f"a push; log:\n{daemon.log}")
            access.write_text("authorization: {credentials: second}\n")
            reload(daemon)
            wait_until(lambda: receiver.authorizations[-1] == "Bearer second", "a push with the new token")
            access.write_text("authorisation: {credentials: third}\n")
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "unknown key authorisation" in daemon.log, "the refusal")
            gauge, pushes = daemon.sample("bcon_config_last_reload_successful"), len(receiver.authorizations)
            wait_until(lambda: len(receiver.authorizations) > pushes + 1, "another push")
            log = daemon.log

    assert (receiver.authorizations[-1], gauge) == ("Bearer second", 0)
    assert not any(secret in log for secret in ("first", "second", "third"))


def test_pushed_alerts_name_the_address_of_now(tmp_path: Path) -> None:
    settings = tmp_path / "bcon.yml"
    settings.write_text("web: {external-url: 'https://old.example'}\n")

    with receiving() as receiver:

        def shown() -> str:
            return str(receiver.batches[-1][0]["generatorURL"]) if receiver.batches else ""

        flags = (f"--alertmanager.url={receiver.url}", "--alertmanager.job=docker", "--alertmanager.instance=h1")
        with start(tmp_path, *flags, "--scan.diagnose-interval=1s") as daemon:
            wait_until(lambda: "old.example" in shown(), f"a push; log:\n{daemon.log}")
            settings.write_text("web: {external-url: 'https://new.example'}\n")
            reload(daemon)
            wait_until(lambda: "new.example" in shown(), "a push with the new address", timeout_seconds=10)


def test_another_loopback_address_answers_to_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "bcon.yml").write_text("")
    with start(tmp_path, "--web.listen-address=127.0.0.2:0") as daemon:
        port = outer_port(daemon, "127.0.0.2")
        own, foreign = (status_of("127.0.0.2", port, "/api/v1/tools", host) for host in (None, "evil.example"))

    assert (own, foreign) == (200, 421)


def test_a_hanging_endpoint_is_probed_by_the_new_interval() -> None:
    done = in_process(PROBING)

    assert done.stdout == "18.0\n", done.stderr


def test_a_defect_does_not_pass_for_success() -> None:
    done = in_process(DEFECTIVE)

    assert done.stdout == "[((), 0)]\n", done.stderr
    assert "the settings were not reloaded: an unexpected error" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bcon.yml", f"scan: {'[' * 2_000}\n", "bcon.yml:1: is nested too deeply"),
        ("web.yml", "basic_auth_users: {me: 2026-13-45}\n", "web.yml: has a value that YAML cannot read"),
        ("alertmanager.yml", f"basic_auth: {'9' * 5_000}\n", "alertmanager.yml: has a value that YAML cannot read"),
        ("signatures/own.yml", "[" * 500_000, "own.yml: it is nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_and_changes_nothing(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    """F12."""
    (tmp_path / "signatures").mkdir()
    for file in ("bcon.yml", "web.yml", "alertmanager.yml"):
        (tmp_path / file).write_text("")
    flags = [f"--{which}.config.file={tmp_path}/{which}.yml" for which in ("web", "alertmanager")]
    with start(tmp_path, *flags, f"--catalogue.directory={tmp_path}/signatures") as daemon:
        (tmp_path / name).write_text(text)
        daemon.process.send_signal(signal.SIGHUP)
        wait_until(lambda: daemon.sample("bcon_config_last_reload_successful") == 0, f"the refusal: {daemon.log}")
        log = daemon.log

    assert "the settings were not reloaded, the old ones stay in force" in log
    assert said in log
    assert "Traceback" not in log


def test_nothing_in_a_files_place_hangs_the_reload(tmp_path: Path) -> None:
    """A pipe, directory, device, socket or 2 MiB in the place of each file that a setting names."""
    (tmp_path / "signatures").mkdir()
    texts = {
        "bcon.yml": "web: {allowed-hosts: [shown.example]}\n",
        "web.yml": f"basic_auth_users: {{prometheus: {HASH}}}\n",
        "alertmanager.yml": "basic_auth: {username: me, password_file: phrase.txt}\n",
        "phrase.txt": "secret\n",
        "stack.env": "A=1\n",
        "signatures/own.yml": SIGNATURES,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    named = {
        "web.config.file": "web.yml",
        "alertmanager.config.file": "alertmanager.yml",
        "compose.env-file": "stack.env",
    }
    flags = [f"--{setting}={tmp_path}/{name}" for setting, name in named.items()]
    pushing = ("--alertmanager.url=http://127.0.0.1:9", "--alertmanager.job=docker", "--alertmanager.instance=h1")
    with start(tmp_path, *flags, *pushing, f"--catalogue.directory={tmp_path}/signatures") as daemon:
        for name, text in texts.items():
            for kind, said in ODD_KINDS.items():
                put_in_place(tmp_path / name, kind)
                line = refused_reload(daemon)
                assert name in line
                assert said in line
            take_away(tmp_path / name)
            (tmp_path / name).write_text(text)
        healthy = daemon.ask("/-/healthy").status
        closed = daemon.ask("/api/v1/tools").status
        reload(daemon)
        log = daemon.log

    assert (healthy, closed) == (200, 401)
    assert "Traceback" not in log
