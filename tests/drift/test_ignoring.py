"""What somebody said to ignore is in no list of differences, and is counted."""

from __future__ import annotations

import pytest

from bcon_exporter.drift import detect_drift, parse_ignore_rule
from bcon_exporter.model.reports import DriftReport, DriftStatus
from tests.drift.builders import drift, host, kinds, project, replica, service
from tests.table_rows import table

LABEL = "bcon.drift.ignore"
DESIRED = project(service("web", {"user": "1", "environment.A": "x"}), service("worker"))
WEB = replica("web", claim={"config_hash": "h0"})


def ignoring(*rules: str) -> DriftReport:
    """The report on a user and a variable that differ and a service that is missing, with these rules."""
    return detect_drift(DESIRED, host(WEB), tuple(map(parse_ignore_rule, rules)))


@table(
    ("rule", "left"),
    [
        ("shop", []),
        ("*", []),
        ("shop/web", ["missing_service"]),
        ("shop/web/user", ["environment.A", "missing_service"]),
        ("*/*/environment.*", ["user", "missing_service"]),
        ("shop/*/config_mismatch", ["missing_service"]),
        ("shop/worker/missing_service", ["environment.A", "user"]),
        ("shop2", ["environment.A", "user", "missing_service"]),
        ("sho", ["environment.A", "user", "missing_service"]),
        ("shop/web/use", ["environment.A", "user", "missing_service"]),
        ("shop/user", ["environment.A", "user", "missing_service"]),
    ],
)
def test_a_rule_of_the_settings_leaves_out_what_it_names_and_nothing_else(rule: str, left: list[str]) -> None:
    report = ignoring(rule)
    assert sorted(one.field or str(one.drift_type) for one in report.differences) == sorted(left)
    assert report.ignored == 3 - len(left)


def test_a_project_of_which_everything_is_ignored_is_synced_and_its_summary_says_so() -> None:
    report = ignoring("shop")
    assert report.status is DriftStatus.SYNCED
    assert report.summary.endswith("3 differences ignored.")
    assert ignoring("shop/web/user").summary.endswith("1 difference ignored.")


def test_a_difference_that_two_rules_name_counts_once() -> None:
    assert ignoring("shop/web/user", "shop/*/us*").ignored == 1


@pytest.mark.parametrize("text", ["", "/web", "shop/", "shop//user", "shop/web/"])
def test_a_rule_with_an_empty_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="PROJECT/SERVICE/FIELD"):
        parse_ignore_rule(text)


def test_a_field_may_hold_slashes() -> None:
    rule = parse_ignore_rule("shop/web/ports.80/tcp")
    assert rule.field == "ports.80/tcp"


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("true", []),
        ("user", ["environment.A"]),
        (" user , environment.* ", []),
        ("config_mismatch", []),
        ("false", ["environment.A", "user"]),
        ("", ["environment.A", "user"]),
        ("replica_mismatch", ["environment.A", "user"]),
    ],
)
def test_the_label_of_a_container_ignores_all_or_the_listed_fields(value: str, left: list[str]) -> None:
    labelled = replica("web", fields={f"labels.{LABEL}": value}, labels={LABEL: value}, claim={"config_hash": "h0"})
    desired = project(service("web", {"user": "1", "environment.A": "x", f"labels.{LABEL}": value}))
    report = drift(desired, labelled)
    assert sorted(one.field or "" for one in report.differences) == left
    assert report.ignored == 2 - len(left)


def test_the_label_in_the_file_counts_for_a_service_without_containers() -> None:
    desired = project(service("web", {f"labels.{LABEL}": "missing_service"}), service("worker"))
    report = drift(desired)
    assert kinds(report) == [("worker", "missing_service", None)]
    assert report.ignored == 1


def test_the_label_of_an_extra_container_counts() -> None:
    extra = replica("old", labels={LABEL: "extra_container"})
    report = drift(project(service("web")), replica("web"), extra)
    assert (report.status, report.ignored) == (DriftStatus.SYNCED, 1)


def test_the_label_of_one_service_ignores_nothing_of_another() -> None:
    labelled = replica("web", fields={f"labels.{LABEL}": "true"}, labels={LABEL: "true"})
    report = drift(project(service("web", {f"labels.{LABEL}": "true"}), service("worker")), labelled)
    assert kinds(report) == [("worker", "missing_service", None)]
