"""Who fills the disk, on a real engine: what is said of each file, layer, volume; an engine that does not say."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.clock import utc_now
from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.engine import HostOptions
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.disk import DiskKind
from bcon_exporter.model.thresholds import Thresholds
from tests.docker.daemon import Daemon
from tests.docker.hosts import open_host, scan
from tests.docker.nobody import as_nobody, needs_root
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bcon_exporter.model.container_facts import HostSnapshot
    from bcon_exporter.model.reports import DiagnoseAllReport
    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

QUICK = ("--scan.diagnose-interval=1s", "--scan.drift-interval=60s")
LINES = "i=0; while [ $i -lt {} ]; do echo 'a line of the log'; i=$((i+1)); done; exec sleep 1000"
HOSTILE = "\x1b[2J<script>alert(1)</script>\u202e| x"
DISK_HANGS = b"/system/df"


def start_some(engine: TestEngine) -> None:
    """A log of each kind, a volume in use and one that is not, a layer, and a label that is no project's name."""
    run = ("run", "-d", "--name")
    engine.docker(*run, "loud", engine.image, "sh", "-c", LINES.format(3000))
    rotated = ("--log-opt", "max-size=20k", "--log-opt", "max-file=3")
    engine.docker(*run, "rotated", *rotated, engine.image, "sh", "-c", LINES.format(3000))
    engine.docker(*run, "local", "--log-driver", "local", engine.image, "sh", "-c", LINES.format(10))
    engine.docker(*run, "silent", "--log-driver", "none", engine.image, "sh", "-c", LINES.format(10))
    label = f"com.docker.compose.project={HOSTILE}"
    fill = "head -c 3000000 /dev/zero >/data/x; head -c 500000 /dev/zero >/own; exec sleep 1000"
    engine.docker(*run, "store", "-v", "data:/data", "--label", label, engine.image, "sh", "-c", fill)
    engine.docker("run", "--name", "done", engine.image, "sh", "-c", "head -c 70000 /dev/zero >/own")
    engine.docker("volume", "create", "lonely")
    wait_until(lambda: len(engine.docker("logs", "loud").splitlines()) == 3000, "the log")
    wait_until(lambda: engine.docker("logs", "rotated").count("\n") > 100, "the rotated log")


def ask_command(engine: TestEngine, *words: str, below: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """What `disk` says, with a state file that is nobody's."""
    command = (
        *below,
        sys.executable,
        "-m",
        "bcon_exporter",
        "disk",
        "--format",
        "json",
        "--state.path",
        "none",
        *words,
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("BCON_", "DOCKER_"))}
    done = subprocess.run(
        [*command, "--docker.host", engine.host], capture_output=True, text=True, env=environ, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    report: Mapping[str, Any] = json.loads(done.stdout)["result"]
    return report


def by_name(report: Mapping[str, Any], kind: str) -> dict[str, Mapping[str, Any]]:
    return {item["name"]: item for item in report["items"] if item["kind"] == kind}


def test_a_command_alone_tells_all_of_it(engine: TestEngine) -> None:
    start_some(engine)
    report = ask_command(engine, "--web.listen-address", "127.0.0.1:1")
    logs, layers, volumes = (by_name(report, kind) for kind in ("log", "layer", "volume"))

    assert {name for name, log in logs.items() if log["unrotated"]} == {"loud", "store", "done"}
    assert logs["loud"]["size_bytes"] == Path(engine.docker("inspect", "-f", "{{.LogPath}}", "loud")).stat().st_size
    assert 20_000 < logs["rotated"]["size_bytes"] <= 63_000
    assert 0 < logs["local"]["size_bytes"] < 10_000
    assert (logs["silent"]["size_bytes"], logs["silent"]["note"]) == (0, "no log is kept (driver none)")
    assert layers["store"]["size_bytes"] == 500_000
    assert (layers["done"]["size_bytes"], layers["done"]["reclaimable_bytes"]) == (70_000, 70_000)
    assert volumes["data"]["size_bytes"] == pytest.approx(3_000_000, rel=0.01)
    assert (volumes["data"]["containers"], volumes["data"]["reclaimable_bytes"]) == (["store"], 0)
    assert volumes["lonely"]["note"] == "no container uses it"
    assert report["space"]["free_bytes"] > 0
    assert report["unread"] == {}
    assert "\x1b" not in layers["store"]["project"]
    sizes = [item["size_bytes"] for item in report["items"]]
    assert sizes == sorted(sizes, reverse=True)


@needs_root
def test_a_user_without_rights_is_told_what_is_not_seen(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "loud", engine.image, "sh", "-c", LINES.format(10))
    engine.socket.chmod(0o666)
    report = ask_command(engine, "--web.listen-address", "127.0.0.1:1", below=as_nobody())

    assert report["unread"]["log files"].startswith("1 of 1 could not be seen: ")
    assert by_name(report, "log")["loud"]["size_bytes"] is None
    assert by_name(report, "layer")["loud"]["size_bytes"] == 0


def test_growth_between_readings_is_known_after_a_restart(engine: TestEngine, tmp_path: Path) -> None:
    write = "while :; do if [ -e /go ]; then rm /go; head -c 900000 /dev/zero | tr '\\0' x; echo; fi; sleep .1; done"
    engine.docker("run", "-d", "--name", "loud", "-v", "data:/data", engine.image, "sh", "-c", write)
    log = Path(engine.docker("inspect", "-f", "{{.LogPath}}", "loud"))
    state, now = tmp_path / "state.db", utc_now()
    with open_host(engine.host, HostOptions()) as host:
        scan(host)
        first = MemoryKeeper.open(state, retention_seconds=86_400, now=now)
        first.keep_disk(host.read_log_files(now), now)
        first.keep_disk(host.read_stored_data(now), now)
        first.close()
    before = log.stat().st_size
    engine.docker("exec", "loud", "sh", "-c", "head -c 600000 /dev/zero >/data/x; touch /go")
    wait_until(lambda: log.stat().st_size >= before + 900_000, "the log")
    with open_host(engine.host, HostOptions()) as host:
        later = now + timedelta(hours=2)
        second = MemoryKeeper.open(state, retention_seconds=86_400, now=later)
        scan(host)
        second.keep_disk(host.read_log_files(later), later)
        second.keep_disk(host.read_stored_data(later), later)
        seen = second.look(scan(host))
        disk = second.memory.disk
        second.close()

    (snapshot,) = seen.containers
    grown = log.stat().st_size - before
    of_log, of_volume = disk.growth_of(DiskKind.LOG, snapshot.id), disk.growth_of(DiskKind.VOLUME, "data")
    assert of_log is not None
    assert of_volume is not None
    assert of_log.bytes_per_hour == pytest.approx(grown / 2, rel=0.01)
    assert of_log.known_for_seconds == 7200
    assert of_volume.bytes_per_hour == pytest.approx(300_000, rel=0.05)
    assert snapshot.log_growth == of_log
    assert snapshot.log_bytes == log.stat().st_size
    assert seen.disks is not None
    (report,) = diagnose(seen, free_bytes=10 * grown).reports  # no test can fill the disk of the machine that runs it
    assert [(one.type, one.severity) for one in report.symptoms] == [("log_unbounded", "warning")]
    assert "fills the disk in 20 h" in report.symptoms[0].description
    assert diagnose(seen, free_bytes=13 * grown).warning == 0


def diagnose(seen: HostSnapshot, *, free_bytes: int) -> DiagnoseAllReport:
    """What is said of a host if only so much space were left."""
    disks = tuple(disk.model_copy(update={"free_bytes": free_bytes}) for disk in seen.disks or ())
    report, _ = diagnose_host(seen.model_copy(update={"disks": disks}), Thresholds(), load_catalogue())
    return report


def test_a_daemon_tells_it_on_all_faces_and_a_command_asks_it(engine: TestEngine, tmp_path: Path) -> None:
    start_some(engine)
    bar = "--thresholds.log-file-bytes=100000"
    with Daemon(tmp_path, engine.host, *QUICK, bar) as daemon:
        daemon.wait_until_ready()
        report = wait_until(lambda: stored_of(daemon), "the engine's answer")
        address = f"127.0.0.1:{daemon.port}"
        told = ask_command(engine, "--web.listen-address", address)
        page, of_loud = daemon.ask("/").text, daemon.ask("/c/loud").text
        wait_until(lambda: "log_unbounded" in daemon.ask("/c/loud").text, "the symptom")
        diagnosis = daemon.ask("/api/v1/diagnosis").json()["result"]
        sample = daemon.sample('bcon_container_symptom{container="loud",project="",service="",symptom="log_unbounded"}')
        incidents = daemon.ask("/api/v1/incidents").json()["result"]["total"]
        code, _ = daemon.end()

    assert told["stored_at"] == report["stored_at"], "it read by itself"
    assert told["items"] == report["items"]
    assert "Who fills the disk" in page
    assert "not rotated" in page
    assert "<script>alert(1)" not in page
    assert "<dt>Disk</dt><dd>log file" in of_loud
    by_container = {one["container_name"]: one for one in diagnosis["reports"]}
    found = {(name, one["type"], one["severity"]) for name in by_container for one in by_container[name]["symptoms"]}
    assert found == {("loud", "log_unbounded", "info")}
    assert by_container["loud"]["status"] == "healthy"
    assert (sample, incidents, code) == (0.0, 0, 0)


def stored_of(daemon: Daemon) -> Mapping[str, Any] | None:
    report: Mapping[str, Any] = daemon.ask("/api/v1/disk").json()["result"]
    return report if report["stored_at"] else None


def test_an_engine_that_hangs_over_its_disk_holds_up_nothing(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "loud", engine.image, "sh", "-c", LINES.format(100))
    with (
        hold_up(engine.socket, tmp_path / "proxy.sock", DISK_HANGS) as held,
        Daemon(tmp_path, f"unix://{tmp_path / 'proxy.sock'}", *QUICK) as daemon,
    ):
        daemon.wait_until_ready()
        wait_until(lambda: held() == 1, "the question")
        scans = daemon.sample('bcon_scans_total{scan="diagnose"}') or 0
        daemon.wait_for_sample('bcon_scans_total{scan="diagnose"}', scans + 3)
        report = daemon.ask("/api/v1/disk").json()["result"]
        health = daemon.ask("/api/v1/health").json()["result"]
        asked, (code, seconds) = held(), daemon.end()

    assert asked == 1, "it was asked again while it did not answer"
    assert {item["kind"] for item in report["items"]} == {"log"}
    assert report["unread"] == {"layers, images, volumes, build cache": "not asked yet"}
    assert health["status"] == "healthy"
    assert (code, "stopped" in daemon.log) == (0, True)
    assert seconds < 4.0


@contextmanager
def hold_up(upstream: Path, path: Path, target: bytes) -> Iterator[Callable[[], int]]:
    """A proxy that never passes on what asks for `target`; yields how often that was."""
    held: list[socket.socket] = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(64)

    def serve(client: socket.socket) -> None:
        with suppress(OSError):
            head = client.recv(65536)
            if target in head.partition(b"\r\n")[0]:
                held.append(client)
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(upstream))
            server.sendall(head)
            threading.Thread(target=pass_on, args=(server, client), daemon=True).start()
            pass_on(client, server)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield lambda: len(held)
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for client in held:
            client.close()


def pass_on(source: socket.socket, target: socket.socket) -> None:
    """Send all that comes from one side to the other."""
    with suppress(OSError), closing(source), closing(target):
        while data := source.recv(65536):
            target.sendall(data)
