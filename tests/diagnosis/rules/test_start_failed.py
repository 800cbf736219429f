"""start_failed reads State.Error, start codes without a start, and the log of a program that cannot be executed."""

from typing import Any

import pytest

from bcon_exporter.diagnosis.rules.start_failed import RULE
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, diagnose, severity, symptom
from tests.factories import ago, container, exited, logs

TAKEN = "driver failed programming external connectivity: Bind for 0.0.0.0:80 failed: port is already allocated"


def created(**facts: Any) -> ContainerFacts:
    return container(
        **{"state": ContainerState.CREATED, "created_at": ago(30), "started_at": None, "usage": None, **facts}
    )


def test_the_engines_own_error_is_critical_and_quoted() -> None:
    found = symptom(RULE, created(exit_code=128, error=TAKEN))

    assert found.severity is Severity.CRITICAL
    assert found.evidence == (TAKEN,)


def test_what_has_never_run_and_nothing_starts_is_a_warning_after_a_while() -> None:
    old: dict[str, Any] = {"exit_code": 128, "error": TAKEN, "created_at": ago(minutes=30)}

    assert severity(RULE, created(**old)) is Severity.WARNING
    assert severity(RULE, created(**old, restart_policy="always")) is Severity.CRITICAL


def test_the_error_is_searched_for_its_cause() -> None:
    assert diagnose(created(exit_code=128, error=TAKEN)).likely_causes[0].id == "port_held_by_host"


@pytest.mark.parametrize(
    ("code", "expected"),
    [(125, None), (126, Severity.CRITICAL), (127, Severity.CRITICAL), (128, Severity.CRITICAL), (129, None)],
)
def test_start_codes_without_a_start(code: int, expected: Severity | None) -> None:
    assert severity(RULE, created(exit_code=code)) is expected


def test_a_command_that_ran_and_gave_127_did_start() -> None:
    assert severity(RULE, exited(127)) is None


def test_a_missing_interpreter_stands_only_in_the_log() -> None:
    facts = exited(1, logs=logs("exec /bin/start.sh: no such file or directory"))

    assert severity(RULE, facts) is Severity.CRITICAL


def test_an_old_failed_start_that_nothing_wants_running_is_history() -> None:
    assert severity(RULE, created(exit_code=127, error="x", created_at=ago(days=30))) is Severity.INFO


def test_is_not_evaluated_without_inspect() -> None:
    assert isinstance(ask(RULE, created(error=None, exit_code=None)), NotEvaluated)
