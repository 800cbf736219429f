"""The shipped signatures: each pattern finds its examples, leaves look-alikes alone, and is fast on hostile lines."""

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.catalogue.loader import SHIPPED_FILES, shipped_files
from bcon_exporter.catalogue.pattern_tests import HOSTILE_BYTES, find_mistake, hostile_lines, slowest_seconds
from bcon_exporter.clock import thread_cpu_seconds
from bcon_exporter.diagnosis.candidate_lines import line_filter_of
from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.diagnosis.log_events import find_events
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import Category
from bcon_exporter.regexes import compile_pattern
from tests.architecture.sources import ROOT
from tests.factories import logs

CATALOGUE = load_catalogue()
PASSES = 100
"""The slowest takes forty."""
TRIES = 5
PATTERNS = [
    (f"{signature.id}-{number}", pattern)
    for signature in CATALOGUE.signatures
    for number, pattern in enumerate(signature.patterns)
]


@pytest.mark.slow
def test_every_pattern_proves_itself() -> None:
    assert {name: flaw for name, pattern in PATTERNS if (flaw := find_mistake(pattern)) is not None} == {}


@pytest.mark.slow
def test_a_hostile_line_costs_no_pattern_more_than_a_hundred_passes_over_it() -> None:
    """How fast the machine is shows in both alike; `python -m bench.logs` tells the milliseconds."""
    assert [
        name for name, pattern in PATTERNS if any(len(text) != HOSTILE_BYTES for text in hostile_lines(pattern))
    ] == []
    slow = dict(PATTERNS)
    for _ in range(TRIES):  # a machine has hiccups, a pattern has none
        slow = {name: pattern for name, pattern in slow.items() if slowest_seconds(pattern) > PASSES * pass_seconds()}
    assert [*slow] == []


def pass_seconds() -> float:
    """CPU seconds of one pass over a line of this length, at its best of many."""
    one_pass, line, best = compile_pattern("(?i)error|warn"), b"x" * HOSTILE_BYTES, float("inf")
    for _ in range(20):
        began = thread_cpu_seconds()
        one_pass.search(line)
        best = min(best, thread_cpu_seconds() - began)
    return best


def test_each_says_why_and_what_to_do_with_the_likeliest_cause_first() -> None:
    signatures = [signature for signature in CATALOGUE.signatures if not signature.benign]
    confidences = {each.id: [cause.confidence for cause in each.causes] for each in signatures}

    assert [each.id for each in signatures if not (each.causes and each.suggestions)] == []
    assert [name for name, each in confidences.items() if each != sorted(each, reverse=True)] == []


def test_ids_are_unique_and_the_breadth_is_there() -> None:
    ids = [signature.id for signature in CATALOGUE.signatures]

    assert len(ids) == len(set(ids))
    assert len(ids) >= 80
    assert {signature.category for signature in CATALOGUE.signatures} == set(Category)


@pytest.mark.slow
def test_the_screen_does_not_run_out_of_memory_on_a_long_mixed_buffer() -> None:
    noise = [example for s in CATALOGUE.signatures for p in s.patterns for example in (*p.matches, *p.ignores)]
    matches = {example for s in CATALOGUE.signatures if not s.probe for p in s.patterns for example in p.matches}
    buffer = LineBuffer(noise * 10)

    assert matches <= {buffer.texts[index] for index in line_filter_of(CATALOGUE).find_lines(buffer)}


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
    visible = [s for s in CATALOGUE.signatures if not s.benign and not s.probe and s.level != "error"]
    examples = [pattern.matches[0] for signature in visible for pattern in signature.patterns]
    missed = [example for example in examples if not find_events(logs(example).lines, CATALOGUE)]

    assert missed == []


def test_what_a_probe_prints_is_matched_by_the_signatures_of_probes_and_of_connections_only() -> None:
    matched = {CATALOGUE.for_probes.owner(index) for index in range(CATALOGUE.for_probes.pattern_count())}
    of_logs = {CATALOGUE.owner(index) for index in range(CATALOGUE.pattern_count())}

    assert {each for each in matched if not each.probe} == {
        each for each in of_logs if each.category is Category.NETWORK
    }
    assert {each for each in CATALOGUE.signatures if each.probe} == matched - of_logs


def test_every_example_of_a_probe_is_found_in_its_output() -> None:
    probes = [signature for signature in CATALOGUE.signatures if signature.probe]
    missed = [
        example
        for signature in probes
        for pattern in signature.patterns
        for example in pattern.matches
        if signature.id
        not in {
            hit.signature.id for event in find_events(logs(example).lines, CATALOGUE.for_probes) for hit in event.hits
        }
    ]
    assert missed == []


def test_all_data_files_are_loaded() -> None:
    folder = ROOT / "bcon_exporter/catalogue/data"

    assert (
        sorted(path.name for path in folder.iterdir() if path.is_file())
        == sorted(SHIPPED_FILES)
        == sorted(shipped_files())
    )
