"""high_cpu compares the mean with what the container may use, and says nothing on one sample."""

import pytest

from bcon_exporter.diagnosis.rules.high_cpu import RULE
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, severity, symptom
from tests.factories import container, exited, usage


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        pytest.param(0.0, None, id="idle"),
        pytest.param(0.799, None, id="just-below"),
        pytest.param(0.80, None, id="at-threshold"),
        pytest.param(0.801, Severity.WARNING, id="just-above"),
        pytest.param(1.0, Severity.WARNING, id="saturated"),
    ],
)
def test_fires_only_above_the_threshold(ratio: float, expected: Severity | None) -> None:
    assert severity(RULE, container(usage=usage(cpu_ratio=ratio))) is expected


def test_names_the_measured_share_and_the_threshold() -> None:
    found = symptom(RULE, container(usage=usage(cpu_ratio=0.93)))

    assert "93 % of its 2 CPUs" in found.description
    assert found.evidence == ("threshold 80 %",)


@pytest.mark.parametrize(
    "read", [None, usage(cpu_ratio=None, samples=1), usage(cpu_ratio=0.99, stale=True)], ids=["none", "one", "stale"]
)
def test_is_not_evaluated_without_two_fresh_samples(read: object) -> None:
    assert isinstance(ask(RULE, container(usage=read)), NotEvaluated)


def test_a_stopped_container_has_no_load() -> None:
    assert severity(RULE, exited(1)) is None
