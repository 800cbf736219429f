"""Writes what docs/symptoms.md and docs/signatures.md say from the rules and the catalogue: `make docs`.

Everything else in docs/symptoms.md (thresholds, severities, what each symptom needs) is written by hand and stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis.rules import SYMPTOM_RULES
from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bcon_exporter.model.signatures import Signature

SYMPTOMS = ROOT / "docs" / "symptoms.md"
SIGNATURES = ROOT / "docs" / "signatures.md"
_TABLE = "| signature | category | symptom | level | causes |\n|---|---|---|---|---|\n"


def write_symptoms(text: str) -> str:
    """Return docs/symptoms.md with the rules' own descriptions and the catalogue's table."""
    for rule in SYMPTOM_RULES:
        heading = f"### {rule.type.value}\n\n"
        before, found, rest = text.partition(heading)
        if not found:
            msg = f"docs/symptoms.md has no section {rule.type.value}"
            raise ValueError(msg)
        text = before + heading + rule.description + "\n" + rest.partition("\n")[2]
    before, found, _ = text.partition(_TABLE)
    if not found:
        msg = "docs/symptoms.md has no table of signatures"
        raise ValueError(msg)
    return before + _TABLE + "".join(f"{_row(one)}\n" for one in load_catalogue().signatures)


def _row(one: Signature) -> str:
    symptom = "none: benign" if one.benign else "none: a client's doing" if one.blame == "client" else one.symptom.value
    causes = ", ".join(cause.id for cause in one.causes) or "none"
    return f"| [{one.id}](signatures.md#{one.id}) | {one.category.value} | {symptom} | {one.level} | {causes} |"


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
    SYMPTOMS.write_text(write_symptoms(SYMPTOMS.read_text()))
    SIGNATURES.write_text(write_signatures())
