"""Which signatures a line of an event shows, the one that says why first, and the host that it names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bcon_exporter.diagnosis.clients import names_client
from bcon_exporter.diagnosis.peer_names import peer_in
from bcon_exporter.model.signatures import Catalogue, Category, Level, Signature

_SAY_NOT_WHY = frozenset({Category.SLOW, Category.CRASH})
"""That an answer was late or a program ended does not say why: the line's next signature may."""

_NAMED_BESIDE = frozenset({Category.AUTH_FAILURE})
"""What a line may name as the reason beside what it yields to it: "cannot connect: invalid API key"."""

_REASONS = frozenset({Category.NETWORK, Category.MISSING_DEPENDENCY})
"""What may be the reason why settings could not be had or did not do; a missing file of settings is none."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A signature found in a line. `peer` is the host that the line names, None when it names none."""

    signature: Signature
    line: str
    peer: str | None = None


class Match(NamedTuple):
    """One line of an event, and the patterns that match it."""

    text: str
    raw: bytes
    indexes: list[int]


def find_hits(matches: Sequence[Match], level: Level, catalogue: Catalogue, *, fails: bool) -> tuple[Hit, ...]:
    """The first signature of each line that counts at the event's level, and one that it yields to; each once.

    Of a failed connection the first line that names the other side stands for all: a trace may end with it.

    In a line without a level that has the shape of a failure, what counts in errors counts too.
    """
    hits: dict[str, Hit] = {}
    for match in matches:
        wanted: tuple[Category, ...] = tuple(Category)
        for index in _deepest_first(match, catalogue):
            signature = catalogue.owner(index)
            if signature.category not in wanted or not _counts(catalogue, index, level, match.text, fails=fails):
                continue
            known, line = hits.get(signature.id), match.text.strip()
            if known is None or (_names_nobody(known) and peer_in(line, _peer(catalogue, index, match)) is not None):
                hits[signature.id] = Hit(signature, line, _peer(catalogue, index, match))
            if signature.category not in _SAY_NOT_WHY:
                wanted = tuple(category for category in signature.yields_to if category in _NAMED_BESIDE)
            if not wanted:
                break
    return tuple(hits.values())


def _names_nobody(hit: Hit) -> bool:
    """Whether it tells of a failed connection without telling to whom: a later line of the trace may."""
    return hit.signature.category is Category.NETWORK and peer_in(hit.line, hit.peer) is None


def _counts(catalogue: Catalogue, index: int, level: Level, text: str, *, fails: bool) -> bool:
    counts = catalogue.counts(index, level) or (fails and catalogue.counts(index, Level.ERROR))
    return counts and (not catalogue.owner(index).client or names_client(text))


def _deepest_first(match: Match, catalogue: Catalogue) -> list[int]:
    """Put first what stands behind the last colon, where the line begins with settings that could not be had.

    "Failed to load the configuration: http://etcd:2379: connection refused" tells of a connection.
    """
    deeper = [index for index in match.indexes if catalogue.owner(index).category in _REASONS]
    settings = [index for index in match.indexes if catalogue.owner(index).category is Category.CONFIG_ERROR]
    if not deeper or not settings:
        return match.indexes
    reason = match.raw.rpartition(b": ")[2]
    if any(catalogue.compiled(index).search(reason) is not None for index in settings):
        return match.indexes
    found = [index for index in deeper if catalogue.compiled(index).search(reason) is not None]
    return [*found, *(index for index in match.indexes if index not in found)]


def _peer(catalogue: Catalogue, index: int, found: Match) -> str | None:
    """The host that the line names, as the first pattern of the same signature tells that finds one."""
    for other in found.indexes:
        compiled = catalogue.compiled(other)
        if catalogue.owner(other) is catalogue.owner(index) and compiled.groupindex:
            match = compiled.search(found.raw)
            named = [] if match is None else [text for text in match.groupdict().values() if text]
            if named:
                return named[0].decode("utf-8", "replace").rstrip(".:") or None
    return None
