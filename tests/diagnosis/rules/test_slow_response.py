"""slow_response sees probes near their time-out, and slow answers in the log."""

import pytest

from bcon_exporter.diagnosis.rules.slow_response import RULE
from bcon_exporter.model.findings import Severity
from tests.diagnosis.judging import severity, symptom
from tests.factories import container, health, logs, probe


@pytest.mark.parametrize(
    ("seconds", "expected"), [(7.99, None), (8.0, None), (8.01, Severity.WARNING), (10.0, Severity.WARNING)]
)
def test_a_probe_near_its_time_out(seconds: float, expected: Severity | None) -> None:
    assert severity(RULE, container(health=health(probes=(probe(seconds),)))) is expected


def test_one_slow_probe_of_three_is_none() -> None:
    probes = (probe(9), probe(0.1), probe(0.1))

    assert severity(RULE, container(health=health(probes=probes))) is None


def test_names_the_time_and_what_is_allowed() -> None:
    assert "took 9.0 s; 10 s are allowed" in symptom(RULE, container(health=health(probes=(probe(9),)))).description


@pytest.mark.parametrize(
    "text",
    [
        "WARN slow query took 5321 ms: SELECT 1",
        "[error] 31#31: *1 upstream timed out (110: Connection timed out) while reading response header from upstream",
        "LOG:  duration: 4521.330 ms  statement: SELECT 1",
    ],
)
def test_slow_answers_in_the_log(text: str) -> None:
    assert severity(RULE, container(logs=logs(text))) is Severity.WARNING


def test_quick_queries_are_none() -> None:
    assert severity(RULE, container(logs=logs("LOG:  duration: 12.330 ms  statement: SELECT 1"))) is None
