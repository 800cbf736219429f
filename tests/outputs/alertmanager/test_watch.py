"""Alerts start once, whatever is restarted, and end only by what was seen."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bcon_exporter.model.findings import DriftType, Severity, SymptomType
from bcon_exporter.outputs.alertmanager.watch import Pace
from tests.factories import NOON
from tests.outputs.alertmanager.stage import Stage
from tests.outputs.scenes import samples_of


def play(stage: Stage, beats: int) -> None:
    for _ in range(beats):
        stage.beat()
        stage.pass_time()


def times(stage: Stage, name: str = "BconContainerUnhealthy") -> list[tuple[str, float | None]]:
    """The alert's phases, with when it fired in seconds."""
    return [
        (one.state, None if one.fired_at is None else (one.fired_at - NOON).total_seconds())
        for one in stage.alerts()
        if one.name == name
    ]


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.scene.containers = {"api": {SymptomType.UNHEALTHY: Severity.ERROR}}
    return stage


def test_the_start_is_kept_over_a_restart(stage: Stage) -> None:
    play(stage, 6)
    stage.restart()
    play(stage, 1)

    assert times(stage) == [("firing", 120.0)]


def test_a_wait_goes_on_over_a_restart(stage: Stage) -> None:
    play(stage, 3)
    stage.restart()
    play(stage, 2)

    assert times(stage) == [("firing", 120.0)]


def test_nothing_ends_while_the_engine_is_away_not_even_over_a_restart(stage: Stage) -> None:
    stage.scene.drifts = {("shop", "web", DriftType.MISSING_SERVICE)}
    play(stage, 12)
    stage.scene.engine_up = False
    play(stage, 20)
    stage.restart()
    play(stage, 20)
    assert times(stage) == [("firing", 120.0)]
    assert times(stage, "BconServiceMissing") == [("firing", 300.0)]
    stage.scene.engine_up = True
    stage.scene.containers, stage.scene.drifts = {"api": {}}, set()
    play(stage, 4)

    assert times(stage) == [("resolved", 120.0)]
    assert times(stage, "BconServiceMissing") == [("resolved", 300.0)]


def test_what_ended_is_told_of_over_a_restart(stage: Stage) -> None:
    play(stage, 6)
    stage.scene.containers = {}
    play(stage, 1)
    stage.restart()
    play(stage, 2)

    assert times(stage) == [("resolved", 120.0)]


def test_texts_are_kept_over_a_restart_without_an_engine(stage: Stage) -> None:
    play(stage, 6)
    stage.scene.engine_up = False
    stage.restart()
    play(stage, 1)

    (alert,) = [one for one in stage.alerts() if one.name == "BconContainerUnhealthy"]
    assert alert.annotations["summary"] == "api on this host is unhealthy"
    assert alert.annotations["description"].endswith("seen")


def test_a_state_that_cannot_be_read_begins_anew(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    play(stage, 6)
    stage.context.history.keep_alert_state('{"at": "never"}', stage.now)
    stage.restart()
    play(stage, 1)

    assert times(stage) == [("pending", None)]
    assert "begin anew" in caplog.text


def test_the_worst_stands_first_and_metrics_count_what_fires(stage: Stage) -> None:
    stage.scene.containers["db"] = {SymptomType.RESTART_LOOP: Severity.CRITICAL}
    stage.scene.containers["new"] = {}
    play(stage, 6)
    stage.scene.containers["new"] = {SymptomType.HIGH_CPU: Severity.WARNING}
    play(stage, 1)

    assert [one.name for one in stage.alerts()] == [
        "BconContainerRestartLoop",
        "BconContainerUnhealthy",
        "BconWatchdog",
        "BconContainerHighCpu",
    ]
    assert samples_of(stage.text(), "bcon_alerts_firing") == []  # the exposition of the stage counts no alerts
    assert stage.watch.counts().firing == 3


@pytest.mark.parametrize(("interval", "pause"), [(1, 1.5), (30, 45), (40, 60), (3600, 60)])
def test_a_round_comes_at_least_every_minute(interval: float, pause: float) -> None:
    assert Pace(interval).pause_seconds == pause


def test_the_state_is_written_when_it_changes_and_every_five_minutes(stage: Stage) -> None:
    written = []
    keep = stage.context.history.keep_alert_state
    stage.scene.containers = {}

    class Counting:
        """A history that counts."""

        def __getattr__(self, name: str) -> object:
            return getattr(history, name)

        def keep_alert_state(self, state: str, now: object) -> None:
            written.append(now)
            keep(state, now)  # type: ignore[arg-type]  # a time

    history = stage.context.history
    from dataclasses import replace

    stage.context = replace(stage.context, history=Counting())  # type: ignore[arg-type]  # acts as one
    play(stage, 21)

    assert written == [NOON, NOON + timedelta(minutes=5), NOON + timedelta(minutes=10)]
