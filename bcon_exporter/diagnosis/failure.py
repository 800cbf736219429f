"""Failed connections as values: to whom, how, when; and causes that point to a container."""

from dataclasses import dataclass
from enum import StrEnum

import re2

from bcon_exporter.diagnosis.finding import Finding, quote
from bcon_exporter.diagnosis.hits import Hit
from bcon_exporter.diagnosis.neighbours import host_of, is_address, is_local
from bcon_exporter.diagnosis.numbers import safe_name
from bcon_exporter.diagnosis.peer_names import peer_in
from bcon_exporter.diagnosis.peer_state import AT_SOME_TIME, Span, Trouble
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, SymptomType, Urgency
from bcon_exporter.model.signatures import Category, Signature, SuggestionText

RELATED = (SymptomType.NETWORK_ERROR, SymptomType.LOG_ERROR)


class Kind(StrEnum):
    """How a connection failed.

    ANSWERED: the other side says that it cannot serve (HTTP 5xx). DENIED: it refuses the credentials. REJECTED: it says
    that it lacks what it is asked for, or what it needs.
    """

    UNRESOLVED = "unresolved"
    REFUSED = "refused"
    SILENT = "silent"
    BROKEN = "broken"
    ANSWERED = "answered"
    DENIED = "denied"
    REJECTED = "rejected"
    OTHER = "other"


_KINDS = (
    ("net_dns", Kind.UNRESOLVED),
    ("net_refused", Kind.REFUSED),
    ("net_unreachable", Kind.SILENT),
    ("net_timeout", Kind.SILENT),
    ("slow_upstream", Kind.SILENT),
    ("net_reset", Kind.BROKEN),
    ("net_bad_answer", Kind.ANSWERED),
    ("readiness_failing", Kind.OTHER),
    ("missing_table", Kind.REJECTED),
    ("missing_in_service", Kind.REJECTED),
    ("connections_exhausted", Kind.REJECTED),
    ("peer_", Kind.REJECTED),
    ("redis_cannot_persist", Kind.REJECTED),
    ("memory_own_limit", Kind.REJECTED),
)
CERTIFICATE_EXPIRED = "tls_expired"
"""The signature that tells of the other side's own certificate; other failures of encryption may lie on either side."""
SAYS_NO = frozenset({Kind.DENIED, Kind.REJECTED})
"""The other side was reached and answered."""
HANGS_OR_BREAKS = frozenset({Kind.SILENT, Kind.BROKEN, Kind.ANSWERED, Kind.OTHER})
"""It was perhaps reached, and did not serve."""
_SAID = (
    (
        Kind.UNRESOLVED,
        r"(?i)name or service not known|name resolution|\bENOTFOUND\b|\bEAI_AGAIN\b|getaddrinfo|nxdomain|no such host"
        r"|unknown ?(?:mysql |server )?host|\(-[235]\)|errno -[235]\b|\bdns (?:error|resolution)|not resolve"
        r"|\(SocketError\)|Resource temporarily unavailable|produced zero addresses",
    ),
    (Kind.REFUSED, r"(?i)refused|\(11[15]\)|(?:errno|os error) 111\b|couldn't connect to server"),
    (
        Kind.SILENT,
        r"(?i)time(?:d)?[ -]?out|deadline exceeded|no route to host|unreachable|\(11[03]\)|execution expired"
        r"|dropped from queue",
    ),
    (Kind.BROKEN, r"(?i)\breset\b|broken pipe|hang up|\bEOF\b|\bclosed\b|gone away|connection lost"),
)
_SAID_COMPILED = tuple((kind, re2.compile(words)) for kind, words in _SAID)
_BAD_ANSWER = re2.compile(r"(?i)\b50[0234]\b|bad gateway|gateway time-?out")
_WAITED_FOR_UPSTREAM = re2.compile(r"(?i)upstream timed out|while waiting for upstream|upstream request timeout")


@dataclass(frozen=True, slots=True)
class Failure:
    """Failed connections to one peer. `peer` is None where the log names none."""

    kind: Kind
    peer: str | None
    line: str
    span: Span = AT_SOME_TIME
    signature: str = ""


def kind_of(signature: Signature) -> Kind | None:
    """How a connection failed by the signature that found it; None when it is about no connection.

    What encryption refuses is no matter of who runs where, but for the certificate that a server presents.
    """
    known = next((kind for prefix, kind in _KINDS if signature.id.startswith(prefix)), None)
    if signature.category is Category.AUTH_FAILURE and signature.blame == "program":
        return Kind.DENIED
    if signature.id == CERTIFICATE_EXPIRED:
        return Kind.REJECTED
    if known is not None or signature.category is not Category.NETWORK or signature.id.startswith("tls"):
        return known
    return Kind.OTHER


def kind_in(line: str, signature: Signature) -> Kind | None:
    """How a connection failed by the words of its line, where the signature alone leaves it open."""
    kind = kind_of(signature)
    if signature.id == "slow_upstream" and _BAD_ANSWER.search(line) and not _WAITED_FOR_UPSTREAM.search(line):
        return Kind.ANSWERED
    if signature.id == "net_timeout":
        # A limit was reached while a name was asked for, or while it was refused again and again.
        why = (Kind.UNRESOLVED, Kind.REFUSED)
        return next((said for said, words in _SAID_COMPILED if said in why and words.search(line) is not None), kind)
    if kind is not Kind.OTHER:
        return kind
    return next((said for said, words in _SAID_COMPILED if words.search(line) is not None), kind)


def peer_of(hit: Hit) -> str | None:
    """The peer that a line of a failed connection names."""
    return peer_in(hit.line, hit.peer, unresolved=kind_in(hit.line, hit.signature) is Kind.UNRESOLVED)


def may_be_a_label(peer: str) -> bool:
    """Whether a name may be one that a program gives its peers itself: a bare word (`srv1`), no address, no domain."""
    host = host_of(peer)
    return not (is_address(host) or is_local(host) or "." in host)


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
