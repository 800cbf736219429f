"""Every symptom and every drift type has one rule and one section in the docs."""

import re
from dataclasses import replace

import pytest

from bcon_exporter.diagnosis.rule import SymptomRule
from bcon_exporter.diagnosis.rules import SYMPTOM_RULES
from bcon_exporter.drift.rules import DRIFT_RULES
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import DriftType, SymptomType
from bcon_exporter.model.thresholds import Thresholds
from tests.architecture.sources import ROOT
from tests.table_rows import table

RULES = [*(("diagnosis", kind) for kind in SymptomType), *(("drift", kind) for kind in DriftType)]
DOCS = {"diagnosis": "docs/symptoms.md", "drift": "docs/drift.md"}


def test_every_symptom_has_exactly_one_rule_in_order() -> None:
    assert [rule.type for rule in SYMPTOM_RULES] == list(SymptomType)


def test_every_drift_type_has_exactly_one_rule() -> None:
    assert sorted(rule.drift_type for rule in DRIFT_RULES) == sorted(DriftType)


@table(("package", "kind"), RULES)
def test_every_symptom_and_drift_type_has_its_section(package: str, kind: str) -> None:
    headings = {line.strip("#` ") for line in (ROOT / DOCS[package]).read_text().splitlines() if line.startswith("#")}

    assert kind in headings


@table("rule", SYMPTOM_RULES, ids=lambda rule: rule.type)
def test_needed_facts_exist(rule: SymptomRule) -> None:
    assert set(rule.needs) <= set(ContainerFacts.model_fields)
    assert rule.states
    assert rule.source.startswith(f"docs/symptoms.md#{rule.type}")


@table("rule", SYMPTOM_RULES, ids=lambda rule: rule.type)
def test_the_threshold_of_a_rule_is_the_one_that_its_conditions_name(rule: SymptomRule) -> None:
    ratios = [name for name in Thresholds.model_fields if name.endswith("_ratio")]
    each_its_own = Thresholds.model_validate({name: 0.01 * place for place, name in enumerate(ratios, 1)})
    shown = set(re.findall(r"{(\w+_ratio)}", " ".join(condition for condition, _ in rule.conditions)))

    thresholds = set() if rule.threshold is None else {rule.threshold(each_its_own)}

    assert thresholds == {getattr(each_its_own, name) for name in shown}


def test_a_measured_rule_without_a_threshold_is_named() -> None:
    measured = next(rule for rule in SYMPTOM_RULES if rule.type is SymptomType.HIGH_CPU)

    with pytest.raises(TypeError, match="the rule of high_cpu is measured and has no threshold"):
        replace(measured, threshold=None)
