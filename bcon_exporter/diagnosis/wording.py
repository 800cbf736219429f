"""Puts a verdict into words: one line, and a paragraph."""

from collections.abc import Sequence
from dataclasses import dataclass

from bcon_exporter.diagnosis.exit_codes import explain_exit
from bcon_exporter.diagnosis.last_exit import EndKind
from bcon_exporter.diagnosis.rule import Case, Verdicts
from bcon_exporter.model.findings import LikelyCause, NotEvaluated, Severity, Status, Symptom, SymptomType
from bcon_exporter.model.quantities import show_count, show_duration

CERTAIN = 0.6
"""A cause below this confidence is not named in the one line."""


@dataclass(frozen=True, slots=True)
class RootLinks:
    """The root behind a container's trouble, and the containers whose trouble it explains itself."""

    root: str | None = None
    explains: tuple[str, ...] = ()


NO_ROOT_LINKS = RootLinks()


def worst_first(symptoms: Sequence[Symptom]) -> list[Symptom]:
    """Sort by severity, the worst first; ties stay in rule order."""
    return sorted(symptoms, key=lambda symptom: -symptom.severity.rank)


def top_issue(symptoms: Sequence[Symptom], causes: Sequence[LikelyCause]) -> str | None:
    """Return the symptom that the likeliest cause explains, with that cause; None when nothing is wrong.

    Where no cause is certain, or it explains none that is shown, the worst symptom; history is not an issue.
    """
    shown = headline(symptoms, causes)
    if shown is None:
        return None
    issue = f"{shown.type.value}: {shown.description}"
    if causes and causes[0].confidence >= CERTAIN:
        issue += f" Likely: {causes[0].description}"
    return issue


def headline(symptoms: Sequence[Symptom], causes: Sequence[LikelyCause]) -> Symptom | None:
    """Return the worst symptom that the likeliest cause explains, or else the worst; None where all is history."""
    if not symptoms:
        return None
    telling = [symptom for symptom in worst_first(symptoms) if symptom.severity is not Severity.INFO]
    if not causes or causes[0].confidence < CERTAIN:
        return next(iter(telling), None)
    explained = [symptom for symptom in telling if symptom.type in causes[0].related_symptoms]
    return next(iter([*explained, *telling]), None)


def summarise_report(
    case: Case, status: Status, verdicts: Verdicts, causes: Sequence[LikelyCause], *, checked: bool
) -> str:
    """Summarise a report in one line; for an ended container with exit code and time."""
    name, symptoms = case.container.name, verdicts.symptoms
    issue = top_issue(symptoms, causes)
    if issue is not None:
        more = sum(symptom.severity is not Severity.INFO for symptom in symptoms) - 1
        also = f" (and {more} more)" if more else ""
        first = headline(symptoms, causes)
        ended = "" if (first is not None and _names_the_end(first)) or not _end(case) else f", {_end(case)}"
        return f"{name}: {status}{ended} — {issue}{also}"
    end_is_named = bool(symptoms) and _names_the_end(symptoms[0])
    state = case.container.state.value if end_is_named else _end(case) or case.container.state.value
    unjudged = sum(not entry.is_advisory for entry in verdicts.not_evaluated)
    unclear = f", as far as it could be seen ({show_count(unjudged, 'rule')} not evaluated)" if unjudged else ""
    history = f" {symptoms[0].description}" if symptoms else ""
    return f"{name}: {'healthy' if checked else 'not checked'}, {state}{unclear}.{history}"


def _names_the_end(symptom: Symptom) -> bool:
    return symptom.type is SymptomType.EXIT_ERROR


def _end(case: Case) -> str:
    """Return how and when it ended; "" while it runs, and where the exit code is unknown."""
    if case.is_running:
        return ""
    ending, state = case.ending, case.container.state
    if ending.kind is EndKind.NONE or ending.exit_code is None:
        return ""
    ago = "" if ending.at is None else f" {show_duration((case.now - ending.at).total_seconds())} ago"
    return f"{state.value} with code {explain_exit(ending.exit_code)}{ago}"


def explain_report(
    case: Case,
    symptoms: Sequence[Symptom],
    causes: Sequence[LikelyCause],
    not_evaluated: Sequence[NotEvaluated],
    notices: Sequence[str],
    links: RootLinks = NO_ROOT_LINKS,
) -> str:
    """Explain a report in a paragraph: state, symptoms, causes, what could not be evaluated."""
    parts = [_state(case)]
    parts += [_sentence(symptom) for symptom in worst_first(symptoms)] or ["No symptom was found."]
    if causes:
        likely = "; ".join(f"{cause.description.rstrip('.')} ({cause.confidence:.0%})" for cause in causes[:3])
        parts.append(f"Likely causes: {likely}.")
    if links.root is not None:
        parts.append(f"The root is {links.root}; its own report says more.")
    if links.explains:
        parts.append(f"Its trouble explains that of {', '.join(links.explains)}.")
    unclear = [f"{entry.symptom.value} ({entry.reason})" for entry in not_evaluated if not entry.is_advisory]
    if unclear:
        parts.append(f"Not evaluated: {', '.join(unclear)}.")
    if "memory" in case.host.unread:
        remark = case.host.unread["memory"]
        parts.append(f"{remark[:1].upper()}{remark[1:]}.")
    parts += notices
    return " ".join(parts)


def _state(case: Case) -> str:
    container = case.container
    if container.is_running and container.started_at is not None:
        up = show_duration((case.now - container.started_at).total_seconds())
        return f"{container.name} ({container.image}) is {container.state.value}, up for {up}."
    return f"{container.name} ({container.image}) is {container.state.value}."


def _sentence(symptom: Symptom) -> str:
    sure = "" if symptom.confidence >= 1 else f" (confidence {symptom.confidence:.0%})"
    return f"{symptom.type.value}, {symptom.severity.value}: {symptom.description}{sure}"
