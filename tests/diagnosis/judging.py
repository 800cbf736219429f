"""Asks one rule, or the whole engine, about one container of a snapshot."""

from functools import cache
from typing import Any

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.diagnosis.diagnose import judge
from bcon_exporter.diagnosis.rule import Case, SymptomRule
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import NotEvaluated, Severity, Symptom
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.signatures import Catalogue
from bcon_exporter.model.thresholds import Thresholds
from tests.factories import snapshot


@cache
def shipped() -> Catalogue:
    """The shipped catalogue, loaded once."""
    return load_catalogue()


def case(
    container: ContainerFacts, *neighbours: ContainerFacts, host: dict[str, Any] | None = None, **numbers: Any
) -> Case:
    """The container as a rule sees it; `numbers` are thresholds."""
    return Case(
        container=container,
        host=snapshot(container, *neighbours, **(host or {})),
        thresholds=Thresholds(**numbers),
        catalogue=shipped(),
    )


def ask(rule: SymptomRule, container: ContainerFacts, **more: Any) -> Symptom | NotEvaluated | None:
    """What one rule says through the engine: states, needs and all."""
    verdicts = judge(case(container, **more), (rule,))
    assert verdicts.rule_errors == ()
    found: list[Symptom | NotEvaluated] = [*verdicts.symptoms, *verdicts.not_evaluated]
    assert len(found) <= 1
    return found[0] if found else None


def severity(rule: SymptomRule, container: ContainerFacts, **more: Any) -> Severity | None:
    """The severity that one rule gives, None when the symptom is absent; fails when it is not evaluated."""
    verdict = ask(rule, container, **more)
    assert not isinstance(verdict, NotEvaluated), verdict
    return None if verdict is None else verdict.severity


def symptom(rule: SymptomRule, container: ContainerFacts, **more: Any) -> Symptom:
    """The symptom that one rule sees."""
    verdict = ask(rule, container, **more)
    assert isinstance(verdict, Symptom), verdict
    return verdict


def diagnose(container: ContainerFacts, *neighbours: ContainerFacts, **host: Any) -> DiagnosisReport:
    """The full report of the first container."""
    report, _ = diagnose_host(snapshot(container, *neighbours, **host), Thresholds(), shipped())
    assert all(not one.rule_errors for one in report.reports)
    return report.reports[0]
