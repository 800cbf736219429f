"""Counts the events that containers log, by level, over all scans."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import re2

from bcon_exporter.diagnosis.levels import level_of
from bcon_exporter.diagnosis.logs import find_events
from bcon_exporter.model.facts import HostSnapshot, LogLine
from bcon_exporter.model.signatures import Catalogue, Level

_FAILURES = {Level.ERROR: "error", Level.CRITICAL: "critical"}
_MAY_WARN = re2.compile(r'(?i)warn|\bwrn\b|"(?:level|lvl)": ?"?40\b|"s": ?"W"|^W\d{4} |^<4>')
"""Rules look for failures only; a warning counts as one line, and only lines that may be one are looked at closely."""


class _Seen(NamedTuple):
    """What of a container's log has been counted.

    Attributes:
        lines: The window of the last scan.
        until: The newest time in it, or when there was none, since when lines count.
    """

    lines: Sequence[LogLine]
    until: datetime


class LogCounts:
    """Counters that start at 0 with the exporter.

    The log windows of two scans overlap: only the lines that the last one lacked are read and counted.
    What was logged before the first scan is not counted, or each restart of the exporter would look like a burst.
    """

    def __init__(self) -> None:
        self._since: datetime | None = None
        self._seen: dict[str, _Seen] = {}
        self._totals: dict[str, Mapping[str, int]] = {}

    def count(
        self, snapshot: HostSnapshot, catalogue: Catalogue, is_over: Callable[[], bool] = lambda: False
    ) -> Mapping[str, Mapping[str, int]]:
        """Return container id → level → events so far, with this scan's new ones added and gone containers left out.

        Once `is_over`, what is new is left to the next scan.
        """
        now = snapshot.taken_at
        self._since = min(self._since or now, now)
        totals: dict[str, Mapping[str, int]] = {}
        seen: dict[str, _Seen] = {}
        over = False
        for container in snapshot.containers:
            before = self._totals.get(container.id)
            if container.logs is None and before is None:
                continue
            known = self._seen.get(container.id, _Seen((), self._since))
            known = known._replace(until=min(known.until, now))  # the clock may have been set back
            over = over or is_over()
            lines = container.logs.lines if container.logs and not over else known.lines
            new = () if lines is known.lines else find_new(lines, known.lines, known.until)
            totals[container.id] = add_events(before or {}, new, catalogue)
            until = max((line.at for line in new if line.at is not None), default=known.until)
            seen[container.id] = _Seen(lines, until)
        self._totals, self._seen = totals, seen
        return totals


def find_new(lines: Sequence[LogLine], known: Sequence[LogLine], until: datetime) -> Sequence[LogLine]:
    """Return the lines of a window that the one before it lacked.

    Lines come and go in order, whatever their times: one may be late, and the clock may be set back. Only the last line
    may move on, and grow, until the container ends it.

    Args:
        lines: The window.
        known: The one before it.
        until: Later lines are new where the two have nothing in common.
    """
    for anchor in known[-2:]:
        start = _find_end_of(lines, anchor)
        if start is not None:
            last = known[-1]
            return [line for line in lines[start:] if (line.at, line.stream) != (last.at, last.stream)]
    return _find_later(lines, until)


def _find_end_of(lines: Sequence[LogLine], wanted: LogLine) -> int | None:
    """Return the position after a line; None when it is not there."""
    for position in range(len(lines) - 1, -1, -1):
        line = lines[position]
        if line is wanted or (line.at == wanted.at and line == wanted):
            return position + 1
    return None


def _find_later(lines: Sequence[LogLine], until: datetime) -> Sequence[LogLine]:
    """Return the lines after a time; those without a time go with the ones before them."""
    later, is_later = [], False
    for line in lines:
        if line.at is not None:
            is_later = line.at > until
        if is_later:
            later.append(line)
    return later


def add_events(before: Mapping[str, int], lines: Sequence[LogLine], catalogue: Catalogue) -> Mapping[str, int]:
    """Return the counts with the events in some lines added."""
    if not lines:
        return before
    found = Counter(_FAILURES[event.level] for event in find_events(lines, catalogue) if event.level in _FAILURES)
    found["warning"] = sum(is_warning(line.text) for line in lines)
    return {level: before.get(level, 0) + found[level] for level in ("warning", *_FAILURES.values())}


def is_warning(text: str) -> bool:
    """Tell whether a line says of itself that it is a warning."""
    return _MAY_WARN.search(text) is not None and level_of(text) is Level.WARNING
