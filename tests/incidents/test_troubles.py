"""Promise: what a scan and the last comparison have found is each trouble once, and what is under way is none."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.incidents import find_troubles
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.desired import ProjectProblem
from bcon_exporter.model.findings import DriftType, Severity, SymptomType
from bcon_exporter.model.lifecycle import FailedRun
from bcon_exporter.model.reports import DriftStatus
from bcon_exporter.model.thresholds import Thresholds
from tests.diagnosis.judging import shipped
from tests.factories import NOON, ago, compose, container, ended, exited, lifecycle, snapshot
from tests.outputs.scenes import cause, diagnosis, difference, drift_report, report_of, symptom
from tests.table_rows import table

if TYPE_CHECKING:
    from bcon_exporter.incidents import Life, Trouble
    from bcon_exporter.model.container_facts import ContainerFacts
    from bcon_exporter.model.findings import Symptom
    from bcon_exporter.model.reports import DriftReport


def found(
    *containers: ContainerFacts, kind: DriftType = DriftType.MISSING_SERVICE, seconds: float = 60
) -> list[tuple[str | None, str | None]]:
    """Container and service of each trouble; the difference of service `db` has stood for so many seconds."""
    drift = difference(kind, "db", severity=Severity.ERROR, first_seen=NOON - timedelta(seconds=seconds))
    host = snapshot(*containers)
    report = report_of(diagnosis(one) for one in containers)
    troubles = find_troubles(report, host, (drift_report("shop", drift),)).troubles
    return [(one.who.container, one.who.service) for one in troubles]


def web(name: str = "shop-web-1", service: str = "web", made: float = 600, **facts: Any) -> ContainerFacts:
    claim = compose(service, project="shop", config_hash="h")
    return container(name=name, compose=claim, created_at=ago(made), started_at=ago(made), **facts)


@pytest.mark.parametrize(("seconds", "troubles"), [(59, []), (60, [(None, "db")])])
def test_a_difference_is_a_trouble_when_it_has_stood_for_a_minute(seconds: float, troubles: list[Any]) -> None:
    assert found(web(), seconds=seconds) == troubles


def test_what_a_deployment_has_not_started_yet_is_none() -> None:
    assert found(web(made=59)) == []


def test_of_a_project_or_service_that_was_taken_down_nothing_is_missed() -> None:
    assert found() == []
    assert found(web(), kind=DriftType.NOT_RUNNING) == []
    assert found(web("shop-db-1", "db"), kind=DriftType.NOT_RUNNING) == [(None, "db")]


@pytest.mark.parametrize("measured_now", [True, False])
def test_a_full_disk_goes_on_while_it_is_measured_and_looks_back_where_only_the_log_tells_of_it(
    *, measured_now: bool
) -> None:
    full = symptom(SymptomType.DISK_PRESSURE, measured_now=measured_now)
    facts = web()
    (one,) = find_troubles(report_of([diagnosis(facts, symptoms=(full,))]), snapshot(facts)).troubles
    assert one.goes_on is measured_now


@pytest.mark.parametrize("kind", [SymptomType.DISK_PRESSURE, SymptomType.HIGH_MEMORY])
def test_what_is_only_held_goes_on_no_more(kind: SymptomType) -> None:
    facts = web()
    held = symptom(kind, measured_now=True, is_held=True)
    (trouble,) = find_troubles(report_of([diagnosis(facts, symptoms=(held,))]), snapshot(facts)).troubles
    assert not trouble.goes_on


@pytest.mark.parametrize("kind", [DriftType.MISSING_SERVICE, DriftType.NOT_RUNNING])
@pytest.mark.parametrize(("started", "troubles"), [(1, []), (-1, [(None, "db")])])
def test_what_was_missing_is_there_when_it_runs_since_its_files_were_compared(
    kind: DriftType, started: float, troubles: list[Any]
) -> None:
    compared_at = ago(200)
    missing = difference(kind, "db", severity=Severity.ERROR, first_seen=ago(400))
    report = drift_report("shop", missing).model_copy(update={"timestamp": compared_at})
    db = web("shop-db-1", "db").model_copy(update={"started_at": compared_at + timedelta(seconds=started)})
    host = snapshot(web(), db)
    told = find_troubles(report_of(map(diagnosis, host.containers)), host, (report,)).troubles
    assert [(trouble.who.container, trouble.who.service) for trouble in told] == troubles


def test_of_a_project_whose_files_cannot_be_read_it_is_told_what_runs() -> None:
    facts = (
        web(),
        web("shop-web-2", state=ContainerState.EXITED),
        web("shop-db-1", "db", state=ContainerState.EXITED),
        container(name="shop-job-run", compose=compose("job", project="shop", oneoff=True)),
    )
    host, report = snapshot(*facts), report_of(diagnosis(one) for one in facts)

    def unknown(*drift: DriftReport) -> object:
        return find_troubles(report, host, drift).unknown_drift

    unread = drift_report("shop", reason=ProjectProblem.PARSE_ERROR)
    assert unknown(unread, drift_report("gone", reason=ProjectProblem.NOT_FOUND)) == {
        "shop": {"web": True, "db": False}
    }
    doubtful = drift_report("shop", status=DriftStatus.UNKNOWN, unknown_reason=ProjectProblem.UNRESOLVED_VARIABLE)
    assert unknown(doubtful) == unknown(drift_report("shop")) == {}, "they were compared"


@pytest.mark.parametrize("is_copy_first", [True, False])
@pytest.mark.parametrize("symptoms_of_copy", [(), (symptom(SymptomType.HIGH_MEMORY, severity=Severity.WARNING),)])
def test_a_copy_with_the_same_labels_hides_nothing_of_a_container_that_fails(
    symptoms_of_copy: tuple[Symptom, ...], *, is_copy_first: bool
) -> None:
    failing = web(state=ContainerState.EXITED, exit_code=1, lifecycle=lifecycle(exits=(ended(1, at=ago(minutes=5)),)))
    copy = web("web-copy", lifecycle=lifecycle(restarts=(ago(minutes=9),)))
    reports = [
        diagnosis(failing, symptoms=(symptom(SymptomType.EXIT_ERROR, severity=Severity.CRITICAL),)),
        diagnosis(copy, symptoms=symptoms_of_copy),
    ]
    order = -1 if is_copy_first else 1
    host = find_troubles(report_of(reports[::order]), snapshot(*(failing, copy)[::order]))

    (one,) = host.troubles
    codes = ("exit_error", *(shown.type for shown in symptoms_of_copy))
    assert (one.who.container, one.severity, one.codes) == ("shop-web-1", Severity.CRITICAL, codes)
    (life,) = host.lives.values()
    assert not life.is_well
    assert sorted(life.signs) == [ago(minutes=9), ago(minutes=5)]


@pytest.mark.parametrize("is_copy_first", [True, False])
def test_two_with_the_same_labels_are_one_trouble_since_the_first_of_them(*, is_copy_first: bool) -> None:
    over = symptom(SymptomType.LOG_ERROR, severity=Severity.CRITICAL, first_seen=ago(minutes=1))
    now = symptom(SymptomType.UNHEALTHY, severity=Severity.ERROR, first_seen=ago(minutes=2), evidence=("probe exit 1",))
    facts = (web(), web("web-copy"))
    reports = [diagnosis(facts[0], symptoms=(over,)), diagnosis(facts[1], symptoms=(now,))]
    order = -1 if is_copy_first else 1

    (one,) = find_troubles(report_of(reports[::order]), snapshot(*facts)).troubles
    assert (one.codes, one.since, one.goes_on) == (("log_error", "unhealthy"), ago(minutes=2), True)
    assert one.evidence == (*over.evidence, "probe exit 1")


def test_a_copy_that_has_ended_well_keeps_no_container_from_being_well() -> None:
    ill, copy = web(), web("web-copy", state=ContainerState.EXITED)
    report = report_of([diagnosis(ill, symptoms=(symptom(SymptomType.LOG_ERROR),)), diagnosis(copy)])
    (life,) = find_troubles(report, snapshot(ill, copy)).lives.values()
    assert life.is_well


def test_a_container_is_called_by_its_own_name_while_compose_makes_it_anew() -> None:
    ill = web("f1c80234d898_shop-db-1", "db")
    report = report_of([diagnosis(ill, symptoms=(symptom(SymptomType.EXIT_ERROR),))])
    assert [one.who.container for one in find_troubles(report, snapshot(ill)).troubles] == ["shop-db-1"]


def life_of(facts: ContainerFacts, *symptoms: Symptom, is_quiet: bool = False) -> tuple[Life, Trouble | None]:
    report = report_of([diagnosis(facts, symptoms=symptoms)])
    host = find_troubles(report, snapshot(facts), is_quiet=lambda _: is_quiet)
    (life,) = host.lives.values()
    return life, next(iter(host.troubles), None)


def test_what_an_engine_left_down_goes_on_until_it_is_started_or_muted_though_it_is_a_warning() -> None:
    down = web(state=ContainerState.EXITED)
    left = symptom(SymptomType.NOT_STARTED_AGAIN, Severity.WARNING)
    life, trouble = life_of(down, left)
    assert not life.is_well
    assert trouble is not None
    assert trouble.goes_on
    life, trouble = life_of(down, left, is_quiet=True)
    assert (life.is_well, trouble) == (True, None)
    _, trouble = life_of(down, left, symptom(SymptomType.LOG_UNBOUNDED, Severity.WARNING), is_quiet=True)
    assert trouble is not None, "it has more to say than that"


@pytest.mark.parametrize("severity", [Severity.WARNING, Severity.CRITICAL])
def test_a_start_that_failed_goes_on_until_it_succeeds(severity: Severity) -> None:
    made = web(state=ContainerState.CREATED)
    _, trouble = life_of(made, symptom(SymptomType.START_FAILED, severity))
    assert trouble is not None
    assert trouble.goes_on


def test_a_paused_container_is_not_well() -> None:
    assert not life_of(web(state=ContainerState.PAUSED))[0].is_well


@pytest.mark.parametrize(("requested", "is_history"), [(False, True), (True, False), (None, False)])
def test_only_a_failure_that_nothing_has_mended_is_history(requested: bool | None, *, is_history: bool) -> None:
    past = lifecycle(stop_requested=requested)
    down = web(state=ContainerState.EXITED, lifecycle=past)
    assert life_of(down, symptom(SymptomType.EXIT_ERROR, Severity.INFO))[0].is_history is is_history
    assert not life_of(down)[0].is_history


def test_what_differed_at_the_first_look_need_not_stand_for_a_minute_more() -> None:
    drift = difference(DriftType.MISSING_SERVICE, "db", severity=Severity.ERROR, first_seen=NOON - timedelta(seconds=5))
    facts = web()
    report, host = report_of([diagnosis(facts)]), snapshot(facts)
    for look, count in ((None, 0), (NOON - timedelta(seconds=6), 0), (NOON - timedelta(seconds=5), 1)):
        assert len(find_troubles(report, host, (drift_report("shop", drift),), first_look_at=look).troubles) == count


def test_a_hook_is_the_root_of_the_service_that_it_kept_from_starting() -> None:
    hook = compose("web", "shop", config_hash=None, hook="pre_start")
    failed = exited(3, name="shop-web-pre_start-0", compose=hook, seconds_ago=5)
    waiting = web(made=70, state=ContainerState.CREATED).model_copy(update={"started_at": None, "usage": None})
    host = snapshot(failed, waiting)
    report, _ = diagnose_host(host, Thresholds(), shipped())
    by_name = {one.who.container: one for one in find_troubles(report, host).troubles}
    root = by_name["shop-web-1"].root
    assert root is not None
    assert (root.container, root.project, root.service) == ("shop-web-pre_start-0", "shop", "web")
    assert root.identity != by_name["shop-web-1"].who.identity
    assert by_name["shop-web-1"].root_code == "hook_failed"


def run(seconds_ago: float = 60, name: str = "nightly-backup", **facts: Any) -> FailedRun:
    return FailedRun(**{"name": name, "image": "restic:1", "ended_at": ago(seconds_ago), "exit_code": 1, **facts})


JOBS: tuple[tuple[str, tuple[FailedRun, ...], dict[str, str]], ...] = (
    ("by its name", (run(), run(900)), {"nightly-backup": "exit_error"}),
    ("by its image", (run(name="eager_turing"), run(900, "sad_hopper3")), {"restic:1": "exit_error"}),
    ("by its service", (run(name="shop-dump-run-0a1b2c3d4e5f", project="shop"),), {"shop-dump": "exit_error"}),
    ("of memory", (run(oom=True, exit_code=137),), {"nightly-backup": "oom_killed"}),
    ("it ran well since", (run(mended_at=NOON),), {}),
    ("it failed again since", (run(), run(900, mended_at=ago(300))), {"nightly-backup": "exit_error"}),
    ("it is there again", (run(name="shop-web-1"),), {}),
    ("interrupted", (run(exit_code=130),), {}),
    ("23 hours ago", (run(23 * 3600),), {}),
    ("just before that", (run(23 * 3600 - 1),), {"nightly-backup": "exit_error"}),
    ("before any exporter watched", (run(is_from_before=True),), {}),
)


@table(("row", "runs", "codes"), JOBS)
def test_a_job_whose_newest_run_has_failed_is_a_trouble(
    row: str, runs: tuple[FailedRun, ...], codes: dict[str, str]
) -> None:
    host = snapshot(web(), failed_runs=runs)
    troubles = find_troubles(report_of([diagnosis(web())]), host).troubles
    assert {trouble.who.container: trouble.codes[0] for trouble in troubles} == codes, row
    assert all(trouble.goes_on and trouble.severity is Severity.ERROR for trouble in troubles)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"removes_itself": True, "finished_at": ago(10)}, False),
        ({"removes_itself": True, "finished_at": ago(11)}, True),
        ({"removes_itself": True, "finished_at": ago(1), "state": ContainerState.REMOVING}, False),
        ({"removes_itself": True, "finished_at": ago(1), "state": ContainerState.RUNNING}, True),
        ({"removes_itself": True, "finished_at": None}, True),
        ({"removes_itself": False, "finished_at": ago(1)}, True),
        ({"removes_itself": None, "finished_at": ago(1)}, True),
    ],
)
def test_what_removes_itself_at_this_moment_is_left_to_the_events(facts: dict[str, Any], *, told: bool) -> None:
    job = exited(**facts)
    report = report_of([diagnosis(job, symptoms=(symptom(SymptomType.EXIT_ERROR),))])
    assert bool(find_troubles(report, snapshot(job)).troubles) is told


@pytest.mark.parametrize(
    ("removed", "root"),
    [
        ("shop-db-1", (None, "shop", "db", "shop\x1fdb")),
        ("shop-my-db-12", (None, "shop", "my-db", "shop\x1fmy-db")),
        ("db", ("db", None, None, "removed\x1fdb")),
    ],
)
def test_what_was_removed_is_the_root_of_all_that_ask_for_it(
    removed: str, root: tuple[str | None, str | None, str | None, str]
) -> None:
    clients = (web(), web("shop-api-1", "api"))
    why = cause("dependency_removed", 0.93, peer=removed)
    ill = symptom(SymptomType.NETWORK_ERROR)
    reports = [diagnosis(one, symptoms=(ill,), likely_causes=(why,), root=removed) for one in clients]
    first, second = find_troubles(report_of(reports), snapshot(*clients)).troubles
    assert first.root is not None
    assert first.root == second.root
    assert (first.root.container, first.root.project, first.root.service, first.root.identity) == root
    assert first.root_code == "dependency_removed"
