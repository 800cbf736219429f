"""An alert waits, fires, is kept and resolves at the moments that its row says; what cannot be seen ends nothing."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from bcon_exporter.alerting import (
    AlertRule,
    AlertSeverity,
    AlertState,
    Counters,
    Scope,
    Watched,
    remember_counters,
    step,
)
from bcon_exporter.alerting.expressions import Increase, above, is_value, series
from bcon_exporter.alerting.table import ALERTS
from tests.factories import NOON

DOWN = (("endpoint", "list"),)
RULE = AlertRule(
    name="Example",
    scope=Scope.EXPORTER,
    severity=AlertSeverity.WARNING,
    expr=is_value(series("x"), 1),
    wait_seconds=60,
    keep_seconds=90,
    summary="",
    description="",
)
TRUE: Watched = {"x": {DOWN: 1.0}}
FALSE: Watched = {"x": {DOWN: 0.0}}


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def play(*moments: tuple[float, Watched], rule: AlertRule = RULE) -> AlertState:
    """The state after some moments, each (seconds, samples)."""
    state: AlertState | None = None
    for seconds, samples in moments:
        state = step(state, samples, at(seconds), rules=(rule,))
    assert state is not None
    return state


@pytest.mark.parametrize(("seconds", "fires"), [(59.9, False), (60, True), (60.1, True)])
def test_it_fires_when_it_has_waited_long_enough(seconds: float, fires: bool) -> None:
    state = play((0, TRUE), (seconds, TRUE))

    assert bool(state.firing) is fires
    assert [each.since for each in state.tracked] == [NOON]


def test_it_starts_when_its_wait_is_over_and_keeps_that_start() -> None:
    state = play((0, TRUE), (70, TRUE), (100, TRUE), (500, TRUE))

    assert [each.fired_at for each in state.firing] == [at(70)]


def test_what_became_false_while_it_waited_is_forgotten() -> None:
    assert play((0, TRUE), (30, FALSE)).tracked == ()
    assert play((0, TRUE), (30, FALSE), (31, TRUE), (89, TRUE)).firing == ()


@pytest.mark.parametrize(("seconds", "fires"), [(189.9, True), (190, False), (190.1, False)])
def test_it_is_kept_from_when_it_was_found_untrue(seconds: float, fires: bool) -> None:
    assert bool(play((0, TRUE), (60, TRUE), (100, FALSE), (seconds, FALSE)).firing) is fires


def test_what_comes_back_while_it_is_kept_goes_on_and_is_kept_anew() -> None:
    state = play((0, TRUE), (60, TRUE), (100, FALSE), (150, TRUE), (160, FALSE), (249, FALSE))

    assert [each.fired_at for each in state.firing] == [at(60)]


@pytest.mark.parametrize(("seconds", "told"), [(900, True), (900.1, False)])
def test_what_has_ended_is_told_of_for_a_quarter_of_an_hour(seconds: float, told: bool) -> None:
    state = play((0, TRUE), (60, TRUE), (100, FALSE), (190, FALSE), (190 + seconds, FALSE))

    assert bool(state.tracked) is told
    assert [each.resolved_at for each in state.tracked] == [at(190)] * told


def test_what_fires_again_after_its_end_starts_anew() -> None:
    state = play((0, TRUE), (60, TRUE), (100, FALSE), (190, FALSE), (200, TRUE), (260, TRUE))

    assert [(each.since, each.fired_at) for each in state.firing] == [(at(200), at(260))]


def test_a_state_goes_through_json_unchanged() -> None:
    state = play((0, TRUE), (60, TRUE), (100, FALSE))

    assert AlertState.model_validate_json(state.model_dump_json()) == state


@pytest.mark.parametrize(("minutes", "fires"), [(60, True), (60.1, False)])
def test_a_state_of_long_ago_is_no_knowledge(minutes: float, fires: bool) -> None:
    kept = play((0, TRUE), (60, TRUE))

    state = step(kept, TRUE, at(60 + 60 * minutes), rules=(RULE,))

    assert bool(state.firing) is fires


def test_a_clock_that_steps_back_ends_nothing() -> None:
    assert [each.fired_at for each in play((0, TRUE), (60, TRUE), (-3600, TRUE)).firing] == [at(60)]


def counted(*values: float) -> bool:
    """Whether a counter that stood so, a minute apart, grew by more than 3 in 30 minutes."""
    rule = AlertRule(
        name="Counted",
        scope=Scope.EXPORTER,
        severity=AlertSeverity.WARNING,
        expr=above(Increase(series("bcon_scans_missed_total"), 30), 3),
        summary="",
        description="",
    )
    counters: Counters = ()
    state: AlertState | None = None
    for minute, value in enumerate(values):
        samples: Watched = {"bcon_scans_missed_total": {(("scan", "drift"),): value}}
        state = step(state, samples, at(60 * minute), counters, rules=(rule,))
        counters = remember_counters(counters, samples, at(60 * minute))
    return bool(state and state.firing)


@pytest.mark.parametrize(
    ("values", "fires"),
    [
        ((7, 8, 9, 10), False),
        ((7, 8, 9, 11), True),
        ((7, 8, 2, 2), False),
        ((7, 8, 2, 3), True),
        ((0, 4, *[4] * 29), True),
        ((0, 4, *[4] * 30), False),
        ((*[0] * 40, 4), True),
        ((*[0] * 40, 4, *[4] * 29), True),
        ((*[0] * 40, 4, *[4] * 30), False),
    ],
)
def test_growth_counts_within_the_window_and_across_a_restart(values: tuple[float, ...], fires: bool) -> None:
    assert counted(*values) is fires


def test_counters_that_stand_still_are_remembered_once_however_often_they_are_looked_at() -> None:
    counters: Counters = ()
    for second in range(1000):
        counters = remember_counters(counters, {"bcon_scans_missed_total": {(): float(second // 400)}}, at(second))
    assert len(counters) == 6


def test_what_no_window_reaches_and_what_is_still_to_come_is_not_remembered() -> None:
    counters: Counters = ()
    for second in (0, 1801, 9000, 5400):  # then the clock is set back
        counters = remember_counters(counters, {"bcon_scans_missed_total": {(): float(second)}}, at(second))
        assert [moment for moment, _ in counters] == [at(second).timestamp()]
    counters = remember_counters(counters, {}, at(5400 + 1800))
    assert [moment for moment, _ in counters] == [at(5400).timestamp(), at(7200).timestamp()]


def test_a_symptom_without_a_scan_is_carried_over_a_restart() -> None:
    labels = (("container", "api"), ("symptom", "unhealthy"))
    seen: Watched = {
        "bcon_containers": {(): 1.0},
        "bcon_container_symptom": {labels: 1.0},
        "bcon_scan_interval_seconds": {(("scan", "diagnose"),): 30.0},
    }
    unseen: Watched = {"bcon_scan_interval_seconds": {(("scan", "diagnose"),): 30.0}}
    before = step(step(None, seen, at(0)), seen, at(120))

    after = AlertState.model_validate_json(before.model_dump_json())
    for seconds in (150, 600, 3000):
        after = step(after, unseen, at(seconds))

    assert [(each.rule, each.fired_at) for each in after.firing if each.rule != "BconWatchdog"] == [
        ("BconContainerUnhealthy", at(120))
    ]
    gone = step(after, {**seen, "bcon_container_symptom": {}}, at(3030))
    assert [each.resolved_at for each in gone.tracked if each.rule != "BconWatchdog"] == [at(3030)]


def test_rows_of_one_name_differ_in_severity() -> None:
    keys = [(rule.name, rule.severity) for rule in ALERTS]

    assert len(set(keys)) == len(keys)
