"""Containers come and go, five a second: no scan fails, and what is gone leaves no series.

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

pytestmark = [pytest.mark.docker, pytest.mark.slow]

SECONDS = 600 if os.environ.get("TEST_SOAK") else 60
A_SECOND = 5
CHURNERS = 3


def churn(engine: TestEngine, name: str, over: threading.Event, made: list[str]) -> None:
    """Start and remove containers, `A_SECOND` of them each second over all churners, if the engine keeps up."""
    number = 0
    while not over.wait(CHURNERS / A_SECOND):
        made.append(f"{name}-{number}")
        engine.docker("run", "-d", "--rm", "--name", made[-1], engine.image, "sh", "-c", "echo hi; sleep 0.5")
        number += 1


def remove_others(engine: TestEngine) -> bool:
    """Remove what the engine left of `--rm` (it forgets some on a busy machine); True when only `stays` is there."""
    left = [name for name in engine.docker("ps", "-a", "--format", "{{.Names}}").split() if name != "stays"]
    if left:
        engine.docker("rm", "-f", *left, check=False)
    return not left


def test_churn_fails_no_scan_and_leaves_no_series(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "stays", engine.image, "serve")
    over, made = threading.Event(), list[str]()
    churners = [threading.Thread(target=churn, args=(engine, f"churn{n}", over, made)) for n in range(CHURNERS)]
    seen: set[str] = set()
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval=1s", "--scan.drift-interval=3s") as daemon:
        daemon.wait_until_ready()
        for churner in churners:
            churner.start()
        try:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                metrics = scrape(daemon)
                assert "stays" in metrics.containers()
                seen |= metrics.containers()
                over.wait(0.5)
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
        assert len(seen) > 10, f"of {len(made)} containers only {len(seen)} were ever seen"
        assert "Traceback" not in daemon.log
