"""never_started waits a while, and leaves failed starts to start_failed."""

from typing import Any

import pytest

from bcon_exporter.diagnosis.rules.never_started import RULE
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.reports import DiagnosisReport
from tests.diagnosis.judging import diagnose, severity
from tests.factories import ago, compose, container, exited, health, lifecycle, logs, network


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


class TestAHookOfItsService:
    """Compose starts a service when its hooks have ended with 0, and runs no hook behind one that failed."""

    def hook(self, index: int = 0, **facts: Any) -> ContainerFacts:
        claim = compose("app", hook="pre_start", hook_index=index)
        return exited(3, **{"name": f"shop-app-pre_start-{index}", "compose": claim, "seconds_ago": 1, **facts})

    def judged(self, *hooks: ContainerFacts, seconds: float = 2) -> DiagnosisReport:
        return diagnose(created(name="shop-app-1", created_at=ago(seconds), compose=compose("app")), *hooks)

    def test_one_that_failed_is_told_at_once_with_its_last_words(self) -> None:
        report = self.judged(self.hook(logs=logs('ERROR: relation "users" does not exist')))
        assert (report.status, report.root) == ("warning", "shop-app-pre_start-0")
        assert report.symptoms[0].description == (
            "It was created 2 s ago and never started: its pre_start hook shop-app-pre_start-0 ended with code 3."
        )
        assert report.symptoms[0].evidence == ('ERROR: relation "users" does not exist',)
        assert report.likely_causes[0].id == "hook_failed"
        assert report.likely_causes[0].evidence == ('ERROR: relation "users" does not exist',)

    def test_one_that_runs_is_waited_for(self) -> None:
        claim = compose("app", hook="pre_start", hook_index=0)
        assert self.judged(container(name="hook", compose=claim), seconds=3600).symptoms == ()

    def test_of_several_the_one_that_failed_is_the_cause_and_those_behind_it_are_nothing(self) -> None:
        behind = created(name="shop-app-pre_start-1", compose=compose("app", hook="pre_start", hook_index=1))
        assert self.judged(behind, self.hook()).root == "shop-app-pre_start-0"
        assert diagnose(behind.model_copy(update={"created_at": ago(hours=1)}), self.hook()).symptoms == ()

    @pytest.mark.parametrize(("hook", "project"), [("pre_start", "other"), (None, "shop")])
    def test_of_another_project_or_another_replica_nothing_is_said(self, hook: str | None, project: str) -> None:
        other = self.hook(compose=compose("app", project, hook=hook))
        assert self.judged(other).symptoms == ()

    @pytest.mark.parametrize("depends", ["", "db:service_healthy:true"])
    def test_the_failure_that_a_hook_suffers_from_is_the_root(self, depends: str) -> None:
        db = exited(1, name="shop-db-1", compose=compose("db"), seconds_ago=900, networks=(network(aliases=["db"]),))
        line = 'psql: error: connection to server at "db" (172.18.0.2), port 5432 failed: Connection refused'
        failed = self.hook(logs=logs(line), networks=(network(),))
        waiting = created(name="shop-app-1", created_at=ago(2), compose=compose("app", depends_on=depends or None))
        assert diagnose(waiting, failed, db).root == "shop-db-1"


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
