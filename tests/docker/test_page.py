"""The page over a real engine: what it says is what the API says, it hears of what happens, and it holds up no exit."""

from __future__ import annotations

import http.client
import json
import os
import re
import time
from html import unescape
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

QUICK = ("--scan.diagnose-interval", "1s", "--scan.drift-interval", "2s")
TAG = re.compile(r"<[^>]+>")


def words_of(html: str) -> str:
    """The text of a page on one line."""
    return " ".join(unescape(TAG.sub(" ", html.partition("<main")[2])).split())


def test_the_page_says_what_the_api_says_and_hears_of_what_happens(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "well", engine.image, "sleep", "1000")
    engine.docker(
        "run", "-d", "--name", "loop", "--restart", "always", engine.image, "sh", "-c", "echo '<b>no'; exit 3"
    )
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_for_sample(
            'bcon_container_symptom{container="loop",project="",service="",symptom="restart_loop"}', 1
        )
        wait_until(lambda: daemon.ask("/api/v1/incidents?open=true").json()["result"]["total"] == 1, "the incident")
        page = words_of(daemon.ask("/").text)
        incident = daemon.ask("/api/v1/incidents?open=true").json()["result"]["incidents"][0]
        of_loop = daemon.ask("/c/loop").text

        assert f"1 of 2 is well. {incident['title']}." in page
        assert "1 failure now" in page
        assert "exit code 3" in words_of(of_loop)
        assert "<b>no" not in of_loop
        assert "&lt;b&gt;no" in of_loop
        assert incident["title"] in words_of(daemon.ask(f"/i/{incident['id']}").text)

        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=30)
        connection.request("GET", "/live")
        stream = connection.getresponse()
        engine.docker("run", "-d", "--name", "fresh", engine.image, "sleep", "1000")
        wait_until(lambda: "fresh" in next_change(stream), "the page to hear of it")
        code, _ = daemon.end()
        stream.close()
        connection.close()

    assert code == 0
    assert "stopped" in daemon.log, "the stream held up the exit until the process was ended by force"


def next_change(stream: http.client.HTTPResponse) -> list[str]:
    """The containers that the next event says have changed."""
    while not (line := stream.readline()).startswith(b"data: "):
        assert line, "the stream has ended"
    changed: list[str] = json.loads(line.removeprefix(b"data: "))["changed"]
    return changed


LOUD = (
    "n=0; while :; do i=0; while [ $i -lt 100 ]; do echo INFO request $n took 12 ms; n=$((n+1)); i=$((i+1)); done; "
    "usleep 90000; done"
)
SECONDS = float(os.environ.get("TAIL_SECONDS", "10"))
CPU_RATIO_MAX = 0.2
"""Of a core, on a machine that does other things beside; docs/performance.md has the figure of a quiet one."""


def test_a_loud_log_is_watched_without_losing_a_line_and_for_little(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "loud", engine.image, "sh", "-c", LOUD)
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval", "5s") as daemon:
        daemon.wait_until_ready()
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=30)
        connection.request("GET", "/tail/loud")
        stream = connection.getresponse()
        next_lines(stream)
        spent, began = daemon.sample("process_cpu_seconds_total"), time.monotonic()
        shown: list[str] = []
        while time.monotonic() - began < SECONDS:
            shown += next_lines(stream)
        took, cpu = time.monotonic() - began, daemon.sample("process_cpu_seconds_total")
        stream.close()
        connection.close()
        numbers = [int(line.split()[2]) for line in shown]
        missed = daemon.sample('bcon_scans_missed_total{scan="diagnose"}')

    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "each line once and in order"
    assert missed == 0
    assert cpu is not None
    assert spent is not None
    assert (cpu - spent) / took < CPU_RATIO_MAX, (
        f"{len(numbers) / took:.0f} lines/s: {(cpu - spent) / took:.3f} of a core"
    )


def next_lines(stream: http.client.HTTPResponse) -> list[str]:
    """The texts of the next event of a tail."""
    while not (line := stream.readline()).startswith(b"data: "):
        assert line, "the stream has ended"
    told = json.loads(line.removeprefix(b"data: "))
    assert not told["gap"]
    return [text for _, _, text in told["lines"]]
