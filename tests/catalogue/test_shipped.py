"""The shipped signatures: each pattern finds its examples, leaves look-alikes alone, and is fast on hostile lines."""

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.catalogue.loader import SHIPPED_FILES, shipped_files
from bcon_exporter.catalogue.proof import HOSTILE_BYTES, MAX_SECONDS, find_flaw, hostile_lines, slowest_seconds
from bcon_exporter.diagnosis.line_buffer import LineBuffer
from bcon_exporter.diagnosis.line_screen import screen_of
from bcon_exporter.diagnosis.logs import find_events
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import Category, Signature, SignaturePattern
from tests.architecture.sources import ROOT
from tests.factories import logs

CATALOGUE = load_catalogue()
PATTERNS = [
    pytest.param(signature, pattern, id=f"{signature.id}-{number}")
    for signature in CATALOGUE.signatures
    for number, pattern in enumerate(signature.patterns)
]


@pytest.mark.parametrize(("signature", "pattern"), PATTERNS)
def test_the_pattern_proves_itself(signature: Signature, pattern: SignaturePattern) -> None:
    assert find_flaw(pattern) is None, signature.id


@pytest.mark.parametrize(("signature", "pattern"), PATTERNS)
def test_a_hostile_line_takes_less_than_five_milliseconds(signature: Signature, pattern: SignaturePattern) -> None:
    assert all(len(text) == HOSTILE_BYTES for text in hostile_lines(pattern))
    assert slowest_seconds(pattern) < MAX_SECONDS, signature.id


@pytest.mark.parametrize("signature", CATALOGUE.signatures, ids=lambda signature: signature.id)
def test_each_says_why_and_what_to_do(signature: Signature) -> None:
    if signature.benign:
        return
    assert signature.causes
    assert signature.suggestions
    confidences = [cause.confidence for cause in signature.causes]
    assert confidences == sorted(confidences, reverse=True)


def test_ids_are_unique_and_the_breadth_is_there() -> None:
    ids = [signature.id for signature in CATALOGUE.signatures]

    assert len(ids) == len(set(ids))
    assert len(ids) >= 80
    assert {signature.category for signature in CATALOGUE.signatures} == set(Category)


def test_the_screen_does_not_run_out_of_memory_on_a_long_mixed_buffer() -> None:
    noise = [example for s in CATALOGUE.signatures for p in s.patterns for example in (*p.matches, *p.ignores)]
    matches = {example for s in CATALOGUE.signatures for p in s.patterns for example in p.matches}
    buffer = LineBuffer(noise * 20)

    assert matches <= {buffer.texts[index] for index in screen_of(CATALOGUE).find_lines(buffer)}


def test_a_kind_of_failure_and_its_symptom_go_together() -> None:
    symptoms = {
        Category.NETWORK: SymptomType.NETWORK_ERROR,
        Category.OOM: SymptomType.OOM_KILLED,
        Category.DISK: SymptomType.DISK_PRESSURE,
        Category.SLOW: SymptomType.SLOW_RESPONSE,
    }
    for signature in CATALOGUE.signatures:
        wanted = symptoms.get(signature.category)
        if wanted is None:
            assert signature.symptom not in symptoms.values(), signature.id
        else:
            assert signature.symptom is wanted, signature.id


def test_every_example_at_an_unknown_level_is_found_through_the_whole_pipeline() -> None:
    visible = [s for s in CATALOGUE.signatures if not s.benign and s.level != "error"]
    examples = [pattern.matches[0] for signature in visible for pattern in signature.patterns]
    missed = [example for example in examples if not find_events(logs(example).lines, CATALOGUE)]

    assert missed == []


def test_all_data_files_are_loaded() -> None:
    folder = ROOT / "bcon_exporter/catalogue/data"

    assert sorted(path.name for path in folder.iterdir()) == sorted(SHIPPED_FILES) == sorted(shipped_files())
