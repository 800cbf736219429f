"""An incident is pushed as one alert that starts once, whatever is restarted, and ends only by what was seen."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bcon_exporter.incidents import FoldedIncidents, acknowledge
from bcon_exporter.model.findings import DriftType, Severity, SymptomType
from bcon_exporter.model.incidents import IncidentState
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.quiet import Quiet
from bcon_exporter.model.verify_report import DeploymentVerdict
from bcon_exporter.outputs.alertmanager.watch import Pace
from tests.factories import NOON
from tests.outputs.alertmanager.stage import Stage
from tests.outputs.scenes import samples_of
from tests.table_rows import table


def play(stage: Stage, beats: int) -> None:
    for _ in range(beats):
        stage.beat()
        stage.pass_time()


def times(stage: Stage, name: str = "BconIncident") -> list[tuple[str, float | None]]:
    """The alert's phases, with when it fired in seconds."""
    return [
        (one.state, None if one.fired_at is None else (one.fired_at - NOON).total_seconds())
        for one in stage.alerts()
        if one.name == name
    ]


def own_names(stage: Stage) -> set[str]:
    """What fires beside incidents."""
    return {one.name for one in stage.alerts() if one.state == "firing"} - {"BconIncident", "BconWatchdog"}


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.scene.containers = {"api": {SymptomType.UNHEALTHY: Severity.ERROR}}
    return stage


def test_it_is_told_a_scan_after_it_opened_and_keeps_its_labels_and_start_over_a_restart(stage: Stage) -> None:
    play(stage, 1)
    assert times(stage) == [("pending", None)]
    play(stage, 1)
    (before,) = [one for one in stage.alerts() if one.name == "BconIncident"]
    stage.restart()
    play(stage, 3)

    (after,) = [one for one in stage.alerts() if one.name == "BconIncident"]
    assert times(stage) == [("firing", 30.0)]
    assert (after.labels, after.since, after.severity) == (before.labels, before.since, "warning")
    assert after.labels == {
        "container": "api",
        "project": "shop",
        "service": "api",
    }


def test_what_is_critical_is_told_after_ten_seconds_without_another_scan(stage: Stage) -> None:
    stage.scene.containers = {"api": {SymptomType.RESTART_LOOP: Severity.CRITICAL}}
    stage.beat()
    stage.pass_time(9.9)
    stage.watch.judge()
    assert times(stage) == [("pending", None)]
    stage.pass_time(0.1)
    stage.watch.judge()

    assert times(stage) == [("firing", 10.0)]


def test_what_is_well_before_it_was_told_is_never_told(stage: Stage) -> None:
    play(stage, 1)
    stage.context.memory.fold_incidents(lambda _: FoldedIncidents(IncidentState()), stage.now)
    stage.scene.containers = {"api": {}}
    play(stage, 3)

    assert times(stage) == []


def test_nothing_ends_while_the_engine_is_away_not_even_over_a_restart(stage: Stage) -> None:
    stage.scene.drifts = {("shop", "job", DriftType.MISSING_SERVICE)}
    play(stage, 4)
    told = [("firing", 30.0), ("firing", 90.0)]  # a difference has stood for a minute, a diagnosis has just ended
    assert times(stage) == told
    stage.scene.engine_up = False
    play(stage, 20)
    stage.restart()
    play(stage, 20)
    assert times(stage)[1:] == told  # the engine's absence is critical, and stands first
    stage.scene.engine_up = True
    stage.scene.containers, stage.scene.drifts = {}, set()
    play(stage, 10)

    assert {phase for phase, _ in times(stage)} == {"resolved"}


def test_an_engine_that_is_away_is_one_incident_of_the_host_while_it_is(stage: Stage) -> None:
    stage.scene.containers = {"api": {}}
    play(stage, 2)
    stage.scene.engine_up = False
    play(stage, 4)
    assert not stage.context.memory.memory.incidents.open
    play(stage, 10)

    (tracked,) = stage.context.memory.memory.incidents.open
    assert (tracked.incident.root.code, tracked.incident.severity) == ("host", Severity.CRITICAL)
    assert tracked.incident.started_at == NOON + timedelta(seconds=60)
    assert tracked.incident.evidence == ("the engine does not answer",)
    (alert,) = [one for one in stage.alerts() if one.name == "BconIncident"]
    assert (alert.state, alert.severity) == ("firing", "critical")
    assert alert.annotations["summary"] == "the Docker engine does not answer (on this host)"
    assert own_names(stage) == set()  # one failure, one alert

    stage.scene.engine_up = True
    play(stage, 8)
    assert [phase for phase, _ in times(stage)] == ["resolved"]


def test_what_ended_is_told_of_over_a_restart(stage: Stage) -> None:
    play(stage, 6)
    stage.scene.containers = {}
    play(stage, 6)
    stage.restart()
    play(stage, 2)

    assert times(stage) == [("resolved", 30.0)]


def test_a_state_that_cannot_be_read_begins_anew(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    play(stage, 6)
    stage.context.memory.keep_alerts('{"at": "never"}', stage.now)
    stage.restart()
    play(stage, 1)

    assert times(stage) == [("pending", None)]
    assert "begin anew" in caplog.text


def test_who_acknowledged_is_told_no_more_and_a_quiet_host_not_at_all(stage: Stage) -> None:
    play(stage, 1)
    (tracked,) = stage.context.memory.memory.incidents.open
    stage.context.memory.fold_incidents(
        lambda state: FoldedIncidents(acknowledge(state, tracked.incident.id, stage.now)), stage.now
    )
    play(stage, 10)
    assert times(stage) == [("pending", None)]

    stage.scene.containers = {"api": {SymptomType.UNHEALTHY: Severity.ERROR, SymptomType.OOM_KILLED: Severity.CRITICAL}}
    play(stage, 2)
    assert [(one.state, one.severity) for one in stage.alerts() if one.name == "BconIncident"] == [
        ("firing", "critical")
    ]


def test_the_worst_stands_first_and_metrics_count_what_fires(stage: Stage) -> None:
    stage.scene.containers["db"] = {SymptomType.START_FAILED: Severity.CRITICAL}
    play(stage, 6)
    stage.scene.containers["new"] = {SymptomType.EXIT_ERROR: Severity.ERROR}
    play(stage, 1)

    assert [(one.name, one.state, one.labels.get("container")) for one in stage.alerts()] == [
        ("BconIncident", "firing", "db"),
        ("BconIncident", "firing", "api"),
        ("BconWatchdog", "firing", None),
        ("BconIncident", "pending", "new"),
    ]
    assert samples_of(stage.text(), "bcon_alerts_firing") == []  # the exposition of the stage counts no alerts
    assert stage.watch.counts().firing == 3


OWN = {
    "BconDockerEndpointDown": 5,
    "BconScanStale": 3.5,
    "BconScanSlow": 15,
    "BconScanMissed": 0.5,
    "BconConfigReloadFailed": 5,
    "BconSeriesDropped": 5,
    "BconStateErrors": 5,
    "BconComposeUnreadable": 5,
    "BconDeploymentFailed": 0,
}
"""What is wrong with the exporter or a project → after how many minutes it is told."""


@table("name", OWN)
def test_each_trouble_of_its_own_is_told_after_its_wait_and_ends(name: str) -> None:
    stage = Stage(cap=1 if name == "BconSeriesDropped" else 10_000)
    scene = stage.scene
    scene.containers = {"api": {}}
    if name != "BconSeriesDropped":
        play(stage, 2)
        assert own_names(stage) == set()
    began = stage.now
    scene.endpoints = {"list": True, "stats": name != "BconDockerEndpointDown"}
    scene.seconds = 26.0 if name == "BconScanSlow" else 1.0
    scene.diagnose_works = name != "BconScanStale"
    scene.unknown = {"other"} if name == "BconComposeUnreadable" else set()
    stage.own.record_reload(NOON, successful=name != "BconConfigReloadFailed")
    if name == "BconDeploymentFailed":
        stage.deploy(DeploymentVerdict.BAD)
    if name == "BconScanMissed":
        stage.beat()
        stage.pass_time()
        stage.context.scans.record_missed("drift", 4)
    told_after = None
    for _ in range(40):
        scene.state_errors += name == "BconStateErrors"
        stage.beat()
        if told_after is None and name in own_names(stage):
            told_after = (stage.now - began).total_seconds() / 60
        stage.pass_time()
    assert own_names(stage) <= {name}
    assert told_after is not None
    assert told_after == pytest.approx(OWN[name], abs=0.51)

    scene.endpoints, scene.seconds, scene.unknown, scene.diagnose_works = (
        {"list": True, "stats": True},
        1.0,
        set(),
        True,
    )
    stage.own.record_reload(NOON, successful=True)
    stage.deploy(DeploymentVerdict.GOOD)
    play(stage, 70)
    assert own_names(stage) == ({name} if name == "BconSeriesDropped" else set())


def test_a_failed_deployment_is_told_by_the_incident_that_its_project_has(stage: Stage) -> None:
    stage.scene.containers = {"api": {}}
    stage.scene.drifts = {("shop", "job", DriftType.MISSING_SERVICE)}
    play(stage, 6)
    stage.deploy(DeploymentVerdict.BAD)
    play(stage, 2)

    assert [one.name for one in stage.alerts() if one.state == "firing"] == ["BconIncident", "BconWatchdog"]
    assert own_names(stage) == set()


def mute(stage: Stage, *projects: str) -> None:
    """Let these projects alone be quiet, for an hour."""
    ends_at = stage.now + timedelta(hours=1)
    quiets = tuple(Quiet(name=one, project=one, began_at=stage.now, ends_at=ends_at) for one in projects)
    entry = JournalEntry(at=stage.now, kind=JournalKind.NOTE, text="quiet")
    stage.context.memory.keep_quiets(lambda _: quiets, entry)


def test_of_a_quiet_project_nothing_is_told_before_its_quiet_ends(stage: Stage) -> None:
    stage.scene.containers = {"api": {}}
    mute(stage, "shop", "other")
    stage.scene.unknown = {"other"}
    stage.deploy(DeploymentVerdict.BAD)
    play(stage, 20)
    assert own_names(stage) == set()

    mute(stage, "shop")
    play(stage, 1)
    assert own_names(stage) == {"BconComposeUnreadable"}
    mute(stage)
    play(stage, 1)
    assert own_names(stage) == {"BconComposeUnreadable", "BconDeploymentFailed"}


def test_what_was_told_of_a_project_goes_on_when_it_becomes_quiet(stage: Stage) -> None:
    stage.scene.containers = {"api": {}}
    stage.deploy(DeploymentVerdict.BAD)
    play(stage, 2)
    mute(stage, "shop")
    play(stage, 10)

    assert own_names(stage) == {"BconDeploymentFailed"}


def test_of_a_scan_that_hangs_while_the_engine_is_away_the_hosts_incident_tells(stage: Stage) -> None:
    stage.scene.containers = {"api": {}}
    play(stage, 2)
    stage.scene.engine_up = False
    for _ in range(20):  # no scan comes back
        stage.watch.judge()
        stage.pass_time()

    assert [phase for phase, _ in times(stage)] == ["firing"]
    assert own_names(stage) == set()


@pytest.mark.parametrize(("interval", "pause"), [(1, 1.5), (30, 45), (40, 60), (3600, 60)])
def test_a_round_comes_at_least_every_minute(interval: float, pause: float) -> None:
    assert Pace(interval).pause_seconds == pause


def test_the_state_is_written_when_it_changes_and_every_five_minutes(stage: Stage) -> None:
    written = []
    keep = stage.context.memory.keep_alerts
    stage.scene.containers = {}

    class Counting:
        """A history that counts."""

        def __getattr__(self, name: str) -> object:
            return getattr(history, name)

        def keep_alerts(self, state: str, now: object) -> None:
            written.append(now)
            keep(state, now)  # type: ignore[arg-type]  # a time

    history = stage.context.memory
    stage.context = replace(stage.context, memory=Counting())  # type: ignore[arg-type]  # acts as one
    play(stage, 21)

    assert written == [NOON, NOON + timedelta(minutes=5), NOON + timedelta(minutes=10)]
