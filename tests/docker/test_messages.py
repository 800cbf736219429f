"""A failure on a real engine becomes one message, over a kill of the exporter and beside a receiver that hangs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.outputs.messages.receivers import HttpReceiver
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.contract]

SECRET = "hunter2-hunter2"
QUICK = ("--scan.diagnose-interval=1s", "--scan.drift-interval=1s")


def titles(receiver: HttpReceiver) -> list[str]:
    return [json.loads(one.text)["title"] for one in receiver.got]


def test_a_crash_is_one_message_over_a_kill_and_a_hanging_receiver_holds_nothing_up(
    engine: TestEngine, tmp_path: Path
) -> None:
    with HttpReceiver() as phone, HttpReceiver() as hangs:
        hangs.hangs.set()
        file = tmp_path / "receivers"
        file.write_text(
            f"name=phone json://u:{SECRET}@127.0.0.1:{phone.port}/\n"
            f"name=hangs json://u:{SECRET}@127.0.0.1:{hangs.port}/?rto=60\n"
        )
        flags = (*QUICK, "--notify.url-file", str(file), "--web.external-url", "https://bcon.example")
        with Daemon(tmp_path, engine.host, *flags) as daemon:
            daemon.wait_until_ready()
            crash = f"echo 'FATAL password={SECRET} is wrong'; exit 3"
            engine.docker("run", "--name", "db", engine.image, "sh", "-c", crash, check=False)
            wait_until(lambda: phone.got, "the message", timeout_seconds=30)
            wait_until(lambda: hangs.got, "the other receiver to be asked")
            daemon.wait_for_sample('bcon_messages_total{receiver="phone"}', 1)
            before = daemon.sample('bcon_scans_total{scan="diagnose"}') or 0.0
            wait_until(
                lambda: (daemon.sample('bcon_scans_total{scan="diagnose"}') or 0.0) >= before + 3,
                "scans go on while a receiver hangs",
                timeout_seconds=10,
            )
            exposed, first_log = daemon.ask("/metrics").text, daemon.log
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.wait(10)
        with Daemon(tmp_path, engine.host, *flags) as daemon:
            daemon.wait_until_ready()
            wait_until(lambda: len(hangs.got) > 1, "the one that hung to be asked again", timeout_seconds=60)
            daemon.wait_for_sample('bcon_scan_success{scan="diagnose"}', 1)
            wait_until(lambda: (daemon.sample('bcon_scans_total{scan="diagnose"}') or 0.0) >= 5, "five more scans")
            second_log = daemon.log
    body = json.loads(phone.got[0].text)["message"]

    assert [title.partition(" [")[0] for title in titles(phone)] == ["db has failed"]
    assert "/i/" in body
    assert SECRET not in body
    assert len({one.headers["x-message-id"] for one in hangs.got}) == 1, "the same message, under the same key"
    for text in (exposed, first_log, second_log):
        assert SECRET not in text
    assert "Traceback" not in first_log + second_log


def test_a_test_message_tells_which_receivers_are_reached(engine: TestEngine) -> None:  # noqa: ARG001 -- with the others
    with HttpReceiver() as phone, HttpReceiver(500, answer=SECRET.encode()) as broken:
        urls = (
            f"name=phone json://u:{SECRET}@127.0.0.1:{phone.port}/",
            f"name=broken json://u:{SECRET}@127.0.0.1:{broken.port}/",
        )
        flags = [word for url in urls for word in ("--notify.url", url)]
        command = [sys.executable, "-m", "bcon_exporter", "notify", "--test", *flags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stdout == "phone: arrived\nbroken: HTTP status 500\n"
    assert titles(phone) == ["Test message [bcon-exporter]"]
