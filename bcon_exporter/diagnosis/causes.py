"""Why, and what to do: from signatures in the log, from the state, and from the containers around."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bcon_exporter.diagnosis.changes import find_image_change
from bcon_exporter.diagnosis.failure import SAYS_NO, kind_of
from bcon_exporter.diagnosis.finding import Finding, quote, weakened
from bcon_exporter.diagnosis.hits import Hit
from bcon_exporter.diagnosis.mounts import find_mount_causes
from bcon_exporter.diagnosis.neighbours import Neighbours, host_of
from bcon_exporter.diagnosis.numbers import numbers_of, render
from bcon_exporter.diagnosis.peer_state import Around
from bcon_exporter.diagnosis.peers import find_dependency_causes, find_joined, find_namespace_causes, find_peer_causes
from bcon_exporter.diagnosis.ports import find_listeners, find_port_holders
from bcon_exporter.diagnosis.rejections import find_refused_client, find_rejection_causes
from bcon_exporter.diagnosis.rule import Case, SymptomRule, Verdicts, missing_facts
from bcon_exporter.diagnosis.rules import RULE_OF
from bcon_exporter.diagnosis.signs import Seen, apart, failures_in, signs_of, signs_of_probes
from bcon_exporter.diagnosis.start_errors import start_error_of
from bcon_exporter.diagnosis.ways import STRANGERS
from bcon_exporter.model.facts import ContainerState
from bcon_exporter.model.findings import LikelyCause, Severity, Suggestion, Symptom, SymptomType, Urgency
from bcon_exporter.model.holds import Told
from bcon_exporter.model.signatures import Category, SuggestionText

MAX_CAUSES = 6
MAX_SUGGESTIONS = 6
MAX_EVIDENCE = 3
SURE = 0.6
"""A finding below this confidence brings no suggestion of its own, and points to nobody."""
_WAITING = ((SymptomType.NEVER_STARTED, 0.05), (SymptomType.STARTING, 0.2), (SymptomType.UNHEALTHY, 0.3))
"""Symptoms that a dependency's trouble may explain although no connection is seen to fail, and how much less surely."""
_WAITING_IN_SILENCE = ((SymptomType.RESTART_LOOP, 0.3), (SymptomType.EXIT_ERROR, 0.3))
"""The same, where the log shows nothing that is known."""
_WITHOUT_NETWORK = frozenset(
    {
        SymptomType.NETWORK_ERROR,
        SymptomType.UNHEALTHY,
        SymptomType.EXIT_ERROR,
        SymptomType.RESTART_LOOP,
        SymptomType.LOG_ERROR,
        SymptomType.SLOW_RESPONSE,
    }
)
"""What shows in a container that has lost its network namespace."""
_GENERAL = frozenset(
    {
        "program_error",
        "ended_by_signal",
        "crash_loop",
        "main_process_ends",
        "restarts_used_up",
        "unhandled_error",
        "program_reports_error",
        "child_program_fails",
        "nothing_listens",
        "health_answers_error",
        "health_check_timeout",
        "health_check_fails",
        "upstream_slow",
        "slow_health_probe",
        "connection_leak",
        "connection_limit_too_low",
        "request_too_slow",
    }
)
"""Causes that say what the program did about it, or what may be in general: what is known of a peer goes before."""
_SAY_HOW = frozenset({"no_route"})
"""Of who is outside of Docker, how he is missed says more than that he is outside."""
_PORT_TAKEN = ("port_taken",)


class Conclusion(NamedTuple):
    """Causes, the likeliest first, and suggestions, the most urgent first.

    Attributes:
        points_to: Full id of the container that the likeliest cause points to; None when it is none.
        hurried: Whether there was no time to look for causes: what was said before still stands.
    """

    causes: tuple[LikelyCause, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    points_to: str | None = None
    hurried: bool = False


def with_remembered(conclusion: Conclusion, told: Told, case: Case, verdicts: Verdicts) -> Conclusion:
    """Add what was said before about symptoms that are held: the facts that led to it may be gone.

    Args:
        conclusion: From the facts of now.
        told: From those of the last scan.
        case: The container; while inspect was not read, nothing is known better than before.
        verdicts: What is shown now.
    """
    explained = {kind for cause in conclusion.causes for kind in cause.related_symptoms}
    shown = {one.type for one in verdicts.symptoms}
    nothing_better = conclusion.hurried or missing_facts(case.container, ("oom_killed",))
    missing = shown if nothing_better else shown & verdicts.held - explained
    if missing_facts(case.container, ("logs",)):
        missing |= {symptom for symptom in shown if RULE_OF[symptom].from_log}  # nothing is known better than before
    causes = [cause for cause in told.causes if missing.intersection(cause.related_symptoms)]
    if not causes:
        return conclusion
    ranked = rank([*conclusion.causes, *causes])
    still_first = bool(told.causes) and _who(ranked[0]) == _who(told.causes[0])
    both = (told.suggestions, conclusion.suggestions) if still_first else (conclusion.suggestions, told.suggestions)
    by_action = {one.action: one for suggestions in reversed(both) for one in suggestions}
    actions = dict.fromkeys(one.action for suggestions in both for one in suggestions)
    return Conclusion(
        ranked,
        tuple(by_action[action] for action in actions)[:MAX_SUGGESTIONS],
        told.points_to if still_first and conclusion.points_to is None else conclusion.points_to,
        conclusion.hurried,
    )


def _who(cause: LikelyCause) -> tuple[str, str | None]:
    return cause.id, cause.peer


def never_silent(conclusion: Conclusion, symptoms: Sequence[Symptom]) -> Conclusion:
    """Say what is left to say where nothing is recognised: the program itself says that something failed."""
    quoted = next((one for one in symptoms if one.type is SymptomType.LOG_ERROR), None)
    if conclusion.causes or quoted is None:
        return conclusion
    cause = LikelyCause(
        id="program_reports_error",
        description="The program itself reports an error; the evidence quotes the most frequent one.",
        confidence=0.4,
        evidence=quoted.evidence[:MAX_EVIDENCE],
        related_symptoms=(SymptomType.LOG_ERROR,),
    )
    return conclusion._replace(causes=(cause,))


def conclude(
    case: Case, symptoms: Sequence[Symptom], rules: Sequence[SymptomRule], neighbours: Neighbours, around: Around
) -> Conclusion:
    """Rank what explains `symptoms` and collect what to do about it."""
    seen, at_home = apart(signs_of(case, symptoms), signs_of_probes(case, symptoms))
    hits = [one.hit for one in seen]
    findings = _findings(case, symptoms, seen, neighbours, around)
    findings.sort(key=lambda finding: -finding.cause.confidence)
    linked = max((one.cause.confidence for one in findings if one.points_to), default=0.0)
    strange = max((one.cause.confidence for one in findings if one.cause.id in STRANGERS), default=0.0)
    causes = [*_causes_at_home(at_home), *causes_of_hits(hits)]
    by_rules = _advice(case, symptoms, rules)
    general = _GENERAL | _general_causes(hits) if linked >= SURE else frozenset()
    general = general or (_general_causes(hits) - _GENERAL - _SAY_HOW if strange >= SURE else frozenset())
    others = [_behind(one, max(linked, strange)) if one.id in general else one for one in (*causes, *by_rules[0])]
    ranked = rank([*(finding.cause for finding in findings), *others])
    steps = [
        (one.cause.confidence, text) for one in findings if one.cause.confidence >= SURE for text in one.suggestions
    ]
    sureness = {cause.id: cause.confidence for cause in reversed(ranked)}
    steps += [
        (max((sureness.get(cause.id, 0.0) for cause in hit.signature.causes), default=0.0), text)
        for hit in hits
        if not _is_told(hit, findings)
        for text in hit.signature.suggestions
    ]
    steps += [(sureness.get("nothing_listens", 0.0), _LISTEN)] if at_home else []
    if any(symptom.severity is Severity.CRITICAL for symptom in symptoms):
        steps = [(sure, _at_once(text)) for sure, text in steps]
    steps += [(max((sureness.get(one, 0.0) for one in by), default=0.0), text) for by, text in by_rules[1]]
    numbers = numbers_of(case.container, case.host, case.thresholds)
    return Conclusion(ranked, suggestions_of(steps_in_order(steps), numbers), _points_to(ranked, findings))


def _general_causes(hits: Sequence[Hit]) -> frozenset[str]:
    """Ids of the causes that say no more than that the other side did not serve."""
    kinds = ((kind_of(hit.signature), hit.signature.causes) for hit in hits)
    told = (cause.id for kind, causes in kinds if kind is not None and kind not in SAYS_NO for cause in causes)
    return frozenset(told)


def _behind(cause: LikelyCause, confidence: float) -> LikelyCause:
    """The cause, less sure than what is known of a peer."""
    return cause.model_copy(update={"confidence": min(cause.confidence, round(confidence - 0.05, 2))})


def _findings(
    case: Case, symptoms: Sequence[Symptom], seen: Sequence[Seen], neighbours: Neighbours, around: Around
) -> list[Finding]:
    """What the surroundings tell: peers, ports, mounts, dependencies, changes."""
    container, hits = case.container, [one.hit for one in seen]
    told = failures_in(seen)
    failures = [one for one in told if one.kind not in SAYS_NO]
    found = find_peer_causes(failures, container, neighbours, around)
    found += find_rejection_causes([one for one in told if one.kind in SAYS_NO], container, neighbours, around)
    if container.id in around.denying:
        client = find_refused_client(container, around.denied)
        found += [client] if client is not None else []
    present = {symptom.type for symptom in symptoms}
    if not present.isdisjoint(_WITHOUT_NETWORK):
        found += find_namespace_causes(container, neighbours, around)
    found += find_mount_causes(hits, container, neighbours, around.first_full)
    listening = [hit.line for hit in hits if hit.signature.category is Category.PORT_IN_USE]
    found += find_listeners(listening, container, neighbours) if listening else []
    refused = container.error and not container.is_running and container.state is not ContainerState.DEAD
    error = start_error_of(container.error or "") if refused else None
    if error is not None and error.cause.id in _PORT_TAKEN:
        found += find_port_holders(container.error or "", container, neighbours)
    elif error is not None and error.cause.id == "joined_container_down":
        found += find_joined(container, neighbours, around)
    if not failures:
        waiting = (*_WAITING, *(() if hits else _WAITING_IN_SILENCE))
        penalty = next((by for kind, by in waiting if kind in present), None)
        waits_for = find_dependency_causes(container, neighbours, around) if penalty is not None else []
        found += [weakened(finding, penalty or 0) for finding in waits_for]
    return [*found, *find_image_change(container, symptoms, case.now)]


def _is_told(hit: Hit, findings: Sequence[Finding]) -> bool:
    """Whether a finding says better what to do than the signature that led to it."""
    sure = [finding.cause for finding in findings if finding.cause.confidence >= SURE and finding.suggestions]
    return any(quote(hit.line) in cause.evidence for cause in sure)


def _points_to(ranked: Sequence[LikelyCause], findings: Sequence[Finding]) -> str | None:
    if not ranked or ranked[0].confidence < SURE:
        return None
    return next(
        (finding.points_to for finding in findings if _who(finding.cause) == _who(ranked[0])),
        None,
    )


def _advice(
    case: Case, symptoms: Sequence[Symptom], rules: Sequence[SymptomRule]
) -> tuple[list[LikelyCause], list[tuple[tuple[str, ...], SuggestionText]]]:
    """What the rules that found something say themselves: causes, and steps, each with the ids of its causes."""
    present = {symptom.type: symptom for symptom in symptoms}
    causes: list[LikelyCause] = []
    texts: list[tuple[tuple[str, ...], SuggestionText]] = []
    for rule in rules:
        symptom = present.get(rule.type)
        if symptom is None:
            continue
        advice = rule.advise(case)
        texts += [(tuple(cause.id for cause in advice.causes), text) for text in advice.suggestions]
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


def _causes_at_home(hits: Sequence[Hit]) -> list[LikelyCause]:
    return [
        LikelyCause(
            id="nothing_listens",
            description="Nothing in the container answers at the address that its health check asks.",
            confidence=0.75,
            evidence=(quote(hit.line),),
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
            evidence=(quote(hit.line),),
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
    """Fill in the container's numbers; each action once, in the order in which they are given."""
    made: dict[str, Suggestion] = {}
    for text in texts:
        if text.action not in made:
            made[text.action] = Suggestion(
                urgency=text.urgency,
                action=render(text.action, numbers),
                rationale=render(text.rationale, numbers),
                check=render(text.check, numbers) if text.check else None,
            )
    return tuple(made.values())[:MAX_SUGGESTIONS]


def steps_in_order(steps: Iterable[tuple[float, SuggestionText]]) -> list[SuggestionText]:
    """What to do about the likeliest cause first, the most urgent of it first."""
    order = list(Urgency)
    ranked = sorted(steps, key=lambda step: (-step[0], order.index(step[1].urgency)))
    return [text for _, text in ranked]


CAUSES = {
    "nothing_listens": "its health check finds nobody at its own address",
    "program_reports_error": "log_error where nothing is recognised",
}
"""What this module names, and when: for the docs."""
