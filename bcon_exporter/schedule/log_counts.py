"""Counts the events that containers log, by level, over all scans."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import re2

from bcon_exporter.diagnosis import LogReader
from bcon_exporter.diagnosis.log_events import LogEvent, find_events
from bcon_exporter.diagnosis.log_levels import level_of
from bcon_exporter.memory import CountedLog, LogCounts
from bcon_exporter.model.container_facts import HostSnapshot, LogLine, nanoseconds_of, times_of
from bcon_exporter.model.signatures import Catalogue, Level

_FAILURES = {Level.ERROR: "error", Level.CRITICAL: "critical"}
_MAY_WARN = re2.compile(r'(?i)warn|\bwrn\b|"(?:level|lvl)": ?"?40\b|"s": ?"W"|^W\d{4} |^<4>')
"""Rules look for failures only; a warning counts as one line, and only lines that may be one are looked at closely."""

_MICROSECOND_NANOSECONDS = 1000


def count_events(
    before: LogCounts,
    snapshot: HostSnapshot,
    catalogue: Catalogue,
    log_reader: LogReader,
    is_too_late: Callable[[], bool] = lambda: False,
) -> LogCounts:
    """Return the counts with this scan's new events added, and gone containers left out.

    The log windows of two scans overlap: only the lines that the last one lacked are read and counted.
    What was logged before the first scan is not counted, or each restart of the exporter would look like a burst.

    Args:
        before: Of the last scan.
        snapshot: This one's.
        catalogue: Signatures to recognise.
        log_reader: Has looked at the lines for the diagnosis of this scan.
        is_too_late: Asked before each container; once True, what is new is left to the next scan.
    """
    now = snapshot.taken_at
    since = min(before.since or now, now)
    totals: dict[str, Mapping[str, int]] = {}
    last_failure_at: dict[str, datetime] = {}
    counted: dict[str, CountedLog] = {}
    too_late = False
    for container in snapshot.containers:
        total = before.totals.get(container.id)
        if container.logs is None and total is None:
            continue
        known = before.counted.get(container.id, CountedLog((), since))
        known = replace(known, until=min(known.until, now))  # the clock may have been set back
        too_late = too_late or is_too_late()
        lines = container.logs.lines if container.logs and not too_late else known.lines
        new = [] if lines is known.lines else find_new(lines, known.lines, known.until)
        candidates = log_reader.find_candidates(container.id, lines, catalogue) if new else {}
        new_lines = [lines[at] for at in new]
        among_new = {place: candidates[at] for place, at in enumerate(new) if at in candidates}
        events = find_events(new_lines, catalogue, among_new)
        totals[container.id] = add_events(total or {}, new_lines, events)
        has_failed = any(_tells_of_failure(event, new_lines[event.index]) for event in events)
        failed_at = now if has_failed and total is not None else before.last_failure_at.get(container.id)
        if failed_at is not None:
            last_failure_at[container.id] = min(failed_at, now)
        until = max((line.at for line in new_lines if line.at is not None), default=known.until)
        counted[container.id] = CountedLog(lines, until)
    return LogCounts(since, counted, totals, last_failure_at)


def find_new(lines: Sequence[LogLine], known: Sequence[LogLine], until: datetime) -> list[int]:
    """Return the places of the lines of a window that the one before it lacked.

    Lines come and go in order, whatever their times: one may be late, and the clock may be set back. Only the last line
    of either stream may move on, and grow, until the container ends it.

    Args:
        lines: The window.
        known: The one before it.
        until: Later lines are new where the two have nothing in common.
    """
    movable = known[-2:] if len({line.stream for line in known[-2:]}) > 1 else known[-1:]
    not_new = {(line.at, line.stream) for line in movable}
    for anchor in known[-len(movable) - 1 :]:
        start = _find_end_of(lines, anchor)
        if start is not None:
            return [at for at in range(start, len(lines)) if (lines[at].at, lines[at].stream) not in not_new]
    return _find_later(lines, until)


def _find_end_of(lines: Sequence[LogLine], wanted: LogLine) -> int | None:
    """Return the position after a line; None when it is not there."""
    for position in range(len(lines) - 1, -1, -1):
        line = lines[position]
        if line is wanted or (line.at == wanted.at and line == wanted):
            return position + 1
    return None


def _find_later(lines: Sequence[LogLine], until: datetime) -> list[int]:
    """Return the places of the lines after a time; those without a time go with the ones before them."""
    oldest = nanoseconds_of(until) + _MICROSECOND_NANOSECONDS
    later, is_later = [], False
    for place, at in enumerate(times_of(lines)):
        if at is not None:
            is_later = at >= oldest
        if is_later:
            later.append(place)
    return later


def add_events(before: Mapping[str, int], lines: Sequence[LogLine], events: Sequence[LogEvent]) -> Mapping[str, int]:
    """Return the counts with some lines added, and the events that were found in them."""
    if not lines:
        return before
    found = Counter(_FAILURES[event.level] for event in events if event.level in _FAILURES)
    found["warning"] = sum(is_warning(line.text) for line in lines)
    return {level: before.get(level, 0) + found[level] for level in ("warning", *_FAILURES.values())}


def _tells_of_failure(event: LogEvent, first_line: LogLine) -> bool:
    """Whether an event is one of a failure: it has such a level, or is a warning that a symptom rests on."""
    if event.level in _FAILURES:
        return True
    is_evidence = event.failed or any(hit.signature.blame == "program" for hit in event.hits)
    return is_evidence and is_warning(first_line.text)


def is_warning(text: str) -> bool:
    """Tell whether a line says of itself that it is a warning."""
    return _MAY_WARN.search(text) is not None and level_of(text) is Level.WARNING
