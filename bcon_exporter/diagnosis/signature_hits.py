"""Finds the signatures in the lines of an event, the one that says why first, and the host that each line names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bcon_exporter.diagnosis.client_errors import names_client
from bcon_exporter.diagnosis.peer_names import parse_peer
from bcon_exporter.model.signatures import Catalogue, Category, Level, Signature

_UNSPECIFIC = frozenset({Category.SLOW, Category.CRASH})
"""A late answer or a crash does not say why: the next signature of the line may."""

_ALLOWED_SECOND = frozenset({Category.AUTH_FAILURE})
"""Categories that a line may show as the reason beside its first signature: "cannot connect: invalid API key"."""

_REASONS = frozenset({Category.NETWORK, Category.MISSING_DEPENDENCY})
"""Categories that may be the reason why settings could not be loaded; a missing file of settings is none."""

_NO_PEER = frozenset({b"subject"})
"""Groups of a pattern that name no host."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A signature found in a line.

    Attributes:
        peer: The host that the line names; None when it names none.
        subject: The program that a final word is about; None of other signatures, and where it names none.
    """

    signature: Signature
    line: str
    peer: str | None = None
    subject: str | None = None


class Match(NamedTuple):
    """One line of an event, and the patterns that match it."""

    text: str
    raw: bytes
    indexes: Sequence[int]


def find_hits(matches: Sequence[Match], level: Level, catalogue: Catalogue, *, fails: bool) -> tuple[Hit, ...]:
    """Find the first signature of each line that counts at the event's level, and one that it yields to; each once.

    For a failed connection the first line that names the peer is used: in a trace it may be the last line.

    In a line without a level that has the shape of a failure, signatures count as in an error.
    """
    hits: dict[str, Hit] = {}
    for match in matches:
        wanted: tuple[Category, ...] = tuple(Category)
        for index in _deepest_first(match, catalogue):
            signature = catalogue.owner(index)
            if signature.category not in wanted or not _counts(catalogue, index, level, match.text, fails=fails):
                continue
            known, line = hits.get(signature.id), match.text.strip()
            if known is None or (
                _names_no_peer(known) and parse_peer(line, _peer(catalogue, index, match)) is not None
            ):
                hits[signature.id] = Hit(
                    signature, line, _peer(catalogue, index, match), _subject(catalogue, index, match)
                )
            if signature.category not in _UNSPECIFIC:
                wanted = tuple(category for category in signature.yields_to if category in _ALLOWED_SECOND)
            if not wanted:
                break
    return tuple(hits.values())


def _names_no_peer(hit: Hit) -> bool:
    """Whether the hit is a failed connection without a peer: a later line of the trace may name it."""
    return hit.signature.category is Category.NETWORK and parse_peer(hit.line, hit.peer) is None


def _counts(catalogue: Catalogue, index: int, level: Level, text: str, *, fails: bool) -> bool:
    counts = catalogue.counts(index, level) or (fails and catalogue.counts(index, Level.ERROR))
    return counts and (not catalogue.owner(index).client or names_client(text))


def _deepest_first(match: Match, catalogue: Catalogue) -> Sequence[int]:
    """Put first the patterns behind the last colon, where the line is about settings that could not be loaded.

    "Failed to load the configuration: http://etcd:2379: connection refused" tells of a connection. What is not
    permitted explains the line as it stands: "Unable to configure the port: could not open TUN device: no such file".
    """
    deeper = [index for index in match.indexes if catalogue.owner(index).category in _REASONS]
    settings = [index for index in match.indexes if catalogue.owner(index).category is Category.CONFIG_ERROR]
    if not deeper or not settings or catalogue.owner(match.indexes[0]).category is Category.PERMISSION:
        return match.indexes
    reason = match.raw.rpartition(b": ")[2]
    if any(catalogue.compiled(index).search(reason) is not None for index in settings):
        return match.indexes
    in_reason = [index for index in deeper if catalogue.compiled(index).search(reason) is not None]
    return [*in_reason, *(index for index in match.indexes if index not in in_reason)]


def _subject(catalogue: Catalogue, index: int, line_match: Match) -> str | None:
    """Return the program that a final word is about."""
    if catalogue.owner(index).lasts_until is None:
        return None
    match = catalogue.compiled(index).search(line_match.raw)
    subject = None if match is None else match.groupdict().get(b"subject")
    return None if subject is None else subject.decode("utf-8", "replace")


def _peer(catalogue: Catalogue, index: int, line_match: Match) -> str | None:
    """Return the host that the line names, by the first pattern of the same signature that captures one."""
    for other in line_match.indexes:
        if catalogue.owner(other) is catalogue.owner(index) and catalogue.captures(other):
            match = catalogue.compiled(other).search(line_match.raw)
            groups = {} if match is None else match.groupdict()
            named = [text for group, text in groups.items() if text and group not in _NO_PEER]
            if named:
                return named[0].decode("utf-8", "replace").rstrip(".:") or None
    return None
