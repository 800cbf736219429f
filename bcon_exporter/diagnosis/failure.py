"""Failed connections as values: to whom, how, when; and causes that point to a container."""

from dataclasses import dataclass
from enum import StrEnum

from bcon_exporter.diagnosis.finding import Finding, quote
from bcon_exporter.diagnosis.numbers import safe_name
from bcon_exporter.diagnosis.peer_state import AT_SOME_TIME, Span, Trouble
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, SymptomType, Urgency
from bcon_exporter.model.signatures import Category, Signature, SuggestionText

RELATED = (SymptomType.NETWORK_ERROR, SymptomType.LOG_ERROR)


class Kind(StrEnum):
    """How a connection failed."""

    UNRESOLVED = "unresolved"
    REFUSED = "refused"
    SILENT = "silent"
    BROKEN = "broken"
    OTHER = "other"


_KINDS = (
    ("net_dns", Kind.UNRESOLVED),
    ("net_refused", Kind.REFUSED),
    ("net_unreachable", Kind.SILENT),
    ("net_timeout", Kind.SILENT),
    ("slow_upstream", Kind.SILENT),
    ("net_reset", Kind.BROKEN),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Failed connections to one peer. `peer` is None where the log names none."""

    kind: Kind
    peer: str | None
    line: str
    span: Span = AT_SOME_TIME


def kind_of(signature: Signature) -> Kind | None:
    """How a connection failed by the signature that found it; None when it is about no connection.

    What encryption refuses is no matter of who runs where.
    """
    known = next((kind for prefix, kind in _KINDS if signature.id.startswith(prefix)), None)
    if known is not None or signature.category is not Category.NETWORK or signature.id.startswith("tls"):
        return known
    return Kind.OTHER


def blame(other: ContainerFacts, trouble: Trouble, line: str | None) -> Finding:
    """Point to `other` as the cause: its trouble is why the connection failed."""
    cause = LikelyCause(
        id=trouble.id,
        description=f"{other.name}, which it connects to, {trouble.text}.",
        confidence=trouble.confidence,
        evidence=(*trouble.evidence, *((quote(line),) if line else ())),
        related_symptoms=RELATED,
        peer=other.name,
    )
    return Finding(cause, (_repair_first(other),), other.id)


def _repair_first(other: ContainerFacts) -> SuggestionText:
    name = safe_name(other)
    return SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action=f"Look at {name} first: this container cannot work without it.",
        rationale="Its own report says why; once it answers again, clients that retry recover by themselves.",
        check=f"docker logs --tail 50 {name}",
    )
