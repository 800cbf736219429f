"""starting is a symptom only long after the start period."""

import pytest

from bcon_exporter.diagnosis.rules.starting import RULE
from bcon_exporter.model.container_facts import HealthStatus
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, severity
from tests.factories import ago, container, health


@pytest.mark.parametrize(("seconds", "expected"), [(359, None), (360, None), (361, Severity.WARNING)])
def test_waits_for_the_start_period_and_more(seconds: float, expected: Severity | None) -> None:
    facts = container(started_at=ago(seconds), health=health(HealthStatus.STARTING, start_period_seconds=60.0))

    assert severity(RULE, facts) is expected


def test_a_healthy_one_has_started() -> None:
    assert severity(RULE, container(health=health())) is None


def test_is_not_evaluated_without_a_start_time() -> None:
    facts = container(started_at=None, health=health(HealthStatus.STARTING))

    assert isinstance(ask(RULE, facts), NotEvaluated)
