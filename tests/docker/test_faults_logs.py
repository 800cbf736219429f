"""Whatever a container logs, and however much: reading it is quick, holds little, comes out clean, and scrapes go on.

A log of 1 GB in `make soak`, of 64 MB here: only the end of it is ever read.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.catalogue.pattern_tests import HOSTILE_BYTES, hostile_lines
from bcon_exporter.clock import monotonic
from bcon_exporter.engine import HostOptions, Wants
from tests.docker.daemon import Daemon
from tests.docker.hosts import open_host, scan
from tests.docker.recording_proxy import RecordingProxy
from tests.docker.scraping import scrape, wait_for_whole_scan
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.engine import DockerHost
    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = [pytest.mark.docker, pytest.mark.slow]

MIB = 2**20
SOAK = bool(os.environ.get("TEST_SOAK"))
HUGE_LOG = f"yes $(head -c 1000 /dev/zero | tr '\\0' y) | head -c {1024 * MIB if SOAK else 64 * MIB}; echo; echo last"
HUGE_LINE = f"head -c {50 * MIB} /dev/zero | tr '\\0' x; echo; echo last"
ODD_BYTES = (
    r"a\000b \033[31mred\033[0m \033]0;title\007 \377\376 \302\233 \342\200\256gnp.exe \342\200\250 over\rwritten\n"
)
ODD = f"while :; do printf 'ERROR connection refused {ODD_BYTES}'; printf 'panic: {ODD_BYTES}' >&2; sleep 1; done"
SYSLOG = ("--log-driver", "syslog", "--log-opt", "syslog-address=udp://127.0.0.1:514")
WRITERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "huge": (HUGE_LOG, ()),
    "line": (HUGE_LINE, ()),
    "line-tty": (HUGE_LINE, ("-t",)),
    "line-local": (HUGE_LINE, ("--log-driver", "local")),
}
RUNNING: dict[str, tuple[str, tuple[str, ...]]] = {
    "mute": ("echo nowhere; exec serve", ("--log-driver", "none")),
    "syslog": ("echo far away; exec serve", (*SYSLOG, "--log-opt", "cache-disabled=true")),
    "syslog-cached": ("echo far and near; exec serve", SYSLOG),
    "odd": (ODD, ()),
    "odd-tty": (ODD, ("-t",)),
    "odd-local": (ODD, ("--log-driver", "local")),
}
UNREADABLE = {"mute": "none", "syslog": "syslog"}
LINES_A_SCAN = 200 // (
    HOSTILE_BYTES // (16 * 1024) + 1
)  # what the engine counts as 200: 16 KiB each, and the line feed
ANSWER_BYTES = 4 * MIB + MIB // 4  # the cap, and frames and heads around it
HELD_BYTES = 4 * MIB
LOG_SECONDS, LINE_SECONDS = 0.05, 0.2


def start(engine: TestEngine, containers: dict[str, tuple[str, tuple[str, ...]]]) -> None:
    for name, (script, flags) in containers.items():
        engine.docker("run", "-d", "--network", "none", "--name", name, *flags, engine.image, "sh", "-c", script)


@pytest.fixture
def writers(engine: TestEngine) -> TestEngine:
    """An engine with huge logs, all written."""
    start(engine, WRITERS)
    engine.docker("wait", *WRITERS, timeout_seconds=600)
    return engine


def best_seconds_of_reading(host: DockerHost, container_id: str) -> float:
    """How long the newest 200 lines take, at the best of a few attempts: others may want the processors."""
    best = float("inf")
    for _ in range(20):
        started = monotonic()
        host.read_logs(container_id, tail=200, since=None, until=None)
        best = min(best, monotonic() - started)
        if best < LOG_SECONDS:
            break
    return best


@pytest.mark.promise("F7")
@pytest.mark.alone
def test_a_huge_log_and_a_huge_line_are_read_in_milliseconds_and_held_in_part(
    writers: TestEngine, tmp_path: Path, figure: Figure
) -> None:
    with RecordingProxy(tmp_path / "proxy.sock", writers.socket) as proxy:
        for name in WRITERS:
            with open_host(proxy.host, HostOptions()) as host:
                wants = Wants(only=(host.resolve(name),))
                before = proxy.answered_bytes
                tracemalloc.start()
                logs = scan(host, wants).containers[0].logs
                held, _ = tracemalloc.get_traced_memory()
                tracemalloc.stop()
                assert logs is not None
                assert logs.lines[-1].text == "last", name
                assert (len(logs.lines), logs.truncated) == (200 if name == "huge" else 2, True), name
                assert held < HELD_BYTES, name
                assert proxy.answered_bytes - before < ANSWER_BYTES, name
    with open_host(writers.host, HostOptions()) as host:
        seconds = {name: best_seconds_of_reading(host, host.resolve(name)) for name in WRITERS}
        for name in WRITERS:
            found = host.read_logs(host.resolve(name), tail=5000, since=None, until=None)
            assert (found.lines[-1].text, found.truncated) == ("last", True), name
            assert sum(len(line.text) for line in found.lines) < HELD_BYTES
    assert seconds["huge"] < LOG_SECONDS, seconds
    figure(f"log {seconds['huge'] * 1000:.0f} ms, line {max(seconds.values()) * 1000:.0f} ms")
    assert max(seconds.values()) < LINE_SECONDS, seconds


@pytest.mark.promise("F7")
def test_every_face_is_clean_whatever_is_logged_and_says_what_cannot_be_read(
    engine: TestEngine, tmp_path: Path
) -> None:
    start(engine, RUNNING)
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval=1s", "--scan.drift-interval=2s") as daemon:
        wait_until(lambda: len(told(daemon)["odd"]["likely_causes"]) > 0, f"the odd one's causes; log: {daemon.log}")
        wait_for_whole_scan(daemon)
        metrics, reports = daemon.ask("/metrics").text, told(daemon)
        answers = {name: daemon.ask(f"/api/v1/containers/{name}/logs?tail=50") for name in RUNNING}
        said = [run_command(engine, *words.split()) for words in ("diagnose", "logs odd", "logs odd-tty")]
    accept(metrics)
    for text in (metrics, *said):
        assert all(line.isprintable() for line in text.split("\n")), text
    for strings in (reports, *(answer.json() for answer in answers.values())):
        assert all(text.replace("\n", "").isprintable() for text in strings_in(strings))
    for name in ("odd", "odd-tty", "odd-local"):
        entries = answers[name].json()["result"]["entries"]
        assert any("connection refused a" in entry["message"] for entry in entries), name
        assert "network_error" in {symptom["type"] for symptom in reports[name]["symptoms"]}, name
    for name, driver in UNREADABLE.items():
        missing = {each["reason"] for each in reports[name]["not_evaluated"]}
        assert any(f"the log driver {driver} cannot be read back" in reason for reason in missing), missing
        assert answers[name].status == 400
        assert f"the log driver {driver} keeps nothing" in answers[name].json()["error"]["message"]
    assert answers["syslog-cached"].json()["result"]["entries"][0]["message"] == "far and near"
    assert "Traceback" not in daemon.log


def told(daemon: Daemon) -> Any:
    """Every container's report of the last scan, by name."""
    answer = daemon.ask("/api/v1/diagnosis")
    reports = answer.json()["result"]["reports"] if answer.status == 200 else ()
    return {name: {"likely_causes": ()} for name in RUNNING} | {each["container_name"]: each for each in reports}


def strings_in(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings_in(inner)


def run_command(engine: TestEngine, *words: str) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "bcon_exporter", *words, f"--docker.host={engine.host}", "--state.path=none"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout


def accept(exposition: str) -> None:
    """Let promtool judge."""
    command = ["promtool", "check", "metrics"]
    checked = subprocess.run(command, input=exposition, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.promise("F8")
@pytest.mark.alone
def test_scrapes_go_on_while_hostile_lines_are_matched(engine: TestEngine, tmp_path: Path, figure: Figure) -> None:
    folder = tmp_path / "lines"
    folder.mkdir()
    patterns = [pattern for signature in load_catalogue().signatures for pattern in signature.patterns]
    lines = list(dict.fromkeys(line for pattern in patterns for line in hostile_lines(pattern)[-2:]))
    for number in range(0, len(lines), LINES_A_SCAN):
        (folder / f"{number:05}").write_bytes(b"\n".join(lines[number : number + LINES_A_SCAN]) + b"\n")
    script = "while :; do for file in /lines/*; do cat $file; sleep 2; done; done"
    seconds = list[float]()
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval=1s", "--scan.drift-interval=2s") as daemon:
        daemon.wait_until_ready()
        quiet = [daemon.ask("/metrics").seconds for _ in range(200)]
        engine.docker("run", "-d", "--network", "none", "--name", "hostile", "-v", f"{folder}:/lines", engine.image,
                      "sh", "-c", script)  # fmt: skip
        wait_for_whole_scan(daemon)
        end = time.monotonic() + 2 * len(lines) / LINES_A_SCAN
        while time.monotonic() < end:
            seconds.append(daemon.ask("/metrics").seconds)
        metrics = scrape(daemon)
    read = sum(
        value for labels, value in metrics["bcon_container_log_events_total"] if labels["container"] == "hostile"
    )
    assert read > len(lines) / 2, "a trace of several lines is one event"
    assert metrics.value("bcon_scan_failures_total", scan="diagnose") == 0
    figure(f"scrapes p99 {p99(seconds) * 1000:.0f} ms beside it, {p99(quiet) * 1000:.0f} ms without")
    assert metrics.scan("success") == 1
    assert p99(seconds) < max(0.05, 2 * p99(quiet))


def p99(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) * 99 // 100]
