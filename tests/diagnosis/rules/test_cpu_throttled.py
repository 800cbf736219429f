"""cpu_throttled reads the share of throttled periods, and only where there is a quota."""

import pytest

from bcon_exporter.diagnosis.rules.cpu_throttled import RULE
from bcon_exporter.model.container_facts import Limits
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, severity
from tests.factories import container, usage

QUOTA = Limits(cpus=0.2)


@pytest.mark.parametrize(("ratio", "expected"), [(0.49, None), (0.5, None), (0.51, Severity.WARNING)])
def test_fires_only_above_the_threshold(ratio: float, expected: Severity | None) -> None:
    assert severity(RULE, container(limits=QUOTA, usage=usage(throttled_ratio=ratio))) is expected


def test_without_a_quota_nothing_is_throttled() -> None:
    assert severity(RULE, container(limits=Limits(), usage=usage(throttled_ratio=None))) is None


def test_is_not_evaluated_with_a_quota_and_one_sample() -> None:
    assert isinstance(ask(RULE, container(limits=QUOTA, usage=usage(throttled_ratio=None))), NotEvaluated)
