"""never_started waits a while, and leaves failed starts to start_failed."""

import pytest

from bcon_exporter.diagnosis.rules.never_started import RULE
from bcon_exporter.model.facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import Severity, SymptomType
from tests.diagnosis.judging import diagnose, severity
from tests.factories import ago, container


def created(**facts: object) -> ContainerFacts:
    return container(**{"state": ContainerState.CREATED, "started_at": None, "usage": None, **facts})


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(119, None), (120, None), (121, Severity.WARNING), (86_400, Severity.WARNING), (86_401, Severity.INFO)],
)
def test_waits_and_ages(seconds: float, expected: Severity | None) -> None:
    assert severity(RULE, created(created_at=ago(seconds))) is expected


def test_one_that_is_wanted_running_does_not_age() -> None:
    assert severity(RULE, created(created_at=ago(days=9), restart_policy="always")) is Severity.WARNING


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
