"""pids_limit compares the number of processes with the limit, and hears it in the log."""

import pytest

from bcon_exporter.diagnosis.rules.pids_limit import RULE
from bcon_exporter.model.container_facts import Limits
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, severity
from tests.factories import container, logs, usage


@pytest.mark.parametrize(("pids", "expected"), [(89, None), (90, None), (91, Severity.ERROR), (100, Severity.ERROR)])
def test_fires_only_above_the_threshold(pids: int, expected: Severity | None) -> None:
    assert severity(RULE, container(limits=Limits(pids=100), usage=usage(pids=pids))) is expected


def test_a_failed_fork_in_the_log_is_enough() -> None:
    facts = container(limits=Limits(pids=20), logs=logs("sh: fork: Resource temporarily unavailable"))

    assert severity(RULE, facts) is Severity.ERROR


def test_without_a_limit_there_is_none_to_reach() -> None:
    assert severity(RULE, container(limits=Limits(), usage=usage(pids=5000))) is None


def test_is_not_evaluated_with_a_limit_and_no_number() -> None:
    assert isinstance(ask(RULE, container(limits=Limits(pids=20), usage=usage(pids=None))), NotEvaluated)
