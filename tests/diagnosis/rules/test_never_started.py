"""never_started waits a while, and leaves failed starts to start_failed."""

from typing import Any

import pytest

from bcon_exporter.diagnosis.rules.never_started import RULE
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.findings import Severity, SymptomType
from tests.diagnosis.judging import diagnose, severity
from tests.factories import ago, compose, container, exited, health, lifecycle


def created(**facts: Any) -> ContainerFacts:
    return container(**{"state": ContainerState.CREATED, "started_at": None, "usage": None, **facts})


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(2, None), (3, None), (4, Severity.WARNING), (86_400, Severity.WARNING), (86_401, Severity.INFO)],
)
def test_waits_and_ages(seconds: float, expected: Severity | None) -> None:
    assert severity(RULE, created(created_at=ago(seconds))) is expected


@pytest.mark.parametrize(("policy", "expected"), [("always", Severity.WARNING), ("no", Severity.INFO)])
def test_one_that_is_wanted_running_does_not_age_while_somebody_watches(policy: str, expected: Severity) -> None:
    watched = lifecycle(observed_since=ago(days=30))
    assert severity(RULE, created(created_at=ago(days=9), restart_policy=policy, lifecycle=watched)) is expected


def test_one_of_before_anybody_watched_is_history() -> None:
    assert severity(RULE, created(created_at=ago(days=9), restart_policy="always")) is Severity.INFO


@pytest.mark.parametrize("mark", [{"compose": compose("app")}, {"labels": {"com.docker.swarm.service.name": "app"}}])
@pytest.mark.parametrize(("seconds", "expected"), [(119, None), (120, None), (121, Severity.WARNING)])
def test_compose_and_swarm_create_first_and_start_later(
    mark: dict[str, object], seconds: float, expected: Severity | None
) -> None:
    assert severity(RULE, created(created_at=ago(seconds), **mark)) is expected


class TestItsTurnMayStillCome:
    """Compose waits as long as a dependency may still become what it waits for."""

    def judged(self, condition: str, dependency: ContainerFacts) -> Severity | None:
        waiting = created(created_at=ago(hours=1), compose=compose("app", depends_on=f"db:{condition}:false"))
        found = diagnose(waiting, dependency.model_copy(update={"compose": compose("db")})).symptoms
        return found[0].severity if found else None

    def test_while_it_is_starting(self) -> None:
        db = container(name="db", health=health(HealthStatus.STARTING))
        assert self.judged("service_healthy", db) is None

    def test_while_a_job_runs(self) -> None:
        assert self.judged("service_completed_successfully", container(name="db")) is None

    def test_no_longer_when_the_dependency_is_there(self) -> None:
        assert self.judged("service_healthy", container(name="db", health=health())) is Severity.WARNING

    def test_no_longer_when_it_has_failed(self) -> None:
        assert self.judged("service_healthy", exited(1, name="db")) is Severity.WARNING
        assert self.judged("service_completed_successfully", exited(1, name="db")) is Severity.WARNING


@pytest.mark.parametrize(
    ("condition", "dependency", "expected"),
    [
        ("service_completed_successfully", exited(1, name="db", seconds_ago=5), Severity.WARNING),
        ("service_completed_successfully", exited(0, name="db", seconds_ago=5), None),
        ("service_completed_successfully", exited(1, name="db", seconds_ago=60), None),
        ("service_healthy", exited(0, name="db", seconds_ago=5), Severity.WARNING),
        ("service_healthy", exited(1, name="db", seconds_ago=5, restart_policy="always"), None),
        ("service_started", container(name="db"), None),
    ],
)
def test_compose_gives_up_once_a_dependency_has_failed_for_good(
    condition: str, dependency: ContainerFacts, expected: Severity | None
) -> None:
    waiting = created(created_at=ago(20), compose=compose("app", depends_on=f"db:{condition}:false"))
    found = diagnose(waiting, dependency.model_copy(update={"compose": compose("db")})).symptoms
    assert (found[0].severity if found else None) is expected


def test_a_failed_start_is_another_symptom() -> None:
    assert severity(RULE, created(created_at=ago(hours=1), error="no such image")) is None
    assert severity(RULE, created(created_at=ago(hours=1), exit_code=127)) is None


def test_a_container_that_never_ran_has_no_exit_code_and_is_judged_all_the_same() -> None:
    never = created(created_at=ago(seconds=121), exit_code=None)
    report = diagnose(never)
    assert [one.type for one in report.symptoms] == [SymptomType.NEVER_STARTED]
    assert report.not_evaluated == ()
    unread = never.model_copy(update={"unread": {"inspect": "the engine hung"}, "error": None})
    report = diagnose(unread)
    assert {one.symptom for one in report.not_evaluated} >= {SymptomType.NEVER_STARTED, SymptomType.EXIT_ERROR}


def test_only_in_state_created() -> None:
    assert severity(RULE, container()) is None
