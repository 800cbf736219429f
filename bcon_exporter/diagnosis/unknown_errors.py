"""Explains an error that no signature knows: which exception, where, how often, since when, after which change."""

from collections.abc import Sequence
from datetime import datetime

import re2

from bcon_exporter.catalogue.causes import known_cause, known_step
from bcon_exporter.diagnosis.finding import Finding, likely_cause, quote
from bcon_exporter.diagnosis.log_events import LogEvent, template_of
from bcon_exporter.diagnosis.named_in_line import SHOWN_CHARS
from bcon_exporter.diagnosis.quoted_messages import find_exception, is_innermost_last, message_in
from bcon_exporter.model.container_facts import ContainerFacts, LogLine
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.quantities import show_count, show_duration, show_times
from bcon_exporter.model.signatures import SuggestionText

_PLACE = re2.compile(
    r"\.(?:py|pyx|js|mjs|cjs|ts|tsx|go|java|kt|scala|groovy|clj|rb|php|rs|cs|fs|cpp|cc|c|h|ex|exs|erl|pl|pm|lua|swift)"
    r"\"?(?:[:(]|, line |:line | line | on line )\d+"
)


def explain_by_shape(events: Sequence[LogEvent], lines: Sequence[LogLine], container: ContainerFacts) -> Finding | None:
    """Explain failed events that no signature recognises; None when there are none.

    Args:
        events: Oldest first.
        lines: The log that they were read from.
        container: Its starts and image changes are what the error may have begun after.
    """
    if not events:
        return None
    newest = events[-1]
    trace = [line.text[:SHOWN_CHARS] for line in lines[newest.index : newest.index + newest.line_count]]
    exception, place = find_exception(trace), _find_place(trace)
    after = _began_after(events[0].at, container)
    kind, how_often = _kind(exception, place), _how_often(events)
    cause = (
        known_cause("program_reports_error.unknown_since", kind=kind, how_often=how_often, after=after)
        if after
        else known_cause("program_reports_error.unknown", kind=kind, how_often=how_often)
    )
    evidence = tuple(dict.fromkeys(quote(text.strip()) for text in (exception, place, newest.text) if text))
    likely = likely_cause(cause, evidence, (SymptomType.LOG_ERROR,)).quoting(message_in(exception or newest.text))
    return Finding(likely, tuple(_advice(place, after)))


def _kind(exception: str | None, place: str | None) -> str:
    if exception is not None and place is not None:
        return "an exception, with its place in the source (evidence),"
    return "an exception" if exception is not None else "an error"


def _how_often(events: Sequence[LogEvent]) -> str:
    forms = len({template_of(event.text) for event in events})
    count = show_times(len(events)) + (f" in {show_count(forms, 'form')}" if len(events) > 1 else "")
    times = [event.at for event in events if event.at is not None]
    if len(times) < 2:  # noqa: PLR2004 -- a span has two ends
        return count
    return f"{count} within {show_duration((max(times) - min(times)).total_seconds())}"


def _began_after(first: datetime | None, container: ContainerFacts) -> str | None:
    """Return the change after which it began: of the image, or else the last start."""
    lifecycle = container.lifecycle
    changes = [
        ("its image changed", lifecycle.image_changed_at if lifecycle else None),
        ("its last start", container.started_at),
    ]
    for what, at in changes:
        if first is not None and at is not None and at <= first:
            return f"{show_duration((first - at).total_seconds())} after {what}"
    return None


def _find_place(trace: Sequence[str]) -> str | None:
    places = [text for text in trace if _PLACE.search(text.encode("utf-8", "replace")) is not None]
    return places[-1] if places and is_innermost_last(trace) else next(iter(places), None)


def _advice(place: str | None, after: str | None) -> list[SuggestionText]:
    steps = [known_step("search_message"), known_step("read_log_around")]
    steps += [known_step("look_at_source")] if place else []
    return [*steps, known_step("compare_with_before", after=after)] if after and "image" in after else steps
