"""Promise: a log alone tells symptoms, kinds of failure, causes and advice, and how often and when each was seen."""

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis import analyze, lines_of
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.log_reports import LogAnalysis
from bcon_exporter.model.signatures import Category

CATALOGUE = load_catalogue()


def look(*texts: str) -> LogAnalysis:
    return analyze(lines_of(texts), CATALOGUE)


def test_a_quiet_log_says_nothing() -> None:
    report = look("INFO started", "INFO 0 errors")
    assert (report.lines, report.symptoms, report.categories, report.causes, report.events) == (2, (), (), (), ())


def test_a_refused_connection_is_an_error_and_names_its_peer() -> None:
    report = look("ERROR dial tcp db:5432: connect: connection refused")
    assert {one.type for one in report.symptoms} == {SymptomType.LOG_ERROR, SymptomType.NETWORK_ERROR}
    assert {one.severity for one in report.symptoms} == {Severity.ERROR}
    assert report.categories == (Category.NETWORK,)
    assert report.events[0].peers == ("db:5432",)
    assert report.causes
    assert report.suggestions


def test_like_events_are_one_group_with_count_and_times() -> None:
    times = [f"2026-03-01T10:00:0{second}Z" for second in range(3)]
    report = look(*(f"{at} ERROR order {number} failed" for number, at in enumerate(times)))
    (group,) = report.events
    assert (group.count, group.level, group.line, group.template) == (3, "error", 3, "ERROR order * failed")
    assert group.first_seen is not None
    assert group.last_seen is not None
    assert (group.last_seen - group.first_seen).total_seconds() == 2
    assert report.symptoms[0].count == 3


def test_slowness_is_a_warning_and_no_kind_of_failure() -> None:
    report = look("LOG:  duration: 4521.330 ms  statement: SELECT 1")
    assert [(one.type, one.severity) for one in report.symptoms] == [(SymptomType.SLOW_RESPONSE, Severity.WARNING)]
    assert report.categories == (Category.OTHER,)


def test_the_most_frequent_kind_comes_first() -> None:
    report = look("ERROR /data: Permission denied", *["ERROR connect: Connection refused"] * 2)
    assert report.categories == (Category.NETWORK, Category.PERMISSION)


def test_groups_beyond_the_shown_are_counted() -> None:
    report = look(*(f"ERROR job {chr(97 + one % 26)}{chr(97 + one // 26)} broke" for one in range(60)))
    assert (len(report.events), report.events_left_out) == (50, 10)


def test_no_advice_has_a_hole_where_a_number_of_a_container_would_stand() -> None:
    """Of every signature that the catalogue has, by a line of its own."""
    advised = 0
    for signature in CATALOGUE.signatures:
        for pattern in signature.patterns:
            for suggestion in look(*pattern.matches).suggestions:
                advised += 1
                assert "{" not in f"{suggestion.action} {suggestion.rationale}", signature.id
    assert advised > 200
