"""A dead man's switch beside a real engine: it hears of a hung engine, and nothing more of a killed exporter."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.outputs.messages.receivers import HttpReceiver
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

INTERVAL_SECONDS = 2.0
TOKEN = "b9f2c5e8-token"


@pytest.mark.promise("SER-1", "SER-2")
def test_a_hung_engine_is_told_within_two_intervals_and_the_address_stands_in_no_log(
    engine: TestEngine, tmp_path: Path, figure: Figure
) -> None:
    flags = ("--scan.diagnose-interval=2s", "--scan.drift-interval=2s", "--log.level=debug")
    with HttpReceiver() as switch:
        secret = {"BCON_NOTIFY__HEARTBEAT_URL": f"http://127.0.0.1:{switch.port}/{TOKEN}"}
        with Daemon(tmp_path, engine.host, *flags, environ=secret) as daemon:
            daemon.wait_until_ready()
            wait_until(lambda: switch.got, "a ping")
            engine.pause()
            began = time.monotonic()
            wait_until(lambda: len(switch.got) > 1, "a ping of a failure")
            took_seconds = time.monotonic() - began
            assert TOKEN not in daemon.ask("/metrics").text + daemon.ask("/api/v1/alerts").text
        assert [one.path for one in switch.got] == [f"/{TOKEN}", f"/{TOKEN}/fail"]
        assert TOKEN not in daemon.log
    figure(f"/fail {took_seconds:.1f} s after the engine hung, at an interval of {INTERVAL_SECONDS:.0f} s")
    assert took_seconds <= 2 * INTERVAL_SECONDS + 1.0  # a busy machine's
