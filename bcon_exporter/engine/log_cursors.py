"""Reads logs on from where the last scan ended, by a cursor and a window of lines for each container.

Each request has `since` and `tail`: without `tail` the engine reads the whole file, without `since` it sends old lines
again. It stamps a line before it writes it, stdout and stderr separately, so a line may be written after one with a
later stamp. So `since` reaches a little behind the newest stamp, and repeated lines are skipped.

The last line of either stream may not have ended: it is shown, and read again. Once an answer lacks it, since the other
stream has gone on, it is kept as a line that has ended: these may be a program's last words.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.engine.parse import RawLogEntries, drop_cut_line, finish_entries, parse_log_stream, split_entries
from bcon_exporter.engine.parse.json_fields import format_nanoseconds
from bcon_exporter.model.container_facts import LogFacts, LogLines, nanoseconds_of
from bcon_exporter.readings import LineKey, LogMark, LogWindow
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets

__all__ = ["LogCursors", "parse_log_stream"]

# What a kept line costs beside its text: the string's head, its time, and its places in three columns.
_LINE_OVERHEAD_BYTES = 120
OVERLAP_SECONDS = 0.1
MOST_OUTLASTING = 50
"""So many lines of one container are kept that stay however old they are."""
_OVERLAP_NANOSECONDS = int(OVERLAP_SECONDS * 1_000_000_000)
_NEVER_READ = LogWindow()
_NO_LINES = LogLines()


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
    """Reads on from the windows of an earlier scan, whose values it leaves as they are; to be used by one thread.

    Args:
        windows: By full container id.
        bytes_per_container: Kept text of one container.
        bytes_total: Kept text of all; above it, each container keeps only its equal share.
        clock_slack_seconds: By how much the engine's clock may be ahead of ours.
        lines_per_container: Kept lines of one container.
        outlasts: Whether a text of one or more lines holds one that stays in the window however old it is.
    """

    def __init__(
        self,
        windows: Mapping[str, LogWindow] | None = None,
        *,
        bytes_per_container: int = 256 * 1024,
        bytes_total: int = 48 * 2**20,
        clock_slack_seconds: float = OVERLAP_SECONDS,
        lines_per_container: int = 2000,
        outlasts: Callable[[str], bool] | None = None,
    ) -> None:
        self._bytes_per_container = bytes_per_container
        self._bytes_total = bytes_total
        self._clock_slack_nanoseconds = int(clock_slack_seconds * 1_000_000_000)
        self._lines_per_container = lines_per_container
        self._outlasts = outlasts
        self._windows = dict(windows or {})
        self._held_bytes = sum(window.held_bytes for window in self._windows.values())
        self._holding = sum(1 for window in self._windows.values() if window.held_bytes)

    @property
    def held_bytes(self) -> int:
        """Approximate size of all kept lines in bytes."""
        return self._held_bytes

    @property
    def windows(self) -> Mapping[str, LogWindow]:
        """The windows as they are now, for the next scan."""
        return self._windows

    def window(self, container_id: str) -> LogWindow:
        """Return a container's window; of one that was never read an empty one."""
        return self._windows.get(container_id, _NEVER_READ)

    def note_wanted(self, container_id: str, *, tail: int, window_seconds: float) -> None:
        """Note how much of a container's log is wanted: more than before is read anew."""
        window = self.window(container_id)
        if tail > window.tail or window_seconds > window.window_seconds:
            if window.tail:
                self.read_anew(container_id)
            wanted = self.window(container_id)._replace(tail=tail, window_seconds=window_seconds)
            self._windows[container_id] = wanted

    def note_read(self, container_id: str, *, mark: LogMark | None, ended_run: tuple[object, ...] | None) -> None:
        """Note of a log that was read what its file looked like before, and the run whose last lines these are."""
        self._windows[container_id] = self.window(container_id)._replace(mark=mark, ended_run=ended_run)

    def note_refused(self, container_id: str, run: tuple[object, ...]) -> None:
        """Note that a container's log cannot be read back in this run."""
        self._windows[container_id] = self.window(container_id)._replace(refused_run=run)

    def query(self, container_id: str, *, tail: int, now: datetime, since: datetime | None = None) -> str:
        """Return the query of the next read.

        Args:
            container_id: Full id.
            tail: The most lines to read.
            now: Our wall clock, not before the end of the last scan.
            since: Start of the window, as for `take`; the first read requests no older lines, unless some may outlast
                the window.
        """
        cursor = self.window(container_id).cursor
        query = f"stdout=1&stderr=1&timestamps=1&tail={tail + 1}"  # one more, in case the first is cut
        if cursor is None:
            if since is None or self._outlasts is not None:
                return query
            return f"{query}&since={_since_behind(int(since.timestamp()) * 1_000_000_000)}"
        if cursor > nanoseconds_of(now) + self._clock_slack_nanoseconds:
            # The clock was set back since the last scan: a `since` in the future would hide all that is written now.
            self.read_anew(container_id)
            return query
        return f"{query}&since={_since_behind(cursor)}"

    def read_anew(self, container_id: str) -> None:
        """Forget the lines of a container, so that the next read begins like the first."""
        window = self.window(container_id)
        kept = LogWindow(tail=window.tail, window_seconds=window.window_seconds, refused_run=window.refused_run)
        self._put(container_id, kept)

    def take(self, container_id: str, raw: bytes, source: LogSource, *, since: datetime | None, tail: int) -> LogFacts:
        """Add the answer to `query`, and return the lines of the window.

        Args:
            container_id: Full id.
            raw: The answer's body, "" when there was nothing new.
            source: The container.
            since: Older lines are dropped; None keeps them (the last lines of an ended container explain its end).
            tail: As in `query`: more entries mean that older ones were left out.
        """
        window = self._hide(container_id, source.secrets)
        entries, is_full = drop_cut_line(split_entries(raw, tty=source.tty), tail + 1)
        new = list(range(len(entries)))
        if window.cursor is None:
            cursor, recent = _begin(entries)
        else:
            cursor, recent, new = _advance(window, window.cursor, entries)
        ended = [at for at in new if entries.complete[at]]
        unended = [at for at in new if not entries.complete[at]] if len(ended) < len(new) else []
        last_words = _find_last_words(window.open_lines, entries, new)
        before = (*window.lines.texts[-1:], *last_words.texts) if new and window.cursor is not None else ()
        lines = finish_entries(entries.pick([*ended, *unended]), source.secrets, before)
        open_lines, facts = window.open_lines, window.facts
        if new or (entries and open_lines):
            open_lines, facts = lines[len(ended) :] if unended else _NO_LINES, None
            lines = lines[: len(ended)] if unended else lines
        lost_at = lines[0].at if lines and _has_gap(window.cursor, entries, is_full=is_full) else window.lost_at
        window = window._replace(cursor=cursor, recent=recent, open_lines=open_lines, lost_at=lost_at, facts=facts)
        kept = window.lines + last_words if last_words else window.lines
        if cursor is None and lines:
            # No stamps, so no cursor: each answer is the whole log again.
            kept = _NO_LINES
        if lines:
            kept = kept + lines if kept else lines
        return self._keep(container_id, window, kept, since, source.driver)

    def get_lines(
        self, container_id: str, *, since: datetime | None, driver: str | None, secrets: KnownSecrets = NO_SECRETS
    ) -> LogFacts | None:
        """Return the kept lines without a read; None when the log was never read."""
        if self.window(container_id).facts is None:
            return None
        window = self._hide(container_id, secrets)
        return self._keep(container_id, window, window.lines, since, driver)

    def retain(self, container_ids: Collection[str]) -> None:
        """Drop everything about all other containers."""
        for container_id in self._windows.keys() - set(container_ids):
            self._put(container_id, _NEVER_READ)
            del self._windows[container_id]

    def _put(self, container_id: str, window: LogWindow) -> None:
        before = self.window(container_id)
        self._held_bytes += window.held_bytes - before.held_bytes
        self._holding += bool(window.held_bytes) - bool(before.held_bytes)
        self._windows[container_id] = window

    def _hide(self, container_id: str, secrets: KnownSecrets) -> LogWindow:
        """Return a container's window in which the secrets are hidden that were learned after its lines were read."""
        window = self.window(container_id)
        if secrets is window.hidden:
            return window
        texts = [*window.lines.texts, *window.open_lines.texts]
        if (hidden := secrets.hide_lines(texts)) is texts:
            return window._replace(hidden=secrets)
        count = len(window.lines)
        lines, open_lines = window.lines.with_texts(hidden[:count]), window.open_lines.with_texts(hidden[count:])
        size = _size_of(lines)
        return window._replace(hidden=secrets, lines=lines, open_lines=open_lines, held_bytes=size, facts=None)

    def _keep(
        self, container_id: str, window: LogWindow, lines: LogLines, since: datetime | None, driver: str | None
    ) -> LogFacts:
        """Keep a window with these lines, less those that are too old or too many, and return what it shows."""
        kept = lines if since is None else self._drop_first(lines, _count_old(lines, nanoseconds_of(since)))
        size = window.held_bytes if kept is window.lines else _size_of(kept)
        self._put(container_id, window._replace(held_bytes=size))
        lost_at = window.lost_at
        if dropped := self._count_excess(kept, size):
            last = kept[dropped - 1].at
            lost_at = last + timedelta(microseconds=1) if last else lost_at
            kept = self._drop_first(kept, dropped)
        lost = lost_at is not None and (since is None or lost_at >= since)
        facts = window.facts if kept is window.lines else None
        if facts is None or facts.truncated != lost or facts.driver != driver:
            shown = kept + window.open_lines if window.open_lines else kept
            facts = LogFacts(lines=shown, truncated=lost, driver=driver)
            size = size if not dropped else _size_of(kept)
            window = window._replace(lines=kept, held_bytes=size, lost_at=lost_at, facts=facts)
        self._put(container_id, window)
        return facts

    def _drop_first(self, lines: LogLines, count: int) -> LogLines:
        """Return lines without the first ones, save the newest of these that outlast the window."""
        first = lines.texts[:count]
        if self._outlasts is None or not self._outlasts("\n".join(first)):
            return lines[count:] if count else lines
        outlasting = [place for place, text in enumerate(first) if self._outlasts(text)][-MOST_OUTLASTING:]
        return lines if len(outlasting) == count else lines.pick([*outlasting, *range(count, len(lines))])

    def _count_excess(self, lines: LogLines, size: int) -> int:
        """Return how many of a container's oldest lines are beyond the caps."""
        cap = self._bytes_per_container
        if self._held_bytes > self._bytes_total:
            cap = min(cap, self._bytes_total // max(1, self._holding))
        dropped = max(0, len(lines) - self._lines_per_container)
        excess = size - cap - (_size_of(lines[:dropped]) if dropped else 0)
        while excess > 0 and dropped < len(lines):
            excess -= len(lines.texts[dropped]) + _LINE_OVERHEAD_BYTES
            dropped += 1
        return dropped


def _since_behind(nanoseconds: int) -> str:
    """Format a time for `since`, earlier by the overlap."""
    return format_nanoseconds(nanoseconds - _OVERLAP_NANOSECONDS)


def _count_old(lines: LogLines, oldest: int) -> int:
    """Return how many lines stand before the first that is no older."""
    count = 0
    while count < len(lines) and (at := lines.nanoseconds[count]) is not None and at < oldest:
        count += 1
    return count


def _find_last_words(open_lines: LogLines, entries: RawLogEntries, new: list[int]) -> LogLines:
    """Return the open lines that an answer has not brought again, ended or not: the next ones will not either."""
    if not open_lines or not entries:
        return _NO_LINES
    brought = {(entries.nanoseconds[at], entries.streams[at]) for at in new}
    keys = zip(open_lines.nanoseconds, open_lines.streams, strict=True)
    return open_lines.pick([place for place, key in enumerate(keys) if key[0] is not None and key not in brought])


def _begin(entries: RawLogEntries) -> tuple[int | None, Mapping[LineKey, int]]:
    """Return the cursor and what the next read may bring again after a first read: all of it is new."""
    times = [(at or 0) if complete else 0 for at, complete in zip(entries.nanoseconds, entries.complete, strict=True)]
    newest = max(times, default=0)
    if not newest:
        return None, {}
    oldest = max(1, newest - _OVERLAP_NANOSECONDS)
    return newest, Counter(_key_of(entries, place) for place, at in enumerate(times) if at >= oldest)


def _advance(window: LogWindow, cursor: int, entries: RawLogEntries) -> tuple[int, Mapping[LineKey, int], list[int]]:
    """Return the cursor and what the next read may bring again after these entries, and the places of the new ones."""
    oldest = cursor - _OVERLAP_NANOSECONDS
    times = list(zip(entries.nanoseconds, entries.complete, strict=True))
    newest = max((at or 0 for at, complete in times if complete), default=0)
    newest = max(newest, cursor)
    newest_overlap = newest - _OVERLAP_NANOSECONDS
    already_seen, recent = dict(window.recent), dict(window.recent)
    new: list[int] = []
    for place, (at, complete) in enumerate(times):
        if at is not None and complete:
            if at < oldest:
                continue
            if cursor < at < newest_overlap:  # neither seen before nor read again
                new.append(place)
                continue
            key = _key_of(entries, place)
            if repeats := already_seen.get(key):
                already_seen[key] = repeats - 1
                continue
            recent[key] = recent.get(key, 0) + 1
        new.append(place)
    return newest, {key: count for key, count in recent.items() if key[0] >= newest_overlap}, new


def _key_of(entries: RawLogEntries, place: int) -> LineKey:
    """Return what tells a line with a stamp from others."""
    return entries.nanoseconds[place] or 0, entries.streams[place], hash(entries.bodies[place])


def _has_gap(cursor: int | None, entries: RawLogEntries, *, is_full: bool) -> bool:
    """Return whether `tail` cut off lines: of a first read if it is full, else if it does not reach the last line."""
    if cursor is None:
        return is_full
    return all(at is not None and at > cursor for at in entries.nanoseconds)


def _size_of(lines: LogLines) -> int:
    return sum(map(len, lines.texts)) + _LINE_OVERHEAD_BYTES * len(lines)
