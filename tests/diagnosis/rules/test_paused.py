"""paused is a warning; a tolerated pause needs to be known since when."""

import pytest

from bcon_exporter.diagnosis.rules.paused import RULE
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, severity
from tests.factories import ago, container, lifecycle


def paused(seconds: float | None = None) -> ContainerFacts:
    since = None if seconds is None else ago(seconds)
    return container(state=ContainerState.PAUSED, lifecycle=lifecycle(paused_at=since))


def test_a_paused_container_is_a_warning_by_default() -> None:
    assert severity(RULE, paused()) is Severity.WARNING
    assert severity(RULE, container()) is None


@pytest.mark.parametrize(("seconds", "expected"), [(59, None), (60, Severity.WARNING), (61, Severity.WARNING)])
def test_a_short_pause_can_be_tolerated(seconds: float, expected: Severity | None) -> None:
    assert severity(RULE, paused(seconds), paused_seconds=60) is expected


def test_is_not_evaluated_when_the_start_of_the_pause_is_needed_and_unknown() -> None:
    assert isinstance(ask(RULE, paused(), paused_seconds=60), NotEvaluated)
