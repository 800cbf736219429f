"""Why, and what to do: from signatures in the log, from the state, and from the container at the other end."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bcon_exporter.diagnosis.logs import Hit, find_events
from bcon_exporter.diagnosis.numbers import numbers_of, render
from bcon_exporter.diagnosis.peers import Neighbours, causes_of_dependencies, causes_of_peer, host_of, is_local
from bcon_exporter.diagnosis.rule import Case, SymptomRule
from bcon_exporter.model.facts import LogLine
from bcon_exporter.model.findings import LikelyCause, Severity, Suggestion, Symptom, SymptomType, Urgency
from bcon_exporter.model.signatures import Category, SuggestionText

MAX_CAUSES = 6
MAX_SUGGESTIONS = 6
MAX_EVIDENCE = 3
MAX_HITS = 200
COMMAND_CODES = (126, 127)
"""The command cannot be executed, or is not there: the engine's "no such file" then means no mounted file."""


class Conclusion(NamedTuple):
    """Causes, the likeliest first, and suggestions, the most urgent first."""

    causes: tuple[LikelyCause, ...]
    suggestions: tuple[Suggestion, ...]


def conclude(
    case: Case, symptoms: Sequence[Symptom], rules: Sequence[SymptomRule], neighbours: Neighbours
) -> Conclusion:
    """Rank what explains `symptoms` and collect what to do about it."""
    hits, at_home = _apart(_hits(case, symptoms), _probe_hits(case, symptoms))
    present = {symptom.type for symptom in symptoms}
    numbers = numbers_of(case.container, case.host, case.thresholds)
    causes = [*_causes_at_home(at_home), *_causes_of_peers(case, hits, neighbours), *causes_of_hits(hits)]
    texts = [suggestion for hit in hits for suggestion in hit.signature.suggestions]
    texts += [_LISTEN] if at_home else []
    if any(symptom.severity is Severity.CRITICAL for symptom in symptoms):
        texts = [_at_once(text) for text in texts]
    for rule in rules:
        if rule.type in present:
            advice = rule.advise(case)
            causes += [
                LikelyCause(id=c.id, description=c.text, confidence=c.confidence, related_symptoms=(rule.type,))
                for c in advice.causes
            ]
            texts += advice.suggestions
    return Conclusion(rank(causes), suggestions_of(texts, numbers))


def _hits(case: Case, symptoms: Sequence[Symptom]) -> list[Hit]:
    """Signatures in the log, in the engine's own error and in the last words before an exit."""
    hits = [hit for event in case.events for hit in event.hits]
    present = {symptom.type for symptom in symptoms}
    said: list[str] = []
    if case.container.error and not case.container.is_running and case.container.exit_code not in COMMAND_CODES:
        said.append(case.container.error)
    end = case.ending.exit
    if not hits and end is not None and SymptomType.EXIT_ERROR in present:
        said += end.last_lines
    return [*hits, *_hits_in(said, case)][-MAX_HITS:]


def _probe_hits(case: Case, symptoms: Sequence[Symptom]) -> list[Hit]:
    """Signatures in what the health check printed."""
    health = case.container.health
    if health is None or all(symptom.type is not SymptomType.UNHEALTHY for symptom in symptoms):
        return []
    return _hits_in((line for probe in health.probes[-3:] for line in probe.output.splitlines()), case)


def _hits_in(said: Iterable[str], case: Case) -> list[Hit]:
    lines = [LogLine(at=None, stream="stderr", text=text) for text in said if text]
    return [hit for event in find_events(lines, case.catalogue) for hit in event.hits]


def _apart(hits: list[Hit], of_probes: list[Hit]) -> tuple[list[Hit], list[Hit]]:
    """Return all hits, and apart from them those of a health check that asks the container itself.

    A check runs inside the container: localhost is right there, and there is no other side.
    """
    at_home = [
        hit
        for hit in of_probes
        if hit.signature.category is Category.NETWORK and (hit.peer is None or is_local(host_of(hit.peer)))
    ]
    return [*hits, *(hit for hit in of_probes if hit not in at_home)], at_home


def _causes_at_home(hits: Sequence[Hit]) -> list[LikelyCause]:
    return [
        LikelyCause(
            id="nothing_listens",
            description="Nothing in the container answers at the address that its health check asks.",
            confidence=0.75,
            evidence=(hit.line[:240],),
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
            evidence=(hit.line[:240],),
            related_symptoms=(hit.signature.symptom,),
            peer=host_of(hit.peer) if hit.peer else None,
        )
        for hit in hits
        for cause in hit.signature.causes
    ]


def _causes_of_peers(case: Case, hits: Sequence[Hit], neighbours: Neighbours) -> list[LikelyCause]:
    network = [hit for hit in hits if hit.signature.category is Category.NETWORK]
    if not network:
        return []
    named = {(hit.peer, hit.signature.id): hit for hit in network if hit.peer}
    causes = [
        cause.model_copy(update={"evidence": (*cause.evidence, hit.line[:240])})
        for (peer, signature), hit in named.items()
        for cause in causes_of_peer(peer or "", signature, case.container, neighbours)
    ]
    return causes or causes_of_dependencies(case.container, neighbours)


def rank(causes: Iterable[LikelyCause]) -> tuple[LikelyCause, ...]:
    """Merge causes of the same id (and matched peer), the likeliest first; of equal ones the first named first."""
    merged: dict[str, LikelyCause] = {}
    for cause in causes:
        known = merged.get(cause.id)
        merged[cause.id] = cause if known is None else _merge(known, cause)
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
