"""Counts the events that containers log, by level, over all scans."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

import re2

from bcon_exporter.diagnosis.levels import level_of
from bcon_exporter.diagnosis.logs import find_events
from bcon_exporter.model.facts import HostSnapshot, LogLine
from bcon_exporter.model.signatures import Catalogue, Level
from bcon_exporter.right_of_way import let_pass

_FAILURES = {Level.ERROR: "error", Level.CRITICAL: "critical"}
_MAY_WARN = re2.compile(r'(?i)warn|\bwrn\b|"(?:level|lvl)": ?"?40\b|"s": ?"W"|^W\d{4} |^<4>')
"""Rules look for failures only; a warning counts as one line, and only lines that may be one are looked at closely."""


class LogCounts:
    """Counters that start at 0 with the exporter.

    The log windows of two scans overlap, so each container has a cursor: only newer lines are read and counted.
    What was logged before the first scan is not counted, or each restart of the exporter would look like a burst.
    """

    def __init__(self) -> None:
        self._since: datetime | None = None
        self._cursors: dict[str, datetime] = {}
        self._totals: dict[str, Mapping[str, int]] = {}

    def count(self, snapshot: HostSnapshot, catalogue: Catalogue) -> Mapping[str, Mapping[str, int]]:
        """Return container id → level → events so far, with this scan's new ones added and gone containers left out."""
        since = self._since or snapshot.taken_at
        self._since = since
        totals: dict[str, Mapping[str, int]] = {}
        cursors: dict[str, datetime] = {}
        for container in snapshot.containers:
            let_pass()
            before = self._totals.get(container.id)
            cursor = self._cursors.get(container.id, since)
            if container.logs is None and before is None:
                continue
            lines = find_newer(container.logs.lines if container.logs else (), cursor)
            totals[container.id] = add_events(before or {}, lines, catalogue)
            cursors[container.id] = max((line.at for line in lines if line.at is not None), default=cursor)
        self._totals, self._cursors = totals, cursors
        return totals


def find_newer(lines: Sequence[LogLine], cursor: datetime) -> Sequence[LogLine]:
    """Return the lines after the cursor; lines come in order, so those without a time go with the ones before them."""
    for position in range(len(lines) - 1, -1, -1):
        at = lines[position].at
        if at is not None and at <= cursor:
            return lines[position + 1 :]
    return lines


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
