"""Promise: a signature counts at the levels that it names, and gives way to what explains it."""

import pytest

from bcon_exporter.catalogue.loader import parse_signatures
from bcon_exporter.diagnosis.log_events import find_events
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import Catalogue
from tests.factories import logs

HEAD = """
- id: {id}
  category: {category}
  explanation: Something is wrong.
  causes: [{{id: some_cause, text: Some cause., confidence: 0.5}}]
  suggestions: [{{urgency: immediate, action: Do this., rationale: It helps.}}]
"""


def signature(extra: str, *, name: str = "tried_one", category: str = "other", word: str = "frob") -> str:
    return HEAD.format(id=name, category=category) + extra + f"  patterns: [{{regex: {word}, matches: [{word}]}}]\n"


def found(text: str, *lines: str) -> list[str]:
    catalogue = Catalogue(parse_signatures(f"signatures:{text}", "tried.yaml"))
    return [hit.signature.id for event in find_events(logs(*lines).lines, catalogue) for hit in event.hits]


@pytest.mark.parametrize(
    ("extra", "lines"),
    [
        ("  level: info\n", {"INFO", "plain", "WARN", "ERROR"}),
        ("", {"plain", "WARN", "ERROR"}),
        ("  level: warning\n", {"WARN", "ERROR"}),
        ("  level: error\n", {"ERROR"}),
        ("  warnings: false\n", {"plain", "ERROR"}),
        ("  level: info\n  up_to: warning\n", {"INFO", "plain", "WARN"}),
        ("  level: info\n  up_to: info\n", {"INFO"}),
    ],
)
def test_it_counts_in_lines_of_these_levels(extra: str, lines: set[str]) -> None:
    assert {
        head for head in ("DEBUG", "INFO", "plain", "WARN", "ERROR") if found(signature(extra), f"{head} frob")
    } == lines


def test_a_pattern_may_count_from_another_level_than_its_signature() -> None:
    text = signature("  level: error\n").replace("matches: [frob]}", "matches: [frob], level: info}")

    assert found(text, "INFO frob") == ["tried_one"]


def test_it_yields_to_a_failure_of_another_kind_in_the_same_log() -> None:
    consequence = signature("  yields_to: [permission]\n")
    cause = signature("", name="tried_two", category="permission", word="nope")

    assert found(consequence + cause, "ERROR frob") == ["tried_one"]
    assert found(consequence + cause, "ERROR frob", "ERROR nope") == ["tried_two"]


def test_a_pattern_does_not_count_in_a_line_that_says_something_else() -> None:
    text = signature("").replace("matches: [frob]}", "matches: [frob], unless: test run}")

    assert found(text, "ERROR frob") == ["tried_one"]
    assert found(text, "ERROR frob in the test run") == []


def test_a_clients_signature_counts_only_where_the_client_is_named() -> None:
    text = signature("  client: true\n")

    assert found(text, "ERROR frob from 203.0.113.9") == ["tried_one"]
    assert found(text, "ERROR frob") == []
    assert found(text, "ERROR could not connect: frob from 203.0.113.9") == []


def test_what_a_client_did_is_named_and_shows_nothing() -> None:
    catalogue = Catalogue(
        parse_signatures(f"signatures:{signature('  blame: client')}".replace("client", "client\n"), "x")
    )
    (event,) = find_events(logs("ERROR frob").lines, catalogue)

    assert [hit.signature.id for hit in event.hits] == ["tried_one"]
    assert not any(event.shows(kind) for kind in SymptomType)


def test_its_runbook_is_its_own_or_its_section_in_the_documents() -> None:
    (plain,) = parse_signatures(f"signatures:{signature('')}", "x")
    (own,) = parse_signatures(f"signatures:{signature('  runbook: https://wiki.example.org/x' + chr(10))}", "x")

    assert (plain.runbook_link, own.runbook_link) == ("docs/signatures.md#tried_one", "https://wiki.example.org/x")
