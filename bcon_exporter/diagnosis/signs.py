"""Signs of known failures: in the log, in what the engine says, in the last words before an exit, in probes."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from bcon_exporter.diagnosis.failure import SAYS_NO, Failure, Kind, kind_in, kind_of, peer_of
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


class Seen(NamedTuple):
    """A signature, and when its line was written; None where the line has no time."""

    at: datetime | None
    hit: Hit


def signs_of(case: Case, symptoms: Sequence[Symptom]) -> list[Seen]:
    """Signatures in the log, in the engine's own error and in the last words before an exit."""
    seen = [Seen(event.at, hit) for event in case.events for hit in _without_waiting(event.hits)]
    present = {symptom.type for symptom in symptoms}
    error = case.container.error
    refused = not case.container.is_running and case.container.state is not ContainerState.DEAD
    if error and refused and start_error_of(error) is None:
        seen += [Seen(case.ending.at, hit) for hit in _hits_in([error], case)]
    end = case.ending.exit
    if not seen and end is not None and SymptomType.EXIT_ERROR in present:
        seen += [Seen(end.at, hit) for hit in _hits_in(end.last_lines, case)]
    return seen[-MAX_HITS:]


def _without_waiting(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The hits of one event; where the server's own answer is among them, without what waited for it in vain."""
    if len(hits) == 1 or all(kind_of(hit.signature) not in SAYS_NO for hit in hits):
        return hits
    return [hit for hit in hits if kind_in(hit.line, hit.signature) not in (Kind.SILENT, Kind.OTHER)]


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
    of_probes = [one for one in of_probes if not _is_own_answer(one.hit)]
    at_home = [one for one in of_probes if _asks_itself(one.hit)]
    return [*seen, *(one for one in of_probes if one not in at_home)], [one.hit for one in at_home]


def _is_own_answer(hit: Hit) -> bool:
    """Whether the program in the container answered its own check with a failure: that says nothing of why."""
    peer = peer_of(hit)
    return kind_in(hit.line, hit.signature) is Kind.ANSWERED and (peer is None or is_local(host_of(peer)))


def _asks_itself(hit: Hit) -> bool:
    peer = peer_of(hit)
    return hit.signature.category is Category.NETWORK and (peer is None or is_local(host_of(peer)))


def failures_in(seen: Sequence[Seen]) -> list[Failure]:
    """Failed connections by peer and kind, with the newest line and the times of the first and the last."""
    groups: dict[tuple[str | None, Kind, str], list[Seen]] = {}
    for one in seen:
        kind = kind_in(one.hit.line, one.hit.signature)
        if kind is not None:
            answer = one.hit.signature.id if kind in SAYS_NO else ""
            groups.setdefault((peer_of(one.hit), kind, answer), []).append(one)
    return [
        Failure(kind, peer, group[-1].hit.line, _span(group), answer) for (peer, kind, answer), group in groups.items()
    ]


def _span(group: Sequence[Seen]) -> Span:
    times = [one.at for one in group if one.at is not None]
    return Span(min(times, default=None), max(times, default=None))
