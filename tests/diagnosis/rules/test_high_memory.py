"""high_memory compares the working set with the limit, or with the host where there is none."""

import pytest

from bcon_exporter.diagnosis.rules.high_memory import RULE
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, severity, symptom
from tests.factories import container, usage


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(0.849, None), (0.85, None), (0.851, Severity.WARNING), (1.0, Severity.WARNING)],
)
def test_fires_only_above_the_threshold(ratio: float, expected: Severity | None) -> None:
    assert severity(RULE, container(usage=usage(memory_ratio=ratio, memory_limit_bytes=2**26))) is expected


def test_a_java_heap_at_its_limit_is_a_warning_at_most() -> None:
    assert severity(RULE, container(usage=usage(memory_ratio=0.92, memory_limit_bytes=2**30))) is Severity.WARNING


def test_says_whether_the_limit_is_its_own_or_the_host() -> None:
    own = symptom(RULE, container(usage=usage(memory_ratio=0.9, memory_limit_bytes=64 * 2**20)))
    host = symptom(RULE, container(usage=usage(memory_ratio=0.9)))

    assert "its limit of 64 MiB" in own.description
    assert "the host's memory; it has no limit" in host.description


def test_is_not_evaluated_when_memory_was_not_read() -> None:
    assert isinstance(ask(RULE, container(usage=usage(memory_ratio=None))), NotEvaluated)


@pytest.mark.parametrize(("cached", "expected"), [(0, Severity.WARNING), (4, Severity.WARNING), (30, None)])
def test_page_cache_in_use_is_no_memory_that_it_holds_on_to(cached: int, expected: Severity | None) -> None:
    read = usage(
        memory_ratio=0.94,
        memory_limit_bytes=64 * 2**20,
        memory_usage_bytes=60 * 2**20,
        memory_cache_bytes=cached * 2**20,
    )

    assert severity(RULE, container(usage=read)) is expected
