"""Why, and what to do: from signatures in the log, from the state, and from the containers around."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from bcon_exporter.diagnosis.changes import find_image_change
from bcon_exporter.diagnosis.finding import Finding, weakened
from bcon_exporter.diagnosis.logs import Hit, find_events
from bcon_exporter.diagnosis.mounts import find_mount_causes
from bcon_exporter.diagnosis.neighbours import Neighbours, host_of, is_local
from bcon_exporter.diagnosis.numbers import numbers_of, render
from bcon_exporter.diagnosis.peer_state import Around, Span
from bcon_exporter.diagnosis.peers import (
    Failure,
    Kind,
    find_dependency_causes,
    find_joined,
    find_peer_causes,
    kind_of,
)
from bcon_exporter.diagnosis.ports import find_listeners, find_port_holders
from bcon_exporter.diagnosis.rule import Case, SymptomRule
from bcon_exporter.diagnosis.start_errors import start_error_of
from bcon_exporter.model.facts import LogLine
from bcon_exporter.model.findings import LikelyCause, Severity, Suggestion, Symptom, SymptomType, Urgency
from bcon_exporter.model.signatures import Category, SuggestionText

MAX_CAUSES = 6
MAX_SUGGESTIONS = 6
MAX_EVIDENCE = 3
MAX_HITS = 200
MAX_LINE = 240
SURE = 0.6
"""A finding below this confidence brings no suggestion of its own, and points to nobody."""
_WAITING = ((SymptomType.NEVER_STARTED, 0.05), (SymptomType.STARTING, 0.2), (SymptomType.UNHEALTHY, 0.3))
"""Symptoms that a dependency's trouble may explain although no connection is seen to fail, and how much less surely."""
_PORT_TAKEN = ("port_taken",)


class Conclusion(NamedTuple):
    """Causes, the likeliest first, and suggestions, the most urgent first.

    Attributes:
        points_to: Full id of the container that the likeliest cause points to; None when it is none.
    """

    causes: tuple[LikelyCause, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    points_to: str | None = None


class Seen(NamedTuple):
    """A signature, and when its line was written; None where the line has no time."""

    at: datetime | None
    hit: Hit


def conclude(
    case: Case, symptoms: Sequence[Symptom], rules: Sequence[SymptomRule], neighbours: Neighbours, around: Around
) -> Conclusion:
    """Rank what explains `symptoms` and collect what to do about it."""
    seen, at_home = _apart(_hits(case, symptoms), _probe_hits(case, symptoms))
    hits = [one.hit for one in seen]
    findings = _findings(case, symptoms, seen, neighbours, around)
    findings.sort(key=lambda finding: -finding.cause.confidence)
    causes = [*(finding.cause for finding in findings), *_causes_at_home(at_home), *causes_of_hits(hits)]
    texts = [text for finding in findings if finding.cause.confidence >= SURE for text in finding.suggestions]
    texts += [text for hit in hits if not _is_told(hit, findings) for text in hit.signature.suggestions]
    texts += [_LISTEN] if at_home else []
    if any(symptom.severity is Severity.CRITICAL for symptom in symptoms):
        texts = [_at_once(text) for text in texts]
    by_rules = _advice(case, symptoms, rules)
    ranked = rank([*causes, *by_rules[0]])
    numbers = numbers_of(case.container, case.host, case.thresholds)
    return Conclusion(ranked, suggestions_of([*texts, *by_rules[1]], numbers), _points_to(ranked, findings))


def _findings(
    case: Case, symptoms: Sequence[Symptom], seen: Sequence[Seen], neighbours: Neighbours, around: Around
) -> list[Finding]:
    """What the surroundings tell: peers, ports, mounts, dependencies, changes."""
    container, hits = case.container, [one.hit for one in seen]
    failures = _failures(seen)
    found = find_peer_causes(failures, container, neighbours, around)
    found += find_mount_causes(hits, container, neighbours)
    listening = [hit.line for hit in hits if hit.signature.category is Category.PORT_IN_USE]
    found += find_listeners(listening, container, neighbours) if listening else []
    error = start_error_of(container.error) if container.error and not container.is_running else None
    if error is not None and error.cause.id in _PORT_TAKEN:
        found += find_port_holders(container.error or "", container, neighbours)
    elif error is not None and error.cause.id == "joined_container_down":
        found += find_joined(container, neighbours, around)
    if not failures:
        present = {symptom.type for symptom in symptoms}
        penalty = next((by for kind, by in _WAITING if kind in present), None)
        waits_for = find_dependency_causes(container, neighbours, around) if penalty is not None else []
        found += [weakened(finding, penalty or 0) for finding in waits_for]
    return [*found, *find_image_change(container, symptoms, case.now)]


def _failures(seen: Sequence[Seen]) -> list[Failure]:
    """Failed connections by peer and kind, with the newest line and the times of the first and the last."""
    groups: dict[tuple[str | None, str], list[Seen]] = {}
    for one in seen:
        kind = kind_of(one.hit.signature)
        if kind is not None:
            groups.setdefault((one.hit.peer, kind), []).append(one)
    return [
        Failure(kind_of(group[0].hit.signature) or Kind.OTHER, peer, group[-1].hit.line, _span(group))
        for (peer, _), group in groups.items()
    ]


def _span(group: Sequence[Seen]) -> Span:
    times = [one.at for one in group if one.at is not None]
    return Span(min(times, default=None), max(times, default=None))


def _is_told(hit: Hit, findings: Sequence[Finding]) -> bool:
    """Whether a finding says better what to do than the signature that led to it."""
    sure = [finding.cause for finding in findings if finding.cause.confidence >= SURE and finding.suggestions]
    return any(hit.line[:MAX_LINE] in cause.evidence for cause in sure)


def _points_to(ranked: Sequence[LikelyCause], findings: Sequence[Finding]) -> str | None:
    if not ranked or ranked[0].confidence < SURE:
        return None
    return next(
        (
            finding.points_to
            for finding in findings
            if (finding.cause.id, finding.cause.peer) == (ranked[0].id, ranked[0].peer)
        ),
        None,
    )


def _advice(
    case: Case, symptoms: Sequence[Symptom], rules: Sequence[SymptomRule]
) -> tuple[list[LikelyCause], list[SuggestionText]]:
    """What the rules that found something say themselves."""
    present = {symptom.type: symptom for symptom in symptoms}
    causes: list[LikelyCause] = []
    texts: list[SuggestionText] = []
    for rule in rules:
        symptom = present.get(rule.type)
        if symptom is None:
            continue
        advice = rule.advise(case)
        texts += advice.suggestions
        causes += [
            LikelyCause(
                id=cause.id,
                description=cause.text,
                confidence=cause.confidence,
                evidence=symptom.evidence[-MAX_EVIDENCE:],
                related_symptoms=(rule.type,),
            )
            for cause in advice.causes
        ]
    return causes, texts


def _hits(case: Case, symptoms: Sequence[Symptom]) -> list[Seen]:
    """Signatures in the log, in the engine's own error and in the last words before an exit."""
    seen = [Seen(event.at, hit) for event in case.events for hit in event.hits]
    present = {symptom.type for symptom in symptoms}
    error = case.container.error
    if error and not case.container.is_running and start_error_of(error) is None:
        seen += [Seen(case.ending.at, hit) for hit in _hits_in([error], case)]
    end = case.ending.exit
    if not seen and end is not None and SymptomType.EXIT_ERROR in present:
        seen += [Seen(end.at, hit) for hit in _hits_in(end.last_lines, case)]
    return seen[-MAX_HITS:]


def _probe_hits(case: Case, symptoms: Sequence[Symptom]) -> list[Seen]:
    """Signatures in what the health check printed."""
    health = case.container.health
    if health is None or all(symptom.type is not SymptomType.UNHEALTHY for symptom in symptoms):
        return []
    probes = health.probes[-3:]
    return [Seen(one.ended_at, hit) for one in probes for hit in _hits_in(one.output.splitlines(), case)]


def _hits_in(said: Iterable[str], case: Case) -> list[Hit]:
    lines = [LogLine(at=None, stream="stderr", text=text) for text in said if text]
    return [hit for event in find_events(lines, case.catalogue) for hit in event.hits]


def _apart(seen: list[Seen], of_probes: list[Seen]) -> tuple[list[Seen], list[Hit]]:
    """Return all hits, and apart from them those of a health check that asks the container itself.

    A check runs inside the container: localhost is right there, and there is no other side.
    """
    at_home = [one for one in of_probes if _asks_itself(one.hit)]
    return [*seen, *(one for one in of_probes if one not in at_home)], [one.hit for one in at_home]


def _asks_itself(hit: Hit) -> bool:
    return hit.signature.category is Category.NETWORK and (hit.peer is None or is_local(host_of(hit.peer)))


def _causes_at_home(hits: Sequence[Hit]) -> list[LikelyCause]:
    return [
        LikelyCause(
            id="nothing_listens",
            description="Nothing in the container answers at the address that its health check asks.",
            confidence=0.75,
            evidence=(hit.line[:MAX_LINE],),
            related_symptoms=(SymptomType.UNHEALTHY,),
        )
        for hit in hits
    ]


_LISTEN = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Check that the program has started and listens on the address and port that the health check asks.",
    rationale="The check runs inside the container, so that no other container has a part in it.",
    check="docker logs --tail 100 {name}",
)


def _at_once(text: SuggestionText) -> SuggestionText:
    """Return what repairs a container that is down as something to do now, not today."""
    if text.urgency is not Urgency.SHORT_TERM:
        return text
    return text.model_copy(update={"urgency": Urgency.IMMEDIATE})


def causes_of_hits(hits: Iterable[Hit]) -> list[LikelyCause]:
    """The causes of each signature, with the lines that show it."""
    return [
        LikelyCause(
            id=cause.id,
            description=cause.text,
            confidence=cause.confidence,
            evidence=(hit.line[:MAX_LINE],),
            related_symptoms=(hit.signature.symptom,),
            peer=host_of(hit.peer) if hit.peer else None,
        )
        for hit in hits
        for cause in hit.signature.causes
    ]


def rank(causes: Iterable[LikelyCause]) -> tuple[LikelyCause, ...]:
    """Merge causes of the same id (and matched peer), the likeliest first; of equal ones the first named first."""
    merged: dict[tuple[str, str | None], LikelyCause] = {}
    for cause in causes:
        key = (cause.id, cause.peer if cause.id.startswith("dependency_") else None)
        known = merged.get(key)
        merged[key] = cause if known is None else _merge(known, cause)
    return tuple(sorted(merged.values(), key=lambda cause: -cause.confidence)[:MAX_CAUSES])


def _merge(one: LikelyCause, other: LikelyCause) -> LikelyCause:
    best = one if one.confidence >= other.confidence else other
    evidence = tuple(dict.fromkeys((*one.evidence, *other.evidence)))[-MAX_EVIDENCE:]
    related = tuple(dict.fromkeys((*one.related_symptoms, *other.related_symptoms)))
    return best.model_copy(
        update={"evidence": evidence, "related_symptoms": related, "peer": best.peer or one.peer or other.peer}
    )


def suggestions_of(texts: Iterable[SuggestionText], numbers: dict[str, str]) -> tuple[Suggestion, ...]:
    """Fill in the container's numbers; each action once, the most urgent first."""
    order = list(Urgency)
    made: dict[str, Suggestion] = {}
    for text in texts:
        if text.action not in made:
            made[text.action] = Suggestion(
                urgency=text.urgency,
                action=render(text.action, numbers),
                rationale=render(text.rationale, numbers),
                check=render(text.check, numbers) if text.check else None,
            )
    return tuple(sorted(made.values(), key=lambda suggestion: order.index(suggestion.urgency))[:MAX_SUGGESTIONS])
