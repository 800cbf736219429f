"""Promise: what the documents say of symptoms and signatures is what rules, thresholds and catalogue say."""

import re
from pathlib import Path

import pytest

from bcon_exporter.diagnosis.rule import SymptomRule
from bcon_exporter.diagnosis.rules import SYMPTOM_RULES
from bcon_exporter.model.findings import Severity
from tests.architecture.signature_documents import (
    FINDERS,
    SIGNATURES,
    SYMPTOMS,
    default_numbers,
    in_words,
    state_causes,
    write_signatures,
    write_symptoms,
)
from tests.architecture.sources import ROOT
from tests.diagnosis.judging import shipped

STALE = "stale: run `make docs`"
RULES = ROOT / "bcon_exporter" / "diagnosis" / "rules"
NAMED = re.compile(r'\bid="([a-z_]+)"')


def test_the_symptoms_document_is_current() -> None:
    assert write_symptoms() == SYMPTOMS.read_text(), STALE


def test_the_signatures_document_is_current() -> None:
    assert write_signatures() == SIGNATURES.read_text(), STALE


@pytest.mark.parametrize("rule", SYMPTOM_RULES, ids=lambda rule: rule.type)
def test_a_rule_declares_every_severity_that_its_code_can_give(rule: SymptomRule) -> None:
    code = (RULES / f"{rule.type}.py").read_text().partition("RULE = SymptomRule(")[0]
    given = {Severity[name] for name in re.findall(r"(?<!rank > )\bSeverity\.([A-Z]+)", code)}
    declared = {severity for _, severity in rule.conditions} | {one for one in Severity if one in rule.ages}
    assert given <= declared


@pytest.mark.parametrize("rule", SYMPTOM_RULES, ids=lambda rule: rule.type)
def test_a_rule_declares_the_causes_that_it_names(rule: SymptomRule) -> None:
    assert sorted(rule.causes) == sorted(set(NAMED.findall((RULES / f"{rule.type}.py").read_text())))


@pytest.mark.parametrize("finder", FINDERS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_finder_declares_causes_that_it_names(finder: object) -> None:
    source = Path(str(finder.__file__)).read_text()  # type: ignore[attr-defined]  # a module
    code, _, declared = source.partition("\nCAUSES = ")
    assert all(f'"{name}"' in code for name in re.findall(r'"([a-z_]+)":', declared))


def test_every_cause_that_the_code_names_is_documented() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "bcon_exporter/diagnosis").rglob("*.py"))
    known = {*state_causes(), *(cause.id for one in shipped().signatures for cause in one.causes)}
    assert len(state_causes()) > 60
    assert sorted(set(NAMED.findall(sources)) - known) == []


def test_conditions_show_the_defaults_of_thresholds() -> None:
    numbers = default_numbers()
    assert (numbers["cpu_ratio"], numbers["restart_count"], numbers["log_window_seconds"]) == (
        "80 %",
        "3",
        "10 minutes",
    )
    assert f"| CPU above {numbers['cpu_ratio']} of what" in SYMPTOMS.read_text()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "a second"), (3, "3 seconds"), (60, "a minute"), (90, "90 seconds"), (600, "10 minutes"), (3600, "an hour"),
     (86_400, "a day"), (0, "0 seconds")],
)  # fmt: skip
def test_times_are_told_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
