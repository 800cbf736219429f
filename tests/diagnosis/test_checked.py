"""What is not known is not healthy: a container of which a deciding rule could not be judged stands apart."""

from dataclasses import replace

from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.diagnosis.rule import PRESENT, Case, SymptomRule
from bcon_exporter.diagnosis.rules import RULE_OF, SYMPTOM_RULES
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import NotEvaluated, SymptomType
from bcon_exporter.model.reports import DiagnoseAllReport
from bcon_exporter.model.thresholds import Thresholds
from tests.diagnosis.judging import shipped
from tests.factories import container, exited, snapshot
from tests.table_rows import table

DECIDING = frozenset(rule.type for rule in SYMPTOM_RULES if rule.decides)
UNREAD = {"inspect": "the engine did not answer in time"}


def rule(kind: SymptomType, *, raises: bool = False) -> SymptomRule:
    """A rule that cannot be judged."""

    def judge(_case: Case) -> NotEvaluated:
        if raises:
            raise ValueError(kind)
        return NotEvaluated(symptom=kind, missing=("lifecycle",), reason="nobody watched")

    return replace(RULE_OF[kind], states=PRESENT, applies=None, needs=(), judge=judge)


def report_of(*containers: ContainerFacts, rules: tuple[SymptomRule, ...] | None = None) -> DiagnoseAllReport:
    host = snapshot(*containers)
    if rules is None:
        return diagnose_host(host, Thresholds(), shipped())[0]
    return diagnose_host(host, Thresholds(), shipped(), rules=rules)[0]


@table("raises", [False, True])
@table("kind", list(SymptomType))
def test_only_the_rules_that_decide_leave_a_container_unchecked(kind: SymptomType, raises: bool) -> None:
    report = report_of(container(name="web"), rules=(rule(kind, raises=raises),))

    assert report.reports[0].checked is (kind not in DECIDING)
    assert report.not_checked == (kind in DECIDING)
    assert (report.healthy, report.total_containers) == (1, 1)


def test_what_decides_is_what_ends_or_condemns_a_container() -> None:
    assert {kind.value for kind in DECIDING} == {
        "exit_error",
        "oom_killed",
        "restart_loop",
        "start_failed",
        "unhealthy",
    }


def test_missing_logs_and_usage_are_named_and_not_unchecked() -> None:
    blind = container(name="web", logs=None, usage=None, unread={"logs": "driver none", "usage": "no sample"})
    report = report_of(blind).reports[0]

    assert {one.symptom.value for one in report.not_evaluated} >= {"log_error", "high_cpu"}
    assert report.checked


def test_those_that_ail_are_not_counted_twice() -> None:
    unclear = exited(1, name="down", oom_killed=None, unread=UNREAD)
    unread = container(name="web", health=None, unread=UNREAD)
    report = report_of(unclear, unread, container(name="well"))

    assert [one.checked for one in report.reports] == [False, False, True]
    assert (report.error, report.healthy, report.not_checked) == (1, 2, 1)
    assert [(one.container_name, one.status, one.checked) for one in report.unchecked] == [("web", "healthy", False)]
    assert [one.container_name for one in report.summaries] == ["down"]
    assert report.reports[1].summary.startswith("web: not checked, running, as far as it could be seen")


def test_a_symptom_that_its_label_leaves_out_was_not_asked_for() -> None:
    ignoring = container(name="web", unread=UNREAD, labels={"bcon.ignore": ",".join(kind.value for kind in DECIDING)})

    assert report_of(ignoring).reports[0].checked
