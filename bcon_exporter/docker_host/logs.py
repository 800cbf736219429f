"""Which log lines are new, and which are kept: a cursor and a window of lines per container.

The engine is asked with `since` and `tail`: without `tail` it reads the whole file, without `since` it sends old lines
again. It stamps a line before it writes it, stdout and stderr each on its own, so a line may be written after one with
a later stamp: `since` reaches a little behind the newest stamp, and lines that come again are known and skipped.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bcon_exporter.docker_host.log_stream import Entry, drop_cut_line, finish_entries, parse_log_stream, split_entries
from bcon_exporter.model.facts import LogFacts, LogLine
from bcon_exporter.model.known_secrets import NO_SECRETS, KnownSecrets

__all__ = ["LogCursors", "parse_log_stream"]

# What a kept line costs beside its text: the line, its time and the string's head.
_LINE_OVERHEAD_BYTES = 160
_OVERLAP_NANOSECONDS = 100 * 1_000_000
_CLOCK_SLACK_NANOSECONDS = 60 * 1_000_000_000


@dataclass(slots=True)
class _Kept:
    """One container's cursor and lines.

    Attributes:
        cursor: Stamp of the newest line seen, nanoseconds; None before the first read.
        recent: How often each line within the overlap has been seen: (stamp, stream, hash of its bytes).
        open_line: The line that the container has not ended yet; shown, but not kept.
        lost_at: Stamp of the oldest line after the last loss of lines.
        hidden: The values that are hidden in them.
        facts: As last returned, while the lines are the same: a quiet container costs nothing.
    """

    cursor: int | None = None
    recent: dict[tuple[int, str, int], int] = field(default_factory=dict)
    lines: list[LogLine] = field(default_factory=list)
    held_bytes: int = 0
    open_line: LogLine | None = None
    lost_at: datetime | None = None
    hidden: KnownSecrets = NO_SECRETS
    facts: LogFacts | None = None


@dataclass(frozen=True, slots=True)
class LogSource:
    """Whose log it is.

    Attributes:
        tty: Whether the container has a terminal; None when unknown.
        driver: Log driver, as a fact.
        known: Values that must not be shown of it, masked wherever they stand.
    """

    tty: bool | None
    driver: str | None
    known: KnownSecrets = NO_SECRETS


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
        self._kept: dict[str, _Kept] = {}
        self._held_bytes = 0

    @property
    def held_bytes(self) -> int:
        """What all kept lines hold, about."""
        return self._held_bytes

    def query(self, container_id: str, *, tail: int, now: datetime, since: datetime | None = None) -> str:
        """Return the query of the next read.

        Args:
            container_id: Full id.
            tail: At most so many lines.
            now: By our clock.
            since: As for `take`: the first read asks for no older lines than that.
        """
        kept = self._kept.get(container_id)
        query = f"stdout=1&stderr=1&timestamps=1&tail={tail + 1}"  # one more, in case the first is cut
        if kept is None or kept.cursor is None:
            return query if since is None else f"{query}&since={_stamp(int(since.timestamp()) * 1_000_000_000)}"
        if kept.cursor > int(now.timestamp()) * 1_000_000_000 + _CLOCK_SLACK_NANOSECONDS:
            # The clock has been set back: a `since` in the future would hide all that is written now.
            self.forget((container_id,))
            return query
        return f"{query}&since={_stamp(kept.cursor)}"

    def take(self, container_id: str, raw: bytes, source: LogSource, *, since: datetime | None, tail: int) -> LogFacts:
        """Take in the answer to `query` and return the lines of the window.

        Args:
            container_id: Full id.
            raw: The answer's body, "" when there was nothing new.
            source: Whose log it is.
            since: Older lines are dropped; None keeps them (a container that has ended: its last lines explain it).
            tail: As asked in `query`: more entries mean that older ones were left out.
        """
        kept = self._kept.setdefault(container_id, _Kept())
        if source.known is not kept.hidden:
            self._hide(kept, source.known)
        cursor = kept.cursor
        entries, is_full = drop_cut_line(split_entries(raw, tty=source.tty), tail + 1)
        new = _advance(kept, entries)
        ended, open_lines = [e for e in new if e.complete], [e for e in new if not e.complete][-1:]
        before = [line.text for line in kept.lines[-1:]] if new and cursor is not None else []
        lines = finish_entries([*ended, *open_lines], source.known, before)
        if new or (entries and kept.open_line):
            kept.open_line = lines[-1] if open_lines else None
            kept.facts = None
            lines = lines[: len(ended)]
        if lines and _has_gap(cursor, entries, is_full=is_full):
            kept.lost_at = lines[0].at
        if kept.cursor is None and lines:
            # No stamps, so no cursor: each answer is the whole log again.
            self._drop_lines(kept, len(kept.lines))
        self._keep(kept, lines, since)
        return _to_facts(kept, since, source.driver)

    def kept(
        self, container_id: str, *, since: datetime | None, driver: str | None, known: KnownSecrets = NO_SECRETS
    ) -> LogFacts | None:
        """Return what is kept, without a read; None when nothing was ever read."""
        kept = self._kept.get(container_id)
        if kept is None:
            return None
        if known is not kept.hidden:
            self._hide(kept, known)
        self._keep(kept, (), since)
        return _to_facts(kept, since, driver)

    def forget(self, container_ids: Collection[str]) -> None:
        """Drop everything about these containers."""
        for container_id in container_ids:
            gone = self._kept.pop(container_id, None)
            if gone is not None:
                self._held_bytes -= gone.held_bytes

    def retain(self, container_ids: Collection[str]) -> None:
        """Drop everything about all other containers."""
        self.forget(self._kept.keys() - set(container_ids))

    def _hide(self, kept: _Kept, known: KnownSecrets) -> None:
        """Hide in the kept lines what has been learned since they were read."""
        kept.hidden = known
        texts = [line.text for line in kept.lines]
        if (hidden := known.hide_lines(texts)) is not texts:
            size = _size_of(kept.lines)
            kept.lines[:] = [replace(line, text=text) for line, text in zip(kept.lines, hidden, strict=True)]
            kept.facts = None
            change = _size_of(kept.lines) - size
            kept.held_bytes += change
            self._held_bytes += change
        if kept.open_line is not None and (text := known.hide(kept.open_line.text)) != kept.open_line.text:
            kept.open_line, kept.facts = replace(kept.open_line, text=text), None

    def _keep(self, kept: _Kept, lines: Sequence[LogLine], since: datetime | None) -> None:
        """Append new lines and drop those that are too old or too many."""
        if lines:
            size = _size_of(lines)
            kept.lines.extend(lines)
            kept.held_bytes += size
            self._held_bytes += size
            kept.facts = None
        dropped = 0
        if since is not None:
            while dropped < len(kept.lines) and (at := kept.lines[dropped].at) is not None and at < since:
                dropped += 1
        self._drop_lines(kept, dropped)
        self._enforce(kept)

    def _enforce(self, kept: _Kept) -> None:
        """Drop the oldest lines beyond the caps."""
        cap = self._bytes_per_container
        if self._held_bytes > self._bytes_total:
            cap = min(cap, self._bytes_total // len(self._kept))
        dropped, excess = max(0, len(kept.lines) - self._lines_per_container), kept.held_bytes - cap
        excess -= _size_of(kept.lines[:dropped])
        while excess > 0 and dropped < len(kept.lines):
            excess -= len(kept.lines[dropped].text) + _LINE_OVERHEAD_BYTES
            dropped += 1
        if dropped:
            last = kept.lines[dropped - 1].at
            kept.lost_at = last + timedelta(microseconds=1) if last else kept.lost_at
            self._drop_lines(kept, dropped)

    def _drop_lines(self, kept: _Kept, count: int) -> None:
        if count:
            size = _size_of(kept.lines[:count])
            kept.held_bytes -= size
            self._held_bytes -= size
            del kept.lines[:count]
            kept.facts = None


def _stamp(nanoseconds: int) -> str:
    """Return a time as the engine takes it, a little earlier."""
    seconds, rest = divmod(max(0, nanoseconds - _OVERLAP_NANOSECONDS), 1_000_000_000)
    return f"{seconds}.{rest:09d}"


def _advance(kept: _Kept, entries: list[Entry]) -> list[Entry]:
    """Return the entries not seen yet, and move the cursor."""
    newest = kept.cursor or 0
    oldest = newest - _OVERLAP_NANOSECONDS
    recent = kept.recent
    known = recent.copy()
    new: list[Entry] = []
    for entry in entries:
        at = entry.nanoseconds
        if at is not None and entry.complete:
            if at < oldest:
                continue
            key = (at, entry.stream, hash(entry.body))
            if left := known.get(key):
                known[key] = left - 1
                continue
            recent[key] = recent.get(key, 0) + 1
            newest = max(newest, at)
        new.append(entry)
    if newest:
        kept.cursor = newest
        oldest = newest - _OVERLAP_NANOSECONDS
        kept.recent = {key: count for key, count in recent.items() if key[0] >= oldest}
    return new


def _has_gap(cursor: int | None, entries: list[Entry], *, is_full: bool) -> bool:
    """Return whether `tail` cut off lines: of a first read if it is full, else if it does not reach the last line."""
    if cursor is None:
        return is_full
    return all(entry.nanoseconds is not None and entry.nanoseconds > cursor for entry in entries)


def _size_of(lines: Sequence[LogLine]) -> int:
    return sum(len(line.text) for line in lines) + _LINE_OVERHEAD_BYTES * len(lines)


def _to_facts(kept: _Kept, since: datetime | None, driver: str | None) -> LogFacts:
    lost = kept.lost_at is not None and (since is None or kept.lost_at >= since)
    facts = kept.facts
    if facts is None or facts.truncated != lost or facts.driver != driver:
        lines = (*kept.lines, kept.open_line) if kept.open_line else tuple(kept.lines)
        # our own lines need no proof: validating a window of hundreds costs more than reading the new one
        facts = kept.facts = LogFacts.model_construct(lines=lines, truncated=lost, driver=driver)
    return facts
