"""Keeps a cursor and a window of log lines for each container.

Each request has `since` and `tail`: without `tail` the engine reads the whole file, without `since` it sends old lines
again. It stamps a line before it writes it, stdout and stderr separately, so a line may be written after one with a
later stamp. So `since` reaches a little behind the newest stamp, and repeated lines are skipped.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bcon_exporter.engine.parse import RawLogEntry, drop_cut_line, finish_entries, parse_log_stream, split_entries
from bcon_exporter.engine.parse.json_fields import format_nanoseconds, nanoseconds_of
from bcon_exporter.model.container_facts import LogFacts, LogLines
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets

__all__ = ["LogCursors", "parse_log_stream"]

# What a kept line costs beside its text: the string's head, its time, and its places in three columns.
_LINE_OVERHEAD_BYTES = 120
_OVERLAP_NANOSECONDS = 100 * 1_000_000
_CLOCK_SLACK_NANOSECONDS = 60 * 1_000_000_000


_TRUSTED_SECONDS = 300.0
"""A log is read at least this often although its file looks unchanged: it may be a copy that somebody mounted there."""


@dataclass(frozen=True, slots=True)
class LogMark:
    """State of a log file.

    Attributes:
        seen_at: On the monotonic clock.
        stamp: Device and inode, size in bytes, time of change in nanoseconds.
    """

    seen_at: float
    stamp: tuple[int, int, int, int]

    def is_current(self, current: "LogMark | None") -> bool:
        """Return whether nothing was written between this mark and the current one."""
        return current is not None and current.stamp == self.stamp and current.seen_at - self.seen_at < _TRUSTED_SECONDS


@dataclass(slots=True)
class _LogWindow:
    """One container's cursor and lines.

    Attributes:
        cursor: Stamp of the newest line, in nanoseconds; None before the first read.
        recent: (stamp, stream, hash of its bytes) of each line within the overlap → how often it was seen.
        open_line: The line that the container has not ended yet, if there is one; returned, but not kept.
        lost_at: Stamp of the oldest line after the last loss of lines.
        hidden: The values that are hidden in the lines.
        facts: The last result, while the lines are unchanged: a quiet container costs nothing.
    """

    cursor: int | None = None
    recent: dict[tuple[int, str, int], int] = field(default_factory=dict)
    lines: LogLines = field(default_factory=LogLines)
    held_bytes: int = 0
    open_line: LogLines = field(default_factory=LogLines)
    lost_at: datetime | None = None
    hidden: KnownSecrets = NO_SECRETS
    facts: LogFacts | None = None


@dataclass(frozen=True, slots=True)
class LogSource:
    """What must be known of a container to parse its log.

    Attributes:
        tty: Whether the container has a terminal; None when unknown.
        driver: Log driver.
        secrets: Values to mask in the lines.
    """

    tty: bool | None
    driver: str | None
    secrets: KnownSecrets = NO_SECRETS


class LogCursors:
    """Cursors and kept lines of all containers; to be used by one thread.

    Args:
        bytes_per_container: Kept text of one container.
        bytes_total: Kept text of all; above it, each container keeps only its equal share.
        lines_per_container: Kept lines of one container.
    """

    def __init__(
        self, *, bytes_per_container: int = 256 * 1024, bytes_total: int = 48 * 2**20, lines_per_container: int = 2000
    ) -> None:
        self._bytes_per_container = bytes_per_container
        self._bytes_total = bytes_total
        self._lines_per_container = lines_per_container
        self._windows: dict[str, _LogWindow] = {}
        self._held_bytes = 0

    @property
    def held_bytes(self) -> int:
        """Approximate size of all kept lines in bytes."""
        return self._held_bytes

    def query(self, container_id: str, *, tail: int, now: datetime, since: datetime | None = None) -> str:
        """Return the query of the next read.

        Args:
            container_id: Full id.
            tail: The most lines to read.
            now: Our wall clock.
            since: Start of the window, as for `take`; the first read requests no older lines.
        """
        window = self._windows.get(container_id)
        query = f"stdout=1&stderr=1&timestamps=1&tail={tail + 1}"  # one more, in case the first is cut
        if window is None or window.cursor is None:
            return query if since is None else f"{query}&since={_since_behind(int(since.timestamp()) * 1_000_000_000)}"
        if window.cursor > int(now.timestamp()) * 1_000_000_000 + _CLOCK_SLACK_NANOSECONDS:
            # The clock has been set back: a `since` in the future would hide all that is written now.
            self.forget((container_id,))
            return query
        return f"{query}&since={_since_behind(window.cursor)}"

    def take(self, container_id: str, raw: bytes, source: LogSource, *, since: datetime | None, tail: int) -> LogFacts:
        """Add the answer to `query`, and return the lines of the window.

        Args:
            container_id: Full id.
            raw: The answer's body, "" when there was nothing new.
            source: The container.
            since: Older lines are dropped; None keeps them (the last lines of an ended container explain its end).
            tail: As in `query`: more entries mean that older ones were left out.
        """
        window = self._windows.setdefault(container_id, _LogWindow())
        if source.secrets is not window.hidden:
            self._hide(window, source.secrets)
        cursor = window.cursor
        entries, is_full = drop_cut_line(split_entries(raw, tty=source.tty), tail + 1)
        new = _advance(window, entries)
        ended, open_lines = [e for e in new if e.complete], [e for e in new if not e.complete][-1:]
        before = window.lines.texts[-1:] if new and cursor is not None else ()
        lines = finish_entries([*ended, *open_lines], source.secrets, before)
        if new or (entries and window.open_line):
            window.open_line = lines[len(ended) :]
            window.facts = None
            lines = lines[: len(ended)]
        if lines and _has_gap(cursor, entries, is_full=is_full):
            window.lost_at = lines[0].at
        if window.cursor is None and lines:
            # No stamps, so no cursor: each answer is the whole log again.
            self._drop_lines(window, len(window.lines))
        self._keep(window, lines, since)
        return _to_facts(window, since, source.driver)

    def get_lines(
        self, container_id: str, *, since: datetime | None, driver: str | None, secrets: KnownSecrets = NO_SECRETS
    ) -> LogFacts | None:
        """Return the kept lines without a read; None when the log was never read."""
        window = self._windows.get(container_id)
        if window is None:
            return None
        if secrets is not window.hidden:
            self._hide(window, secrets)
        self._keep(window, LogLines(), since)
        return _to_facts(window, since, driver)

    def forget(self, container_ids: Collection[str]) -> None:
        """Drop everything about these containers."""
        for container_id in container_ids:
            gone = self._windows.pop(container_id, None)
            if gone is not None:
                self._held_bytes -= gone.held_bytes

    def retain(self, container_ids: Collection[str]) -> None:
        """Drop everything about all other containers."""
        self.forget(self._windows.keys() - set(container_ids))

    def _hide(self, window: _LogWindow, secrets: KnownSecrets) -> None:
        """Hide the secrets that were learned after the lines were read."""
        window.hidden = secrets
        texts = [*window.lines.texts, *window.open_line.texts]
        if (hidden := secrets.hide_lines(texts)) is not texts:
            size, count = _size_of(window.lines), len(window.lines)
            window.lines = window.lines.with_texts(hidden[:count])
            window.open_line = window.open_line.with_texts(hidden[count:])
            window.facts = None
            change = _size_of(window.lines) - size
            window.held_bytes += change
            self._held_bytes += change

    def _keep(self, window: _LogWindow, lines: LogLines, since: datetime | None) -> None:
        """Append new lines and drop those that are too old or too many."""
        if lines:
            size = _size_of(lines)
            window.lines += lines
            window.held_bytes += size
            self._held_bytes += size
            window.facts = None
        dropped = 0
        if since is not None:
            times, oldest = window.lines.nanoseconds, nanoseconds_of(since)
            while dropped < len(times) and (at := times[dropped]) is not None and at < oldest:
                dropped += 1
        self._drop_lines(window, dropped)
        self._enforce(window)

    def _enforce(self, window: _LogWindow) -> None:
        """Drop the oldest lines beyond the caps."""
        cap = self._bytes_per_container
        if self._held_bytes > self._bytes_total:
            cap = min(cap, self._bytes_total // len(self._windows))
        dropped, excess = max(0, len(window.lines) - self._lines_per_container), window.held_bytes - cap
        excess -= _size_of(window.lines[:dropped])
        while excess > 0 and dropped < len(window.lines):
            excess -= len(window.lines.texts[dropped]) + _LINE_OVERHEAD_BYTES
            dropped += 1
        if dropped:
            last = window.lines[dropped - 1].at
            window.lost_at = last + timedelta(microseconds=1) if last else window.lost_at
            self._drop_lines(window, dropped)

    def _drop_lines(self, window: _LogWindow, count: int) -> None:
        if count:
            size = _size_of(window.lines[:count])
            window.held_bytes -= size
            self._held_bytes -= size
            window.lines = window.lines[count:]
            window.facts = None


def _since_behind(nanoseconds: int) -> str:
    """Format a time for `since`, earlier by the overlap."""
    return format_nanoseconds(nanoseconds - _OVERLAP_NANOSECONDS)


def _advance(window: _LogWindow, entries: list[RawLogEntry]) -> list[RawLogEntry]:
    """Return the new entries, and move the cursor."""
    cursor = window.cursor or 0
    oldest = cursor - _OVERLAP_NANOSECONDS
    newest = max((entry.nanoseconds or 0 for entry in entries if entry.complete), default=0)
    newest = max(newest, cursor)
    newest_overlap = newest - _OVERLAP_NANOSECONDS
    recent = window.recent
    already_seen = recent.copy()
    new: list[RawLogEntry] = []
    for entry in entries:
        at = entry.nanoseconds
        if at is not None and entry.complete:
            if at < oldest:
                continue
            if cursor < at < newest_overlap:  # neither seen before nor read again
                new.append(entry)
                continue
            key = (at, entry.stream, hash(entry.body))
            if repeats := already_seen.get(key):
                already_seen[key] = repeats - 1
                continue
            recent[key] = recent.get(key, 0) + 1
        new.append(entry)
    if newest:
        window.cursor = newest
        window.recent = {key: count for key, count in recent.items() if key[0] >= newest_overlap}
    return new


def _has_gap(cursor: int | None, entries: list[RawLogEntry], *, is_full: bool) -> bool:
    """Return whether `tail` cut off lines: of a first read if it is full, else if it does not reach the last line."""
    if cursor is None:
        return is_full
    return all(entry.nanoseconds is not None and entry.nanoseconds > cursor for entry in entries)


def _size_of(lines: LogLines) -> int:
    return sum(map(len, lines.texts)) + _LINE_OVERHEAD_BYTES * len(lines)


def _to_facts(window: _LogWindow, since: datetime | None, driver: str | None) -> LogFacts:
    lost = window.lost_at is not None and (since is None or window.lost_at >= since)
    facts = window.facts
    if facts is None or facts.truncated != lost or facts.driver != driver:
        lines = window.lines + window.open_line if window.open_line else window.lines
        # our own lines need no proof: validating a window of hundreds costs more than reading the new one
        facts = window.facts = LogFacts.model_construct(lines=lines, truncated=lost, driver=driver)
    return facts
