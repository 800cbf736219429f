"""Says a verdict in sentences: one line, and a paragraph."""

from collections.abc import Sequence
from dataclasses import dataclass

from bcon_exporter.diagnosis.numbers import in_seconds
from bcon_exporter.diagnosis.rule import Case
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, NotEvaluated, Severity, Symptom
from bcon_exporter.model.reports import Status

CERTAIN = 0.6
"""A cause below this confidence is not named in one line."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a container stands among causes: the root behind its trouble, and those whose trouble it explains."""

    root: str | None = None
    explains: tuple[str, ...] = ()


NO_PLACE = Place()


def worst_first(symptoms: Sequence[Symptom]) -> list[Symptom]:
    """The worst first; of equal ones in rule order."""
    return sorted(symptoms, key=lambda symptom: -symptom.severity.rank)


def top_issue(symptoms: Sequence[Symptom], causes: Sequence[LikelyCause]) -> str | None:
    """The worst symptom with its likeliest cause, None when nothing is wrong; history is not an issue."""
    telling = [symptom for symptom in worst_first(symptoms) if symptom.severity is not Severity.INFO]
    if not telling:
        return None
    issue = f"{telling[0].type.value}: {telling[0].description}"
    if causes and causes[0].confidence >= CERTAIN:
        issue += f" Likely: {causes[0].description}"
    return issue


def summarise_report(
    container: ContainerFacts,
    status: Status,
    symptoms: Sequence[Symptom],
    causes: Sequence[LikelyCause],
    not_evaluated: Sequence[NotEvaluated],
) -> str:
    """One line."""
    issue = top_issue(symptoms, causes)
    if issue is not None:
        more = sum(symptom.severity is not Severity.INFO for symptom in symptoms) - 1
        also = f" (and {more} more)" if more else ""
        return f"{container.name}: {status} — {issue}{also}"
    rules = "1 rule" if len(not_evaluated) == 1 else f"{len(not_evaluated)} rules"
    unclear = f", as far as it could be seen ({rules} not evaluated)" if not_evaluated else ""
    history = f" {symptoms[0].description}" if symptoms else ""
    return f"{container.name}: healthy, {container.state.value}{unclear}.{history}"


def explain_report(
    case: Case,
    symptoms: Sequence[Symptom],
    causes: Sequence[LikelyCause],
    not_evaluated: Sequence[NotEvaluated],
    notices: Sequence[str],
    place: Place = NO_PLACE,
) -> str:
    """A readable paragraph: state, symptoms, causes, what could not be judged."""
    parts = [_state(case)]
    parts += [_sentence(symptom) for symptom in worst_first(symptoms)] or ["No symptom was found."]
    if causes:
        likely = "; ".join(f"{cause.description.rstrip('.')} ({cause.confidence:.0%})" for cause in causes[:3])
        parts.append(f"Likely causes: {likely}.")
    if place.root is not None:
        parts.append(f"The root is {place.root}; its own report says more.")
    if place.explains:
        parts.append(f"Its trouble explains that of {', '.join(place.explains)}.")
    if not_evaluated:
        unclear = ", ".join(f"{entry.symptom.value} ({entry.reason})" for entry in not_evaluated)
        parts.append(f"Not evaluated: {unclear}.")
    parts += notices
    return " ".join(parts)


def _state(case: Case) -> str:
    container = case.container
    if container.is_running and container.started_at is not None:
        up = in_seconds((case.now - container.started_at).total_seconds())
        return f"{container.name} ({container.image}) is {container.state.value}, up for {up}."
    return f"{container.name} ({container.image}) is {container.state.value}."


def _sentence(symptom: Symptom) -> str:
    sure = "" if symptom.confidence >= 1 else f" (confidence {symptom.confidence:.0%})"
    return f"{symptom.type.value}, {symptom.severity.value}: {symptom.description}{sure}"
