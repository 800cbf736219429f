"""What the rules that read the log have in common."""

from datetime import datetime, timedelta

from bcon_exporter.diagnosis.logs import LogEvent, summarise
from bcon_exporter.diagnosis.numbers import in_seconds
from bcon_exporter.diagnosis.rule import Case, Verdict, unknown
from bcon_exporter.diagnosis.shapes import is_lost_answer
from bcon_exporter.diagnosis.windows import softened
from bcon_exporter.model.facts import ContainerState
from bcon_exporter.model.findings import Severity, Symptom, SymptomType
from bcon_exporter.model.signatures import Level

EVIDENCE_LINES = 5
LOG_AGES = "warning when all of it stands before a restart since which it runs well"
"""What becomes of the severity of a symptom of the log, for the docs."""


def log_counts(case: Case) -> bool:
    """Whether the container's log can say something now: it runs, or ended without being asked to."""
    if case.container.state in (ContainerState.EXITED, ContainerState.DEAD):
        return not _is_history(case)
    return True


def _is_history(case: Case) -> bool:
    ending = case.ending
    if ending.kind in ("requested", "shutdown") or ending.aged:
        return True
    window = timedelta(seconds=case.thresholds.log_window_seconds)
    return ending.kind in ("done", "unknown") and ending.at is not None and case.now - ending.at > window


def logs_unread(case: Case) -> bool:
    """Whether the log would be needed and is not there."""
    return case.container.logs is None or not case.use_logs


def showing(case: Case, rule_type: SymptomType) -> tuple[LogEvent, ...]:
    """The counting events that are evidence for `rule_type`."""
    return tuple(
        event
        for event in case.events
        if event.shows(rule_type) and not (rule_type is SymptomType.LOG_ERROR and _is_warning_of_another(event))
    )


def _is_warning_of_another(event: LogEvent) -> bool:
    """Whether a line that calls itself a warning is told by another symptom: it is one event, and no error beside."""
    return event.level is Level.WARNING and any(
        hit.signature.symptom is not SymptomType.LOG_ERROR and hit.signature.blame == "program" for hit in event.hits
    )


def judge_log(case: Case, rule_type: SymptomType, severity: Severity, noun: str, at_least: int = 1) -> Verdict:
    """Judge by the log alone: a symptom from `at_least` events on, with the most frequent lines as evidence."""
    if logs_unread(case):
        reason = "" if case.use_logs else "logs were not asked for"
        return unknown(case, rule_type, ("logs",), reason)
    events = showing(case, rule_type)
    if len(events) < at_least:
        return None
    return log_symptom(case, rule_type, severity, noun, events)


def log_symptom(
    case: Case, rule_type: SymptomType, severity: Severity, noun: str, events: tuple[LogEvent, ...]
) -> Symptom:
    """Make the symptom that `events` are evidence for; a warning when they explain an end that is over."""
    if severity.rank > Severity.WARNING.rank and all(_is_warning(event) for event in events):
        severity = Severity.WARNING
    final = softened(severity, events, case.container, well=case.well)
    past = " before its last start" if final is not severity else ""
    count = f"{len(events)} {noun}{'' if len(events) == 1 else 's'}"
    newest = "" if len(events) == 1 else "the newest "
    description = f"The log shows {count}{past}, {newest}{_age(events[-1].at, case.now)}."
    return case.symptom(rule_type, final, description, *evidence_of(events))


def _is_warning(event: LogEvent) -> bool:
    """Whether a line calls itself a warning; that of an access log calls itself nothing."""
    return event.level is Level.WARNING and not is_lost_answer(event.text)


def evidence_of(events: tuple[LogEvent, ...]) -> tuple[str, ...]:
    """The most frequent lines, with how often each occurred."""
    return tuple(
        template.example if template.count == 1 else f"{template.count} times: {template.example}"
        for template in summarise(events, EVIDENCE_LINES)
    )


def _age(at: datetime | None, now: datetime) -> str:
    if at is None:
        return "at an unknown time"
    seconds = round((now - at).total_seconds())
    return f"{in_seconds(seconds)} ago" if seconds > 0 else "just now"
