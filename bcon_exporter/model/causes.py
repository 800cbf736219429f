"""What the catalogue knows of causes: their words, how sure they are, what must be known, whether a restart helps."""

from collections.abc import Mapping
from dataclasses import dataclass

from bcon_exporter.model.signatures import CauseText, SuggestionText

LEAST_CONFIDENCE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartEffect:
    """Whether a restart helps: True, at least for a while; False, it would be the same again; None, it may.

    `id` is that of an answer that several causes share, else empty.
    """

    id: str = ""
    helps: bool | None = None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """What changes how sure a cause is under certain circumstances.

    Attributes:
        by: Subtracted from the confidence; None where `to` takes its place.
        why: In one sentence.
    """

    by: float | None = None
    to: float | None = None
    why: str

    def adjust(self, confidence: float) -> float:
        """Return the confidence as it is under these circumstances."""
        return self.to if self.to is not None else round(max(LEAST_CONFIDENCE, confidence - (self.by or 0)), 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause.

    Attributes:
        texts: What is said of it, by `id` and `id.saying`.
        when: Which rules, exit codes and states of other containers name it; signatures name theirs themselves.
        reference: Address of a page that tells more.
    """

    id: str
    texts: Mapping[str, CauseText]
    when: tuple[str, ...]
    restart: RestartEffect
    reference: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """All causes: themselves in order, and what is said of them by `id` and `id.saying`; the rest by id.

    Attributes:
        restarts: By the id of the cause.
        unknown_restart: Of a cause that is not known.
        steps: The shared ones.
    """

    causes: tuple[Cause, ...]
    texts: Mapping[str, CauseText]
    restarts: Mapping[str, RestartEffect]
    unknown_restart: RestartEffect
    adjustments: Mapping[str, Adjustment]
    steps: Mapping[str, SuggestionText]
