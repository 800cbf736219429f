"""Reads logs scan after scan: lines that were read before are not read again, as long as what they say is the same."""

from collections.abc import Sequence
from typing import NamedTuple

from bcon_exporter.diagnosis.logs import QUIET, LogEvent, ReadLog, read_log
from bcon_exporter.model.facts import LogLine
from bcon_exporter.model.signatures import Catalogue

EVENT_BYTES = 1000
"""What a remembered event costs beside its text, about."""
MOST_BYTES = 8 * 2**20
"""Of the events of all containers that are remembered; the logs of the others are read again at each scan."""


class _Known(NamedTuple):
    """The lines of one container's log, and what was found in them by which catalogue."""

    lines: Sequence[LogLine]
    catalogue: Catalogue
    found: ReadLog


class LogReader:
    """Finds the events in the logs of all containers; to be used by one thread.

    What is found in a log depends on its lines and on the catalogue alone. Where both are those of the last scan, so is
    what is found. Where nothing in a log may matter, only the lines that it has gained are looked at.
    """

    def __init__(self) -> None:
        self._before: dict[str, _Known] = {}
        self._now: dict[str, _Known] = {}
        self._room = MOST_BYTES

    def read(self, container_id: str, lines: Sequence[LogLine], catalogue: Catalogue) -> tuple[LogEvent, ...]:
        """Return what `read_events` does. A container's log may be asked for several times in one scan."""
        read = self._now.get(container_id)
        if read is not None and read.lines is lines and read.catalogue is catalogue:
            return read.found.events
        found = self._read(self._before.pop(container_id, None), lines, catalogue)
        size = sum(EVENT_BYTES + len(event.text) for event in found.events)
        if size <= self._room:
            self._room -= size
            self._now[container_id] = _Known(lines, catalogue, found)
        return found.events

    def end_scan(self) -> None:
        """Forget the logs that were not read since the last call."""
        self._before, self._now, self._room = self._now, {}, MOST_BYTES

    @staticmethod
    def _read(known: _Known | None, lines: Sequence[LogLine], catalogue: Catalogue) -> ReadLog:
        if known is None or known.catalogue is not catalogue:
            return read_log(lines, catalogue)
        if known.lines is lines:
            return known.found
        if known.found.is_quiet and read_log(find_gained(known.lines, lines), catalogue).is_quiet:
            return QUIET
        return read_log(lines, catalogue)


def find_gained(before: Sequence[LogLine], lines: Sequence[LogLine]) -> Sequence[LogLine]:
    """Return the lines that a log has gained, where it may have lost its first ones; all where that is not clear."""
    first = next((at for at, line in enumerate(before) if lines and line is lines[0]), len(before))
    kept = len(before) - first
    return lines[kept:] if lines[:kept] == before[first:] else lines
