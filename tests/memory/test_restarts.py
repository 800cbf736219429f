"""Promise: a restart counts when the policy or a supervisor made it after a crash, not when somebody asked for it."""

import pytest

from bcon_exporter.memory.exit_reasons import Circumstances
from bcon_exporter.memory.restarts import INFERRED_RESTART
from tests.memory.judged import event, restarts_of
from tests.memory.recorded import recorded


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


@pytest.mark.parametrize(("exit_code", "restarts"), [(0, 0), (1, 2)])
def test_what_removes_itself_after_good_work_is_a_job_and_no_loop(exit_code: int, restarts: int) -> None:
    events = []
    for number in range(3):
        name, at = f"c{number}", number * 10.0
        events += [event(at, "create", name), event(at, "start", name)]
        events += [event(at + 5, "die", name, exit_code=exit_code), event(at + 5.1, "destroy", name)]

    assert len(restarts_of(events)) == restarts


@pytest.mark.parametrize(("policies", "restarts"), [({}, 1), ({"c1": "no"}, 1), ({"c1": "always"}, 0)])
def test_one_with_a_restart_policy_was_removed_by_somebody(policies: dict[str, str], restarts: int) -> None:
    """`docker rm -f` of a container that waits to be restarted sends no signal."""
    removed = [event(0, "start"), event(1, "die", exit_code=1), event(2, "destroy")]
    events = [*removed, event(3, "create", "c2"), event(4, "start", "c2")]

    assert len(restarts_of(events, Circumstances(policies=policies))) == restarts


def test_one_that_was_restarted_does_not_remove_itself() -> None:
    """Its policy is unknown where no scan fell into its short life."""
    looped = [event(0, "start"), event(1, "die", exit_code=1), event(1.2, "start"), event(2, "die", exit_code=1)]
    replaced = [event(2.1, "destroy"), event(3, "create", "c2"), event(4, "start", "c2")]

    assert restarts_of([*looped, *replaced]) == [1.2]
