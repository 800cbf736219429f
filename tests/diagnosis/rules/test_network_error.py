"""network_error quotes the lines that show it and looks only at what counts now."""

import pytest

from bcon_exporter.diagnosis.rules.network_error import RULE
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, severity, symptom
from tests.factories import ago, container, ended, exited, lifecycle, logs

REFUSED = "dial tcp 172.18.0.3:5432: connect: connection refused"


def test_quotes_the_line() -> None:
    found = symptom(RULE, container(logs=logs("started", REFUSED)))

    assert found.severity is Severity.ERROR
    assert found.evidence == (REFUSED,)


@pytest.mark.parametrize(("seconds", "expected"), [(599, Severity.ERROR), (600, Severity.ERROR), (601, None)])
def test_counts_the_last_ten_minutes(seconds: float, expected: Severity | None) -> None:
    assert severity(RULE, container(logs=logs(REFUSED, at=ago(seconds)))) is expected


@pytest.mark.parametrize(
    "text",
    [
        "INFO retry on connection refused is enabled",
        '10.0.0.9 - - [01/Jan/2026:11:59:00 +0000] "GET /connection-refused HTTP/1.1" 200 12',
        "login refused for guest",
    ],
)
def test_leaves_look_alikes_alone(text: str) -> None:
    assert severity(RULE, container(logs=logs(text))) is None


def test_before_a_restart_since_which_it_runs_well_it_is_a_warning() -> None:
    past = lifecycle(exits=(ended(1, at=ago(61)),))
    facts = container(started_at=ago(60), lifecycle=past, logs=logs(REFUSED, at=ago(62)))

    assert severity(RULE, facts) is Severity.WARNING


def test_what_a_requested_stop_made_it_say_is_no_news() -> None:
    end = ended(143, requested=True)
    stopped = exited(143, exit_facts=end, logs=logs(REFUSED))
    past = lifecycle(exits=(ended(143, at=ago(24), requested=True),))
    restarted = container(started_at=ago(20), lifecycle=past, logs=logs(REFUSED, at=ago(25)))

    assert severity(RULE, stopped) is None
    assert severity(RULE, restarted) is None


def test_first_lines_count_although_the_engine_notes_the_start_after_them() -> None:
    past = lifecycle(exits=(ended(143, at=ago(24), requested=True),))
    recreated = container(started_at=ago(20), lifecycle=past, logs=logs(REFUSED, at=ago(20.05)))

    assert severity(RULE, recreated) is Severity.ERROR


def test_is_not_evaluated_without_logs() -> None:
    verdict = ask(RULE, container(logs=None, unread={"logs": "the driver none keeps none"}))

    assert isinstance(verdict, NotEvaluated)
    assert verdict.reason == "the driver none keeps none"
