"""Reads the logs scan after scan; each line is filtered once."""

from collections.abc import Sequence
from typing import NamedTuple

from bcon_exporter.diagnosis.log_events import (
    MAX_CANDIDATES,
    Candidates,
    LogEvent,
    find_candidates,
    read_events,
)
from bcon_exporter.model.container_facts import LogLine
from bcon_exporter.model.signatures import Catalogue

EVENT_BYTES, CANDIDATE_BYTES = 1000, 150
"""Estimated memory of a cached event beside its text, and of a candidate line."""
MOST_BYTES = 8 * 2**20
"""Limit for the cache of all containers; the logs that do not fit are read again at each scan."""


class _Known(NamedTuple):
    """The cached log of one container: its lines, and what one catalogue found in them.

    Attributes:
        events: None while they were not read.
    """

    lines: Sequence[LogLine]
    catalogue: Catalogue
    candidates: Candidates
    events: tuple[LogEvent, ...] | None = None

    @property
    def size(self) -> int:
        """Estimated bytes of memory."""
        events = self.events or ()
        return CANDIDATE_BYTES * len(self.candidates) + sum(EVENT_BYTES + len(event.text) for event in events)


class LogReader:
    """Finds the events in the logs of all containers; to be used by one thread.

    Whether a line may matter depends on nothing but the line, so each line is filtered once. An event depends on all
    lines of the window: when the window has changed, events are read again, from the few lines that may matter.
    """

    def __init__(self) -> None:
        self._before: dict[str, _Known] = {}
        self._now: dict[str, _Known] = {}
        self._room = MOST_BYTES

    def read(self, container_id: str, lines: Sequence[LogLine], catalogue: Catalogue) -> tuple[LogEvent, ...]:
        """Return the same as `read_events`. A log may be read several times in one scan."""
        cached = self._look_through(container_id, lines, catalogue)
        if cached.events is not None:
            return cached.events
        events = read_events(lines, catalogue, candidates=cached.candidates)
        self._remember(container_id, cached._replace(events=events))
        return events

    def find_candidates(self, container_id: str, lines: Sequence[LogLine], catalogue: Catalogue) -> Candidates:
        """Return the same as `find_candidates`, at most `MAX_CANDIDATES` of the newest."""
        return self._look_through(container_id, lines, catalogue).candidates

    def end_scan(self) -> None:
        """Drop the cached logs that were not read since the last call."""
        self._before, self._now, self._room = self._now, {}, MOST_BYTES

    def _look_through(self, container_id: str, lines: Sequence[LogLine], catalogue: Catalogue) -> _Known:
        """Return the cache entry for these lines; only lines that are new are filtered."""
        cached = self._now.get(container_id) or self._before.get(container_id)
        if cached is None or cached.catalogue is not catalogue:
            cached = _Known(lines, catalogue, _newest(find_candidates(lines, catalogue)))
        elif cached.lines is not lines:
            cached = _Known(lines, catalogue, _look_at_gained(cached, lines))
        self._remember(container_id, cached)
        return cached

    def _remember(self, container_id: str, known: _Known) -> None:
        before = self._now.pop(container_id, None)
        self._room += before.size if before is not None else 0
        if known.size <= self._room:
            self._room -= known.size
            self._now[container_id] = known


def _look_at_gained(known: _Known, lines: Sequence[LogLine]) -> Candidates:
    lost, kept = find_common(known.lines, lines)
    candidates = {at - lost: patterns for at, patterns in known.candidates.items() if 0 <= at - lost < kept}
    gained = find_candidates(lines[kept:], known.catalogue)
    return _newest({**candidates, **{kept + at: patterns for at, patterns in gained.items()}})


def _newest(candidates: Candidates) -> Candidates:
    if len(candidates) <= MAX_CANDIDATES:
        return candidates
    return dict(list(candidates.items())[-MAX_CANDIDATES:])


def find_common(before: Sequence[LogLine], lines: Sequence[LogLine]) -> tuple[int, int]:
    """Return how many lines the log has lost at its beginning, and how many of the rest are unchanged.

    The last line may have grown since, and be another one. Where that is not clear, nothing is common to both.
    """
    oldest = lines[0] if lines else None
    first = next((at for at, line in enumerate(before) if line == oldest), len(before))
    kept = len(before) - first
    for common in (kept, kept - 1):
        if common > 0 and lines[:common] == before[first : first + common]:
            return first, common
    return first, 0
