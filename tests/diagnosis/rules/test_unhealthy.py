"""unhealthy shows the probe's own output, and means nothing in a stopped container."""

from bcon_exporter.diagnosis.rules.unhealthy import RULE
from bcon_exporter.model.facts import HealthStatus
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, severity, symptom
from tests.factories import container, exited, health, probe

BAD = health(HealthStatus.UNHEALTHY, failing_streak=4, probes=(probe(exit_code=1, output="db ping failed\n"),))


def test_shows_what_the_probe_said() -> None:
    found = symptom(RULE, container(health=BAD))

    assert found.severity is Severity.ERROR
    assert found.description == "Its health check failed 4 times in a row: db ping failed"
    assert found.evidence == ("probe exit 1: db ping failed",)


def test_frozen_health_of_a_stopped_container_is_ignored() -> None:
    assert severity(RULE, exited(0, health=BAD)) is None


def test_a_container_without_a_check_is_not_unhealthy() -> None:
    assert severity(RULE, container(health=None)) is None
    assert severity(RULE, container(health=health())) is None


def test_is_not_evaluated_when_health_could_not_be_read() -> None:
    assert isinstance(ask(RULE, container(health=None, unread={"health": "inspect failed"})), NotEvaluated)
