"""F13: no Alertmanager delays a scan, and one that was slow or broken has the full set an interval after it is well."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.docker.scraping import scrape
from tests.outputs.alertmanager.receiver import plain_answer, receiving
from tests.waiting import wait_until

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

    from bcon_exporter.outputs.alertmanager.payload import Payload
    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = [pytest.mark.docker, pytest.mark.alone]

INTERVAL_SECONDS = 1.0
GRACE_SECONDS = 2.0  # a scan's own time, and a busy machine's
FAILED = "bcon_alertmanager_notification_failures_total"
EXPECTED = {"BconWatchdog", "BconIncident"}


class Moods:
    """An Alertmanager of changing mood; `well` is the only one in which it takes what it is sent."""

    def __init__(self) -> None:
        self.now = "slow"
        self.released = threading.Event()

    def status(self, _batch: list[Payload]) -> int:
        """Of the answer."""
        return 200 if self.now == "well" else 503

    def answer(self, handler: BaseHTTPRequestHandler, status: int) -> None:
        """Late, not at all, or as it should."""
        match self.now:
            case "slow":
                self.released.wait(20)
            case "hangs up":
                handler.close_connection = True
            case _:
                plain_answer(handler, status)


@pytest.mark.promise("F13")
def test_scans_never_wait_and_it_has_everything_one_interval_after_it_is_well(
    engine: TestEngine, tmp_path: Path, figure: Figure
) -> None:
    engine.docker("run", "-d", "--name", "hog", "--memory=24m", engine.image, "eat-memory")
    moods = Moods()
    identity = ("--alertmanager.job=push", "--alertmanager.instance=here", "--alertmanager.timeout=2s")
    with (
        receiving(moods.status, moods.answer) as receiver,
        Daemon(
            tmp_path, engine.host, "--scan.diagnose-interval=1s", f"--alertmanager.url={receiver.url}", *identity
        ) as daemon,
    ):
        daemon.wait_until_ready()
        ages = [age for mood in ("slow", "hangs up", "broken") for age in ages_until_two_failures(daemon, moods, mood)]
        assert receiver.accepted == []
        moods.now = "well"
        began = time.monotonic()
        wait_until(lambda: set(receiver.accepted) >= EXPECTED, "the full set")
        delivered_after = time.monotonic() - began
        moods.released.set()

    assert max(ages) <= INTERVAL_SECONDS + GRACE_SECONDS
    figure(f"everything there {delivered_after:.1f} s after it is well, at an interval of {INTERVAL_SECONDS:g} s")
    assert delivered_after <= INTERVAL_SECONDS + GRACE_SECONDS


def ages_until_two_failures(daemon: Daemon, moods: Moods, mood: str) -> list[float]:
    """How old the last scan was each time that it was looked at, while two rounds failed in this mood."""
    moods.now = mood
    ages: list[float] = []
    first = scrape(daemon).value(FAILED) or 0.0

    def two_more() -> bool:
        metrics = scrape(daemon)
        ages.append(time.time() - (metrics.scan("last_success_timestamp_seconds") or 0.0))
        return (metrics.value(FAILED) or 0.0) >= first + 2

    wait_until(two_more, f"two failed rounds while it is {mood}", every_seconds=0.2)
    return ages
