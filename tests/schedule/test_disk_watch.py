"""Promise: the engine is asked for its disk usage every five minutes at most, never twice at once; nobody waits."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import DeadlineExceededError, InternalError
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.disk import LogReading, StoredData
from bcon_exporter.schedule.disk_watch import EVERY_SECONDS, DiskWatch
from bcon_exporter.tools.disk import REST_SHARE
from tests.factories import NOON, container, snapshot
from tests.left_open import close_later
from tests.tools.hosts import ScriptedHost, context_of
from tests.waiting import wait_until

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


class Clock:
    """A clock on the wall, and one that never steps."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return 1000 + self.seconds


class Host(ScriptedHost):
    """An engine that says what it is asked when it may, and counts."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(snapshot(container()))
        self.clock = clock
        self.asked = self.at_once = self.most_at_once = 0
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.takes_seconds = 0.0
        self.error: Exception | None = None

    def read_log_files(self, now: datetime) -> LogReading:
        return LogReading(at=now)

    def read_stored_data(self, now: datetime) -> StoredData:
        self.asked += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        assert self.may_answer.wait(10)
        self.clock.seconds += self.takes_seconds
        self.at_once -= 1
        if self.error is not None:
            raise self.error
        return StoredData(at=now)


class Stage:
    """A daemon's watch over such an engine."""

    def __init__(self, path: Path | None = None) -> None:
        self.clock = Clock()
        self.host = Host(self.clock)
        self.memory = close_later(MemoryKeeper.open(path, retention_seconds=86_400, now=NOON))
        self.context = context_of(
            host=self.host, memory=self.memory, now=self.clock.now, monotonic=self.clock.monotonic
        )
        self.watch = DiskWatch(lambda: self.context)

    def look(self) -> None:
        """Look, and wait for the reading that this may have begun."""
        self.watch.look()
        self.wait()

    def wait(self) -> None:
        wait_until(lambda: not any(one.name == "disk-usage" for one in threading.enumerate()), "the reading")

    @property
    def problem(self) -> str:
        return self.memory.memory.disk.problem


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_it_is_asked_at_once_and_then_every_five_minutes(stage: Stage) -> None:
    for at, asked in ((0, 1), (1, 1), (EVERY_SECONDS - 0.1, 1), (EVERY_SECONDS, 2), (2 * EVERY_SECONDS - 1, 2)):
        stage.clock.seconds = at
        stage.look()
        assert stage.host.asked == asked, at
        assert stage.memory.memory.disk.logs is not None
    assert stage.memory.memory.disk.stored is not None


def test_one_that_took_long_rests_longer_and_logs_do_not(stage: Stage) -> None:
    stage.host.takes_seconds = 60.0
    stage.look()
    for at, asked, looked in ((60, 1, 0), (400, 1, 400), (60 * REST_SHARE - 1, 1, 1199), (1600, 2, 1600)):
        stage.clock.seconds = at
        stage.look()
        logs = stage.memory.memory.disk.logs
        assert logs is not None
        assert (stage.host.asked, (logs.at - NOON).total_seconds()) == (asked, looked), at


def test_never_two_at_once_and_nobody_waits(stage: Stage) -> None:
    stage.host.may_answer.clear()
    stage.watch.look()
    wait_until(lambda: stage.host.asked == 1, "the question")
    for hours in range(1, 4):
        stage.clock.seconds = hours * 3600.0
        stage.watch.look()
    assert stage.memory.memory.disk.logs is not None, "log files do not wait for the engine"
    assert stage.memory.memory.disk.stored is None
    stage.host.may_answer.set()
    stage.wait()

    assert (stage.host.asked, stage.host.most_at_once) == (1, 1)
    assert stage.memory.memory.disk.stored is not None


def test_why_it_was_not_answered_is_kept_and_asking_goes_on(stage: Stage) -> None:
    stage.host.error = DeadlineExceededError("not answered within 180 s", {})
    stage.look()
    assert stage.problem == "not answered within 180 s"
    stage.host.error, stage.clock.seconds = None, EVERY_SECONDS
    stage.look()
    assert stage.problem == ""


def test_a_defect_ends_one_reading_only(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    stage.host.error = ZeroDivisionError("a defect")
    stage.look()
    stage.host.error, stage.clock.seconds = None, EVERY_SECONDS
    stage.look()

    assert "reading who fills the disk failed because of a defect; please report this" in caplog.text
    assert stage.memory.memory.disk.stored is not None


def test_what_ends_with_the_daemon_is_no_failure_of_the_engine(stage: Stage) -> None:
    stage.host.may_answer.clear()
    stage.host.error = InternalError("closed")
    stage.watch.look()
    wait_until(lambda: stage.host.asked == 1, "the question")
    stage.watch.stop()
    stage.host.may_answer.set()
    stage.wait()
    stage.clock.seconds = 9 * EVERY_SECONDS
    stage.look()

    assert (stage.problem, stage.host.asked) == ("", 1)


def test_who_restarts_often_asks_no_more_often(tmp_path: Path) -> None:
    first = Stage(tmp_path / "state.db")
    first.look()
    first.memory.close()
    second = Stage(tmp_path / "state.db")
    for at, asked in ((10, 0), (EVERY_SECONDS + 9, 0), (EVERY_SECONDS + 10, 1)):
        second.clock.seconds = at
        second.look()
        assert second.host.asked == asked, at
    second.memory.close()
