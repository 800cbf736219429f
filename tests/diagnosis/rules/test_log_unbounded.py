"""log_unbounded: a tiny log does not nag, a large one is told, one that fills the disk soon is a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.diagnosis.rules.log_unbounded import RULE
from bcon_exporter.model.container_facts import DiskFacts, EngineFacts
from bcon_exporter.model.findings import NotEvaluated, Severity, SymptomType
from bcon_exporter.model.growth import Growth
from bcon_exporter.secrets.masking import mask_text
from tests.diagnosis.judging import ask, case, diagnose, severity, symptom
from tests.factories import compose, container, exited, logs

if TYPE_CHECKING:
    from bcon_exporter.model.container_facts import ContainerFacts

BAR = 104_857_600
GIB = 2**30
DAY, HOUR = 86_400, 3600
ENGINE = EngineFacts(name="h", server_version="28", api_version="1.48", root_dir="/var/lib/docker")


def disk(free_bytes: int | None) -> DiskFacts:
    return DiskFacts(path="/var/lib/docker", used_ratio=0.5, total_bytes=2**40, free_bytes=free_bytes)


def host(free_bytes: int | None = 24 * GIB) -> dict[str, Any]:
    """A host with so much left on the engine's disk."""
    return {"engine": ENGINE, "disks": (disk(free_bytes),)}


def writes(
    rate: float | None = None,
    *,
    size: int | None = 1000,
    known: float = DAY,
    bounded: bool | None = False,
    **facts: Any,
) -> ContainerFacts:
    """A container whose log grows by so many bytes an hour, as known for so long."""
    growth = None if rate is None else Growth(bytes_per_hour=rate, known_for_seconds=known)
    return container(log_driver="json-file", log_is_bounded=bounded, log_bytes=size, log_growth=growth, **facts)


@pytest.mark.parametrize(("size", "expected"), [(0, None), (BAR - 1, None), (BAR, Severity.INFO), (9 * BAR, "info")])
def test_only_a_large_log_is_told(size: int, expected: Severity | None) -> None:
    assert severity(RULE, writes(size=size)) == expected


@pytest.mark.parametrize(("bar", "expected"), [(1000, Severity.INFO), (1001, None)])
def test_the_bar_is_a_threshold(bar: int, expected: Severity | None) -> None:
    assert severity(RULE, writes(size=1000), log_file_bytes=bar) is expected


@pytest.mark.parametrize("bounded", [True, None])
def test_a_bounded_log_and_one_kept_elsewhere_are_never_told(bounded: bool | None) -> None:
    assert severity(RULE, writes(GIB * 100, size=9 * BAR, bounded=bounded), host=host()) is None


@pytest.mark.parametrize(
    ("rate", "expected"), [(GIB * 0.999, None), (GIB, Severity.WARNING), (GIB * 2, Severity.WARNING), (-GIB, None)]
)
def test_a_disk_that_is_full_within_a_day_is_a_warning(rate: float, expected: Severity | None) -> None:
    assert severity(RULE, writes(rate), host=host()) is expected


@pytest.mark.parametrize(("known", "expected"), [(HOUR - 1, None), (HOUR, Severity.WARNING)])
def test_a_rate_tells_of_no_more_than_24_times_its_own_time(known: float, expected: Severity | None) -> None:
    assert severity(RULE, writes(GIB, known=known), host=host()) is expected


def test_a_burst_of_minutes_warns_only_of_hours() -> None:
    assert severity(RULE, writes(GIB * 11, known=300), host=host()) is None
    assert severity(RULE, writes(GIB * 12, known=300), host=host()) is Severity.WARNING


def neighbours(count: int, rate: float) -> tuple[ContainerFacts, ...]:
    return tuple(writes(rate, name=f"web-{number}") for number in range(count))


def test_logs_that_fill_it_together_are_each_told() -> None:
    own = writes(GIB / 4)
    together = case(own, *neighbours(3, GIB / 4), host=host())
    fewer = case(own, *neighbours(2, GIB / 4), host=host())

    assert getattr(RULE.judge(together), "severity", None) is Severity.WARNING
    assert RULE.judge(fewer) is None


def test_who_writes_less_than_a_tenth_is_not_to_blame() -> None:
    small, tenth = writes(GIB * 0.99), writes(GIB)
    loud = writes(GIB * 9, name="loud")

    assert RULE.judge(case(small, loud, host=host())) is None
    assert RULE.judge(case(tenth, loud, host=host())) is not None


def test_only_the_engines_own_disk_counts() -> None:
    other = DiskFacts(path="/srv", used_ratio=0.99, total_bytes=GIB, free_bytes=1)

    assert severity(RULE, writes(GIB), host={"engine": ENGINE, "disks": (other,)}) is None


@pytest.mark.parametrize("given", [{}, {"engine": ENGINE}, {"engine": ENGINE, "disks": (disk(None),)}])
def test_without_the_free_space_only_the_size_is_judged(given: dict[str, Any]) -> None:
    assert severity(RULE, writes(GIB * 100), host=given) is None
    assert severity(RULE, writes(GIB * 100, size=BAR), host=given) is Severity.INFO


def test_a_stopped_containers_log_lies_there_too() -> None:
    ended = exited(0).model_copy(update={"log_driver": "json-file", "log_is_bounded": False, "log_bytes": BAR})

    assert severity(RULE, ended) is Severity.INFO


def test_what_cannot_be_seen_is_not_evaluated_and_takes_no_words() -> None:
    unseen = writes(size=None, unread={"log_bytes": "it is not seen from here"})
    verdict = ask(RULE, unseen)
    report = diagnose(unseen)

    assert isinstance(verdict, NotEvaluated)
    assert verdict.reason == "it is not seen from here"
    assert [one.symptom for one in report.not_evaluated if one.is_advisory] == [SymptomType.LOG_UNBOUNDED]
    assert (report.status, report.checked) == ("healthy", True)
    assert "not evaluated" not in report.summary
    assert "not seen from here" not in report.detailed_explanation


def test_without_inspect_it_is_not_evaluated() -> None:
    blind = container(log_driver=None, log_is_bounded=None, unread={"log_driver": "inspect was not read"})

    assert isinstance(ask(RULE, blind), NotEvaluated)


def test_info_leaves_a_container_healthy_with_a_step_to_follow() -> None:
    report = diagnose(writes(size=2 * GIB, compose=compose("web", "shop")))

    assert report.status == "healthy"
    assert "Nothing bounds its log of 2.0 GiB." in report.summary
    assert "max-size" in report.suggestions[0].action
    assert "Compose file" in report.suggestions[0].action
    assert report.likely_causes == ()


def test_outside_compose_the_step_is_another() -> None:
    assert "--log-opt max-size=10m" in diagnose(writes(size=2 * GIB)).suggestions[0].action


def test_a_warning_tells_the_numbers_and_what_helps_at_once() -> None:
    report = diagnose(writes(GIB * 4, size=GIB), **host())
    (own,) = report.symptoms

    assert report.status == "warning"
    assert own.description == "Nothing bounds its log, which fills the disk in 6 h 0 min at this rate."
    assert own.evidence == (
        "log file: 1.0 GiB, driver json-file, no max-size",
        "grows by 4.0 GiB an hour, as known for 24 h 0 min",
        "free on the disk: 24.0 GiB",
    )
    assert [cause.id for cause in report.likely_causes] == ["log_not_rotated"]
    assert report.suggestions[0].action.startswith("Empty its log file now")
    assert all(mask_text(one.action) == one.action for one in report.suggestions)


def test_it_explains_nothing_else_that_is_wrong() -> None:
    failing = logs('psycopg2.OperationalError: FATAL:  password authentication failed for user "shop"')
    large = diagnose(writes(size=2 * GIB, logs=failing))
    full = diagnose(writes(GIB * 4, logs=failing), **host())

    assert symptom(RULE, writes(size=2 * GIB)).severity is Severity.INFO
    for report in (large, full):
        assert report.status == "error"
        assert report.likely_causes[0].id == "wrong_credentials"
        assert report.suggestions
        assert all("max-size" not in one.action and "truncate" not in one.action for one in report.suggestions)
