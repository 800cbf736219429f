"""One alert for each open incident: it waits, keeps its fingerprint, and follows merges, growth and ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from bcon_exporter.alerting import (
    AlertInputs,
    AlertSeverity,
    AlertState,
    Condition,
    Counters,
    find_growth,
    follow_alerts,
    remember_counters,
)
from bcon_exporter.errors import StateFileError
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import FirstLook, Incident, IncidentRoot
from tests.factories import NOON

INTERVAL = timedelta(seconds=30)
HANGS = Condition("Hangs", AlertSeverity.WARNING, timedelta(minutes=1), {"summary": "it hangs"})


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def incident(name: str, severity: Severity = Severity.ERROR, **more: Any) -> Incident:
    root = IncidentRoot(container=name, code="exit_error")
    made = {"started_at": at(-60), "severity": severity, "root": root, "title": f"{name} has failed", "members": ()}
    return Incident(id=name, **{**made, **more})


class Play:
    """Carries the state from moment to moment, as the daemon does, through JSON."""

    def __init__(self) -> None:
        self.state: AlertState | None = None
        self.ended: dict[str, Incident] = {}
        self.muted: set[str] = set()
        self.pauses: set[str] = set()
        self.is_unreadable = False
        self.first_look: FirstLook | None = None

    def find_ended(self, incident_id: str) -> Incident | None:
        if self.is_unreadable:
            msg = "the state file cannot be read"
            raise StateFileError(msg)
        return self.ended.get(incident_id)

    def look(self, seconds: float, *incidents: Incident, conditions: tuple[Condition, ...] = ()) -> None:
        """One moment, at which a diagnosis has just ended."""
        inputs = AlertInputs(
            at(seconds),
            conditions,
            incidents,
            find_ended=self.find_ended,
            is_muted=lambda incident: incident.id in self.muted,
            scanned_at=at(seconds),
            interval=INTERVAL,
            first_look=self.first_look,
            pauses=frozenset(self.pauses),
        )
        self.state = follow_alerts(self.state, inputs)
        self.state = AlertState.model_validate_json(self.state.model_dump_json())

    def shown(self) -> list[tuple[str, str, str]]:
        """Fingerprint, severity and phase of each alert of an incident, with what it speaks of."""
        assert self.state is not None
        return [
            (
                dict(alert.labels)["container"],
                alert.severity.value,
                "pending" if alert.fired_at is None else "resolved" if alert.resolved_at else alert.incident or "",
            )
            for alert in self.state.alerts
            if alert.incident is not None
        ]


@pytest.mark.parametrize(("seconds", "phase"), [(14.9, "pending"), (15, "db"), (30, "db")])
def test_the_opening_waits_one_scan(seconds: float, phase: str) -> None:
    play = Play()
    play.look(0, incident("db"))
    play.look(seconds, incident("db"))

    assert play.shown() == [("db", "warning", phase)]


@pytest.mark.parametrize(("seconds", "phase"), [(44.9, "pending"), (45, "db"), (-10, "db")])
def test_without_a_scan_it_waits_so_long_at_most_and_a_clock_that_is_set_back_holds_nothing_up(
    seconds: float, phase: str
) -> None:
    play = Play()
    play.look(0, incident("db"))
    assert play.state is not None
    later = AlertInputs(at(seconds), (), (incident("db"),), scanned_at=at(0), interval=INTERVAL)
    play.state = follow_alerts(play.state, later)

    assert play.shown() == [("db", "warning", phase)]


def test_all_that_was_ill_before_the_first_look_fires_at_once_and_what_began_after_it_as_ever() -> None:
    play = Play()
    play.first_look = FirstLook(at=at(0))
    old = (incident("a", Severity.CRITICAL, started_at=at(0)), incident("b", started_at=at(0)))
    new = incident("c", Severity.CRITICAL, started_at=at(1))
    for seconds in (0, 30, 60):
        play.look(seconds, *old, new)
    assert play.shown() == [("a", "critical", "pending"), ("b", "warning", "pending"), ("c", "critical", "c")]
    play.first_look = FirstLook(at=at(0), files_at=at(50), is_over=True)
    play.look(61, *old, new)
    assert play.shown() == [("a", "critical", "a"), ("b", "warning", "b"), ("c", "critical", "c")]


def test_a_first_look_that_does_not_end_holds_nothing_up_for_long() -> None:
    play = Play()
    play.first_look = FirstLook(at=at(0))
    for seconds, phase in ((0, "pending"), (89, "pending"), (90, "a")):
        play.look(seconds, incident("a", started_at=at(0)))
        assert play.shown() == [("a", "warning", phase)]


def test_what_is_back_before_it_was_told_fires_only_when_it_fails_again() -> None:
    play = Play()
    play.pauses = {"db"}
    play.look(0, incident("db"))
    play.look(60, incident("db"))
    assert play.shown() == [("db", "warning", "pending")]
    play.pauses.clear()
    play.look(90, incident("db"))
    assert play.shown() == [("db", "warning", "db")]


def test_what_ended_before_it_was_told_is_never_told() -> None:
    play = Play()
    play.look(0, incident("db"))
    play.look(30)

    assert play.shown() == []


def test_one_that_was_merged_before_it_was_told_is_told_as_its_root_without_another_wait() -> None:
    play = Play()
    play.look(0, incident("web"))
    play.ended["web"] = incident("web", merged_into="db", ended_at=at(14))
    play.look(15, incident("db"))

    assert play.shown() == [("db", "warning", "db")]


def test_while_its_incident_cannot_be_read_an_alert_stays_as_it_is_and_others_fire() -> None:
    play = Play()
    play.look(0, incident("web"), incident("job"))
    play.look(30, incident("web"), incident("job"))
    play.ended["web"] = incident("web", merged_into="db", ended_at=at(60))
    play.ended["job"] = incident("job", ended_at=at(60))
    play.is_unreadable = True
    for seconds in (60, 90):
        play.look(seconds, incident("other"))
    assert play.shown() == [("web", "warning", "web"), ("job", "warning", "job"), ("other", "warning", "other")]
    play.is_unreadable = False
    play.look(120, incident("other"), incident("db"))

    assert sorted(play.shown()) == [
        ("job", "warning", "resolved"), ("other", "warning", "other"), ("web", "warning", "db"),
    ]  # fmt: skip


def test_a_merge_after_it_was_told_updates_it_and_opens_and_ends_nothing() -> None:
    play = Play()
    play.look(0, incident("web"))
    play.look(30, incident("web"))
    play.ended["web"] = incident("web", merged_into="db", ended_at=at(60))
    for seconds in (60, 90, 120):
        play.look(seconds, incident("db"))
        assert play.shown() == [("web", "warning", "db")]
    assert play.state is not None
    assert play.state.alerts[0].annotations == {"summary": "db has failed"}
    play.ended["db"] = incident("db", ended_at=at(140))
    play.look(150)

    assert play.shown() == [("web", "warning", "resolved")]
    assert play.state.alerts[0].resolved_at == at(140)


def test_one_that_was_merged_twice_between_two_looks_goes_on_as_what_it_is_a_part_of_in_the_end() -> None:
    play = Play()
    play.look(0, incident("web"))
    play.look(30, incident("web"))
    play.ended["web"] = incident("web", merged_into="db", ended_at=at(60))
    play.ended["db"] = incident("db", merged_into="root", ended_at=at(62))
    play.look(65, incident("root"))

    assert play.shown() == [("web", "warning", "root")]


def test_of_two_that_were_told_and_merged_the_older_goes_on() -> None:
    play = Play()
    play.look(0, incident("web"))
    play.look(30, incident("web"), incident("api"))
    play.look(60, incident("web"), incident("api"))
    for name in ("web", "api"):
        play.ended[name] = incident(name, merged_into="db", ended_at=at(90))
    play.look(90, incident("db"))
    play.look(120, incident("db"))

    assert sorted(play.shown()) == [("api", "warning", "resolved"), ("web", "warning", "db")]


def test_one_that_grows_worse_after_it_was_told_is_told_once_more_and_the_lesser_alert_goes_on() -> None:
    play = Play()
    play.look(0, incident("db"))
    play.look(30, incident("db"))
    for seconds in (60, 70, 90):
        play.look(seconds, incident("db", Severity.CRITICAL))
    assert play.shown() == [("db", "warning", "db"), ("db", "critical", "db")]
    play.look(120)

    assert {phase for _, _, phase in play.shown()} == {"resolved"}


def test_one_that_grows_worse_before_it_was_told_is_told_once() -> None:
    play = Play()
    play.look(0, incident("db"))
    play.look(10, incident("db", Severity.CRITICAL))

    assert play.shown() == [("db", "critical", "db")]


def test_one_that_is_muted_waits_and_speaks_when_that_ends_and_one_that_was_told_goes_on() -> None:
    play = Play()
    play.look(0, incident("db"), incident("web"))
    play.muted = {"db"}
    play.look(30, incident("db"), incident("web"))
    play.muted = {"db", "web"}
    play.look(600, incident("db"), incident("web"))
    assert play.shown() == [("db", "warning", "pending"), ("web", "warning", "web")]
    play.muted = set()
    play.look(630, incident("db"), incident("web"))

    assert play.shown() == [("db", "warning", "db"), ("web", "warning", "web")]


def test_an_incident_keeps_its_alert_however_long_the_exporter_was_away() -> None:
    play = Play()
    play.look(0, incident("db"))
    play.look(30, incident("db"))
    play.look(90_000, incident("db"))

    assert play.shown() == [("db", "warning", "db")]
    assert play.state is not None
    assert play.state.alerts[0].starts_at == at(-60)


@pytest.mark.parametrize(("seconds", "told"), [(900, True), (900.1, False)])
def test_what_has_ended_is_told_of_for_a_quarter_of_an_hour(seconds: float, told: bool) -> None:
    play = Play()
    for moment in (0, 60):
        play.look(moment, conditions=(HANGS,))
    play.look(100)
    play.look(100 + seconds)

    assert play.state is not None
    assert bool(play.state.alerts) is told


@pytest.mark.parametrize(("seconds", "fires"), [(59.9, False), (60, True)])
def test_a_condition_fires_when_it_has_waited(seconds: float, fires: bool) -> None:
    play = Play()
    play.look(0, conditions=(HANGS,))
    play.look(seconds, conditions=(HANGS,))

    assert play.state is not None
    assert bool(play.state.firing) is fires


def test_a_condition_that_ends_while_it_waits_waits_anew() -> None:
    play = Play()
    play.look(0, conditions=(HANGS,))
    play.look(30)
    play.look(31, conditions=(HANGS,))
    play.look(89, conditions=(HANGS,))

    assert play.state is not None
    assert play.state.firing == ()


@pytest.mark.parametrize(("minutes", "fires"), [(60, True), (60.1, False)])
def test_a_condition_of_long_ago_is_no_knowledge(minutes: float, fires: bool) -> None:
    play = Play()
    for seconds in (0, 60, 60 + 60 * minutes):
        play.look(seconds, conditions=(HANGS,))

    assert play.state is not None
    assert bool(play.state.firing) is fires


def test_one_that_fires_again_after_its_end_is_told_once() -> None:
    play = Play()
    for seconds in (0, 60):
        play.look(seconds, conditions=(replace(HANGS, wait=timedelta()),))
        play.look(seconds + 30)
    play.look(100, conditions=(replace(HANGS, wait=timedelta()),))

    assert play.state is not None
    assert [(alert.fired_at, alert.resolved_at) for alert in play.state.alerts] == [(at(100), None)]


def grown(*values: float) -> float:
    """How much a counter that stood so, a minute apart, grew in 30 minutes."""
    counters: Counters = ()
    for minute, value in enumerate(values):
        counters = remember_counters(counters, {"missed": value}, at(60 * minute))
    return find_growth(counters, "missed", timedelta(minutes=30))


@pytest.mark.parametrize(
    ("values", "growth"),
    [
        ((7, 8, 9, 10), 3),
        ((7, 8, 2, 2), 3),
        ((0, 4, *[4] * 29), 4),
        ((0, 4, *[4] * 30), 0),
        ((*[0] * 40, 4), 4),
        ((*[0] * 40, 4, *[4] * 30), 0),
    ],
)
def test_growth_counts_within_the_window_and_across_a_restart_of_the_counter(
    values: tuple[float, ...], growth: float
) -> None:
    assert grown(*values) == growth


def test_counters_that_stand_still_are_remembered_once_however_often_they_are_looked_at() -> None:
    counters: Counters = ()
    for second in range(1000):
        counters = remember_counters(counters, {"missed": float(second // 400)}, at(second))
    assert len(counters) == 6


def test_what_no_window_reaches_and_what_is_still_to_come_is_not_remembered() -> None:
    counters: Counters = ()
    for second in (0, 1801, 9000, 5400):  # then the clock is set back
        counters = remember_counters(counters, {"missed": float(second)}, at(second))
        assert [moment for moment, _ in counters] == [at(second)]
    counters = remember_counters(counters, {}, at(5400 + 1800))
    assert [moment for moment, _ in counters] == [at(5400), at(7200)]
