"""What a person reads: one message on day one of a host that is ill, and one after a reboot, with all names in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.docker.scraping import wait_for_whole_scan
from tests.outputs.alertmanager.receiver import receiving
from tests.outputs.messages.receivers import HttpReceiver
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.contract]

COUNT = int(os.environ.get("FIRST_LOOK_CONTAINERS", "30"))
QUICK = ("--scan.diagnose-interval=2s", "--scan.drift-interval=2s")
KINDS = (
    ("no-db", "echo 'FATAL: connection to server at \"db\" failed: Connection refused'; exit 3"),
    ("no-file", "echo 'ERROR: open /etc/app.yaml: no such file or directory'; exit 1"),
    ("errors", "while :; do echo 'ERROR: could not write block: No space left on device'; sleep 1; done"),
    ("denied", "echo 'Error: EACCES: permission denied, mkdir /data/cache'; exit 1"),
)
"""What is ill, by what it is called and does."""


def furnish(engine: TestEngine, count: int) -> int:
    """Start so many containers, a third of them ill; return how many are ill."""
    ill = count // 3
    starts = [[f"{name}-{number}", engine.image, "sh", "-c", runs]
              for number in range(ill - 1) for name, runs in [KINDS[number % len(KINDS)]]]  # fmt: skip
    starts += [["no-program", engine.image, "/nosuch"]]
    starts += [[f"well-{number}", engine.image, "sleep", "3600"] for number in range(count - ill)]
    with ThreadPoolExecutor(4) as starters:
        list(starters.map(lambda one: engine.docker("run", "-d", "--name", *one, check=False), starts))
    assert len(engine.docker("ps", "-aq").split()) == count
    return ill


def diagnose(engine: TestEngine, name: str) -> tuple[str, str, str]:
    """Status, first symptom and first step of a container, as a command without a daemon says them."""
    line = [sys.executable, "-m", "bcon_exporter", "diagnose", name, "--format=json"]
    line += ["--docker.host", engine.host, "--state.path", "none"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    report = json.loads(done.stdout)["result"]
    symptoms, steps = report["symptoms"], report["suggestions"]
    return report["status"], *(
        one[0][key] if one else "" for one, key in ((symptoms, "description"), (steps, "action"))
    )


def count_scans(daemon: Daemon) -> float:
    """Diagnoses so far."""
    return daemon.sample('bcon_scans_total{scan="diagnose"}') or 0.0


def has_scanned(daemon: Daemon, often: float) -> bool:
    """Whether so many have ended."""
    return count_scans(daemon) >= often


def messages(phone: HttpReceiver) -> list[tuple[str, str]]:
    """Title and text of each message."""
    return [(one["title"], one["message"]) for one in (json.loads(got.text) for got in phone.got)]


def test_a_host_that_is_ill_on_day_one_is_one_message_and_the_same_alerts_after_a_start_without_memory(
    engine: TestEngine, tmp_path: Path
) -> None:
    ill = furnish(engine, COUNT)
    told = []
    for start in ("first", "second"):
        folder = tmp_path / start
        folder.mkdir()
        with HttpReceiver() as phone, receiving() as alertmanager:
            flags = (*QUICK, f"--notify.url=json://127.0.0.1:{phone.port}/", f"--alertmanager.url={alertmanager.url}")
            with Daemon(folder, engine.host, *flags, "--alertmanager.job=j", "--alertmanager.instance=h") as daemon:
                daemon.wait_until_ready()
                wait_until(lambda: phone.got, "the message", timeout_seconds=120)
                before = count_scans(daemon)
                wait_until(partial(has_scanned, daemon, before + 2), "two more scans", timeout_seconds=60)
                incidents = daemon.ask("/api/v1/incidents?open=true").json()["result"]["incidents"]
        assert len(phone.got) == 1, messages(phone)
        ((title, body),) = messages(phone)
        (tmp_path / f"{start}.txt").write_text(f"{title}\n{body}\n")
        assert title.startswith(f"{ill} of {COUNT} have been ill since before the first look [")
        assert "Nothing is remembered from before this start" in body
        assert "host" not in {one["root"]["code"] for one in incidents}
        assert len(incidents) == ill
        firing = [
            frozenset(tuple(sorted(alert["labels"].items())) for alert in batch if "container" in alert["labels"])
            for batch in alertmanager.batches
        ]
        assert {len(one) for one in firing} <= {0, ill}, "all of them in one round"
        told.append(firing[-1])
    assert told[0] == told[1], "no news to Alertmanager"


@pytest.mark.own_engine
def test_after_a_restart_of_the_engine_one_message_names_what_did_not_come_back(
    engine: TestEngine, tmp_path: Path
) -> None:
    jobs = [f"job-{number}" for number in range(6)]
    starts = [[name, engine.image, "sleep", "3600"] for name in jobs]
    starts += [[f"web-{n}", "--restart", "unless-stopped", engine.image, "sleep", "3600"] for n in range(13)]
    starts += [["stopped", engine.image, "sh", "-c", "trap 'exit 143' TERM; sleep 3600 & wait"]]
    with ThreadPoolExecutor(4) as starters:
        list(starters.map(lambda one: engine.docker("run", "-d", "--init", "--name", *one), starts))
    with HttpReceiver() as phone:
        flags = (*QUICK, f"--notify.url=json://127.0.0.1:{phone.port}/")
        with Daemon(tmp_path, engine.host, *flags) as daemon:
            daemon.wait_until_ready()
            wait_for_whole_scan(daemon)
            engine.docker("stop", "stopped")
            wait_for_whole_scan(daemon)
            engine.shut_down()
            engine.restart()
            wait_until(lambda: phone.got, "the message", timeout_seconds=90)
            for _ in range(3):
                wait_for_whole_scan(daemon)
            ((title, body),) = messages(phone)
            assert title.startswith("the engine or its host was restarted: job-0, job-1, job-2 and 3 more were not")
            assert f"Not started again: {', '.join(jobs)}\n" in body
            assert "web-" not in body
            reports = daemon.ask("/api/v1/diagnosis").json()["result"]["reports"]
            ill = {one["container_name"]: one["status"] for one in reports if one["status"] != "healthy"}
            assert ill == dict.fromkeys(jobs, "warning")
            engine.docker("start", *jobs[:3])
            engine.docker("rm", *jobs[3:])
            daemon.wait_for_sample('bcon_containers{status="warning"}', 0)


def test_who_shares_the_network_of_one_that_was_started_again_is_cut_off_until_it_is_restarted(
    engine: TestEngine,
) -> None:
    """The container runs, and all that it has left is the loopback."""
    engine.docker("run", "-d", "--name", "vpn", engine.image, "sleep", "3600")
    engine.docker("run", "-d", "--name", "torrent", "--network", "container:vpn", engine.image, "sleep", "3600")
    engine.docker("run", "-d", "--name", "shm", "--ipc", "shareable", engine.image, "sleep", "3600")
    engine.docker("run", "-d", "--name", "reader", "--ipc", "container:shm", engine.image, "sleep", "3600")
    assert {name: diagnose(engine, name)[0] for name in ("torrent", "reader")} == dict.fromkeys(
        ("torrent", "reader"), "healthy"
    )
    engine.docker("restart", "-t", "0", "vpn", "shm")
    for name, owner, what in (("torrent", "vpn", "network"), ("reader", "shm", "IPC namespace")):
        status, seen, step = diagnose(engine, name)
        assert status == "error"
        assert seen == (f"It runs in the {what} of an earlier start of {owner}: that one was started again after it.")
        assert step.startswith("Restart it: ")
    engine.docker("restart", "-t", "0", "torrent")
    assert diagnose(engine, "torrent")[0] == "healthy"
    engine.docker("rm", "-f", "vpn")
    engine.docker("run", "-d", "--name", "vpn", engine.image, "sleep", "3600")
    status, seen, step = diagnose(engine, "torrent")
    assert (status, seen) == ("error", "It runs in the network of a container that was removed.")
    assert step.startswith("Make it anew")
