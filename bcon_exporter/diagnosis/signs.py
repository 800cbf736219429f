"""Signs of known failures: in the log, in what the engine says, in the last words before an exit, in probes."""

import re  # noqa: TID251 - sees at most 1000 characters of a line
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from bcon_exporter.diagnosis.failure import Failure, Kind, kind_of
from bcon_exporter.diagnosis.hits import Hit
from bcon_exporter.diagnosis.logs import find_events
from bcon_exporter.diagnosis.neighbours import host_of, is_local
from bcon_exporter.diagnosis.peer_state import Span
from bcon_exporter.diagnosis.rule import Case
from bcon_exporter.diagnosis.start_errors import start_error_of
from bcon_exporter.model.facts import ContainerState, LogLine
from bcon_exporter.model.findings import Symptom, SymptomType
from bcon_exporter.model.signatures import Category

MAX_HITS = 200
MAX_LINE = 1000
_ADDRESS = r"((?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-fA-F:]{2,45}\]|localhost)(?::[0-9]{1,5})?)"
_RESOLVER = re.compile(r"127\.0\.0\.11\b|.*:53\Z")
"""Docker's own DNS server, or another: it is asked about the peer."""
_FAR_SIDE = re.compile(rf"-> ?{_ADDRESS}(?![0-9]|\.[0-9])")
_ADDRESSED = re.compile(rf"(?<![0-9A-Za-z.:]){_ADDRESS}(?![0-9A-Za-z-]|\.[0-9])")


class Seen(NamedTuple):
    """A signature, and when its line was written; None where the line has no time."""

    at: datetime | None
    hit: Hit


def signs_of(case: Case, symptoms: Sequence[Symptom]) -> list[Seen]:
    """Signatures in the log, in the engine's own error and in the last words before an exit."""
    seen = [Seen(event.at, hit) for event in case.events for hit in event.hits]
    present = {symptom.type for symptom in symptoms}
    error = case.container.error
    refused = not case.container.is_running and case.container.state is not ContainerState.DEAD
    if error and refused and start_error_of(error) is None:
        seen += [Seen(case.ending.at, hit) for hit in _hits_in([error], case)]
    end = case.ending.exit
    if not seen and end is not None and SymptomType.EXIT_ERROR in present:
        seen += [Seen(end.at, hit) for hit in _hits_in(end.last_lines, case)]
    return seen[-MAX_HITS:]


def signs_of_probes(case: Case, symptoms: Sequence[Symptom]) -> list[Seen]:
    """Signatures in what the health check printed."""
    health = case.container.health
    if health is None or all(symptom.type is not SymptomType.UNHEALTHY for symptom in symptoms):
        return []
    probes = health.probes[-3:]
    return [Seen(one.ended_at, hit) for one in probes for hit in _hits_in(one.output.splitlines(), case)]


def _hits_in(said: Iterable[str], case: Case) -> list[Hit]:
    lines = [LogLine(at=None, stream="stderr", text=text) for text in said if text]
    return [hit for event in find_events(lines, case.catalogue) for hit in event.hits]


def apart(seen: list[Seen], of_probes: list[Seen]) -> tuple[list[Seen], list[Hit]]:
    """Return all hits, and apart from them those of a health check that asks the container itself.

    A check runs inside the container: localhost is right there, and there is no other side.
    """
    at_home = [one for one in of_probes if _asks_itself(one.hit)]
    return [*seen, *(one for one in of_probes if one not in at_home)], [one.hit for one in at_home]


def _asks_itself(hit: Hit) -> bool:
    peer = peer_in(hit)
    return hit.signature.category is Category.NETWORK and (peer is None or is_local(host_of(peer)))


def failures_in(seen: Sequence[Seen]) -> list[Failure]:
    """Failed connections by peer and kind, with the newest line and the times of the first and the last."""
    groups: dict[tuple[str | None, str], list[Seen]] = {}
    for one in seen:
        kind = kind_of(one.hit.signature)
        if kind is not None:
            groups.setdefault((peer_in(one.hit), kind), []).append(one)
    return [
        Failure(kind_of(group[0].hit.signature) or Kind.OTHER, peer, group[-1].hit.line, _span(group))
        for (peer, _), group in groups.items()
    ]


def peer_in(hit: Hit) -> str | None:
    """The peer that the signature found; else the one address that the line names, as far side of an arrow or alone.

    An address of the container itself goes before a name: it is where the name led, or no name was meant.
    """
    line = hit.line[:MAX_LINE]
    far = _FAR_SIDE.search(line)
    named = dict.fromkeys(match.group(1) for match in _ADDRESSED.finditer(line) if not _RESOLVER.match(match.group(1)))
    address = far.group(1) if far is not None else next(iter(named)) if len(named) == 1 else None
    if hit.peer is None or (address is not None and is_local(host_of(address)) and not is_local(host_of(hit.peer))):
        return address
    return hit.peer


def _span(group: Sequence[Seen]) -> Span:
    times = [one.at for one in group if one.at is not None]
    return Span(min(times, default=None), max(times, default=None))
