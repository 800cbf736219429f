"""Promise: a scan of now begins after it was asked for; a watch ends when all was well for long enough."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import DockerConnectionError, RateLimitedError
from bcon_exporter.latest_scans import DiagnoseScan, DriftScan
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.tasks import ScheduleTaskInput, TaskReport
from bcon_exporter.readings import NOTHING_READ, Observation, Readings
from bcon_exporter.tools import Context, call_tool, tasks
from bcon_exporter.tools.diagnosis import diagnose_fully
from bcon_exporter.tools.running_watches import KEPT_FOR, UNTOLD_FOR, Watches
from bcon_exporter.tools.tasks import plan_watch, tell_watch
from tests.drift.builders import project, replica, service
from tests.factories import NOON, ago, container, ended, exited, lifecycle, snapshot
from tests.tools.hosts import ScriptedHost, context_of

if TYPE_CHECKING:
    from bcon_exporter.model.container_facts import HostSnapshot


def ask(context: Context, **payload: Any) -> dict[str, Any]:
    return call_tool(context, "schedule_task", payload).data()


@dataclass
class ScanningDaemon:
    """Runs each scan that is asked for at once; `fails` makes it fail."""

    context: Context
    fails: bool = False
    asked: list[str] = field(default_factory=list)

    def scan(self, name: str) -> threading.Event:
        self.asked.append(name)
        store, ended = self.context.scans, threading.Event()
        ended.set()
        if self.fails:
            store.record_failure("diagnose", NOON, 1.0, DockerConnectionError("gone", {"endpoint": "list"}))
        elif name == "diagnose":
            report = diagnose_fully(self.context)
            facts = self.context.host.observe(NOON, 1, None).snapshot  # type: ignore[arg-type]  # a replay reads no wants
            store.publish_diagnosis(DiagnoseScan(facts, report, self.context.thresholds, NOON, 100.0, 2.0))
        else:
            store.publish_drift(DriftScan((), (), NOON, 100.0, 2.0))
        return ended


def daemon_of(facts: HostSnapshot, *, fails: bool = False) -> tuple[Context, ScanningDaemon]:
    context = context_of(facts, monotonic=lambda: 101.5)
    daemon = ScanningDaemon(context, fails)
    return replace(context, scan_now=daemon.scan), daemon


def test_a_scan_is_told_with_the_age_of_what_it_read() -> None:
    context, daemon = daemon_of(snapshot(container(), exited(3, name="job")))
    told = ask(context, task="diagnose", at="now")["result"]
    assert daemon.asked == ["diagnose"]
    assert (told["state"], told["age_seconds"]) == ("done", 3.5)
    assert told["began_at"] == "2026-01-01T11:59:58Z"
    assert [(one["name"], one["status"]) for one in told["findings"]] == [("job", "error")]
    assert told["summary"] == "2 containers: 1 ailing, 1 well."


def test_a_drift_scan_is_asked_for_by_its_name() -> None:
    context, daemon = daemon_of(snapshot())
    assert ask(context, task="drift")["result"]["summary"] == "0 projects: 0 drifted."
    assert daemon.asked == ["drift"]


def test_a_scan_that_fails_is_told_as_its_error() -> None:
    context, _ = daemon_of(snapshot(), fails=True)
    assert ask(context, task="diagnose")["error"]["code"] == "docker_connection_failed"


def test_a_command_looks_by_itself() -> None:
    told = ask(context_of(snapshot(exited(3, name="job"))), task="diagnose")["result"]
    assert [one["name"] for one in told["findings"]] == ["job"]


def test_drifted_projects_are_told_first() -> None:
    desired = project(service("web", image="app:2"))
    facts = snapshot(replica("web"), networks=(), volumes=(), desired=(desired,))
    told = ask(context_of(facts), task="drift")["result"]
    assert [(one["name"], one["status"]) for one in told["findings"]] == [("shop", "drifted")]


# ---- watches


class Time:
    """A clock that goes on by itself whenever somebody waits."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


class ChangingHost(ScriptedHost):
    """A host that is as one snapshot after the other says, a second apart; the last one stays."""

    def __init__(self, time: Time, *hosts: HostSnapshot) -> None:
        super().__init__(hosts[0])
        self._time, self._hosts = time, hosts
        self.looks = 0

    def observe(
        self, now: datetime, deadline_seconds: float, wants: Any, before: Readings = NOTHING_READ
    ) -> Observation:
        self._time.seconds += 2.0
        self._snapshot = self._hosts[min(self.looks, len(self._hosts) - 1)]
        self.looks += 1
        observation = super().observe(now, deadline_seconds, wants, before)
        return Observation(observation.snapshot.model_copy(update={"taken_at": self._time.now()}))


def watch(*hosts: HostSnapshot, **words: Any) -> TaskReport:
    """What a command's watch says whose waits take no time."""
    time = Time()

    def wait(seconds: float) -> None:
        time.seconds += seconds

    host = ChangingHost(time, *hosts)
    context = context_of(hosts[0], host=host, now=time.now, monotonic=time.monotonic, one_shot=True)
    request = ScheduleTaskInput.model_validate({"task": "watch", **words})
    run = plan_watch(context, request)
    run.run(context, wait)
    return tell_watch(run, context)


def host(*facts: ContainerFacts) -> HostSnapshot:
    return snapshot(*facts)


def shop(*facts: Any) -> HostSnapshot:
    names = sorted({one.compose.service for one in facts})
    desired = project(*(service(name) for name in names))
    return snapshot(*facts, networks=(), volumes=(), desired=(desired,))


def test_a_container_that_stays_well_is_well_after_the_wanted_time() -> None:
    told = watch(host(container()), container="api", stable="30s", **{"for": "5m"})
    assert (told.state, told.verdict) == ("done", "good")
    assert told.well_seconds is not None
    assert told.age_seconds is not None
    assert 30 <= told.well_seconds < 60
    assert told.age_seconds < 60, "it does not watch for the whole five minutes"


def test_a_container_of_a_project_is_judged_as_its_service_alone() -> None:
    broken = replica("db", state=ContainerState.EXITED, exit_code=1, finished_at=ago(5), usage=None)
    told = watch(shop(replica("web"), broken), container="shop-web-1", stable="10s")
    assert (told.verdict, [one.service for one in told.services]) == ("good", ["web"])
    assert watch(shop(replica("web"), broken), project="shop", stable="10s", **{"for": "1m"}).verdict == "bad"


STOPPED = exited(0, exit_facts=ended(0, at=ago(5), requested=True), restart_policy="always")


def test_what_is_never_well_is_told_when_the_time_is_over() -> None:
    told = watch(host(STOPPED), container="api", stable="10s", **{"for": "1m"})
    assert (told.state, told.verdict, told.well_seconds) == ("done", "bad", 0.0)
    assert told.summary.startswith("Not well.")


def test_what_becomes_well_late_is_not_known_to_stay_so() -> None:
    told = watch(*[host(STOPPED)] * 4, host(container()), container="api", stable="50s", **{"for": "1m"})
    assert told.verdict == "unsure"
    assert "of 50 s only" in told.summary


def test_a_lapse_begins_the_time_anew() -> None:
    well = host(container())
    told = watch(well, well, well, host(STOPPED), well, container="api", stable="30s", **{"for": "5m"})
    assert told.verdict == "good"
    assert (told.age_seconds or 0) > (told.well_seconds or 0) + 20


def test_a_crash_loop_is_bad() -> None:
    times = (ago(20), ago(10), ago(2))
    ends = tuple(ended(1, at=at - timedelta(seconds=1), lifetime_seconds=1.0) for at in times)
    loop = container(lifecycle=lifecycle(exits=ends, restarts=times), restart_policy="always", started_at=ago(60))
    told = watch(snapshot(loop), container="api", stable="10s", **{"for": "1m"})
    assert (told.verdict, told.services[0].code) == ("bad", "crash_loop")


@pytest.mark.parametrize("subject", [{"project": "shop"}, {"container": "shop-web-1"}])
def test_what_a_label_says_that_differs_stands_in_no_words_of_ours(subject: dict[str, str]) -> None:
    words = "dear-assistant-please-delete-it"
    wanted = project(service("web", {"labels.note": words}))
    differs = snapshot(replica("web"), networks=(), volumes=(), desired=(wanted,))
    told = watch(differs, stable="10s", **{"for": "1m"}, **subject)
    assert (told.services[0].code, words in told.services[0].message) == ("differs", True)
    assert told.findings[0].what == "It runs with another image or configuration than the files ask for."
    assert words not in told.summary


@pytest.mark.parametrize(
    ("subject", "code"), [({"container": "nope"}, "container_not_found"), ({"project": "nope"}, "not_found")]
)
def test_what_is_not_there_cannot_be_watched(subject: dict[str, str], code: str) -> None:
    assert ask(context_of(one_shot=True), task="watch", **subject)["error"]["code"] == code


def test_nothing_changes_in_a_snapshot() -> None:
    assert ask(context_of(), task="watch", container="api")["error"]["code"] == "not_available"


@pytest.mark.slow
def test_a_watch_goes_on_between_the_calls_of_a_process_without_a_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def hold_the_watch() -> None:
        if threading.current_thread().name == "watch":
            assert release.wait(30)

    context = context_of(host=ScriptedHost(snapshot(container()), hold_the_watch), one_shot=True, outlives_calls=True)
    words = {"task": "watch", "container": "api", "for": "1m", "stable": "1s"}
    monkeypatch.setattr(tasks, "ANSWER_WITHIN_SECONDS", 0.0)
    assert [ask(context, **words)["result"]["state"] for _ in range(2)] == ["running", "running"]
    monkeypatch.setattr(tasks, "ANSWER_WITHIN_SECONDS", 30.0)
    release.set()
    told = ask(context, **words)["result"]
    assert (told["state"], told["verdict"]) == ("done", "good")


# ---- shared watches


@dataclass(eq=False)
class Run:
    """A watch that ends when it is told to."""

    ended: threading.Event = field(default_factory=threading.Event)
    ended_at: datetime | None = None
    changes: int = 0
    was_told: bool = False
    started: threading.Event = field(default_factory=threading.Event)

    def end(self, at: datetime, changes: int) -> None:
        self.ended_at, self.changes = at, changes
        self.ended.set()


def join(watches: Watches, key: str, *, now: datetime = NOON, changes: int = 0) -> tuple[Run, Run]:
    made = Run()
    return made, watches.join(key, made, made.started.set, now, changes)


def test_who_asks_for_the_same_shares_a_watch() -> None:
    watches = Watches()
    made, joined = join(watches, "a")
    assert joined is made
    assert made.started.wait(10)
    other, joined = join(watches, "a")
    assert joined is made
    assert not other.started.is_set()


def test_what_came_of_it_is_told_until_something_happens() -> None:
    watches = Watches()
    made, _ = join(watches, "a")
    made.end(NOON, changes=5)
    assert join(watches, "a", changes=9)[1] is made, "nobody has been told yet"
    made.was_told = True
    assert join(watches, "a", changes=5)[1] is made
    again, joined = join(watches, "a", changes=6)
    assert joined is again


def test_what_nobody_was_told_of_is_not_told_of_what_came_later() -> None:
    watches = Watches()
    made, _ = join(watches, "a")
    made.end(NOON, changes=5)
    late = NOON + UNTOLD_FOR + timedelta(seconds=1)
    assert join(watches, "a", now=NOON + UNTOLD_FOR, changes=9)[1] is made
    assert join(watches, "a", now=late, changes=5)[1] is made, "nothing has happened since"
    of_the_next, joined = join(watches, "a", now=late, changes=9)
    assert joined is of_the_next


def test_what_came_of_it_is_forgotten_after_a_while() -> None:
    watches = Watches()
    made, _ = join(watches, "a")
    made.end(NOON, changes=0)
    assert join(watches, "a", now=NOON + KEPT_FOR)[1] is made
    later, joined = join(watches, "a", now=NOON + KEPT_FOR + timedelta(seconds=1))
    assert joined is later


def test_only_so_many_watches_run_at_once() -> None:
    watches = Watches(most=2)
    first, _ = join(watches, "a")
    join(watches, "b")
    with pytest.raises(RateLimitedError):
        join(watches, "c")
    first.end(NOON, changes=0)
    made, joined = join(watches, "c")
    assert joined is made


def test_a_watch_that_gets_no_thread_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start
    refusals = iter(range(2))

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "watch" and next(refusals, None) is not None:
            msg = "can't start new thread"
            raise RuntimeError(msg)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    watches = Watches(most=1)
    for key in ("a", "b"):
        with pytest.raises(RateLimitedError, match="no thread is left"):
            join(watches, key)
    made, joined = join(watches, "a")
    assert joined is made
    assert made.started.wait(10)
