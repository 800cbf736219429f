"""What the rules that read the log share."""

from collections import Counter
from datetime import datetime, timedelta

from bcon_exporter.diagnosis.failure_phrases import is_lost_answer
from bcon_exporter.diagnosis.log_events import LogEvent, summarise
from bcon_exporter.diagnosis.log_windows import soften_severity
from bcon_exporter.diagnosis.rule import Case, Verdict, unknown
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.findings import Severity, Symptom, SymptomType
from bcon_exporter.model.quantities import show_count, show_duration, show_times
from bcon_exporter.model.signatures import Level

EVIDENCE_LINES = 5
LOG_AGES = "warning when all of it stands before a restart since which it runs well"
"""How the severity of a symptom from the log softens, for the docs."""


def log_is_relevant(case: Case) -> bool:
    """Whether the container's log is relevant now: it runs, or its end was not requested."""
    if case.container.state in (ContainerState.EXITED, ContainerState.DEAD):
        return not _is_history(case)
    return True


def _is_history(case: Case) -> bool:
    ending = case.ending
    if ending.kind in ("requested", "shutdown", "left_down") or ending.aged:
        return True
    window = timedelta(seconds=case.thresholds.log_window_seconds)
    return ending.kind in ("done", "unknown") and ending.at is not None and case.now - ending.at > window


def logs_unread(case: Case) -> bool:
    """Whether the log is missing."""
    return case.container.logs is None or not case.use_logs


def events_showing(case: Case, rule_type: SymptomType) -> tuple[LogEvent, ...]:
    """Return the current events that are evidence for `rule_type`."""
    return tuple(
        event
        for event in case.events
        if event.shows(rule_type) and not (rule_type is SymptomType.LOG_ERROR and _is_warning_of_another(event))
    )


def _is_warning_of_another(event: LogEvent) -> bool:
    """Whether a warning already shows another symptom: it is then no error as well."""
    return event.level is Level.WARNING and any(
        hit.signature.symptom is not SymptomType.LOG_ERROR and hit.signature.blame == "program" for hit in event.hits
    )


def judge_log(case: Case, rule_type: SymptomType, severity: Severity, noun: str, at_least: int = 1) -> Verdict:
    """Judge by the log alone: a symptom from `at_least` events on, with the most frequent lines as evidence."""
    if logs_unread(case):
        reason = "" if case.use_logs else "logs were not asked for"
        return unknown(case, rule_type, ("logs",), reason)
    events = events_showing(case, rule_type)
    if len(events) < at_least:
        return None
    return log_symptom(case, rule_type, severity, noun, events)


def log_symptom(
    case: Case, rule_type: SymptomType, severity: Severity, noun: str, events: tuple[LogEvent, ...]
) -> Symptom:
    """Make the symptom that `events` are evidence for; at most a warning where all stand before the last good start."""
    if severity.rank > Severity.WARNING.rank and all(_is_warning(event) for event in events):
        severity = Severity.WARNING
    final = soften_severity(severity, events, case.container, well=case.well)
    past = " before its last start" if final is not severity else ""
    newest = "" if len(events) == 1 else "the newest "
    description = f"The log shows {show_count(len(events), noun)}{past}, {newest}{_age(events[-1].at, case.now)}."
    symptom = case.symptom(rule_type, final, description, *evidence_of(events))
    return symptom.model_copy(update={"signatures": _signatures_of(events, rule_type)})


def _signatures_of(events: tuple[LogEvent, ...], rule_type: SymptomType) -> tuple[str, ...]:
    """Return the ids of the signatures of this symptom that the events show, the most frequent first."""
    ids = Counter(hit.signature.id for event in events for hit in event.hits if hit.signature.symptom is rule_type)
    return tuple(signature_id for signature_id, _ in ids.most_common())


def _is_warning(event: LogEvent) -> bool:
    """Whether a line calls itself a warning; lines of an access log have no level of their own."""
    return event.level is Level.WARNING and not is_lost_answer(event.text)


def evidence_of(events: tuple[LogEvent, ...]) -> tuple[str, ...]:
    """Return the most frequent lines, with how often each occurred."""
    return tuple(
        template.example if template.count == 1 else f"{show_times(template.count)}: {template.example}"
        for template in summarise(events, EVIDENCE_LINES)
    )


def _age(at: datetime | None, now: datetime) -> str:
    if at is None:
        return "at an unknown time"
    seconds = round((now - at).total_seconds())
    return f"{show_duration(seconds)} ago" if seconds > 0 else "just now"
