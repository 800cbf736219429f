"""Promise: a restart counts when the policy or a supervisor made it after a crash, not when somebody asked for it."""

import pytest

from bcon_exporter.model.lifecycle_rules import INFERRED_RESTART, Circumstances
from tests.model.judged import event, restarts_of
from tests.model.recorded import recorded


@pytest.mark.parametrize(("waited", "counted"), [(89.9, 1), (90.0, 1), (90.1, 0)])
def test_a_start_long_after_a_crash_is_somebodys(waited: float, counted: int) -> None:
    assert len(restarts_of([event(0, "start"), event(1, "die", exit_code=1), event(1 + waited, "start")])) == counted


def test_a_start_without_a_restart_policy_is_somebodys() -> None:
    events = [event(0, "start"), event(1, "die", exit_code=1), event(2, "start")]
    assert restarts_of(events, Circumstances(policies={"c1": "no"})) == []
    assert restarts_of(events, Circumstances(policies={"c1": "on-failure:3"})) == [2.0]


def test_restarting_a_crashed_container_by_hand_is_no_policy_restart() -> None:
    events = recorded("restart_of_a_crashed")
    assert len(restarts_of(events)) == 1, "docker restart is marked; docker start within 90 s is not"
    policy = Circumstances(policies={events[0].container_id: "no"})
    assert restarts_of(events, policy) == []


def test_restarts_go_on_counting_over_a_manual_start() -> None:
    assert len(restarts_of(recorded("loop_then_manual"))) == 5


def test_a_run_with_exit_0_that_the_policy_repeats_counts() -> None:
    assert restarts_of([event(0, "start"), event(1, "die", exit_code=0), event(2, "start")]) == [2.0]


@pytest.mark.parametrize(("waited", "counted"), [(59.9, 1), (60.0, 1), (60.1, 0)])
def test_a_supervisor_that_runs_a_container_anew_restarts_it(waited: float, counted: int) -> None:
    events = [event(0, "create"), event(0.1, "start"), event(1, "die", exit_code=1), event(1.1, "destroy")]
    events += [event(1 + waited - 0.1, "create", "c2"), event(1 + waited, "start", "c2")]
    assert len(restarts_of(events)) == counted


@pytest.mark.parametrize(("waited", "counted"), [(1.9, 1), (2.0, 1), (2.1, 0)])
def test_a_crashed_container_that_somebody_removed_is_not_restarted_by_a_new_one(waited: float, counted: int) -> None:
    events = [event(0, "create"), event(0.1, "start"), event(1, "die", exit_code=1), event(1 + waited, "destroy")]
    assert len(restarts_of([*events, event(4, "create", "c2"), event(5, "start", "c2")])) == counted


def test_a_new_container_made_before_the_old_one_is_gone_is_a_recreation() -> None:
    events = [event(0, "start"), event(1, "die", exit_code=1), event(3, "create", "c2"), event(3.1, "destroy")]
    assert restarts_of([*events, event(3.2, "start", "c2")]) == []


def test_an_inferred_restart_counts_until_its_own_event_comes() -> None:
    inferred = event(10, INFERRED_RESTART)
    assert restarts_of([inferred]) == [10.0]
    told = [event(0, "start"), event(9, "die", exit_code=1), event(10.5, "start")]
    assert restarts_of([*told, inferred]) == [10.5]
