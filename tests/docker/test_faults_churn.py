"""Containers come and go, five a second: no scan fails, no removed one is missed, and none leaves series.

One minute here, ten in `make soak`.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.docker.scraping import scrape, wait_for_whole_scan
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = [pytest.mark.docker, pytest.mark.slow]

IS_LONG = bool(os.environ.get("TEST_SOAK"))
SECONDS = 600 if IS_LONG else 60
A_SECOND = 5
LEAST_A_SECOND = A_SECOND if IS_LONG else A_SECOND / 2
"""Beside other tests the engine itself takes longer than the churn wants; the figure says how many there were."""
CHURNERS = 3
MAKERS_UP = 2
REMOVED = ("No such container", "marked for removal")
"""Why a removed container's facts cannot be read; an engine that answers late under the churn is another reason."""


def churn(engine: TestEngine, name: str, over: threading.Event, made: list[str]) -> None:
    """Start and remove containers, `A_SECOND` of them each second over all churners if that took no time."""
    number = 0
    while not over.wait(CHURNERS / A_SECOND):
        engine.docker("run", "-d", "--rm", "--name", f"{name}-{number}", engine.image, "sh", "-c", "echo hi; sleep 0.5")
        made.append(f"{name}-{number}")
        number += 1


def make_up(engine: TestEngine, name: str, over: threading.Event, made: list[str]) -> None:
    """Create and remove, without a start, what the churners lack: those cost a slow machine little."""
    began, number = time.monotonic(), 0
    while not over.wait(0.02):
        if len(made) < 1.1 * A_SECOND * (time.monotonic() - began):
            engine.docker("create", "--name", f"{name}-{number}", engine.image, "true")
            engine.docker("rm", "-f", f"{name}-{number}")
            made.append(f"{name}-{number}")
            number += 1


def remove_others(engine: TestEngine) -> bool:
    """Remove what the engine left of `--rm` (it forgets some on a busy machine); True when only `stays` is there."""
    left = [name for name in engine.docker("ps", "-a", "--format", "{{.Names}}").split() if name != "stays"]
    if left:
        engine.docker("rm", "-f", *left, check=False)
    return not left


@pytest.mark.promise("F5")
@pytest.mark.alone
def test_churn_fails_no_scan_and_leaves_no_series(engine: TestEngine, tmp_path: Path, figure: Figure) -> None:
    engine.docker("run", "-d", "--name", "stays", engine.image, "serve")
    over, made = threading.Event(), list[str]()
    churners = [threading.Thread(target=churn, args=(engine, f"churn{n}", over, made)) for n in range(CHURNERS)]
    churners += [threading.Thread(target=make_up, args=(engine, f"brief{n}", over, made)) for n in range(MAKERS_UP)]
    seen: set[str] = set()
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval=1s", "--scan.drift-interval=3s") as daemon:
        daemon.wait_until_ready()
        for churner in churners:
            churner.start()
        try:
            began = time.monotonic()
            while time.monotonic() < began + SECONDS:
                metrics = scrape(daemon)
                assert "stays" in metrics.containers()
                seen |= metrics.containers()
                reports = daemon.ask("/api/v1/diagnosis").text
                assert not any(words in reports for words in REMOVED), "a removed container is told as one with a fault"
                over.wait(0.5)
            rate = len(made) / (time.monotonic() - began)
        finally:
            over.set()
            for churner in churners:
                churner.join(30)
        wait_until(lambda: remove_others(engine), "the last ones to go")
        wait_for_whole_scan(daemon)
        metrics = scrape(daemon)
        assert metrics.containers() == {"stays"}
        assert metrics.value("bcon_scan_failures_total", scan="diagnose") == 0
        assert metrics.value("bcon_scan_failures_total", scan="drift") == 0
        figure(f"{len(made)} containers, {rate:.1f} a second, 0 failed scans")
        assert rate >= LEAST_A_SECOND
        assert len(seen) > 10, f"of {len(made)} containers only {len(seen)} were ever seen"
        assert "Traceback" not in daemon.log
