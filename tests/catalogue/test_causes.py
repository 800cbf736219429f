"""Promise: what a cause says stands in one place, and rules, signatures and that place name the same causes."""

from __future__ import annotations

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.catalogue.causes import (
    CAUSE_FILES,
    CausesError,
    check_use,
    fields_of,
    known_cause,
    known_step,
    load_causes,
    parse_causes,
    restart_effect_of,
)
from bcon_exporter.catalogue.loader import parse_signatures
from bcon_exporter.diagnosis.usage_in_words import numbers_of
from bcon_exporter.errors import SettingsError
from bcon_exporter.model.thresholds import Thresholds
from tests.architecture.sources import ROOT
from tests.factories import container, snapshot
from tests.table_rows import table

SHARED = """\
restarts:
- {id: may_help, why: a restart may help or not}
steps:
- {id: read_log, urgency: immediate, action: Read its log., rationale: It says why.}
"""
GOOD = """\
causes:
- id: engine_cold
  text: The engine {name} is cold.
  confidence: 0.6
  when: [starting]
  restart: may_help
  steps: [read_log]
  sayings:
    frozen: {confidence: 0.9}
"""
OTHER = "- {id: engine_warm, text: The engine is warm., confidence: 0.5, when: [starting]}\n"
SIGNATURE = """\
signatures:
- id: gateway_down
  category: network
  patterns:
  - {regex: 'gateway is down', matches: ['gateway is down']}
  explanation: The gateway did not answer in time.
  causes: [CAUSE]
"""


def test_a_step_of_a_signature_leaves_only_numbers_of_the_container_open() -> None:
    facts = container()
    numbers = numbers_of(facts, snapshot(facts), Thresholds())
    steps = [step for signature in load_catalogue().signatures for step in signature.suggestions]
    open_fields = {field for step in steps for field in fields_of(f"{step.action}{step.rationale}{step.check}")}

    assert open_fields <= numbers.keys()


def test_all_files_of_causes_are_loaded() -> None:
    folder = ROOT / "bcon_exporter/catalogue/data/causes"

    assert sorted(path.name for path in folder.iterdir()) == sorted(CAUSE_FILES)


def test_what_is_not_said_otherwise_is_as_in_the_cause() -> None:
    causes = parse_causes([GOOD, SHARED])

    assert causes.texts["engine_cold.frozen"].text == causes.texts["engine_cold"].text
    assert causes.texts["engine_cold.frozen"].steps == (causes.steps["read_log"],)
    assert causes.texts["engine_cold.frozen"].confidence == 0.9
    assert causes.restarts["engine_cold"].helps is None


@table(
    ("text", "reason"),
    [
        pytest.param(GOOD + GOOD.partition("\n")[2], "there is twice engine_cold", id="id-twice"),
        pytest.param(GOOD.replace("[read_log]", "[read_lag]"), "for engine_cold .* read_lag", id="unknown-step"),
        pytest.param(GOOD.replace("may_help", "may_halp"), "no such restart: may_halp", id="unknown-restart"),
        pytest.param(
            GOOD.replace("restart: may_help", "restart: {why: none}"), "names the restart may_help", id="unused-restart"
        ),
        pytest.param(GOOD + OTHER, "whether a restart helps against engine_warm", id="no-restart"),
        pytest.param(GOOD.replace("frozen: {conf", "frozen: {canf"), "no such key: canfidence", id="typo-in-saying"),
        pytest.param(GOOD.replace("  text", "  txet"), "txet", id="typo"),
        pytest.param(GOOD.replace("0.6", "6"), "confidence 6", id="too-sure"),
        pytest.param(GOOD.replace("causes:", "cases:"), "no such list: cases", id="unknown-list"),
        pytest.param(GOOD + "  needs: [luck]\n", "needs.0 'luck'", id="unknown-need"),
    ],
)
def test_a_mistake_among_causes_is_refused_by_name(text: str, reason: str) -> None:
    with pytest.raises(CausesError, match=reason):
        parse_causes([text, SHARED])


def test_a_cause_that_nothing_names_is_refused() -> None:
    causes = parse_causes([GOOD.replace("  when: [starting]\n", ""), SHARED])

    with pytest.raises(CausesError, match="names engine_cold"):
        check_use(causes, load_catalogue().signatures)


def test_what_fills_a_field_is_not_read_again() -> None:
    cause = known_cause("dependency_down", how="{at} {peer_name}", at=" then", peer_name="db")

    assert cause.text == "{at} {peer_name} then"
    assert cause.steps[0].check == "docker logs --tail 50 db"
    assert known_step("compare_with_before", after="{name}").rationale == "The error began {name}."


def test_of_a_cause_that_is_not_known_a_restart_may_help() -> None:
    assert (restart_effect_of("gateway_outage").helps, restart_effect_of(None).id) == (None, "may_help")
    assert restart_effect_of("memory_limit_too_low").helps is False


@table(
    ("name", "before", "after"),
    [("behind_peer", 0.9, 0.85), ("another_host_named", 0.4, 0.05), ("ended_after_failure", 0.92, 0.4)],
)
def test_an_adjustment_subtracts_or_sets_and_leaves_something(name: str, before: float, after: float) -> None:
    assert load_causes().adjustments[name].adjust(before) == after


def test_a_signature_names_known_causes_and_has_their_steps() -> None:
    (named,) = parse_signatures(
        SIGNATURE.replace("CAUSE", "host_memory_exhausted, {id: no_route, confidence: 0.2}"), "x"
    )

    assert named.causes[0] == known_cause("host_memory_exhausted")
    assert (named.causes[1].text, named.causes[1].confidence) == (known_cause("no_route").text, 0.2)
    assert named.suggestions == known_cause("host_memory_exhausted").steps


@table("cause", ["gateway_outage", "dependency_down", "{id: gateway_outage, confidence: 0.5}", '"s3cr#t"'])
def test_a_signature_that_names_no_known_cause_is_refused_with_its_line(cause: str) -> None:
    with pytest.raises(SettingsError, match=r"line 7: no cause .* is known") as caught:
        parse_signatures(SIGNATURE.replace("CAUSE", cause), "own.yaml")

    assert "s3cr" not in caught.value.message
