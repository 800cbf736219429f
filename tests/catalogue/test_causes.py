"""Promise: what a cause says stands in one place, and rules, signatures and that place name the same causes."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Any

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
from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.diagnosis.exit_codes import cause_of_exit
from bcon_exporter.diagnosis.rule import Advice
from bcon_exporter.diagnosis.rules import SYMPTOM_RULES
from bcon_exporter.diagnosis.start_errors import START_ERRORS
from bcon_exporter.diagnosis.usage_in_words import numbers_of
from bcon_exporter.errors import SettingsError
from bcon_exporter.model.container_facts import Mount
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import Catalogue, Need
from bcon_exporter.model.thresholds import Thresholds
from tests.architecture.sources import ROOT
from tests.factories import container, logs, snapshot
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Iterator

CODE = ROOT / "bcon_exporter/diagnosis"
NAMES_A_CAUSE = ("known_cause", "known")
NAMES_A_STEP = ("known_step",)
NAMES_AN_ADJUSTMENT = ("adjust", "adjusted", "adjust_trouble")
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


@cache
def sources() -> dict[str, ast.Module]:
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in sorted(CODE.rglob("*.py"))}


@cache
def texts_in_code() -> frozenset[str]:
    nodes = (node for tree in sources().values() for node in ast.walk(tree))
    return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def calls_of(names: tuple[str, ...]) -> Iterator[tuple[str, ast.Call, tuple[str, ...]]]:
    """Yield each call of a function of these names: its place, and the names of the catalogue that it gives."""
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node) in names:
                given = (text for argument in node.args for text in alternatives(argument))
                yield f"{path}:{node.lineno}", node, tuple(given)


def alternatives(node: ast.expr) -> Iterator[str]:
    """Yield the texts that an argument may have."""
    if isinstance(node, ast.IfExp):
        yield from (*alternatives(node.body), *alternatives(node.orelse))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


@table(
    ("functions", "known"),
    [
        (NAMES_A_CAUSE, load_causes().texts),
        (NAMES_A_STEP, load_causes().steps),
        (NAMES_AN_ADJUSTMENT, load_causes().adjustments),
    ],
    ids=["causes", "steps", "adjustments"],
)
def test_the_code_names_only_what_is_known(functions: tuple[str, ...], known: dict[str, Any]) -> None:
    unknown = [(place, name) for place, _, names in calls_of(functions) for name in names if name not in known]

    assert unknown == []


def test_tables_of_the_code_name_only_what_is_known() -> None:
    names = {text for text in texts_in_code() if text.partition(".")[0] in load_causes().restarts and "." in text}

    assert {name for name in names if name.replace(".", "_").isidentifier()} - load_causes().texts.keys() == set()
    assert {kind.cause_name for kind in START_ERRORS} - load_causes().texts.keys() == set()
    assert all(cause_of_exit(code) for code in range(256))


def test_every_field_of_a_cause_is_filled_in_and_no_other_is_given() -> None:
    wrong = []
    for place, call, names in calls_of(NAMES_A_CAUSE):
        given = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
        given |= {"peer_name"} if called(call) == "known" else set()
        for name in names:
            cause = load_causes().texts[name]
            of_steps = {
                field for step in cause.steps for field in fields_of(f"{step.action}{step.rationale}{step.check}")
            }
            has_more = any(keyword.arg is None for keyword in call.keywords)
            if not has_more and not fields_of(cause.text) <= given:
                wrong.append((place, name, "misses", sorted(fields_of(cause.text) - given)))
            if not given <= fields_of(cause.text) | of_steps | {"peer_name"}:
                wrong.append((place, name, "gives", sorted(given)))

    assert wrong == []


def test_every_cause_is_named_by_the_code_or_by_a_signature() -> None:
    in_signatures = {cause.text for signature in load_catalogue().signatures for cause in signature.causes}
    of_rules = [cause for cause in load_causes().causes if cause.when]
    unnamed = [
        name
        for cause in load_causes().causes
        for name, said in cause.texts.items()
        if name not in texts_in_code() and said.text not in in_signatures
    ]

    assert unnamed == []
    assert [cause.id for cause in of_rules if texts_in_code().isdisjoint(cause.texts)] == []


def test_every_shared_step_and_every_adjustment_is_named() -> None:
    of_causes = {step for said in load_causes().texts.values() for step in said.steps}
    steps = {name for name, step in load_causes().steps.items() if step not in of_causes}

    assert steps - texts_in_code() == set()
    assert load_causes().adjustments.keys() - texts_in_code() == set()


def test_a_step_of_a_signature_leaves_only_numbers_of_the_container_open() -> None:
    facts = container()
    numbers = numbers_of(facts, snapshot(facts), Thresholds())
    steps = [step for signature in load_catalogue().signatures for step in signature.suggestions]
    open_fields = {field for step in steps for field in fields_of(f"{step.action}{step.rationale}{step.check}")}

    assert open_fields <= {*numbers, "subject"}


def test_rules_that_are_named_are_symptoms_or_are_told_in_words() -> None:
    single_words = {when for cause in load_causes().causes for when in cause.when if " " not in when}

    assert single_words <= set(SymptomType)
    assert {rule.type for rule in SYMPTOM_RULES} == set(SymptomType)


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
    (named,) = parse_signatures(SIGNATURE.replace("CAUSE", "mount_type_mismatch, {id: no_route, confidence: 0.2}"), "x")

    assert named.causes[0] == known_cause("mount_type_mismatch")
    assert (named.causes[1].text, named.causes[1].confidence) == (known_cause("no_route").text, 0.2)
    assert named.suggestions == known_cause("mount_type_mismatch").steps != ()


def test_a_signature_has_no_step_that_tells_numbers_of_a_container() -> None:
    (named,) = parse_signatures(SIGNATURE.replace("CAUSE", "host_memory_exhausted"), "x")

    assert "{memory_facts}" in known_cause("host_memory_exhausted").steps[0].rationale
    assert named.suggestions == ()


@table("cause", ["gateway_outage", "dependency_down", "{id: gateway_outage, confidence: 0.5}", '"s3cr#t"'])
def test_a_signature_that_names_no_known_cause_is_refused_with_its_line(cause: str) -> None:
    with pytest.raises(SettingsError, match=r"line 7: no cause .* is known") as caught:
        parse_signatures(SIGNATURE.replace("CAUSE", cause), "own.yaml")

    assert "s3cr" not in caught.value.message


@table(
    ("mounts", "said"),
    [((), False), ((Mount(type="volume", source="data", target="/data", read_only=False),), True)],
    ids=["without", "with"],
)
def test_a_cause_that_needs_a_fact_is_said_only_where_it_is_known(mounts: tuple[Mount, ...], *, said: bool) -> None:
    cause = "{id: volume_odd, text: The volume is odd., confidence: 0.9, needs: [mount]}"
    catalogue = Catalogue(parse_signatures(SIGNATURE.replace("CAUSE", cause), "x"))
    facts = container(logs=logs("ERROR gateway is down"), mounts=mounts)
    report = diagnose_host(snapshot(facts), Thresholds(), catalogue)[0].reports[0]

    assert [cause.id for cause in report.likely_causes if cause.id == "volume_odd"] == ["volume_odd"] * said
    assert catalogue.signatures[0].causes[0].needs == (Need.MOUNT,)


def test_what_a_rule_advises_goes_with_the_cause_whose_fact_is_not_known() -> None:
    advice = Advice(causes=(known_cause("killed_from_outside"), known_cause("crash_loop")))

    assert advice.without_unknown(frozenset({Need.EVENTS})) == advice
    assert [cause.id for cause in advice.without_unknown(frozenset()).causes] == ["crash_loop"]
    assert advice.without_unknown(frozenset()).steps == ()


def test_no_check_prints_the_values_of_variables() -> None:
    steps = [step for said in load_causes().texts.values() for step in said.steps]
    steps += [step for signature in load_catalogue().signatures for step in signature.suggestions]
    shown = {step.check for step in steps if step.check and ".Config.Env" in step.check and "split" not in step.check}
    assert shown == set()
    assert not [step.check for step in steps if step.check and "{{json .Config}}" in step.check]
