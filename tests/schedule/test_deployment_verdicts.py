"""Promise: the verdict on a deployment costs no scan its time, and its failure no scan and no other verdict."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.readings import NOTHING_READ, Observation, Readings
from bcon_exporter.schedule import DeploymentJudge
from bcon_exporter.tools.replay import SnapshotHost
from tests.factories import NOON, ago, compose, container, full_id, snapshot
from tests.left_open import close_later
from tests.outputs.scenes import make_context, scan_of
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import pytest

    from bcon_exporter.engine import Wants
    from bcon_exporter.tools import Context

HOST = snapshot(
    *(
        container(
            name=f"{project}-web-1",
            id=full_id(project),
            compose=compose("web", project, config_hash="h"),
            created_at=ago(70),
            started_at=ago(70),
        )
        for project in ("blog", "shop")
    )
)


class WatchedHost(SnapshotHost):
    """A host of which each reading does something first."""

    def __init__(self, before_reading: Callable[[int], None]) -> None:
        super().__init__(HOST)
        self._before_reading = before_reading
        self.readings = 0

    def observe(
        self, now: datetime, deadline_seconds: float, wants: Wants, before: Readings = NOTHING_READ
    ) -> Observation:
        self.readings += 1
        self._before_reading(self.readings)
        return super().observe(now, deadline_seconds, wants, before)


def daemon_on(host: SnapshotHost) -> Context:
    """A daemon's context after a scan that shows two deployments, of which each is due."""
    memory = close_later(MemoryKeeper.open(None, retention_seconds=86400, now=NOON))
    memory.find_due_deployments(snapshot())
    context = replace(make_context(HOST, memory=memory, now=lambda: NOON), host=host)
    context.scans.publish_diagnosis(scan_of(HOST))
    return context


def judged(context: Context) -> set[str]:
    return set(context.memory.memory.deployments.latest)


def test_a_scan_waits_for_no_verdict_and_begins_no_second_round() -> None:
    goes_on = threading.Event()

    def wait(_: int) -> None:
        goes_on.wait(10)

    host = WatchedHost(wait)
    context = daemon_on(host)
    judge = DeploymentJudge(lambda: context)
    judge.look()
    judge.look()
    assert judged(context) == set()
    goes_on.set()
    wait_until(lambda: judged(context) == {"blog", "shop"}, "both verdicts", timeout_seconds=20)
    assert host.readings == len(HOST.containers)


def test_a_defect_is_told_and_the_next_deployment_judged(caplog: pytest.LogCaptureFixture) -> None:
    def break_first(reading: int) -> None:
        if reading == 1:
            message = "a defect"
            raise RuntimeError(message)

    context = daemon_on(WatchedHost(break_first))
    DeploymentJudge(lambda: context).look()
    wait_until(lambda: judged(context) == {"shop"}, "the other verdict", timeout_seconds=20)
    assert [(one.levelno, "judging the deployment of blog failed" in one.getMessage()) for one in caplog.records] == [
        (logging.ERROR, True)
    ]


def test_without_a_thread_the_next_scan_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start
    refusals = iter(range(1))

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "deployments" and next(refusals, None) is not None:
            msg = "can't start new thread"
            raise RuntimeError(msg)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    context = daemon_on(WatchedHost(lambda _: None))
    judge = DeploymentJudge(lambda: context)
    judge.look()
    assert judged(context) == set()
    judge.look()
    wait_until(lambda: judged(context) == {"blog", "shop"}, "both verdicts", timeout_seconds=20)
