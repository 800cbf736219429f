"""Analyses a log without its container: symptoms, categories of failure, causes and suggestions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.causes import causes_of_hits, rank, steps_in_order, suggestions_of
from bcon_exporter.diagnosis.finding import likely_cause
from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.diagnosis.log_events import LogEvent, read_events, summarise, template_of
from bcon_exporter.diagnosis.log_recovery import Recoveries
from bcon_exporter.diagnosis.named_in_line import steps_of
from bcon_exporter.diagnosis.program_advice import find_advice
from bcon_exporter.diagnosis.quoted_messages import (
    ids_to_quote,
    message_of_event,
    message_of_hit,
    newest_hit_for,
    with_message,
    with_step_of_message,
)
from bcon_exporter.diagnosis.signature_hits import Hit
from bcon_exporter.model.container_facts import LogLine
from bcon_exporter.model.findings import LikelyCause, Severity, SymptomType
from bcon_exporter.model.log_reports import LogAnalysis, LogEventGroup, LogSymptom
from bcon_exporter.model.quantities import show_count
from bcon_exporter.model.signatures import Catalogue, Category, SuggestionText

MAX_GROUPS = 50
MAX_CANDIDATES = 50_000
MAX_EVIDENCE = 5
_SHOWN_CHARS = 500
_SEVERITIES = {SymptomType.SLOW_RESPONSE: Severity.WARNING, SymptomType.START_FAILED: Severity.CRITICAL}
_KINDS = {Category.SLOW: Category.OTHER}
_NO_NUMBERS = {"name": "CONTAINER"}
"""Without a container its numbers are unknown."""


def analyze(lines: Sequence[LogLine], catalogue: Catalogue) -> LogAnalysis:
    """Analyse a log.

    Args:
        lines: Oldest first, cleaned and masked (see `log_text.lines_of`).
        catalogue: Signatures to recognise.
    """
    events = _told_from_history(lines, read_events(lines, catalogue, MAX_CANDIDATES))
    current = [event for event in events if not event.recovered]
    hits = [hit for event in current for hit in event.hits]
    groups = _groups(events)
    causes, steps = _explain(lines, current, hits)
    return LogAnalysis(
        lines=len(lines),
        symptoms=_symptoms(current),
        categories=_categories(current),
        causes=causes,
        suggestions=suggestions_of(steps, _NO_NUMBERS),
        events=groups[:MAX_GROUPS],
        events_left_out=max(0, len(groups) - MAX_GROUPS),
    )


def _explain(
    lines: Sequence[LogLine], events: Sequence[LogEvent], hits: Sequence[Hit]
) -> tuple[tuple[LikelyCause, ...], list[SuggestionText]]:
    """Return the causes and the steps; an error that no signature knows is quoted, and so is one of general words."""
    ranked, steps = rank(causes_of_hits(hits)), steps_in_order(_steps(hits))
    failed = [event for event in events if event.failed]
    if not ranked and failed:
        evidence = tuple(template.example for template in summarise(failed, MAX_EVIDENCE))
        unknown = likely_cause(known_cause("program_reports_error"), evidence, (SymptomType.LOG_ERROR,))
        unknown = unknown.quoting(message_of_event(failed[0], lines))
        return (unknown,), with_step_of_message(steps, unknown, lambda: find_advice(lines, failed[0].text))
    quoted = ids_to_quote(cause for hit in hits for cause in hit.signature.causes)
    telling = newest_hit_for(ranked, hits)
    if telling is None:
        return ranked, steps
    causes = with_message(ranked, quoted, message_of_hit(telling))
    return causes, with_step_of_message(steps, causes[0], lambda: find_advice(lines, telling.line))


def _steps(hits: Sequence[Hit]) -> list[tuple[float, SuggestionText]]:
    """Return the suggestions of each signature, with the confidence of its likeliest cause."""
    return [
        (max((cause.confidence for cause in hit.signature.causes), default=0.0), text)
        for hit in hits
        for text in steps_of(hit)
    ]


def _told_from_history(lines: Sequence[LogLine], events: Sequence[LogEvent]) -> tuple[LogEvent, ...]:
    """Mark events before the last successful start as recovered. With a container, its start time is known better."""
    if not events:
        return ()
    start = Recoveries(LineBuffer([line.text for line in lines])).last_good_start()
    return tuple(replace(event, recovered=event.recovered or event.index < start) for event in events)


def _symptoms(events: Sequence[LogEvent]) -> tuple[LogSymptom, ...]:
    return tuple(
        _symptom(kind, shown)
        for kind in SymptomType
        if (shown := tuple(event for event in events if event.shows(kind)))
    )


def _symptom(kind: SymptomType, events: Sequence[LogEvent]) -> LogSymptom:
    times = _times(events)
    verb = "shows" if len(events) == 1 else "show"
    severity = _SEVERITIES.get(kind, Severity.ERROR)
    return LogSymptom(
        type=kind,
        severity=Severity.WARNING if all(event.is_mild for event in events) else severity,
        description=f"{show_count(len(events), 'event')} {verb} it.",
        count=len(events),
        evidence=tuple(template.example for template in summarise(events, MAX_EVIDENCE)),
        first_seen=times[0],
        last_seen=times[1],
    )


def _times(events: Sequence[LogEvent]) -> tuple[datetime | None, datetime | None]:
    times = [event.at for event in events if event.at is not None]
    return (min(times), max(times)) if times else (None, None)


def _categories(events: Sequence[LogEvent]) -> tuple[Category, ...]:
    counted = Counter(category for event in events for category in _categories_of(event))
    return tuple(category for category, _ in counted.most_common())


def _categories_of(event: LogEvent) -> tuple[Category, ...]:
    """Return the categories as the analysis names them: slowness is a symptom and no category of failure."""
    return tuple(dict.fromkeys(_KINDS.get(hit.signature.category, hit.signature.category) for hit in event.hits))


def _groups(events: Sequence[LogEvent]) -> tuple[LogEventGroup, ...]:
    by_template: dict[tuple[str, bool], list[LogEvent]] = {}
    for event in events:
        by_template.setdefault((template_of(event.text), event.recovered), []).append(event)
    groups = [_group(template, members) for (template, _), members in by_template.items()]
    return tuple(sorted(groups, key=lambda group: (group.history, -group.count)))


def _group(template: str, events: Sequence[LogEvent]) -> LogEventGroup:
    newest, times = events[-1], _times(events)
    hits = [hit for event in events for hit in event.hits]
    return LogEventGroup(
        template=template,
        example=newest.text[:_SHOWN_CHARS],
        level=max(event.level for event in events).name.lower(),
        count=len(events),
        line=newest.index + 1,
        line_count=newest.line_count,
        first_seen=times[0],
        last_seen=times[1],
        signatures=tuple(dict.fromkeys(hit.signature.id for hit in hits)),
        runbooks=tuple(dict.fromkeys(hit.signature.runbook_link for hit in hits)),
        categories=tuple(dict.fromkeys(kind for event in events for kind in _categories_of(event))),
        history=newest.recovered,
        peers=tuple(dict.fromkeys(hit.peer for hit in hits if hit.peer)),
    )
