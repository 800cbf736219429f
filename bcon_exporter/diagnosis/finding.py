"""A finding: a cause, what to do about it, and the container that it points to."""

from dataclasses import dataclass, replace

from bcon_exporter.catalogue.causes import adjust
from bcon_exporter.model.findings import LikelyCause, SymptomType
from bcon_exporter.model.signatures import CauseText, SuggestionText

_EVIDENCE_CHARS = 240


def quote(line: str) -> str:
    """Return the part of a line that evidence quotes; callers compare these quotes."""
    return line[:_EVIDENCE_CHARS]


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause with its own suggestions.

    Attributes:
        points_to: Full id of the container whose trouble this is; None where it points to no other container.
    """

    cause: LikelyCause
    suggestions: tuple[SuggestionText, ...] = ()
    points_to: str | None = None


def likely_cause(
    cause: CauseText, evidence: tuple[str, ...], related: tuple[SymptomType, ...], peer: str | None = None
) -> LikelyCause:
    """Return a cause of the catalogue as one of a container, with what shows it.

    Args:
        cause: With the fields of its words filled in.
        evidence: Quotes.
        related: The symptoms that it explains.
        peer: The other container or host that it is about.
    """
    return LikelyCause(
        id=cause.id,
        description=cause.text,
        confidence=cause.confidence,
        evidence=evidence,
        related_symptoms=related,
        peer=peer,
    )


def finding_of(
    cause: CauseText,
    evidence: tuple[str, ...],
    related: tuple[SymptomType, ...],
    peer: str | None = None,
    points_to: str | None = None,
) -> Finding:
    """Return a finding with the steps of its cause; `points_to` is the full id of the container that it blames."""
    return Finding(likely_cause(cause, evidence, related, peer), cause.steps, points_to)


def adjusted(finding: Finding, name: str) -> Finding:
    """Return the same finding, as sure as the adjustment of this id makes it."""
    confidence = adjust(finding.cause.confidence, name)
    return replace(finding, cause=finding.cause.model_copy(update={"confidence": confidence}))
