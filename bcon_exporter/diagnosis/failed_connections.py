"""Failed connections as values: peer, kind and time; and findings that blame a container for them."""

from dataclasses import dataclass
from enum import StrEnum

import re2

from bcon_exporter.diagnosis.container_lookup import host_of, is_address, is_localhost
from bcon_exporter.diagnosis.finding import Finding, quote
from bcon_exporter.diagnosis.peer_names import parse_peer
from bcon_exporter.diagnosis.peer_state import AT_SOME_TIME, FailureSpan, PeerTrouble
from bcon_exporter.diagnosis.signature_hits import Hit
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, SymptomType
from bcon_exporter.model.signatures import Category, Signature

RELATED = (SymptomType.NETWORK_ERROR, SymptomType.LOG_ERROR)


class FailureKind(StrEnum):
    """How a connection failed.

    ANSWERED: the server says that it cannot serve (HTTP 5xx). DENIED: it refuses the credentials. REJECTED: it says
    that what it is asked for, or what it needs itself, is missing.
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
    ("net_dns", FailureKind.UNRESOLVED),
    ("net_refused", FailureKind.REFUSED),
    ("net_unreachable", FailureKind.SILENT),
    ("net_timeout", FailureKind.SILENT),
    ("slow_upstream", FailureKind.SILENT),
    ("net_reset", FailureKind.BROKEN),
    ("net_bad_answer", FailureKind.ANSWERED),
    ("readiness_failing", FailureKind.OTHER),
    ("missing_table", FailureKind.REJECTED),
    ("missing_in_service", FailureKind.REJECTED),
    ("connections_exhausted", FailureKind.REJECTED),
    ("peer_", FailureKind.REJECTED),
    ("redis_cannot_persist", FailureKind.REJECTED),
    ("memory_own_limit", FailureKind.REJECTED),
)
CERTIFICATE_EXPIRED = "tls_expired"
"""The signature for an expired certificate of the server; other TLS failures may be the fault of either side."""
REJECTIONS = frozenset({FailureKind.DENIED, FailureKind.REJECTED})
"""The server was reached and rejected the request."""
HANGS_OR_BREAKS = frozenset({FailureKind.SILENT, FailureKind.BROKEN, FailureKind.ANSWERED, FailureKind.OTHER})
"""The peer was perhaps reached, and did not serve the request."""
_SAID = (
    (
        FailureKind.UNRESOLVED,
        r"(?i)name or service not known|name resolution|\bENOTFOUND\b|\bEAI_AGAIN\b|getaddrinfo|nxdomain|no such host"
        r"|unknown ?(?:mysql |server )?host|\(-[235]\)|errno -[235]\b|\bdns (?:error|resolution)|not resolve"
        r"|\(SocketError\)|Resource temporarily unavailable|produced zero addresses",
    ),
    (FailureKind.REFUSED, r"(?i)refused|\(11[15]\)|(?:errno|os error) 111\b|couldn't connect to server"),
    (
        FailureKind.SILENT,
        r"(?i)time(?:d)?[ -]?out|deadline exceeded|no route to host|unreachable|\(11[03]\)|execution expired"
        r"|dropped from queue",
    ),
    (FailureKind.BROKEN, r"(?i)\breset\b|broken pipe|hang up|\bEOF\b|\bclosed\b|gone away|connection lost"),
)
_SAID_COMPILED = tuple((kind, re2.compile(words)) for kind, words in _SAID)
_BAD_ANSWER = re2.compile(r"(?i)\b50[0234]\b|bad gateway|gateway time-?out")
_WAITED_FOR_UPSTREAM = re2.compile(r"(?i)upstream timed out|while waiting for upstream|upstream request timeout")


@dataclass(frozen=True, slots=True)
class Failure:
    """Failed connections to one peer. `peer` is None where the log names none."""

    kind: FailureKind
    peer: str | None
    line: str
    span: FailureSpan = AT_SOME_TIME
    signature: str = ""


def kind_of_signature(signature: Signature) -> FailureKind | None:
    """Return how a connection failed by the signature alone; None when it is about no connection.

    TLS failures do not count, except for an expired certificate of the server.
    """
    kind_by_id = next((kind for prefix, kind in _KINDS if signature.id.startswith(prefix)), None)
    if signature.category is Category.AUTH_FAILURE and signature.blame == "program":
        return FailureKind.DENIED
    if signature.id == CERTIFICATE_EXPIRED:
        return FailureKind.REJECTED
    if kind_by_id is not None or signature.category is not Category.NETWORK or signature.id.startswith("tls"):
        return kind_by_id
    return FailureKind.OTHER


def kind_of_failure(line: str, signature: Signature) -> FailureKind | None:
    """Return how a connection failed, by the words of its line where the signature leaves it open."""
    kind = kind_of_signature(signature)
    if signature.id == "slow_upstream" and _BAD_ANSWER.search(line) and not _WAITED_FOR_UPSTREAM.search(line):
        return FailureKind.ANSWERED
    if signature.id == "net_timeout":
        # A time limit ended the attempts, while each of them failed for another reason that the line names.
        why = (FailureKind.UNRESOLVED, FailureKind.REFUSED)
        return next(
            (
                kind_in_words
                for kind_in_words, words in _SAID_COMPILED
                if kind_in_words in why and words.search(line) is not None
            ),
            kind,
        )
    if kind is not FailureKind.OTHER:
        return kind
    return next((kind_in_words for kind_in_words, words in _SAID_COMPILED if words.search(line) is not None), kind)


def peer_of(hit: Hit) -> str | None:
    """Return the peer that the line of a failed connection names."""
    return parse_peer(hit.line, hit.peer, unresolved=kind_of_failure(hit.line, hit.signature) is FailureKind.UNRESOLVED)


def may_be_a_label(peer: str) -> bool:
    """Whether a name may be a label that a program gives its peers itself: a bare word (`srv1`)."""
    host = host_of(peer)
    return not (is_address(host) or is_localhost(host) or "." in host)


def blame(peer: ContainerFacts, trouble: PeerTrouble, line: str | None) -> Finding:
    """Blame `peer` for a failed connection, with its trouble as the cause."""
    cause = LikelyCause(
        id=trouble.id,
        description=f"{peer.name}, which it connects to, {trouble.text}.",
        confidence=trouble.confidence,
        evidence=(*trouble.evidence, *((quote(line),) if line else ())),
        related_symptoms=RELATED,
        peer=peer.name,
    )
    return Finding(cause, trouble.steps, peer.id)
