"""Promise: what happened is written down once, as it was, and found again by whom, when, what and words."""

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcon_exporter.journal import EntryFilter, MemoryKeeper
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, EngineFacts, HostSnapshot
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.lifecycle import LifecycleEvent, name_job
from bcon_exporter.model.verify_report import DeploymentRecord, DeploymentVerdict
from tests.factories import NOON, ago, compose, full_id
from tests.journal.keepers import batch, container, crash_loop, event, open_keeper, scan
from tests.table_rows import table

MINUTE = timedelta(minutes=1)
LATER = NOON + 10 * MINUTE


@pytest.fixture
def keeper() -> MemoryKeeper:
    """It has seen the last day."""
    kept = open_keeper()
    kept.add_events(batch(), ago(hours=1))
    return kept


def entries_of(keeper: MemoryKeeper, **wanted: Any) -> list[JournalEntry]:
    """Oldest first."""
    asked = EntryFilter(**{"since": ago(days=40), "until": NOON + timedelta(days=2), **wanted})
    return list(reversed(keeper.find_entries(asked, 1000)))


def told(keeper: MemoryKeeper, **wanted: Any) -> list[tuple[str, str | None, str]]:
    return [(entry.kind.value, entry.container, entry.text) for entry in entries_of(keeper, **wanted)]


def test_a_life_is_told_from_start_to_removal(keeper: MemoryKeeper) -> None:
    steps = (
        event(ago(100), "create", image="app:1"),
        event(ago(99), "start", image="app:1"),
        event(ago(80), "health_status", health="healthy"),
        event(ago(70), "health_status", health="unhealthy"),
        event(ago(60), "health_status", health="unhealthy"),
        event(ago(50), "health_status", health="healthy"),
        event(ago(45), "pause"),
        event(ago(40), "unpause"),
        event(ago(31), "kill", signal=15),
        event(ago(30), "die", exit_code=143),
        event(ago(30), "stop"),
        event(ago(20), "destroy"),
    )
    keeper.add_events(batch(*steps), NOON)
    scan(keeper, now=NOON)
    assert told(keeper) == [
        ("start", "api", "started"),
        ("health", "api", "became unhealthy"),
        ("health", "api", "healthy again"),
        ("pause", "api", "paused"),
        ("unpause", "api", "resumed"),
        ("stop", "api", "stopped on request, exit code 143"),
        ("remove", "api", "removed"),
    ]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((event(ago(30), "die", exit_code=3),), ("crash", "crashed after 69 s, exit code 3")),
        ((event(ago(30), "die", exit_code=0),), ("stop", "ended by itself after 69 s, exit code 0")),
        (
            (event(ago(30), "oom"), event(ago(30), "die", exit_code=137)),
            ("oom", "killed for want of memory after 69 s, exit code 137"),
        ),
        ((event(ago(30), "oom"),), ("oom", "a process in it was killed for want of memory")),
        (
            (event(ago(31), "kill", signal=9), event(ago(30), "die", exit_code=137)),
            ("kill", "killed through the engine (docker kill), exit code 137"),
        ),
        (
            (event(ago(41), "kill", signal=15), event(ago(31), "kill", signal=9), event(ago(30), "die", exit_code=137)),
            ("stop", "stopped on request and killed, since it did not end, exit code 137"),
        ),
    ],
)
def test_ends_are_told_apart(keeper: MemoryKeeper, steps: tuple[Any, ...], expected: tuple[str, str]) -> None:
    keeper.add_events(batch(event(ago(99), "start"), *steps), NOON)
    scan(keeper, container())
    assert [(kind, text) for kind, _, text in told(keeper)][1:] == [expected]


def test_a_restart_by_the_policy_is_told_from_a_start(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(99), "start"), *crash_loop(1, last=ago(30))), NOON)
    scan(keeper, container())
    texts = [text for kind, _, text in told(keeper) if kind == "start"]
    assert texts == ["started", "restarted by its restart policy"]


def test_an_end_is_told_once_it_is_known_whether_it_was_asked_for(keeper: MemoryKeeper) -> None:
    """The engine tells of a stop after the end that it asked for."""
    keeper.add_events(batch(event(ago(99), "start"), event(ago(1), "die", exit_code=1)), NOON)
    scan(keeper, container(state=ContainerState.EXITED, exit_code=1, finished_at=ago(1)))
    assert [kind for kind, *_ in told(keeper)] == ["start"]
    keeper.add_events(batch(event(ago(1), "stop")), NOON + MINUTE)
    scan(keeper, container(state=ContainerState.EXITED, exit_code=1, finished_at=ago(1)), now=NOON + MINUTE)
    assert told(keeper)[1:] == [("stop", "api", "stopped on request, exit code 1")]


def test_an_event_that_comes_late_is_told_all_the_same(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(99), "start"), event(ago(20), "pause")), NOON)
    scan(keeper, container())
    keeper.add_events(batch(event(ago(30), "health_status", health="unhealthy")), NOON + MINUTE)
    for minutes in (1, 2):
        scan(keeper, container(), now=NOON + minutes * MINUTE)
    assert told(keeper) == [
        ("start", "api", "started"),
        ("health", "api", "became unhealthy"),
        ("pause", "api", "paused"),
    ]


def test_after_the_clock_was_set_back_an_end_waits_for_its_reason_all_the_same(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(NOON, "start")), LATER)
    scan(keeper, container(), now=LATER)
    keeper.add_events(batch(event(ago(1), "die", exit_code=1)), NOON)
    scan(keeper, container(), now=NOON)
    assert told(keeper) == [("start", "api", "started")]
    keeper.add_events(batch(event(ago(1), "stop")), NOON + MINUTE)
    scan(keeper, container(), now=NOON + MINUTE)
    assert told(keeper)[0] == ("stop", "api", "stopped on request, exit code 1")


def test_what_was_removed_before_it_could_be_told_is_told_by_the_next_scan(keeper: MemoryKeeper) -> None:
    """A run of `docker run --rm` begins and ends between two scans."""
    run = [event(ago(3), "create", "job"), event(ago(3), "start", "job"), event(ago(2), "die", "job", exit_code=7)]
    keeper.add_events(batch(*run, event(ago(2), "destroy", "job")), NOON)
    scan(keeper, container())
    assert told(keeper) == []
    scan(keeper, container(), now=NOON + MINUTE)
    assert told(keeper) == [
        ("start", "job", "started"),
        ("crash", "job", "crashed after 1 s, exit code 7"),
        ("remove", "job", "removed"),
    ]


def test_nothing_is_told_twice_over_scans_restarts_and_back_fill(tmp_path: Path) -> None:
    events = [event(ago(99), "start"), *crash_loop(3, last=ago(30))]
    for run in range(3):
        keeper = open_keeper(tmp_path / "state.db")
        for scans in range(2):
            now = NOON + (2 * run + scans) * MINUTE
            keeper.add_events(batch(*events), now)
            scan(keeper, container(), now=now)
        assert len(entries_of(keeper)) == 7
        keeper.close()


def rename(at: datetime, container_id: str, to: str) -> LifecycleEvent:
    return event(at, "rename", to, container_id=container_id)


def test_a_renamed_container_is_not_told_of_again(tmp_path: Path) -> None:
    keeper, api = open_keeper(tmp_path / "state.db"), full_id("api")
    keeper.add_events(batch(*crash_loop(3, last=ago(60))), NOON)
    scan(keeper, container())
    before = told(keeper)
    assert len(before) == 6
    names = ("api_old", "api", "api_old")
    for minutes, name in enumerate(names, 1):
        now = NOON + minutes * MINUTE
        keeper.add_events(batch(rename(now - MINUTE / 2, api, name)), now)
        scan(keeper, container(name=name, id=api), now=now)
    assert told(keeper) == before
    keeper.close()
    again = open_keeper(tmp_path / "state.db")
    again.add_events(batch(*crash_loop(3, last=ago(60)), rename(NOON + MINUTE / 2, api, "api_old")), LATER)
    scan(again, container(name="api_old", id=api), now=LATER)
    assert told(again) == before


def test_what_was_not_told_before_a_rename_is_told_once_under_the_name_of_then(keeper: MemoryKeeper) -> None:
    api = full_id("api")
    keeper.add_events(batch(event(ago(99), "start")), ago(90))
    scan(keeper, container(), now=ago(90))
    ends = (event(ago(50), "die", exit_code=3), event(ago(3), "die", "api_old", container_id=api, exit_code=4))
    starts = (event(ago(49), "start"), rename(ago(40), api, "api_old"))
    keeper.add_events(batch(*ends, *starts), NOON)
    for minutes in range(3):
        scan(keeper, container(name="api_old", id=api), now=NOON + minutes * MINUTE)
    assert told(keeper) == [
        ("start", "api", "started"),
        ("crash", "api", "crashed after 49 s, exit code 3"),
        ("start", "api", "restarted by its restart policy"),
        ("crash", "api_old", "crashed after 46 s, exit code 4"),
    ]


def test_what_was_not_told_of_the_former_owner_of_a_name_is_told_once(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(99), "start"), event(ago(98), "start", "web")), ago(90))
    scan(keeper, container(), container(name="web"), now=ago(90))
    api = full_id("api")
    ended = (event(ago(60), "die", "web", exit_code=3), event(ago(59), "destroy", "web"), event(ago(50), "pause"))
    keeper.add_events(
        batch(*ended, rename(ago(40), api, "web"), event(ago(30), "unpause", "web", container_id=api)), NOON
    )
    for minutes in range(2):
        scan(keeper, container(name="web", id=api), now=NOON + minutes * MINUTE)
    assert told(keeper)[2:] == [
        ("crash", "web", "crashed after 38 s, exit code 3"),
        ("remove", "web", "removed"),
        ("pause", "api", "paused"),
        ("unpause", "web", "resumed"),
    ]


def test_another_image_is_told_also_under_the_same_name(keeper: MemoryKeeper) -> None:
    service = {"project": "shop", "service": "web", "number": 1}

    def make(name: str, image: str, image_id: str, at: datetime) -> None:
        steps = (event(at, "create", name, image=image, **service), event(at, "start", name, image=image, **service))
        keeper.add_events(batch(*steps), at + 10 * timedelta(seconds=1))
        seen = container(name=name, image=image, image_id=image_id, compose=compose("web", number=1))
        scan(keeper, seen, now=at + 10 * timedelta(seconds=1))

    make("web-a", "web:1", "sha256:a", ago(500))
    make("web-b", "web:2", "sha256:b", ago(300))
    make("web-c", "web:2", "sha256:c", ago(100))
    changes = entries_of(keeper, kinds=(JournalKind.IMAGE_CHANGE,))
    assert [(entry.text, entry.container, entry.project, entry.service) for entry in changes] == [
        ("another image: web:2, before web:1", "web-b", "shop", "web"),
        ("another image under the same name: web:2", "web-c", "shop", "web"),
    ]


def test_findings_are_told_when_they_come_and_go(keeper: MemoryKeeper) -> None:
    key = "shop\x1fweb\x1fshop-web-1\x1frestart_loop"
    keeper.conclude_first_seen("symptom", {key: Severity.CRITICAL}, NOON)
    keeper.conclude_first_seen("symptom", {key: Severity.CRITICAL}, NOON + MINUTE)
    keeper.conclude_first_seen("symptom", {}, NOON + 2 * MINUTE)
    keeper.conclude_first_seen("drift", {"shop\x1fdb\x1fimage_mismatch": Severity.WARNING}, NOON + 3 * MINUTE)
    found = [(e.kind.value, e.container, e.service, e.code, e.severity, e.at) for e in entries_of(keeper)]
    assert found == [
        ("symptom_on", "shop-web-1", "web", "restart_loop", "critical", NOON),
        ("symptom_off", "shop-web-1", "web", "restart_loop", None, NOON + 2 * MINUTE),
        ("drift_on", None, "db", "image_mismatch", "warning", NOON + 3 * MINUTE),
    ]


def test_a_finding_is_told_when_it_was_judged_and_dated_by_when_the_host_was_looked_at(keeper: MemoryKeeper) -> None:
    key = "shop\x1fweb\x1fshop-web-1\x1frestart_loop"
    since = keeper.conclude_first_seen("symptom", {key: Severity.CRITICAL}, NOON, NOON + MINUTE)
    assert since == {key: NOON}
    assert [entry.at for entry in entries_of(keeper)] == [NOON + MINUTE]


def test_gaps_and_restarts_of_the_engine_are_told(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(since=NOON + 5 * MINUTE, gap=True), NOON + 6 * MINUTE)
    broken = (NOON + 7 * MINUTE,)
    keeper.add_events(batch(since=ago(hours=2), broken_at=broken), NOON + 8 * MINUTE)
    scan(keeper, container(started_at=NOON + 7.5 * MINUTE), now=NOON + 8 * MINUTE)
    assert [(entry.kind.value, entry.container) for entry in entries_of(keeper)] == [
        ("gap", None),
        ("engine_restart", None),
    ]


def test_what_a_locked_file_has_told_is_not_told_again_when_it_is_free(tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    first = open_keeper(state)
    first.add_events(batch(since=ago(minutes=50)), ago(minutes=40))
    first.add_events(batch(since=ago(minutes=30), gap=True), ago(minutes=20))
    scan(first, container(), now=ago(minutes=20))
    first.close()
    with closing(sqlite3.connect(state, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        keeper = open_keeper(state)
        keeper.add_events(batch(since=ago(minutes=10)), NOON)
        scan(keeper, container())
    keeper.add_events(batch(since=ago(minutes=10)), LATER)
    scan(keeper, container(), now=LATER)
    assert keeper.status == "file"
    gaps = entries_of(keeper, kinds=(JournalKind.GAP,))
    assert [entry.at for entry in gaps] == [ago(minutes=30), ago(minutes=10)], "the second: between the two daemons"


def test_entries_are_found_by_whom_kind_time_and_words(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(99), "start"), *crash_loop(2, last=ago(30)), event(ago(20), "pause")), NOON)
    engine = EngineFacts(name="nas", server_version="28", api_version="1.51", id="A")
    keeper.observe(HostSnapshot(taken_at=NOON, containers=(container(), container(name="web")), engine=engine))
    keeper.add_events(batch(event(ago(15), "pause", "web")), NOON)
    scan(keeper, container(), container(name="web"), now=NOON)
    assert {entry.host for entry in entries_of(keeper)} == {"nas"}
    assert [name for _, name, _ in told(keeper, kinds=(JournalKind.PAUSE,))] == ["api", "web"]
    assert told(keeper, name="web") == [("pause", "web", "paused")]
    assert told(keeper, since=ago(25), until=ago(18)) == [("pause", "api", "paused")]
    assert {kind for kind, *_ in told(keeper, words="restart policy")} == {"start"}
    assert told(keeper, words='policy" OR kind:(') == [], "no words of a query"
    last_day = EntryFilter(ago(days=1), LATER)
    assert [entry.container for entry in keeper.find_entries(last_day, 2, 1)] == ["api", "api"]
    assert keeper.count_entries(last_day) == 7


def test_they_are_kept_for_ninety_days(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    keeper.add_events(batch(event(ago(99), "start")), NOON)
    scan(keeper, container())
    for hours in range(0, 24 * 89, 2):
        scan(keeper, container(), now=NOON + timedelta(hours=hours))
    assert len(entries_of(keeper)) == 1
    for hours in range(24 * 89, 24 * 91, 2):
        scan(keeper, container(), now=NOON + timedelta(hours=hours))
    assert entries_of(keeper) == []
    assert told(keeper, words="started") == []


@settings(max_examples=60, deadline=None)
@given(words=st.text(max_size=40))
def test_no_words_break_the_search(words: str) -> None:
    keeper = open_keeper()
    keeper.add_events(batch(event(ago(99), "start")), NOON)
    scan(keeper, container())
    assert len(entries_of(keeper, words=words)) <= 1
    assert keeper.errors_total == 0


def run_of_a_job(name: str, end: datetime, code: int) -> tuple[LifecycleEvent, ...]:
    second = timedelta(seconds=1)
    return (
        event(end - 2 * second, "create", name, image="backup:3"),
        event(end - 2 * second, "start", name, image="backup:3"),
        event(end, "die", name, exit_code=code, image="backup:3"),
        event(end + second / 10, "destroy", name, image="backup:3"),
    )


def test_failed_runs_that_removed_themselves_are_told_for_a_day(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    jobs = (*run_of_a_job("backup", ago(500), 3), *run_of_a_job("backup", ago(100), 0))
    killed = [event(ago(91), "start", "gone"), event(ago(90.1), "kill", "gone", signal=9)]
    killed += [event(ago(90), "die", "gone", exit_code=137), event(ago(90), "destroy", "gone")]
    keeper.add_events(batch(*jobs, *killed, *crash_loop(1, last=ago(50))), NOON)
    failed = scan(keeper, container()).failed_runs
    assert [(run.name, run.exit_code, run.ended_at, run.image) for run in failed] == [
        ("backup", 3, ago(500), "backup:3")
    ]
    assert failed[0].mended_at == ago(100), "a later run of the job ended with 0"
    assert failed[0].is_from_before
    keeper.add_events(batch(*run_of_a_job("prune", NOON + timedelta(seconds=9), 4)), NOON + timedelta(seconds=20))
    newer = scan(keeper, container(), now=NOON + timedelta(seconds=20)).failed_runs
    assert [(run.name, run.is_from_before) for run in newer] == [("prune", False), ("backup", True)]
    failed = newer
    assert keeper.look(HostSnapshot(taken_at=NOON)).failed_runs == failed
    keeper.close()
    again = open_keeper(tmp_path / "state.db")
    assert scan(again, container()).failed_runs == failed, "over a restart of the exporter"
    late = ago(500) + timedelta(hours=24)
    assert scan(again, container(), now=late - timedelta(seconds=1)).failed_runs == failed
    assert scan(again, container(), now=late).failed_runs == newer[:1]


def test_a_run_at_a_terminal_is_no_job(keeper: MemoryKeeper) -> None:
    """Its person has seen how it ended; a window that is dragged makes no more of it than the first event."""
    dragged = [event(ago(101.9 - step / 2000), "resize", "shell", image="backup:3") for step in range(2000)]
    shell, backup = run_of_a_job("shell", ago(100), 127), run_of_a_job("backup", ago(50), 1)
    keeper.add_events(batch(*shell[:2], *dragged, *shell[2:], *backup), NOON)
    assert [run.name for run in scan(keeper).failed_runs] == ["backup"]
    (crash,) = (entry for entry in entries_of(keeper) if entry.container == "shell" and entry.kind is JournalKind.CRASH)
    assert crash.data["exit_code"] == 127, "it is told as what it was"


@pytest.mark.parametrize(("has_person", "jobs"), [(True, []), (None, ["shell"])])
def test_a_run_that_a_scan_saw_at_a_terminal_is_no_job(
    keeper: MemoryKeeper, *, has_person: bool | None, jobs: list[str]
) -> None:
    made, started, *ended = run_of_a_job("shell", ago(100), 127)
    keeper.add_events(batch(made, started), ago(101))
    scan(keeper, container(name="shell", id=full_id("shell"), has_person=has_person), now=ago(101))
    keeper.add_events(batch(*ended), NOON)
    assert [run.name for run in scan(keeper).failed_runs] == jobs


@table(
    ("name", "job"),
    [
        ("backup", "backup"),
        ("nightly-backup", "nightly-backup"),
        ("eager_turing", "backup:3"),
        ("sad_hopper3", "backup:3"),
        ("nightly_backup", "nightly_backup"),
        ("daily_prune", "daily_prune"),
        ("shop-dump-run-0a1b2c3d4e5f", "shop-dump"),
        ("shop-dump-run-2", "shop-dump-run-2"),
        ("db_2", "db_2"),
    ],
)
def test_a_job_is_known_by_its_name_or_by_its_image_where_the_name_is_made_up(name: str, job: str) -> None:
    assert name_job(name, "backup:3") == job


def test_of_very_many_failed_runs_the_newest_fifty_are_told(keeper: MemoryKeeper) -> None:
    for number in range(60):
        keeper.add_events(batch(*run_of_a_job(f"job-{number}", ago(1000 - 10 * number), 1)), NOON)
    failed = scan(keeper).failed_runs
    assert [run.name for run in failed] == [f"job-{number}" for number in reversed(range(10, 60))]


def deployment(project: str, verdict: DeploymentVerdict, at: datetime) -> DeploymentRecord:
    return DeploymentRecord(project=project, at=at, since=at - MINUTE, verdict=verdict, summary=f"{project}: done.")


def deployed(project: str, at: datetime) -> ContainerFacts:
    return container(name=f"{project}-web-1", compose=compose("web", project, config_hash="h"), created_at=at)


def test_the_last_verdict_of_each_project_outlives_the_process(tmp_path: Path) -> None:
    host = HostSnapshot(taken_at=LATER, containers=(deployed("shop", ago(hours=3)), deployed("blog", ago(hours=3))))
    before = open_keeper(tmp_path / "state.db")
    before.add_events(batch(), NOON)
    before.keep_deployment(deployment("shop", DeploymentVerdict.GOOD, ago(hours=2)))
    last = (deployment("shop", DeploymentVerdict.BAD, ago(600)), deployment("blog", DeploymentVerdict.GOOD, ago(300)))
    for record in (*last, deployment("gone", DeploymentVerdict.GOOD, ago(300))):
        before.keep_deployment(record)
    before.close()
    after = open_keeper(tmp_path / "state.db")
    assert after.find_due_deployments(host) == ()
    assert after.memory.deployments.latest == {record.project: record for record in last}


def test_a_file_that_is_locked_for_a_while_takes_no_verdict(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    keeper.add_events(batch(), NOON)
    host = HostSnapshot(taken_at=NOON, containers=(deployed("shop", ago(hours=3)),))
    keeper.find_due_deployments(host)
    keeper.keep_deployment(deployment("shop", DeploymentVerdict.BAD, NOON))
    with closing(sqlite3.connect(tmp_path / "state.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        keeper.add_events(batch(event(NOON, "create")), NOON + MINUTE)
        in_between = keeper.status
    keeper.add_events(batch(), LATER)
    assert (in_between, keeper.status) == ("memory", "file")
    assert set(keeper.memory.deployments.latest) == {"shop"}
