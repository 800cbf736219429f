"""Writes docs/symptoms.md and docs/signatures.md from rules, thresholds and catalogue: `make docs`.

What is no fact of theirs (how causes are found, how to write a signature) stands in symptoms.md.template.
"""

from __future__ import annotations

import string
from pathlib import Path
from typing import TYPE_CHECKING

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.catalogue.causes import load_causes
from bcon_exporter.diagnosis.hysteresis import UNKNOWN_HOLD_SECONDS
from bcon_exporter.diagnosis.last_exit import WELL_SECONDS
from bcon_exporter.diagnosis.rule import Hysteresis
from bcon_exporter.diagnosis.rules import SYMPTOM_RULES
from bcon_exporter.model.quantities import show_size
from bcon_exporter.model.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bcon_exporter.diagnosis.rule import SymptomRule
    from bcon_exporter.model.causes import Causes
    from bcon_exporter.model.signatures import Signature

ROOT = Path(__file__).parent.parent
SYMPTOMS = ROOT / "docs" / "symptoms.md"
SIGNATURES = ROOT / "docs" / "signatures.md"
TEMPLATE = Path(__file__).with_name("symptoms.md.template")
_HELPS = {True: "helps", False: "changes nothing", None: "may help"}
_UNITS = (
    (86_400, "a day", "days"),
    (3_600, "an hour", "hours"),
    (60, "a minute", "minutes"),
    (1, "a second", "seconds"),
)


def write_symptoms() -> str:
    """Return docs/symptoms.md."""
    numbers = default_numbers()
    return string.Template(TEMPLATE.read_text()).substitute(
        at_a_glance="\n".join(_glance(numbers)),
        symptoms="\n".join(line for rule in SYMPTOM_RULES for line in _symptom(rule, numbers)),
        causes="\n".join(_causes(load_causes())),
        adjustments="\n".join(_adjustments(load_causes())),
        signatures="\n".join(_signatures()),
        event_like=", ".join(rule.type for rule in SYMPTOM_RULES if rule.hysteresis is Hysteresis.EVENT),
        unknown_hold=in_words(UNKNOWN_HOLD_SECONDS),
        well_seconds=WELL_SECONDS,
        log_window=numbers["log_window_seconds"],
        exit_age=numbers["exit_age_seconds"],
        restart_quiet=numbers["restart_quiet_seconds"],
        hold_scans=numbers["hold_scans"],
        hold=numbers["hold_seconds"],
    )


def default_numbers() -> dict[str, str]:
    """The thresholds' defaults as a reader expects them: 80 %, 10 minutes, 3."""
    shown = {}
    for name, field in Thresholds.model_fields.items():
        value = field.default
        shown[name] = f"{value:.0%}".replace("%", " %") if name.endswith("_ratio") else f"{value:g}"
        if name.endswith("_seconds"):
            shown[name] = in_words(value)
        elif name.endswith("_bytes"):
            shown[name] = show_size(value).replace(".0 ", " ")
    return shown


def in_words(seconds: float) -> str:
    """`600` as "10 minutes", `3600` as "an hour"."""
    unit, one, many = next((each for each in _UNITS if seconds >= each[0] and seconds % each[0] == 0), _UNITS[-1])
    return one if seconds == unit else f"{seconds / unit:g} {many}"


def _glance(numbers: Mapping[str, str]) -> Iterator[str]:
    yield from ("| condition | symptom | severity |", "|---|---|---|")
    for rule in SYMPTOM_RULES:
        for condition, severity in rule.conditions:
            yield f"| {condition.format(**numbers)} | `{rule.type}` | {severity} |"


def _symptom(rule: SymptomRule, numbers: Mapping[str, str]) -> Iterator[str]:
    yield from (f"### {rule.type}", "", rule.description, "")
    told = [f"{severity}: {condition.format(**numbers)}" for condition, severity in rule.conditions]
    severities = "; ".join(told) if len(told) > 1 else str(rule.conditions[0][1])
    yield f"- Severity: {severities}{'; ' if rule.ages else ''}{rule.ages.format(**numbers)}."
    yield f"- Not evaluated: {rule.unknown_when}."
    _, _, why = rule.source.partition("; ")
    if why:
        yield f"- Why: {why}."
    yield ""


def _causes(causes: Causes) -> Iterator[str]:
    """Causes that come from the state or the surroundings: from what, and what a restart does about them."""
    yield from ("| cause | from | a restart |", "|---|---|---|")
    for cause in causes.causes:
        if cause.when:
            link = f" ([more]({cause.reference}))" if cause.reference else ""
            yield f"| {cause.id} | {', '.join(cause.when)}{link} | {_HELPS[cause.restart.helps]} |"


def _adjustments(causes: Causes) -> Iterator[str]:
    yield from ("| confidence | when |", "|---|---|")
    for adjustment in causes.adjustments.values():
        change = f"{adjustment.by:.2f} less" if adjustment.by is not None else f"{adjustment.to:.2f}"
        yield f"| {change} | {adjustment.why} |"


def _signatures() -> Iterator[str]:
    yield from ("| signature | category | symptom | level | causes |", "|---|---|---|---|---|")
    yield from map(_row, load_catalogue().signatures)


def _row(one: Signature) -> str:
    symptom = "none: benign" if one.benign else "none: a client's doing" if one.blame == "client" else one.symptom.value
    named = ", ".join(cause.id for cause in one.causes) or "none"
    return f"| [{one.id}](signatures.md#{one.id}) | {one.category.value} | {symptom} | {one.level} | {named} |"


def write_signatures() -> str:
    """Return docs/signatures.md: what each signature means, why it happens and what to do."""
    lines = ["# Signatures", "", "Known failures in logs: what they mean, why they happen, what to do about them."]
    lines += ["Written from the catalogue; [symptoms](symptoms.md#signatures) says how signatures count.", ""]
    for one in load_catalogue().signatures:
        lines += _section(one)
    return "\n".join(lines)


def _section(one: Signature) -> Iterator[str]:
    yield from (f"## {one.id}", "", one.explanation, "")
    yield from ("```text", one.patterns[0].matches[0], "```", "")
    if one.causes:
        yield from ("Why:", "", *(f"- {cause.text} ({cause.confidence:.0%}, `{cause.id}`)" for cause in one.causes), "")
    if one.suggestions:
        yield from ("What to do:", "")
        for told in one.suggestions:
            check = f" See `{told.check}`." if told.check else ""
            yield f"- {told.urgency.value.replace('_', ' ')}: {told.action} {told.rationale}{check}"
        yield ""


if __name__ == "__main__":
    SYMPTOMS.write_text(write_symptoms())
    SIGNATURES.write_text(write_signatures())
