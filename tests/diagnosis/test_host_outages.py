"""Without history, ends that everything on a host shares are a shutdown, and others are not."""

from datetime import timedelta
from typing import Any

import pytest

from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.diagnosis.host_outages import find_shutdowns
from bcon_exporter.model.container_facts import ContainerFacts, EngineFacts
from bcon_exporter.model.lifecycle import LifecycleFacts
from bcon_exporter.model.thresholds import Thresholds
from tests.diagnosis.judging import shipped
from tests.factories import NOON, ago, container, exited, lifecycle, snapshot

REBOOT = 2 * 3600.0
BLANK: LifecycleFacts = lifecycle(observed_since=NOON)


def fell(name: str, code: int = 255, *, seconds_later: float = 0, **facts: Any) -> ContainerFacts:
    """Ended at the reboot (a little later), and was not started again."""
    return exited(code, name=name, seconds_ago=REBOOT - seconds_later, lifecycle=BLANK, **facts)


def back(name: str, *, seconds_later: float = 0, **facts: Any) -> ContainerFacts:
    """Ended at the reboot, and runs again."""
    base = {"restart_policy": "always", "finished_at": ago(REBOOT - seconds_later), "started_at": ago(REBOOT - 60)}
    return container(**{"name": name, "lifecycle": BLANK, "created_at": ago(days=9), **base, **facts})


def statuses(*containers: ContainerFacts) -> dict[str, str]:
    report, _ = diagnose_host(snapshot(*containers), Thresholds(), shipped())
    return {one.container_name: one.status for one in report.reports}


def test_a_reboot_makes_no_crash_of_what_it_ended() -> None:
    found = statuses(back("a"), back("b", seconds_later=3), fell("job", 1, seconds_later=5))

    assert found == {"a": "healthy", "b": "healthy", "job": "healthy"}


def test_it_is_told_as_what_it_was() -> None:
    report, _ = diagnose_host(snapshot(back("a"), back("b"), fell("job", 1)), Thresholds(), shipped())

    assert "probably by a shutdown of engine or host" in report.reports[2].summary


@pytest.mark.parametrize(("count", "expected"), [(2, "error"), (3, "healthy")])
def test_two_ends_at_once_may_be_a_chance(count: int, expected: str) -> None:
    others = [back(f"b{n}") for n in range(count - 1)]

    assert statuses(fell("job", 1), *others)["job"] == expected


@pytest.mark.parametrize(("seconds", "expected"), [(20, "healthy"), (21, "error")])
def test_the_engine_gives_its_containers_a_few_seconds(seconds: float, expected: str) -> None:
    found = statuses(back("a"), back("b"), back("c"), fell("job", 1, seconds_later=seconds))

    assert found["job"] == expected


def test_where_one_ran_on_nothing_was_shut_down() -> None:
    survivor = container(name="survivor", started_at=ago(days=5))

    assert statuses(back("a"), back("b"), fell("job", 1), survivor)["job"] == "error"


def test_one_that_ran_on_and_ended_later_is_a_survivor_too() -> None:
    later = exited(0, name="later", seconds_ago=600, started_at=ago(days=5))

    assert find_shutdowns(snapshot(back("a"), back("b"), fell("c"), later)) == ()


def test_three_jobs_that_fail_together_are_three_failures() -> None:
    found = statuses(fell("a", 1), fell("b", 1), fell("c", 1), container(name="web", started_at=ago(REBOOT - 60)))

    assert found == {"a": "error", "b": "error", "c": "error", "web": "healthy"}


def test_a_stack_that_crashes_and_is_restarted_is_no_shutdown() -> None:
    loops = [back(name, restart_count=4) for name in "abc"]

    assert find_shutdowns(snapshot(*loops, fell("job", 1))) == ()


def test_what_history_knows_stays_what_it_is() -> None:
    job = exited(1, name="job", seconds_ago=REBOOT)

    assert statuses(back("a"), back("b"), back("c"), job)["job"] == "error"


def test_a_refused_start_is_no_shutdown() -> None:
    refused = fell("web", 128, error="network gone not found")

    assert statuses(back("a"), back("b"), refused)["web"] == "critical"


@pytest.mark.parametrize(("up_before", "expected"), [(1.1, "warning"), (1, "healthy"), (-60, "healthy")])
def test_an_engine_that_stayed_up_did_not_go_down(up_before: float, expected: str) -> None:
    """Seven containers that the OOM killer ended within seconds, and nothing else ran."""
    killed = [fell(f"k{n}", 137, seconds_later=n) for n in range(7)]
    engine = EngineFacts(name="h", server_version="28", api_version="1.51", started_at=ago(REBOOT + up_before))
    report, _ = diagnose_host(snapshot(*killed, engine=engine), Thresholds(), shipped())

    assert {one.status for one in report.reports} == {expected}


@pytest.mark.parametrize(("policy", "expected"), [("no", "warning"), ("always", "healthy")])
def test_code_255_among_them_is_a_crash_of_the_host(policy: str, expected: str) -> None:
    """The engine notes it at its start for what it finds dead; where its start is not known as well."""
    assert statuses(back("a"), back("b"), fell("job", restart_policy=policy))["job"] == expected


def test_each_shutdown_is_a_moment_of_its_own() -> None:
    first = [exited(137, name=f"x{n}", seconds_ago=9 * 3600, started_at=ago(days=3)) for n in range(3)]
    moments = find_shutdowns(snapshot(*first, back("a"), back("b"), back("c")))

    assert [NOON - moment.began_at for moment in moments] == [timedelta(hours=9), timedelta(hours=2)]
