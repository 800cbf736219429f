"""A scan publishes its report with first-seen times that outlive gaps in what can be judged."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import ErrorCode
from bcon_exporter.memory import Memory, conclude_first_seen
from bcon_exporter.model.desired import DesiredProject, ProjectProblem, RunningProject
from bcon_exporter.model.findings import DriftType, Severity, SymptomType
from bcon_exporter.model.tool_inputs import DiagnoseContainerInput
from bcon_exporter.readings import NOTHING_READ, Observation, Readings
from bcon_exporter.schedule import diagnose_job
from bcon_exporter.schedule.diagnose_job import DiagnoseJob
from bcon_exporter.schedule.drift_job import DriftJob
from bcon_exporter.schedule.rule_errors import count_rule_errors
from bcon_exporter.tools.diagnosis import diagnose_container, diagnose_fully
from bcon_exporter.tools.replay import SnapshotCompose, SnapshotHost, SnapshotMemory
from tests.factories import NOON, compose, container, exited, logs, looping, snapshot
from tests.outputs.scenes import (
    Clock,
    diagnosis,
    difference,
    drift_report,
    make_context,
    not_judged,
    report_of,
    symptom,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bcon_exporter.memory import FindingKind, LogCounts
    from bcon_exporter.model.container_facts import HostSnapshot
    from bcon_exporter.model.hysteresis import HoldState
    from bcon_exporter.tools import Context


class Remembering(SnapshotMemory):
    """Remembers first-seen times and holds as a daemon does, and takes the pasts as the snapshots have them."""

    def __init__(self) -> None:
        self.memory = Memory()

    def conclude_first_seen(
        self,
        kind: FindingKind,
        present: Mapping[str, Severity | None],
        now: datetime,
        judged_at: datetime | None = None,  # noqa: ARG002
    ) -> dict[str, datetime]:
        """Keep and return the times of present keys."""
        self.memory, since = conclude_first_seen(self.memory, kind, present, now)
        return since

    def first_seen(self, kind: FindingKind) -> Mapping[str, datetime]:
        """Return the keys of the last time."""
        return self.memory.first_seen.get(kind, {})

    def conclude(self, *, hysteresis: HoldState, log_counts: LogCounts) -> None:
        """Keep which symptoms are held, and what was counted in logs."""
        self.memory = replace(self.memory, hysteresis=hysteresis, log_counts=log_counts)


def context_of(*containers: Any, **facts: Any) -> Context:
    """A context over some containers with a memory."""
    return replace(make_context(snapshot(*containers, **facts)), memory=Remembering())


def test_a_diagnosis_is_published_with_first_seen_times() -> None:
    context = context_of(container(name="well"), container(name="loop", lifecycle=looping(), restart_policy="always"))

    DiagnoseJob().run(context)

    scan = context.scans.diagnosis
    assert scan is not None
    reports = {each.container_name: each for each in scan.report.reports}
    assert reports["well"].status == "healthy"
    assert SymptomType.RESTART_LOOP in {each.type for each in reports["loop"].symptoms}
    assert {each.first_seen for each in reports["loop"].symptoms} == {NOON}
    assert context.scans.status("diagnose").success is True


class SlowHost(SnapshotHost):
    """Reading takes as long as it may, and judging three seconds more."""

    def __init__(self, host: HostSnapshot, clock: Clock) -> None:
        super().__init__(host)
        self._clock = clock
        self.deadlines: list[float] = []

    def observe(
        self, now: datetime, deadline_seconds: float, wants: Any, before: Readings = NOTHING_READ
    ) -> Observation:
        """Take all the time and more."""
        self.deadlines.append(deadline_seconds)
        self._clock.at += deadline_seconds + (3.0 if len(self.deadlines) < 4 else -8.0)
        return super().observe(now, deadline_seconds, wants, before)


def test_a_scan_that_was_late_reads_for_less_long_the_next_time() -> None:
    clock = Clock()
    host = SlowHost(snapshot(container()), clock)
    context = replace(make_context(monotonic=clock), host=host, scan_deadline_seconds=20.0)
    job = DiagnoseJob()

    for _ in range(5):
        job.run(context)

    assert host.deadlines == [18.0, 17.0, 17.0, 17.0, 18.0]


class TickingClock(Clock):
    """Each look at it takes a tenth of a second, as what is done between two looks may."""

    def __call__(self) -> float:
        self.at += 0.1
        return self.at


def test_every_part_of_a_scan_looks_at_the_clock_and_ends_at_the_deadline() -> None:
    sick = (exited(137, name=f"c{number}", oom_killed=True, logs=logs("ERROR boom")) for number in range(400))
    context = replace(make_context(snapshot(*sick), monotonic=TickingClock()), scan_deadline_seconds=20.0)

    DiagnoseJob().run(context)

    scan = context.scans.diagnosis
    assert scan is not None
    assert scan.duration_seconds <= 20.5
    hurried = ["before causes were looked for" in report.detailed_explanation for report in scan.report.reports]
    judged = [not report.not_evaluated for report in scan.report.reports]
    assert hurried.count(False) > hurried.count(True) > 100
    assert 180 < judged.count(True) < 195
    assert len(scan.report.incomplete) > 380
    assert len(scan.log_events) == 400


def test_what_scans_have_seen_dates_what_is_asked_for_on_demand() -> None:
    context = context_of(container(name="loop", lifecycle=looping(), restart_policy="always"))
    ask = {"container_id": "loop"}

    def starts() -> set[datetime | None]:
        one = diagnose_container(context, DiagnoseContainerInput.model_validate(ask))
        every = diagnose_fully(context)
        return {each.first_seen for report in (one, *every.reports) for each in report.symptoms}

    assert starts() == {None}, "no scan has seen it"
    DiagnoseJob().run(context)
    assert starts() == {NOON}


def test_history_is_not_remembered_as_present() -> None:
    facts = container()
    report = report_of([diagnosis(facts, symptoms=(symptom(SymptomType.EXIT_ERROR, Severity.INFO),))])

    assert diagnose_job.find_present(report) == {}


def test_a_symptom_that_cannot_be_judged_for_a_while_keeps_its_start() -> None:
    facts, job, memory = container(), DiagnoseJob(), Remembering()
    context = replace(make_context(), memory=memory)
    seen = diagnosis(facts, symptoms=(symptom(SymptomType.LOG_ERROR),))
    blind = diagnosis(facts, not_evaluated=(not_judged(SymptomType.LOG_ERROR),))

    starts = []
    for minute, each in enumerate((seen, blind, seen)):
        report = report_of([each]).model_copy(update={"timestamp": NOON + timedelta(minutes=minute)})
        starts.append([one.first_seen for one in job._date(context, report).reports[0].symptoms])

    assert starts == [[NOON], [], [NOON]]


def test_a_symptom_that_cannot_be_judged_at_first_keeps_its_start_over_a_restart() -> None:
    facts, context = container(), replace(make_context(), memory=Remembering())
    seen = diagnosis(facts, symptoms=(symptom(SymptomType.LOG_ERROR),))
    blind = diagnosis(facts, not_evaluated=(not_judged(SymptomType.LOG_ERROR),))

    DiagnoseJob()._date(context, report_of([seen]).model_copy(update={"timestamp": NOON}))
    restarted, later = DiagnoseJob(), {"timestamp": NOON + timedelta(minutes=5)}
    restarted._date(context, report_of([blind]).model_copy(update=later))
    dated = restarted._date(context, report_of([seen]).model_copy(update=later))

    assert dated.reports[0].symptoms[0].first_seen == NOON


def test_a_symptom_that_was_judged_absent_starts_anew() -> None:
    facts, job = container(), DiagnoseJob()
    context = replace(make_context(), memory=Remembering())
    later = NOON + timedelta(minutes=2)

    for at, symptoms in ((NOON, (symptom(SymptomType.LOG_ERROR),)), (NOON + timedelta(minutes=1), ())):
        job._date(context, report_of([diagnosis(facts, symptoms=symptoms)]).model_copy(update={"timestamp": at}))
    report = report_of([diagnosis(facts, symptoms=(symptom(SymptomType.LOG_ERROR),))])
    dated = job._date(context, report.model_copy(update={"timestamp": later}))

    assert dated.reports[0].symptoms[0].first_seen == later


def test_a_rule_that_raises_is_counted_for_each_container_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    failed = diagnosis(
        container(), rule_errors=(SymptomType.PAUSED,), rule_faults={"paused": "paused (TypeError at paused.py:7)"}
    )
    context = make_context()

    for _ in range(2):
        count_rule_errors(context, [failed, diagnosis(container()), failed])

    assert context.scans.rule_errors == {"paused": 4}
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "paused (TypeError at paused.py:7)"
    ]


@pytest.mark.parametrize("side_job", ["watch_incidents", "settle_notes", "date_explanations"])
def test_a_defect_beside_the_judging_costs_no_diagnosis(side_job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(diagnose_job, side_job, break_down)
    context = context_of(container(name="well"))

    DiagnoseJob().run(context)

    assert context.scans.status("diagnose").success is True
    assert context.errors.counts()[ErrorCode.INTERNAL_ERROR] == 1


def project(**changes: Any) -> DesiredProject:
    """A project that cannot be judged."""
    base: dict[str, Any] = {"name": "shop", "resolved_at": NOON, "problem": ProjectProblem.NOT_FOUND}
    return DesiredProject(**{**base, **changes})


class Configured(SnapshotCompose):
    """Compose with files named in the settings."""

    def __init__(self, *projects: DesiredProject) -> None:
        super().__init__(snapshot())
        self._configured = projects

    def resolve_running(self, running: RunningProject, now: datetime) -> DesiredProject:
        """Say that the running one cannot be read."""
        return project(name=running.name, resolved_at=now)

    def configured_projects(self, now: datetime) -> tuple[DesiredProject, ...]:  # noqa: ARG002
        """Return the configured ones."""
        return self._configured


def test_every_project_is_compared_once_running_or_configured() -> None:
    host = snapshot(container(name="shop-api-1", compose=compose()))
    context = replace(make_context(host), compose=Configured(project(), project(name="other")), memory=Remembering())

    DriftJob().run(context)

    scan = context.scans.drift
    assert scan is not None
    assert [each.project_name for each in scan.reports] == ["other", "shop"]
    assert context.scans.status("drift").success is True


def test_running_containers_outside_every_file_are_untracked() -> None:
    host = snapshot(container(name="lone"), exited(name="old"), container(name="mine", compose=compose()))
    context = replace(make_context(host), compose=Configured(project()), memory=Remembering())

    DriftJob().run(context)

    scan = context.scans.drift
    assert scan is not None
    assert scan.untracked == ("lone",)


def test_containers_whose_configuration_was_not_read_make_the_scan_incomplete() -> None:
    host = snapshot(container(name="dark"), container(name="seen"))
    host = host.model_copy(update={"incomplete": (host.containers[0].id,)})
    context = replace(make_context(host), compose=Configured(project()), memory=Remembering())

    DriftJob().run(context)

    assert context.scans.status("drift").incomplete == 1


def test_a_project_that_becomes_unknown_keeps_the_starts_of_its_drifts() -> None:
    context, job = replace(make_context(), memory=Remembering()), DriftJob()
    drifted = drift_report("shop", difference(DriftType.IMAGE_MISMATCH))
    unknown = drift_report("shop", reason=ProjectProblem.PARSE_ERROR)

    starts = []
    for minute, report in enumerate((drifted, unknown, drifted)):
        dated = job._date(context, (report,), NOON + timedelta(minutes=minute))
        starts.append([each.first_seen for each in dated[0].differences])

    assert starts == [[NOON], [], [NOON]]


def test_a_project_that_is_unknown_at_first_keeps_the_starts_of_its_drifts_over_a_restart() -> None:
    context = replace(make_context(), memory=Remembering())
    drifted = drift_report("shop", difference(DriftType.IMAGE_MISMATCH))
    unknown = drift_report("shop", reason=ProjectProblem.PARSE_ERROR)

    DriftJob()._date(context, (drifted,), NOON)
    restarted = DriftJob()
    restarted._date(context, (unknown,), NOON + timedelta(minutes=5))
    dated = restarted._date(context, (drifted,), NOON + timedelta(minutes=6))

    assert [each.first_seen for each in dated[0].differences] == [NOON]


def test_an_explanation_begins_when_it_is_found_and_keeps_its_start_until_the_container_is_well() -> None:
    facts, context = container(), replace(make_context(), memory=Remembering())
    ill = {"symptoms": (symptom(SymptomType.LOG_ERROR, first_seen=NOON - timedelta(hours=2)),)}
    explained = diagnosis(facts, root="db", **ill)

    def starts(*reports: Any) -> list[Any]:
        found = []
        for minute, each in enumerate(reports):
            report = report_of([each]).model_copy(update={"timestamp": NOON + timedelta(minutes=minute)})
            found.append(list(diagnose_job.date_explanations(context, report).values()))
        return found

    assert starts(diagnosis(facts, **ill), explained, diagnosis(facts, **ill), explained) == [
        [],
        [NOON + timedelta(minutes=1)],
        [],
        [NOON + timedelta(minutes=1)],
    ], "not the start of a symptom that is older, and the first one where it comes and goes"
    assert starts(diagnosis(facts), explained) == [[], [NOON + timedelta(minutes=1)]]
