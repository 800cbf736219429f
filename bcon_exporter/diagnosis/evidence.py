"""Collects hits of signatures: in the log, the engine's error, the last lines before an exit, and probes."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from bcon_exporter.diagnosis.container_lookup import host_of, is_localhost
from bcon_exporter.diagnosis.failed_connections import (
    REJECTIONS,
    Failure,
    FailureKind,
    kind_of_failure,
    kind_of_signature,
    peer_of,
)
from bcon_exporter.diagnosis.log_events import find_events
from bcon_exporter.diagnosis.peer_names import parse_url_host
from bcon_exporter.diagnosis.peer_state import FailureSpan
from bcon_exporter.diagnosis.rule import Case
from bcon_exporter.diagnosis.signature_hits import Hit
from bcon_exporter.diagnosis.start_errors import start_error_of
from bcon_exporter.model.container_facts import ContainerState, LogLine
from bcon_exporter.model.findings import Symptom, SymptomType
from bcon_exporter.model.signatures import Catalogue, Category

MAX_HITS = 200


class TimedHit(NamedTuple):
    """A hit, and when its line was written; None where the line has no time."""

    at: datetime | None
    hit: Hit


def collect_hits(case: Case, symptoms: Sequence[Symptom]) -> list[TimedHit]:
    """Collect hits in the log, in the engine's own error and in the last lines before an exit."""
    timed_hits = [
        TimedHit(event.at, hit) for event in case.events for hit in _drop_timeouts_beside_rejection(event.hits)
    ]
    present = {symptom.type for symptom in symptoms}
    error = case.container.error
    refused = not case.container.is_running and case.container.state is not ContainerState.DEAD
    if error and refused and start_error_of(error) is None:
        timed_hits += [TimedHit(case.ending.at, hit) for hit in _find_hits_in_texts([error], case.catalogue)]
    end = case.ending.exit
    if not timed_hits and end is not None and SymptomType.EXIT_ERROR in present:
        timed_hits += [TimedHit(end.at, hit) for hit in _find_hits_in_texts(end.last_lines, case.catalogue)]
    return timed_hits[-MAX_HITS:]


def _drop_timeouts_beside_rejection(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Return the hits of one event; if a server rejected a request, without the time-outs that it led to."""
    if len(hits) == 1 or all(kind_of_signature(hit.signature) not in REJECTIONS for hit in hits):
        return hits
    return [
        hit for hit in hits if kind_of_failure(hit.line, hit.signature) not in (FailureKind.SILENT, FailureKind.OTHER)
    ]


def collect_probe_hits(case: Case, symptoms: Sequence[Symptom]) -> list[TimedHit]:
    """Collect hits in the output of the last health probes."""
    health = case.container.health
    if health is None or all(symptom.type is not SymptomType.UNHEALTHY for symptom in symptoms):
        return []
    probes = health.probes[-3:]
    return [
        TimedHit(probe.ended_at, hit)
        for probe in probes
        for hit in _find_hits_in_texts(probe.output.splitlines(), case.catalogue.for_probes)
    ]


def _find_hits_in_texts(texts: Iterable[str], catalogue: Catalogue) -> list[Hit]:
    lines = [LogLine(at=None, stream="stderr", text=text) for text in texts if text]
    return [hit for event in find_events(lines, catalogue) for hit in event.hits]


def separate_own_probe_hits(timed_hits: list[TimedHit], probe_hits: list[TimedHit]) -> tuple[list[TimedHit], list[Hit]]:
    """Split off the hits of a health check that asks the container itself; return all others first.

    A check runs inside the container: localhost is the right address there, and no peer takes part.
    """
    probe_hits = [timed_hit for timed_hit in probe_hits if not _is_own_answer(timed_hit.hit)]
    own_probe_hits = [timed_hit for timed_hit in probe_hits if _asks_itself(timed_hit.hit)]
    return [*timed_hits, *(timed_hit for timed_hit in probe_hits if timed_hit not in own_probe_hits)], [
        timed_hit.hit for timed_hit in own_probe_hits
    ]


def _is_own_answer(hit: Hit) -> bool:
    """Whether the program in the container answered its own check with a failure: that does not say why."""
    peer = peer_of(hit)
    return kind_of_failure(hit.line, hit.signature) is FailureKind.ANSWERED and (
        peer is None or is_localhost(host_of(peer))
    )


def _asks_itself(hit: Hit) -> bool:
    peer = peer_of(hit)
    return hit.signature.category is Category.NETWORK and (peer is None or is_localhost(host_of(peer)))


def group_failures(timed_hits: Sequence[TimedHit]) -> list[Failure]:
    """Group failed connections by peer and kind; each has its newest line, and its first and last time."""
    groups: dict[tuple[str | None, FailureKind, str], list[TimedHit]] = {}
    for timed_hit in timed_hits:
        kind = kind_of_failure(timed_hit.hit.line, timed_hit.hit.signature)
        if kind is not None:
            answer = timed_hit.hit.signature.id if kind in REJECTIONS else ""
            groups.setdefault((peer_of(timed_hit.hit), kind, answer), []).append(timed_hit)
    return [
        Failure(kind, peer, group[-1].hit.line, _span(group), answer) for (peer, kind, answer), group in groups.items()
    ]


def find_unknown_failures(case: Case) -> list[Failure]:
    """Return the errors without a signature that name the address of a server (`http://api:8080/orders`), by host.

    Of an event of several lines the last one that names an address counts: a trace ends with what went wrong.
    """
    lines = case.container.logs.lines if case.container.logs is not None else ()
    spans: dict[str, tuple[str, list[datetime]]] = {}
    for event in case.events:
        if event.hits or not event.failed:
            continue
        texts = [line.text for line in lines[event.index : event.index + event.line_count] if "://" in line.text]
        peer, text = next(((peer, text) for text in reversed(texts) if (peer := parse_url_host(text))), ("", ""))
        if peer:
            times = spans.get(peer, ("", []))[1]
            times += [event.at] if event.at is not None else []
            spans[peer] = text.strip(), times
    return [
        Failure(FailureKind.OTHER, peer, text, FailureSpan(min(times, default=None), max(times, default=None)))
        for peer, (text, times) in spans.items()
    ]


def _span(group: Sequence[TimedHit]) -> FailureSpan:
    times = [timed_hit.at for timed_hit in group if timed_hit.at is not None]
    return FailureSpan(min(times, default=None), max(times, default=None))
