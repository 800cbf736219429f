"""Promise: an end that somebody asked for is told from a crash, and only restarts that nobody asked for count.

The recorded scenarios come from a real engine; what they cannot show (bounds, disorder) is built here.
"""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.memory.exit_reasons import (
    Circumstances,
    Shutdown,
    find_health_changes,
    find_image_change,
    find_oom_kills,
    find_stopping,
)
from bcon_exporter.memory.restarts import INFERRED_RESTART
from bcon_exporter.memory.runs import find_runs, sort_events
from bcon_exporter.model.exit_codes import parse_signal, signal_of_exit
from bcon_exporter.model.lifecycle import LifecycleEvent
from tests.factories import NOON
from tests.memory.judged import HUP, KILL, QUIT, TERM, ends_of, event, restarts_of, verdicts
from tests.memory.recorded import SCENARIOS, of_container, of_service, recorded


@pytest.mark.parametrize(
    ("scenario", "expected", "restarts"),
    [
        ("docker_stop", ["requested 0"], 0),
        ("docker_stop_forced", ["forced 137"], 0),
        ("docker_stop_at_once", ["forced 137"], 0),
        ("docker_kill", ["crash 137"], 0),
        ("docker_kill_with_policy", ["crash 137"], 0),
        ("docker_kill_term", ["requested 0"], 0),
        ("reload_by_hup", ["crash 3"], 0),
        ("term_then_exit_3", ["requested 3"], 0),
        ("docker_restart", ["requested 0"], 0),
        ("docker_rm_force", ["requested 137"], 0),
        ("crash", ["crash 7"], 0),
        ("crash_loop", ["crash 7"] * 6, 5),
        ("crash_loop_stopped", ["crash 7"] * 4 + ["requested 7"], 4),
        ("crash_loop_rm", ["crash 7"] * 5, 4),
        ("exit_255", ["crash 255"] * 2, 1),
        ("oom", ["oom 137"], 0),
        ("oom_loop", ["oom 137"] * 6, 5),
        ("oom_child", [], 0),
        ("auto_remove", ["crash 3"] * 2, 1),
        ("pause", ["requested 0"], 0),
        ("rename", ["requested 0"], 0),
        ("health", ["requested 137"], 0),
        ("start_failed", [], 0),
        ("host_crashed", [], 0),
    ],
)
def test_recorded_ends_are_told_apart(scenario: str, expected: list[str], restarts: int) -> None:
    assert verdicts(recorded(scenario)) == expected
    assert len(restarts_of(recorded(scenario))) == restarts


def test_every_recorded_scenario_can_be_judged() -> None:
    assert len(SCENARIOS) >= 30
    for scenario in SCENARIOS:
        assert len(ends_of(recorded(scenario))) == sum(e.action == "die" for e in recorded(scenario))


def test_compose_recreation_is_asked_for_and_no_restart() -> None:
    for service, number in (("web", 1), ("worker", 1), ("worker", 2)):
        events = of_service(recorded("compose_recreate"), service, number)
        assert verdicts(events) == ["requested 0"]
        assert restarts_of(events) == []
        change = find_image_change(sort_events(events), {}, {})
        assert change is not None
        assert change.previous == "bb:1"


def test_compose_stop_up_restart_and_down_are_asked_for() -> None:
    events = of_service(recorded("compose_updown"), "web")
    assert verdicts(events) == ["requested 0"] * 3
    assert restarts_of(events) == []


def test_compose_kill_is_no_request_and_a_start_after_it_no_policy_restart() -> None:
    events = of_service(recorded("compose_updown"), "worker", 1)
    assert verdicts(events) == ["crash 137", "requested 0"]
    assert restarts_of(events) == []


def test_scaling_down_is_asked_for() -> None:
    assert verdicts(of_service(recorded("compose_scale"), "worker", 3)) == ["requested 0"]


def test_a_stopped_engine_ends_its_containers_with_it() -> None:
    events = recorded("engine_stopped_and_started")
    down = Shutdown(NOON + timedelta(seconds=13.9), NOON + timedelta(seconds=16.4))
    for name, words in {
        "always": ["shutdown 0"],
        "slow": ["shutdown 137"],
        "never": ["shutdown 137"],
        "loop": ["shutdown 137"],
    }.items():
        own = of_container(events, name)
        assert verdicts(own, Circumstances(shutdowns=(down,))) == words
        assert restarts_of(own, Circumstances(shutdowns=(down,))) == []
        assert restarts_of(own) == [], "even when the shutdown was not noticed"


def test_a_killed_engine_makes_no_restart_loop() -> None:
    events = recorded("engine_killed_and_restarted")
    down = Shutdown(NOON + timedelta(seconds=3.1), NOON + timedelta(seconds=15.8))
    for name in ("always", "slow", "never", "loop"):
        own = of_container(events, name)
        assert [end.shutdown for end in ends_of(own, Circumstances(shutdowns=(down,)))] == [True]
        assert restarts_of(own) == []


def test_an_end_long_before_a_shutdown_is_judged_by_itself() -> None:
    events = [event(0, "start"), event(100, "die", exit_code=1)]
    near = Shutdown(NOON + timedelta(seconds=120), NOON + timedelta(seconds=150))
    late = Shutdown(NOON + timedelta(seconds=120.1), NOON + timedelta(seconds=150))
    assert verdicts(events, Circumstances(shutdowns=(near,))) == ["shutdown 1"]
    assert verdicts(events, Circumstances(shutdowns=(late,))) == ["crash 1"]


def test_a_crash_that_was_followed_by_a_restart_before_a_shutdown_is_judged_by_itself() -> None:
    down = Shutdown(NOON + timedelta(seconds=10), NOON + timedelta(seconds=20))
    events = [event(0, "start"), event(1, "die", exit_code=1), event(2, "start"), event(9, "die", exit_code=0)]
    assert verdicts([*events, event(20, "start")], Circumstances(shutdowns=(down,))) == ["crash 1", "shutdown 0"]


def test_a_crash_after_the_engine_is_back_is_a_crash() -> None:
    down = Shutdown(NOON, NOON + timedelta(seconds=10))
    events = [event(11, "start"), event(12, "die", exit_code=1)]
    assert verdicts(events, Circumstances(shutdowns=(down,))) == ["crash 1"]


@pytest.mark.parametrize(
    ("waited", "exit_code", "expected"),
    [(29.9, 1, "requested"), (30.0, 1, "requested"), (30.1, 1, "crash"), (600.0, 0, "requested"), (600.1, 0, "crash")],
)
def test_a_stop_signal_asks_only_for_an_end_soon_after_it(waited: float, exit_code: int, expected: str) -> None:
    events = [event(0, "start"), event(10, "kill", signal=TERM), event(10 + waited, "die", exit_code=exit_code)]
    assert verdicts(events) == [f"{expected} {exit_code}"]


def test_a_long_grace_period_is_no_crash_when_the_stop_is_reported() -> None:
    events = [event(0, "start"), event(10, "kill", signal=TERM), event(130, "kill", signal=KILL)]
    events += [event(130.1, "die", exit_code=137), event(130.2, "stop")]
    assert verdicts(events) == ["forced 137"]


def test_the_containers_own_stop_signal_counts_as_one() -> None:
    events = [event(0, "start"), event(5, "kill", signal=HUP), event(6, "die", exit_code=1)]
    assert verdicts(events) == ["crash 1"]
    assert verdicts(events, Circumstances(stop_signals={"c1": HUP})) == ["requested 1"]


@pytest.mark.parametrize("signal", [TERM, 2, QUIT])
def test_usual_stop_signals_ask(signal: int) -> None:
    assert verdicts([event(0, "start"), event(5, "kill", signal=signal), event(6, "die", exit_code=0)]) == [
        "requested 0"
    ]


def test_a_reload_before_a_later_crash_is_no_request() -> None:
    events = [event(0, "start")]
    events += [event(n, "kill", signal=HUP) for n in range(1, 5)]
    assert verdicts([*events, event(5, "die", exit_code=139)]) == ["crash 139"]


@pytest.mark.parametrize(
    ("signal", "exit_code", "killed"),
    [(HUP, 129, True), (10, 138, True), (KILL, 137, True), (HUP, 139, False), (HUP, 1, False), (TERM, 143, False)],
)
def test_a_signal_through_the_engine_that_ended_it_killed_it(signal: int, exit_code: int, *, killed: bool) -> None:
    events = [event(0, "start"), event(5, "kill", signal=signal), event(5.1, "die", exit_code=exit_code)]
    assert [end.killed for end in ends_of(events)] == [killed]


@pytest.mark.parametrize(("waited", "killed"), [(10.0, True), (10.1, False)])
def test_a_signal_of_long_before_did_not_end_it(waited: float, *, killed: bool) -> None:
    events = [event(0, "start"), event(5, "kill", signal=HUP), event(5 + waited, "die", exit_code=129)]
    assert [end.killed for end in ends_of(events)] == [killed]


def test_a_request_does_not_reach_into_the_next_run() -> None:
    events = [event(0, "start"), event(5, "kill", signal=TERM), event(6, "die", exit_code=0), event(6.1, "stop")]
    events += [event(7, "start"), event(8, "die", exit_code=1)]
    assert verdicts(events) == ["requested 0", "crash 1"]


def test_removing_a_dead_container_later_does_not_excuse_its_kill() -> None:
    events = [event(0, "start"), event(5, "kill", signal=KILL), event(5.1, "die", exit_code=137)]
    assert verdicts([*events, event(15.1, "destroy")]) == ["requested 137"]
    assert verdicts([*events, event(15.2, "destroy")]) == ["crash 137"]


def test_a_container_that_removes_itself_has_still_crashed() -> None:
    assert verdicts([event(0, "start"), event(5, "die", exit_code=1), event(5.1, "destroy")]) == ["crash 1"]


@pytest.mark.parametrize(
    ("before", "exit_code", "oom"), [(10.0, 137, True), (10.1, 137, False), (2.0, 1, True), (2.1, 1, False)]
)
def test_an_oom_kill_belongs_to_an_end_soon_after_it(before: float, exit_code: int, *, oom: bool) -> None:
    events = [event(0, "start"), event(50, "oom"), event(50 + before, "die", exit_code=exit_code)]
    assert [end.oom for end in ends_of(events)] == [oom]


def test_an_oom_event_reported_after_the_end_still_belongs_to_it() -> None:
    events = [event(0, "start"), event(5, "die", exit_code=137), event(5.5, "oom")]
    assert [end.oom for end in ends_of(events)] == [True]


def test_a_child_killed_before_a_forced_stop_did_not_end_the_container() -> None:
    events = [event(0, "start"), event(5, "oom"), event(6, "kill", signal=TERM), event(6, "kill", signal=KILL)]
    assert [end.oom for end in ends_of([*events, event(6.1, "die", exit_code=137)])] == [False]


def test_oom_kills_of_a_child_are_listed() -> None:
    assert len(find_oom_kills(recorded("oom_child"))) == 1


def test_health_flips_are_counted_within_a_run() -> None:
    assert len(find_health_changes(recorded("health"))) == 2
    steps = [
        event(1, "health_status", health="unhealthy"),
        event(2, "start"),
        event(3, "health_status", health="healthy"),
    ]
    assert find_health_changes(steps) == ()


@pytest.mark.parametrize(
    ("code", "signal"), [(None, None), (0, None), (128, None), (129, 1), (137, 9), (139, 11), (192, 64), (193, None)]
)
def test_exit_codes_above_128_name_a_signal(code: int | None, signal: int | None) -> None:
    assert signal_of_exit(code) == signal


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("SIGQUIT", 3),
        ("quit", 3),
        ("3", 3),
        ("SIGRTMIN+3", 37),
        ("", None),
        (None, None),
        ("SIGNOPE", None),
        ("-", None),
    ],
)
def test_stop_signals_are_read_as_docker_writes_them(text: str | None, number: int | None) -> None:
    assert parse_signal(text) == number


ACTIONS = ("create", "start", "die", "kill", "stop", "restart", "oom", "destroy", "health_status", INFERRED_RESTART)
EVENTS = st.lists(
    st.builds(
        event,
        st.integers(0, 200).map(lambda tenths: tenths / 10),
        st.sampled_from(ACTIONS),
        st.sampled_from(["c1", "c2"]),
        exit_code=st.sampled_from([None, 0, 1, 137, 255]),
        signal=st.sampled_from([None, 1, 9, 15]),
        health=st.sampled_from([None, "healthy", "unhealthy"]),
    ),
    max_size=40,
)


@given(EVENTS, st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_changes_a_verdict(events: list[LifecycleEvent], random: object) -> None:
    mixed = [*events, *events[::2]]
    random.shuffle(mixed)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    assert ends_of(mixed) == ends_of(events)
    assert restarts_of(mixed) == restarts_of(events)


@given(EVENTS)
def test_wild_events_give_sane_facts(events: list[LifecycleEvent]) -> None:
    ends = ends_of(events)
    assert [end.at for end in ends] == sorted(end.at for end in ends)
    assert all(end.requested or not end.forced for end in ends)
    assert all(end.lifetime_seconds is None or end.lifetime_seconds >= 0 for end in ends)
    restarts = restarts_of(events)
    assert restarts == sorted(restarts)
    assert len(restarts) <= sum(e.action in ("start", INFERRED_RESTART) for e in set(events))


@given(EVENTS)
def test_more_shutdowns_never_make_more_restarts(events: list[LifecycleEvent]) -> None:
    whole = Shutdown(NOON + timedelta(seconds=30), NOON + timedelta(seconds=60))
    assert set(restarts_of(events, Circumstances(shutdowns=(whole,)))) <= set(restarts_of(events))


def stopping(events: list[LifecycleEvent], stop_signals: dict[str, int] | None = None) -> float | None:
    """Seconds after NOON at which the container was asked to stop."""
    found = find_stopping(find_runs(sort_events(events)), "c1", Circumstances(stop_signals or {}))
    return None if found is None else (found - NOON).total_seconds()


def test_a_stop_is_under_way_from_its_signal_on() -> None:
    started = event(0, "start")
    assert stopping([started]) is None
    assert stopping([started, event(50, "kill", signal=TERM)]) == 50
    assert stopping([started, event(50, "kill", signal=TERM), event(60, "kill", signal=KILL)]) == 50
    assert stopping([started, event(50, "kill", signal=TERM), event(58, "kill", signal=TERM)]) == 50
    assert stopping([started, event(50, "kill", signal=TERM), event(58, "die", exit_code=0)]) == 50


def test_a_signal_that_it_outlived_is_no_part_of_a_later_stop() -> None:
    assert stopping([event(0, "start"), event(50, "kill", signal=TERM), event(900, "kill", signal=TERM)]) == 900


def test_neither_a_reload_nor_the_stop_of_an_earlier_run_is_one_under_way() -> None:
    assert stopping([event(0, "start"), event(50, "kill", signal=HUP)]) is None
    assert stopping([event(0, "start"), event(50, "kill", signal=HUP)], {"c1": HUP}) == 50
    assert stopping([event(0, "start"), event(5, "kill", signal=TERM), event(6, "die"), event(7, "start")]) is None
    assert stopping([event(0, "start", "c2"), event(5, "kill", "c2", signal=TERM)]) is None
