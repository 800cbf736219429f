"""Finds likely causes and suggestions: from signatures in the log, from the state, and from other containers."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bcon_exporter.catalogue.causes import adjust, fields_of, fill, known_cause
from bcon_exporter.diagnosis.connectivity import UNKNOWN_PEER_CAUSES
from bcon_exporter.diagnosis.container_lookup import ContainerLookup, host_of
from bcon_exporter.diagnosis.evidence import (
    TimedHit,
    collect_hits,
    collect_probe_hits,
    find_unknown_failures,
    group_failures,
    separate_own_probe_hits,
)
from bcon_exporter.diagnosis.exit_codes import signal_of
from bcon_exporter.diagnosis.failed_connections import REJECTIONS, kind_of_signature
from bcon_exporter.diagnosis.finding import Finding, adjusted, likely_cause, quote
from bcon_exporter.diagnosis.hook_causes import find_hook_causes
from bcon_exporter.diagnosis.image_changes import find_image_change
from bcon_exporter.diagnosis.last_exit import EndKind, last_crash
from bcon_exporter.diagnosis.mounts import find_mount_causes
from bcon_exporter.diagnosis.named_in_line import steps_of
from bcon_exporter.diagnosis.peer_state import HostContext
from bcon_exporter.diagnosis.peers import (
    find_changed_peers,
    find_dependency_causes,
    find_namespace_causes,
    find_namespace_owner_trouble,
    find_peer_causes,
)
from bcon_exporter.diagnosis.ports import find_listeners, find_port_holders
from bcon_exporter.diagnosis.program_advice import find_advice
from bcon_exporter.diagnosis.quoted_messages import (
    ids_to_quote,
    message_in,
    message_of_event,
    message_of_hit,
    newest_hit_for,
    with_message,
    with_step_of_message,
)
from bcon_exporter.diagnosis.rule import Case, SymptomRule, Verdicts, missing_facts
from bcon_exporter.diagnosis.rules import RULE_OF
from bcon_exporter.diagnosis.server_rejections import find_refused_client, find_rejection_causes
from bcon_exporter.diagnosis.signature_hits import Hit
from bcon_exporter.diagnosis.start_errors import start_error_of
from bcon_exporter.diagnosis.usage_in_words import numbers_of
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import ADVISORY, LikelyCause, Severity, Suggestion, Symptom, SymptomType, Urgency
from bcon_exporter.model.hysteresis import EarlierConclusion
from bcon_exporter.model.signatures import Category, Need, SuggestionText

MAX_CAUSES = 6
MAX_SUGGESTIONS = 6
MAX_EVIDENCE = 3
SURE = 0.6
"""A finding below this confidence adds no suggestions and points to no other container."""
_MAY_WAIT_FOR_DEPENDENCY = (
    (SymptomType.NEVER_STARTED, "may_wait_never_started"),
    (SymptomType.STARTING, "may_wait_starting"),
    (SymptomType.UNHEALTHY, "may_wait_unhealthy"),
)
"""Symptoms that a dependency may explain although no connection failed, with the adjustment of its confidence."""
_MAY_WAIT_SILENTLY = (
    (SymptomType.RESTART_LOOP, "may_wait_silently"),
    (SymptomType.EXIT_ERROR, "may_wait_silently"),
)
"""The same for containers whose log shows no known signature."""
_WITHOUT_NETWORK = frozenset(
    {
        SymptomType.NETWORK_ERROR,
        SymptomType.UNHEALTHY,
        SymptomType.EXIT_ERROR,
        SymptomType.RESTART_LOOP,
        SymptomType.LOG_ERROR,
        SymptomType.SLOW_RESPONSE,
        SymptomType.STALE_NAMESPACE,
    }
)
"""Symptoms of a container that has lost its network namespace."""
_MORE_THAN_OUTSIDE = frozenset({"no_route"})
"""Unspecific causes that still say more than "the peer is outside of Docker": they keep their rank."""
_PORT_TAKEN = ("port_taken",)


class Conclusion(NamedTuple):
    """Causes, the likeliest first, and suggestions, the most urgent first.

    Attributes:
        points_to: Full id of the container that the likeliest cause points to; None when it points to no other.
        out_of_time: There was no time to look for causes: those of the last scan still stand.
    """

    causes: tuple[LikelyCause, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    points_to: str | None = None
    out_of_time: bool = False


def with_earlier_causes(
    conclusion: Conclusion, earlier: EarlierConclusion, case: Case, verdicts: Verdicts
) -> Conclusion:
    """Add the causes that the last scan found for symptoms that are still shown: the facts for them may be gone.

    Args:
        conclusion: From the facts of this scan.
        earlier: From the facts of the last scan.
        case: The container. Without its inspect or its log this scan cannot know better than the last one.
        verdicts: The symptoms of this scan.
    """
    explained = {kind for cause in conclusion.causes for kind in cause.related_symptoms}
    shown = {symptom.type for symptom in verdicts.symptoms}
    nothing_better = conclusion.out_of_time or missing_facts(case.container, ("oom_killed",))
    missing = shown if nothing_better else shown & verdicts.held - explained
    if missing_facts(case.container, ("logs",)):
        missing |= {symptom for symptom in shown if RULE_OF[symptom].from_log}
    causes = [cause for cause in earlier.causes if missing.intersection(cause.related_symptoms)]
    if not causes:
        return conclusion
    ranked = rank([*conclusion.causes, *causes])
    still_first = bool(earlier.causes) and _cause_key(ranked[0]) == _cause_key(earlier.causes[0])
    both = (
        (earlier.suggestions, conclusion.suggestions) if still_first else (conclusion.suggestions, earlier.suggestions)
    )
    by_action = {suggestion.action: suggestion for suggestions in reversed(both) for suggestion in suggestions}
    actions = dict.fromkeys(suggestion.action for suggestions in both for suggestion in suggestions)
    return Conclusion(
        ranked,
        tuple(by_action[action] for action in actions)[:MAX_SUGGESTIONS],
        earlier.points_to if still_first and conclusion.points_to is None else conclusion.points_to,
        conclusion.out_of_time,
    )


def _cause_key(cause: LikelyCause) -> tuple[str, str | None]:
    return cause.id, cause.peer


def with_fallback_cause(conclusion: Conclusion, symptoms: Sequence[Symptom], case: Case) -> Conclusion:
    """Fall back to "the program reports an error", and what it says, where no cause was found and the log shows one."""
    log_error = next((symptom for symptom in symptoms if symptom.type is SymptomType.LOG_ERROR), None)
    if conclusion.causes or log_error is None:
        return conclusion
    cause = known_cause("program_reports_error")
    evidence = log_error.evidence[:MAX_EVIDENCE]
    likely = likely_cause(cause, evidence, (SymptomType.LOG_ERROR,))
    message = _last_message(case, (likely,))
    if not message:
        return conclusion._replace(causes=(likely,))
    likely = likely.quoting(message)
    by_message = with_step_of_message((), likely, lambda: _find_advice(case, (likely,), ()))
    steps = suggestions_of(by_message, numbers_of(case.container, case.host, case.thresholds))
    return conclusion._replace(causes=(likely,), suggestions=(*steps, *conclusion.suggestions)[:MAX_SUGGESTIONS])


def find_causes(
    case: Case, symptoms: Sequence[Symptom], rules: Sequence[SymptomRule], lookup: ContainerLookup, context: HostContext
) -> Conclusion:
    """Find the causes of the symptoms, rank them, and collect suggestions."""
    timed_hits, own_probe_hits = separate_own_probe_hits(
        collect_hits(case, symptoms), collect_probe_hits(case, symptoms)
    )
    hits = [timed_hit.hit for timed_hit in timed_hits]
    known = known_facts(case.container)
    findings = _find_in_surroundings(case, symptoms, timed_hits, lookup, context)
    findings.sort(key=lambda finding: -finding.cause.confidence)
    surest_link = max((finding.cause.confidence for finding in findings if finding.points_to), default=0.0)
    surest_unknown_peer = max(
        (finding.cause.confidence for finding in findings if finding.cause.id in UNKNOWN_PEER_CAUSES), default=0.0
    )
    nothing_listens = known_cause("nothing_listens")
    causes = [
        *(likely_cause(nothing_listens, (quote(hit.line),), (SymptomType.UNHEALTHY,)) for hit in own_probe_hits),
        *causes_of_hits(hits, known),
    ]
    by_rules = _advice_of_rules(case, symptoms, rules)
    general = _general_causes(hits) | by_rules.general
    lowered: frozenset[str] = frozenset()
    if surest_link >= SURE:
        lowered = general | _unspecific_causes(hits)
    elif surest_unknown_peer >= SURE:
        lowered = _unspecific_causes(hits) - general - _MORE_THAN_OUTSIDE
    others = [
        _rank_below(cause, max(surest_link, surest_unknown_peer)) if cause.id in lowered else cause
        for cause in (*causes, *by_rules.causes)
    ]
    ranked = rank([*(finding.cause for finding in findings), *others])
    sureness = {cause.id: cause.confidence for cause in reversed(ranked)}
    steps = [*_steps_of_findings(findings), *_steps_of_hits(hits, findings, sureness)]
    steps += [(sureness.get(nothing_listens.id, 0.0), step) for step in nothing_listens.steps if own_probe_hits]
    if any(symptom.severity is Severity.CRITICAL for symptom in symptoms):
        steps = [(sure, _make_immediate(text)) for sure, text in steps]
    steps += [(_surest(by, sureness), text) for by, text in by_rules.steps]
    quoted = by_rules.quoted | ids_to_quote(cause for hit in hits for cause in hit.signature.causes)
    causes_shown, in_order = _quote_program(case, ranked, hits, quoted, steps_in_order(steps))
    numbers = numbers_of(case.container, case.host, case.thresholds)
    return Conclusion(causes_shown, suggestions_of(in_order, numbers), _points_to(ranked, findings))


def _steps_of_findings(findings: Iterable[Finding]) -> Iterator[tuple[float, SuggestionText]]:
    sure = (finding for finding in findings if finding.cause.confidence >= SURE)
    return ((finding.cause.confidence, text) for finding in sure for text in finding.suggestions)


def _steps_of_hits(
    hits: Iterable[Hit], findings: Sequence[Finding], sureness: Mapping[str, float]
) -> Iterator[tuple[float, SuggestionText]]:
    """Yield the steps of signatures, but for lines that a confident finding explains."""
    for hit in hits:
        if not _is_covered(hit, findings):
            sure = _surest((cause.id for cause in hit.signature.causes), sureness)
            yield from ((sure, text) for text in steps_of(hit))


def _surest(ids: Iterable[str], sureness: Mapping[str, float]) -> float:
    return max((sureness.get(cause_id, 0.0) for cause_id in ids), default=0.0)


def _quote_program(
    case: Case,
    ranked: Sequence[LikelyCause],
    hits: Sequence[Hit],
    quoted: Collection[str],
    steps: Sequence[SuggestionText],
) -> tuple[tuple[LikelyCause, ...], Sequence[SuggestionText]]:
    """Return the causes and steps, with what the program itself says where our words alone would fit many failures."""
    telling = newest_hit_for(ranked, hits)
    message = _last_message(case, ranked) if telling is None else message_of_hit(telling)
    causes = with_message(ranked, quoted, message)
    if not causes:
        return causes, steps
    return causes, with_step_of_message(steps, causes[0], lambda: _find_advice(case, ranked, hits))


def _find_advice(case: Case, causes: Sequence[LikelyCause], hits: Sequence[Hit]) -> str | None:
    """Return what the program asks for beside the line that shows the first cause, or else beside its first failure."""
    logs = case.container.logs
    telling = newest_hit_for(causes, hits)
    if logs is None or not case.use_logs or (telling is None and _is_of_probe(causes)):
        return None
    failed = next((event.text for event in case.events if event.failed), None)
    return find_advice(logs.lines, failed if telling is None else telling.line)


def _last_message(case: Case, causes: Sequence[LikelyCause]) -> str | None:
    """Return what a failing check printed, or else the first failure in the log, or else a failed run's last words.

    Later failures are often consequences of the first.
    """
    if _is_of_probe(causes):
        return _probe_message(case)
    lines = case.container.logs.lines if case.container.logs is not None and case.use_logs else ()
    failed = [event for event in case.events if event.failed]
    if failed:
        return message_of_event(failed[0], lines)
    end = case.ending.exit or last_crash(case.container)
    texts = end.last_lines if end is not None and end.last_lines else [line.text for line in lines[-MAX_EVIDENCE:]]
    has_failed = case.ending.kind is EndKind.FAILED or (end is not None and bool(end.exit_code))
    return next((message_in(text) for text in reversed(texts) if text.strip()), None) if has_failed else None


def _is_of_probe(causes: Sequence[LikelyCause]) -> bool:
    return bool(causes) and SymptomType.UNHEALTHY in causes[0].related_symptoms


def _probe_message(case: Case) -> str | None:
    health = case.container.health
    outputs = [probe.output for probe in health.probes if probe.exit_code != 0] if health is not None else []
    texts = [text for text in (outputs[-1] if outputs else "").splitlines() if text.strip()]
    return message_in(texts[-1]) if texts else None


def _general_causes(hits: Sequence[Hit]) -> frozenset[str]:
    """Return the ids of causes that are marked as general, in the signatures and here."""
    causes = (known_cause("nothing_listens"), *(cause for hit in hits for cause in hit.signature.causes))
    return frozenset(cause.id for cause in causes if cause.general)


def _unspecific_causes(hits: Sequence[Hit]) -> frozenset[str]:
    """Return the ids of causes that say only that a connection failed, not why."""
    kinds = ((kind_of_signature(hit.signature), hit.signature.causes) for hit in hits)
    unspecific = (cause.id for kind, causes in kinds if kind is not None and kind not in REJECTIONS for cause in causes)
    return frozenset(unspecific)


def _rank_below(cause: LikelyCause, confidence: float) -> LikelyCause:
    """Return the cause with a confidence just below that of a finding about a peer."""
    return cause.model_copy(update={"confidence": min(cause.confidence, adjust(confidence, "behind_peer"))})


def _find_in_surroundings(
    case: Case,
    symptoms: Sequence[Symptom],
    timed_hits: Sequence[TimedHit],
    lookup: ContainerLookup,
    context: HostContext,
) -> list[Finding]:
    """Find causes outside of the container's own log and state: peers, ports, mounts, dependencies, changes."""
    container, hits = case.container, [timed_hit.hit for timed_hit in timed_hits]
    all_failures = group_failures(timed_hits)
    failures = [failure for failure in all_failures if failure.kind not in REJECTIONS]
    findings = find_peer_causes(failures, container, lookup, context)
    findings += find_rejection_causes(
        [failure for failure in all_failures if failure.kind in REJECTIONS], container, lookup, context
    )
    findings += find_changed_peers(find_unknown_failures(case), container, lookup, context)
    if container.id in context.rejecting_logins:
        client = find_refused_client(container, context.rejected_logins)
        findings += [client] if client is not None else []
    present = {symptom.type for symptom in symptoms}
    if not present.isdisjoint(_WITHOUT_NETWORK):
        findings += find_namespace_causes(container, lookup, context)
    findings += find_mount_causes(hits, container, lookup, context.disk_full_since)
    listening = [hit.line for hit in hits if hit.signature.category is Category.PORT_IN_USE]
    findings += find_listeners(listening, container, lookup) if listening else []
    refused = container.error and not container.is_running and container.state is not ContainerState.DEAD
    error = start_error_of(container.error or "") if refused else None
    if error is not None and error.cause.id in _PORT_TAKEN:
        findings += find_port_holders(container.error or "", container, lookup)
    elif error is not None and error.cause.id == "joined_container_down":
        findings += find_namespace_owner_trouble(container, lookup, context)
    if not failures:
        waiting = (*_MAY_WAIT_FOR_DEPENDENCY, *(() if hits else _MAY_WAIT_SILENTLY))
        adjustment = next((name for kind, name in waiting if kind in present), None)
        if adjustment is not None:
            waits_for = find_dependency_causes(container, lookup, context)
            findings += [adjusted(finding, adjustment) for finding in waits_for]
    if SymptomType.NEVER_STARTED in present:
        findings += find_hook_causes(lookup.hooks_of(container), context)
    return [*findings, *find_image_change(container, symptoms, case.now)]


def _is_covered(hit: Hit, findings: Sequence[Finding]) -> bool:
    """Whether a confident finding quotes the same line: its suggestions then replace those of the signature."""
    sure_causes = [finding.cause for finding in findings if finding.cause.confidence >= SURE and finding.suggestions]
    return any(quote(hit.line) in cause.evidence for cause in sure_causes)


def _points_to(ranked: Sequence[LikelyCause], findings: Sequence[Finding]) -> str | None:
    if not ranked or ranked[0].confidence < SURE:
        return None
    return next(
        (finding.points_to for finding in findings if _cause_key(finding.cause) == _cause_key(ranked[0])),
        None,
    )


class _AdviceOfRules(NamedTuple):
    """What the rules advise whose symptoms are shown.

    Attributes:
        steps: Suggestions, each with the ids of the causes that its rule names.
        general: Ids of the causes that are marked as general.
        quoted: Ids of those with which the program's message is quoted.
    """

    causes: list[LikelyCause]
    steps: list[tuple[tuple[str, ...], SuggestionText]]
    general: frozenset[str]
    quoted: frozenset[str]


def _advice_of_rules(case: Case, symptoms: Sequence[Symptom], rules: Sequence[SymptomRule]) -> _AdviceOfRules:
    present, known = {symptom.type: symptom for symptom in symptoms}, known_facts(case.container)
    causes: list[LikelyCause] = []
    steps: list[tuple[tuple[str, ...], SuggestionText]] = []
    general: set[str] = set()
    quoted: set[str] = set()
    for rule in rules:
        symptom = present.get(rule.type)
        if symptom is None or (
            rule.type in ADVISORY and any(one.severity.rank > symptom.severity.rank for one in symptoms)
        ):
            continue
        advice = rule.advise(case).without_unknown(known)
        steps += [(tuple(cause.id for cause in advice.causes), text) for text in advice.steps]
        general.update(cause.id for cause in advice.causes if cause.general)
        quoted.update(ids_to_quote(advice.causes))
        causes += [likely_cause(cause, symptom.evidence[-MAX_EVIDENCE:], (rule.type,)) for cause in advice.causes]
    return _AdviceOfRules(causes, steps, frozenset(general), frozenset(quoted))


def _make_immediate(text: SuggestionText) -> SuggestionText:
    """Return a short-term suggestion as an immediate one: a critical container cannot wait a day."""
    if text.urgency is not Urgency.SHORT_TERM:
        return text
    return text.model_copy(update={"urgency": Urgency.IMMEDIATE})


def known_facts(container: ContainerFacts) -> frozenset[Need]:
    """Return what is known of a container, as far as causes need it."""
    lifecycle = container.lifecycle
    ends = lifecycle.exits if lifecycle is not None else ()
    codes = (container.exit_code, *(end.exit_code for end in ends))
    known = {
        Need.MOUNT: bool(container.mounts),
        Need.EVENTS: lifecycle is not None,
        Need.SIGNAL: any(code is not None and signal_of(code) is not None for code in codes),
    }
    return frozenset(need for need, is_known in known.items() if is_known)


def causes_of_hits(hits: Iterable[Hit], known: frozenset[Need] = frozenset()) -> list[LikelyCause]:
    """Return the causes of each signature that was hit, with its line as evidence.

    Args:
        hits: Signatures in a log.
        known: What is known of the container; nothing of a log alone.
    """
    return [
        likely_cause(cause, (quote(hit.line),), (hit.signature.symptom,), host_of(hit.peer) if hit.peer else None)
        for hit in hits
        for cause in hit.signature.causes
        if known.issuperset(cause.needs)
    ]


def rank(causes: Iterable[LikelyCause]) -> tuple[LikelyCause, ...]:
    """Merge causes of one id (`dependency_*`: of one id and peer) and sort them; the likeliest first, ties in order."""
    merged: dict[tuple[str, str | None], LikelyCause] = {}
    for cause in causes:
        key = (cause.id, cause.peer if cause.id.startswith("dependency_") else None)
        existing = merged.get(key)
        merged[key] = cause if existing is None else _merge(existing, cause)
    return tuple(sorted(merged.values(), key=lambda cause: -cause.confidence)[:MAX_CAUSES])


def _merge(first: LikelyCause, second: LikelyCause) -> LikelyCause:
    best = first if first.confidence >= second.confidence else second
    evidence = tuple(dict.fromkeys((*first.evidence, *second.evidence)))[-MAX_EVIDENCE:]
    related = tuple(dict.fromkeys((*first.related_symptoms, *second.related_symptoms)))
    return best.model_copy(
        update={"evidence": evidence, "related_symptoms": related, "peer": best.peer or first.peer or second.peer}
    )


def suggestions_of(texts: Iterable[SuggestionText], numbers: dict[str, str]) -> tuple[Suggestion, ...]:
    """Fill in the container's numbers; keep the order, and each action once.

    Where a log is read without its container, a reason that tells its numbers is left out.
    """
    made: dict[str, Suggestion] = {}
    for text in texts:
        if text.action not in made:
            made[text.action] = Suggestion(
                urgency=text.urgency,
                action=fill(text.action, numbers),
                rationale=fill(text.rationale, numbers) if fields_of(text.rationale) <= numbers.keys() else "",
                check=fill(text.check, numbers) if text.check else None,
                says=text.says,
            )
    return tuple(made.values())[:MAX_SUGGESTIONS]


def steps_in_order(steps: Iterable[tuple[float, SuggestionText]]) -> list[SuggestionText]:
    """Sort steps by the confidence of their cause, then by urgency."""
    order = list(Urgency)
    ranked = sorted(steps, key=lambda step: (-step[0], order.index(step[1].urgency)))
    return [text for _, text in ranked]
