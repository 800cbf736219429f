"""Scans run on time, one at once; failing, hanging or late ones are counted and stop nothing."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import DockerConnectionError, ErrorCode
from bcon_exporter.latest_scans import SCAN_NAMES, ScanName
from bcon_exporter.schedule.scheduler import Intervals, Job, Scheduler
from bcon_exporter.tools import Context
from bcon_exporter.tools.replay import SnapshotHost
from tests.factories import snapshot
from tests.outputs.scenes import Clock, drift_scan, make_context, scan_of
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator


FAST = Intervals(0.05, 0.05)
SLOW = Intervals(3600, 3600)
ASKED = 300


@dataclass
class Steps:
    """A job that does what each step says, the last one again and again."""

    steps: list[Exception | None] = field(default_factory=list)
    runs: int = 0

    def run(self, context: Context) -> None:
        """Run the next step; publishes when it has nothing to raise."""
        self.runs += 1
        step = self.steps.pop(0) if self.steps else None
        if step is not None:
            raise step
        context.scans.publish_diagnosis(scan_of(context.host.observe(context.now(), 1, None).snapshot))  # type: ignore[arg-type]  # a replay reads no wants


@dataclass
class Hanging:
    """A job that does not come back until it is let go."""

    let_go: threading.Event = field(default_factory=threading.Event)
    runs: int = 0

    def run(self, _context: Context) -> None:
        """Hang."""
        self.runs += 1
        self.let_go.wait(30)


class Quiet:
    """A drift job with nothing to do."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self, context: Context) -> None:
        """Publish an empty scan."""
        self.runs += 1
        context.scans.publish_drift(drift_scan())


@dataclass
class Bench:
    """A scheduler under test."""

    context: Context
    scheduler: Scheduler
    finished: list[ScanName]


@pytest.fixture
def running() -> Iterator[list[Bench]]:
    benches: list[Bench] = []
    yield benches
    for bench in benches:
        bench.scheduler.stop()


def start(benches: list[Bench], job: Job, intervals: Intervals, drift: Job | None = None) -> Bench:
    context = make_context()
    finished: list[ScanName] = []
    jobs: dict[ScanName, Job] = {"diagnose": job, "drift": drift or Quiet()}
    scheduler = Scheduler(context, intervals, finished.append, jobs)
    bench = Bench(context, scheduler, finished)
    benches.append(bench)
    scheduler.start()
    return bench


def test_the_first_diagnosis_runs_at_once_and_drift_right_after_it(running: list[Bench]) -> None:
    bench = start(running, Steps(), SLOW)

    wait_until(lambda: len(bench.finished) >= 2, "both first scans", timeout_seconds=5)

    assert bench.finished == ["diagnose", "drift"]


def test_drift_starts_even_when_the_first_diagnosis_fails(running: list[Bench]) -> None:
    bench = start(running, Steps([DockerConnectionError("down")]), SLOW)

    wait_until(lambda: "drift" in bench.finished, "the first drift scan", timeout_seconds=5)


def test_scans_repeat_at_their_interval(running: list[Bench]) -> None:
    job = Steps()
    start(running, job, FAST)

    wait_until(lambda: job.runs >= 5, "five runs", timeout_seconds=5)


def test_a_scan_that_is_asked_for_begins_at_once_whatever_its_interval(running: list[Bench]) -> None:
    job, drift = Steps(), Quiet()
    bench = start(running, job, SLOW, drift)
    wait_until(lambda: len(bench.finished) >= 2, "both first scans", timeout_seconds=5)
    assert bench.scheduler.run_soon("diagnose").wait(5)
    assert bench.scheduler.run_soon("drift").wait(5)
    assert (job.runs, drift.runs) == (2, 2)
    assert bench.context.scans.status("diagnose").missed == 0


def test_who_asks_while_a_scan_runs_gets_the_next_one_and_shares_it(running: list[Bench]) -> None:
    job = Hanging()
    bench = start(running, job, SLOW)
    wait_until(lambda: job.runs == 1, "the first scan", timeout_seconds=5)
    asked = [bench.scheduler.run_soon("diagnose") for _ in range(3)]
    assert not any(one.is_set() for one in asked), "the scan that runs has begun before"
    job.let_go.set()
    assert all(one.wait(5) for one in asked)
    assert job.runs == 2
    assert bench.scheduler.find_hang() is None


def test_who_asks_the_moment_a_scan_has_ended_gets_the_next_one(running: list[Bench]) -> None:
    drift = Quiet()
    bench = start(running, Steps(), SLOW, drift)
    wait_until(lambda: len(bench.finished) >= 2, "both first scans", timeout_seconds=5)
    assert all(bench.scheduler.run_soon("drift").wait(5) for _ in range(ASKED))
    assert bench.context.scans.status("drift").missed == 0, "a turn that another scan held up"


def test_a_scan_that_fails_answers_those_who_asked_for_it_too(running: list[Bench]) -> None:
    job = Steps([None, DockerConnectionError("down")])
    bench = start(running, job, SLOW)
    wait_until(lambda: len(bench.finished) >= 2, "both first scans", timeout_seconds=5)
    assert bench.scheduler.run_soon("diagnose").wait(5)
    assert bench.context.scans.status("diagnose").error is not None


def test_a_failed_scan_is_counted_and_the_next_one_runs(running: list[Bench]) -> None:
    bench = start(running, Steps([DockerConnectionError("down")]), FAST)

    wait_until(lambda: bench.context.scans.diagnosis, "a good scan after the bad one", timeout_seconds=5)

    assert bench.context.scans.status("diagnose").failures == 1
    assert bench.context.errors.counts()[ErrorCode.DOCKER_CONNECTION_FAILED] == 1


def test_a_defect_in_a_scan_is_an_internal_error_and_the_next_one_runs(
    running: list[Bench], caplog: pytest.LogCaptureFixture
) -> None:
    bench = start(running, Steps([ZeroDivisionError("secret detail")]), FAST)

    wait_until(lambda: bench.context.scans.diagnosis, "a good scan after the defect", timeout_seconds=5)

    assert bench.context.errors.counts()[ErrorCode.INTERNAL_ERROR] == 1
    assert "ZeroDivisionError" in caplog.text


def test_a_hanging_scan_is_not_started_twice_and_its_missed_turns_are_counted(running: list[Bench]) -> None:
    job = Hanging()
    bench = start(running, job, FAST)

    wait_until(lambda: bench.context.scans.status("diagnose").missed >= 3, "missed turns", timeout_seconds=5)

    assert job.runs == 1
    assert bench.scheduler.find_hang() is None
    job.let_go.set()


def test_threads_of_scans_never_hold_the_process(running: list[Bench]) -> None:
    job = Hanging()
    start(running, job, SLOW)
    wait_until(lambda: job.runs, "the scan", timeout_seconds=5)

    scan_threads = [thread for thread in threading.enumerate() if thread.name.startswith("scan-")]

    assert scan_threads
    assert all(thread.daemon for thread in scan_threads)
    job.let_go.set()


@pytest.mark.promise("F20")
@pytest.mark.promise("F20")
@pytest.mark.parametrize(
    ("interval", "seconds_later", "name"),
    [(30, 89, None), (30, 90, None), (30, 91, "diagnose"), (1, 29, None), (1, 30, None), (1, 31, "diagnose")],
)
def test_a_scan_that_is_not_started_for_three_intervals_and_half_a_minute_is_told(
    interval: float, seconds_later: float, name: str | None
) -> None:
    clock = Clock()
    jobs: dict[ScanName, Job] = {"diagnose": Steps(), "drift": Quiet()}
    scheduler = Scheduler(make_context(monotonic=clock), Intervals(interval, interval), lambda _: None, jobs)

    clock.at += seconds_later

    hang = scheduler.find_hang()
    assert (hang is None) if name is None else (f"the {name} scan has not been started for" in str(hang))


@pytest.mark.promise("F20")
@pytest.mark.promise("F20")
@pytest.mark.parametrize(("seconds_later", "hangs"), [(29, False), (30, False), (31, True)])
@pytest.mark.parametrize("name", SCAN_NAMES)
def test_a_scan_that_does_not_end_is_told_though_its_turns_come(
    running: list[Bench], name: ScanName, seconds_later: float, hangs: bool
) -> None:
    clock, hanging = Clock(), Hanging()
    jobs: dict[ScanName, Job] = {"diagnose": Steps(), "drift": Quiet(), name: hanging}
    scheduler = Scheduler(make_context(monotonic=clock), FAST, lambda _: None, jobs)
    running.append(Bench(make_context(), scheduler, []))
    scheduler.start()
    wait_until(lambda: hanging.runs, "the scan to hang")

    clock.at += seconds_later

    hang = scheduler.find_hang()
    assert (f"the {name} scan hangs: it has run for 31 s" in hang if hang else None) is (True if hangs else None)
    hanging.let_go.set()
    wait_until(lambda: "hangs" not in str(scheduler.find_hang()), "the scan to end")


@pytest.mark.promise("F20")
def test_each_turn_of_the_scheduler_is_made_in_a_thread_that_no_scan_holds(running: list[Bench]) -> None:
    threads: set[str] = set()
    job = Hanging()
    jobs: dict[ScanName, Job] = {"diagnose": job, "drift": Quiet()}

    def on_turn() -> None:
        threads.add(threading.current_thread().name)

    scheduler = Scheduler(make_context(), FAST, lambda _: None, jobs, on_turn)
    running.append(Bench(make_context(), scheduler, []))
    scheduler.start()
    wait_until(lambda: job.runs, "the scan to hang")
    threads.clear()
    wait_until(lambda: threads, "a further turn")

    assert threads == {"APScheduler"}
    job.let_go.set()


def test_other_intervals_count_from_now_on(running: list[Bench]) -> None:
    job, drift = Steps(), Quiet()
    bench = start(running, job, SLOW, drift)
    wait_until(lambda: drift.runs, "the first scans", timeout_seconds=5)

    bench.scheduler.reload(bench.context, FAST)

    wait_until(lambda: job.runs >= 4 and drift.runs >= 4, "fast scans", timeout_seconds=5)
    assert bench.scheduler.intervals == FAST


def test_a_face_that_fails_stops_no_scan(caplog: pytest.LogCaptureFixture) -> None:
    context, job = make_context(), Steps()

    def fail(_name: ScanName) -> None:
        msg = "cannot render"
        raise RuntimeError(msg)

    scheduler = Scheduler(context, FAST, fail, {"diagnose": job, "drift": Quiet()})
    scheduler.start()
    try:
        wait_until(lambda: job.runs >= 3, "further scans", timeout_seconds=5)
    finally:
        scheduler.stop()

    assert "cannot render" in caplog.text


def test_the_same_failure_is_told_once_at_warning(running: list[Bench], caplog: pytest.LogCaptureFixture) -> None:
    failures: list[Exception | None] = [DockerConnectionError("the engine is away")] * 4
    job = Steps(failures)
    start(running, job, FAST)

    wait_until(lambda: job.runs >= 5, "the failures", timeout_seconds=5)

    told = [record for record in caplog.records if "the engine is away" in record.getMessage()]
    assert [record.levelname for record in told if record.levelno >= 30] == ["WARNING"]


def test_that_a_scan_works_again_is_told_once(running: list[Bench], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "bcon_exporter")
    job = Steps([DockerConnectionError("the engine is away"), DockerConnectionError("the engine is away")])
    start(running, job, FAST)

    wait_until(lambda: job.runs >= 5, "good scans after bad ones", timeout_seconds=5)

    told = [record.getMessage() for record in caplog.records if "diagnose scan works again" in record.getMessage()]
    assert told == ["the diagnose scan works again"]


class Busy(SnapshotHost):
    """A replayed host on which something happens when a test says so."""

    happened = 0

    def changes(self) -> int:
        """Return how often it has."""
        return self.happened


@pytest.mark.slow
def test_an_event_brings_the_drift_scan_before_its_time(running: list[Bench]) -> None:
    host, drift = Busy(snapshot()), Quiet()
    context = make_context(host=None)
    scheduler = Scheduler(replace(context, host=host), SLOW, lambda _: None, {"diagnose": Steps(), "drift": drift})
    running.append(Bench(context, scheduler, []))
    scheduler.start()
    wait_until(lambda: drift.runs == 1, "the first drift scan", timeout_seconds=5)

    host.happened += 1

    wait_until(lambda: drift.runs == 2, "the second", timeout_seconds=15)
    assert context.scans.status("drift").missed == 0
