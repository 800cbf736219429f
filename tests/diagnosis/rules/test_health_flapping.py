"""health_flapping counts changes of health within an hour."""

import pytest

from bcon_exporter.diagnosis.rules.health_flapping import COUNTED_AT_MOST, RULE
from bcon_exporter.model.findings import NotEvaluated, Severity, Symptom
from tests.diagnosis.judging import ask, severity
from tests.factories import ago, container, health, lifecycle


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        pytest.param((3, 2, 1), None, id="too-few"),
        pytest.param((4, 3, 2, 1), Severity.WARNING, id="enough"),
        pytest.param((60, 3, 2, 1), Severity.WARNING, id="first-on-the-edge"),
        pytest.param((61, 3, 2, 1), None, id="first-too-old"),
    ],
)
def test_counts_changes_within_the_hour(minutes: tuple[int, ...], expected: Severity | None) -> None:
    past = lifecycle(health_changes=tuple(ago(minutes=minute) for minute in minutes))

    assert severity(RULE, container(health=health(), lifecycle=past)) is expected


def test_is_not_evaluated_without_history() -> None:
    assert isinstance(ask(RULE, container(health=health(), lifecycle=None)), NotEvaluated)


def test_without_a_health_check_there_is_nothing_to_know() -> None:
    assert severity(RULE, container(lifecycle=None)) is None


@pytest.mark.parametrize(("beyond", "said"), [(-1, "changed 249 times"), (0, "changed at least 250 times")])
def test_where_the_oldest_events_may_be_forgotten_it_says_at_least(beyond: int, said: str) -> None:
    past = lifecycle(health_changes=tuple(ago(seconds=second) for second in range(COUNTED_AT_MOST + beyond, 0, -1)))

    symptom = ask(RULE, container(health=health(), lifecycle=past))

    assert isinstance(symptom, Symptom)
    assert said in symptom.description
