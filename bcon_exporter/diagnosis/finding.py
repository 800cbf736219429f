"""A finding: a cause, what to do about it, and the container that it points to."""

from dataclasses import dataclass

from bcon_exporter.model.findings import LikelyCause
from bcon_exporter.model.signatures import SuggestionText

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


def weakened(finding: Finding, by: float) -> Finding:
    """Return the same finding with a lower confidence."""
    confidence = round(max(0.05, finding.cause.confidence - by), 2)
    return Finding(finding.cause.model_copy(update={"confidence": confidence}), finding.suggestions, finding.points_to)
