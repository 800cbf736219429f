"""not_started_again: what ran until the engine went down and stayed down is a warning, and what was stopped is none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bcon_exporter.diagnosis.rules import exit_error
from bcon_exporter.diagnosis.rules.not_started_again import RULE
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, EngineFacts
from bcon_exporter.model.findings import Severity
from tests.diagnosis.judging import ask, diagnose, severity
from tests.factories import NOON, ago, compose, container, ended, exited

DAY = 86_400
BOOTED = 5 * 3600
UP = EngineFacts(name="h", server_version="28", api_version="1.51", started_at=ago(BOOTED))


def fell(code: int = 137, seconds_ago: float = BOOTED + 20, **facts: Any) -> ContainerFacts:
    """Ended with the engine, as events tell."""
    end = ended(code, at=ago(seconds_ago), shutdown=True)
    return exited(code, seconds_ago=seconds_ago, exit_facts=end, **facts)


def unseen(code: int, seconds_ago: float = BOOTED, **facts: Any) -> ContainerFacts:
    return exited(code, seconds_ago=seconds_ago, lifecycle=None, **facts)


@pytest.mark.parametrize("code", [0, 1, 137, 143, 255])
def test_what_ran_until_the_engine_stopped_and_was_not_started_again_is_a_warning(code: int) -> None:
    assert severity(RULE, fell(code)) is Severity.WARNING
    assert severity(exit_error.RULE, fell(code)) is None, "it is told once"


def test_it_says_until_when_it_ran_and_why_nothing_has_started_it() -> None:
    report = diagnose(fell(), engine=UP)
    at = f"{ago(BOOTED + 20):%Y-%m-%d %H:%M:%S} UTC"
    assert report.status == "warning"
    assert f"It ran until the engine stopped, at {at}, and was not started again: it has no restart policy." in (
        report.symptoms[0].description
    )
    assert [cause.id for cause in report.likely_causes] == ["engine_stopped"]
    assert report.suggestions[0].action.startswith("Start it again if it is needed, and give it a restart policy")


@pytest.mark.parametrize(
    ("code", "policy", "told"),
    [
        (0, "on-failure:3", "its restart policy (on-failure:3) starts it only after a failure"),
        (1, "on-failure:3", None),
        (137, "unless-stopped", None),
        (137, "always", None),
    ],
)
def test_what_the_engine_would_have_started_again_was_not_left_down(code: int, policy: str, told: str | None) -> None:
    found = ask(RULE, fell(code, restart_policy=policy))
    assert (found is None) if told is None else (told in getattr(found, "description", ""))


@pytest.mark.parametrize("label", ["com.docker.swarm.task.id", "io.kubernetes.pod.name"])
def test_what_an_orchestrator_makes_anew_is_none(label: str) -> None:
    assert severity(RULE, fell(labels={label: "x"})) is None


def test_one_in_whose_place_another_runs_is_none() -> None:
    claim = compose("web", project="shop")
    down = fell(compose=claim)
    assert severity(RULE, down) is Severity.WARNING
    assert severity(RULE, down, host={"containers": (down, container(name="new", compose=claim))}) is None


def test_it_stays_as_long_as_it_is_down_where_a_daemon_has_watched() -> None:
    assert severity(RULE, fell(seconds_ago=30 * DAY)) is Severity.WARNING


def test_a_stop_that_was_asked_for_is_none() -> None:
    assert severity(RULE, exited(137, exit_facts=ended(137, requested=True))) is None


class TestWithoutHistory:
    @pytest.mark.parametrize(
        ("seconds_after", "expected"),
        [(-5.1, None), (-5, Severity.WARNING), (0, Severity.WARNING), (5, Severity.WARNING), (5.1, None)],
    )
    def test_255_at_the_engines_start_is_its_crash(self, seconds_after: float, expected: Severity | None) -> None:
        facts = unseen(255, BOOTED - seconds_after)
        assert severity(RULE, facts, host={"engine": UP}) is expected
        other = severity(exit_error.RULE, facts, host={"engine": UP})
        assert (other is Severity.ERROR) is (expected is None)

    def test_255_of_one_that_the_new_engine_started_is_its_own(self) -> None:
        facts = unseen(255, BOOTED - 4, started_at=ago(BOOTED - 2))
        assert severity(exit_error.RULE, facts, host={"engine": UP}) is Severity.ERROR

    def test_255_tells_of_no_time_at_which_it_ended(self) -> None:
        report = diagnose(unseen(255), engine=UP)
        at = f"{ago(BOOTED):%Y-%m-%d %H:%M:%S} UTC"
        assert f"It went down with the engine or its host, before {at}, and was not started again" in report.summary
        assert [cause.id for cause in report.likely_causes] == ["engine_crashed"]

    @pytest.mark.parametrize(("policy", "expected"), [("no", Severity.WARNING), ("on-failure:3", None)])
    def test_what_the_engine_starts_again_by_itself_has_not_stayed_down(
        self, policy: str, expected: Severity | None
    ) -> None:
        assert severity(RULE, unseen(255, restart_policy=policy), host={"engine": UP}) is expected

    def test_255_is_a_plain_failure_where_the_engines_start_is_not_known(self) -> None:
        assert severity(exit_error.RULE, unseen(255)) is Severity.ERROR

    @pytest.mark.parametrize(("age", "expected"), [(DAY, Severity.WARNING), (DAY + 1, Severity.INFO)])
    def test_what_went_down_with_the_engine_is_history_after_a_day(self, age: float, expected: Severity) -> None:
        engine = UP.model_copy(update={"started_at": ago(age)})
        assert severity(RULE, unseen(255, age), host={"engine": engine}) is expected

    @pytest.mark.parametrize(
        ("up", "policy", "expected"),
        [
            (BOOTED, "always", Severity.WARNING),
            (BOOTED - 579, "always", Severity.WARNING),
            (BOOTED - 582, "always", None),
            (None, "always", None),
        ],
    )
    def test_what_ended_with_others_that_the_engine_started_again_ended_most_likely_with_it(
        self, up: float | None, policy: str, expected: Severity | None
    ) -> None:
        """`docker stop $(docker ps -q)` makes many ends in one moment too: no engine comes up after it."""
        engine = UP.model_copy(update={"started_at": None if up is None else ago(up)})
        back = [
            container(
                name=f"web-{number}",
                restart_policy=policy,
                started_at=NOON - timedelta(seconds=BOOTED - 5 if up is None else up - 2),
                finished_at=ago(BOOTED + 20),
                created_at=ago(30 * DAY),
                restart_count=0,
            )
            for number in range(3)
        ]
        facts = unseen(137, BOOTED + 20)
        told = {one.type: one for one in diagnose(facts, *back, engine=engine).symptoms}.get(RULE.type)
        assert (told.severity if told is not None else None) is expected
        if told is not None:
            assert "most likely with the engine" in told.description
            assert told.confidence < 1


def test_dead_ones_are_told_by_exit_error() -> None:
    dead = fell().model_copy(update={"state": ContainerState.DEAD})
    assert severity(exit_error.RULE, dead) is Severity.WARNING
    assert severity(RULE, dead) is None
