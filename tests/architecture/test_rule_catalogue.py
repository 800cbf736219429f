"""Every symptom and every drift type has one rule and one section in the docs."""

import pytest

from bcon_exporter.diagnosis.rule import SymptomRule
from bcon_exporter.diagnosis.rules import SYMPTOM_RULES
from bcon_exporter.drift.rules import DRIFT_RULES
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import DriftType, SymptomType
from tests.architecture.sources import ROOT

RULES = [*(("diagnosis", kind) for kind in SymptomType), *(("drift", kind) for kind in DriftType)]
DOCS = {"diagnosis": "docs/symptoms.md", "drift": "docs/drift.md"}


def test_every_symptom_has_exactly_one_rule_in_order() -> None:
    assert [rule.type for rule in SYMPTOM_RULES] == list(SymptomType)


def test_every_drift_type_has_exactly_one_rule() -> None:
    assert sorted(rule.drift_type for rule in DRIFT_RULES) == sorted(DriftType)


@pytest.mark.parametrize(("package", "kind"), RULES)
def test_every_symptom_and_drift_type_has_its_section(package: str, kind: str) -> None:
    headings = {line.strip("#` ") for line in (ROOT / DOCS[package]).read_text().splitlines() if line.startswith("#")}

    assert kind in headings


@pytest.mark.parametrize("rule", SYMPTOM_RULES, ids=lambda rule: rule.type)
def test_needed_facts_exist(rule: SymptomRule) -> None:
    assert set(rule.needs) <= set(ContainerFacts.model_fields)
    assert rule.states
    assert rule.source.startswith(f"docs/symptoms.md#{rule.type}")
