"""Reads log lines as events: screen the whole buffer once, then look closely at the few lines that may matter.

Lines → candidates (one RE2 pass) → events (multi-line traces joined) → level → signature → template.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import accumulate
from typing import Any

from bcon_exporter.diagnosis.levels import level_of
from bcon_exporter.diagnosis.multiline import event_bounds
from bcon_exporter.diagnosis.shapes import TRIGGERS, looks_like_failure
from bcon_exporter.model.facts import LogLine
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import Catalogue, Level, Signature, compile_pattern

MAX_CANDIDATES = 2_000
"""Lines of one container that are looked at closely; the newest count."""
SHOWN_CHARS = 240


@dataclass(frozen=True, slots=True)
class Hit:
    """A signature found in a line. `peer` is the host that the line names, None when it names none."""

    signature: Signature
    line: str
    peer: str | None = None


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One thing that happened, of one or more lines.

    Attributes:
        text: The line that says most: the one with the signature, else the first.
        failed: It counts for `log_error`.
        index: Place of its first line among the lines that were read.
    """

    at: datetime | None
    level: Level
    text: str
    line_count: int
    hits: tuple[Hit, ...] = ()
    failed: bool = False
    index: int = 0

    def shows(self, symptom: SymptomType) -> bool:
        """Whether it is evidence for `symptom`."""
        if symptom is SymptomType.LOG_ERROR and self.failed:
            return True
        return any(hit.signature.symptom is symptom for hit in self.hits)


@dataclass(frozen=True, slots=True)
class Template:
    """Events that differ only in numbers and names."""

    text: str
    count: int
    first_at: datetime | None
    last_at: datetime | None
    example: str


def find_events(lines: Sequence[LogLine], catalogue: Catalogue) -> tuple[LogEvent, ...]:
    """Find the events of level warning or worse, and those that show a signature; oldest first."""
    if not lines:
        return ()
    screen = _screen(catalogue)
    texts = [line.text for line in lines]
    try:
        buffer = "\n".join(texts).encode()
    except UnicodeEncodeError:
        return find_events([replace(line, text=_without_surrogates(line.text)) for line in lines], catalogue)
    occurring = screen.occurring(buffer)
    if not occurring:
        return ()
    candidates = _candidates(screen, occurring, buffer, texts)
    events: list[LogEvent] = []
    done = -1
    for index in sorted(candidates)[-MAX_CANDIDATES:]:
        pattern = candidates[index]
        if index <= done or (pattern is not None and screen.owner(pattern).benign):
            continue
        start, end = event_bounds(lines, index)
        start = max(start, done + 1)
        done = end - 1
        event = _judge(lines[start:end], [candidates.get(number) for number in range(start, end)], screen)
        if event is not None:
            events.append(replace(event, index=start))
    return tuple(events)


def _without_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def summarise(events: Iterable[LogEvent], limit: int = 5) -> tuple[Template, ...]:
    """Group events by template, the most frequent first."""
    groups: dict[str, list[LogEvent]] = {}
    for event in events:
        groups.setdefault(template_of(event.text), []).append(event)
    ranked = sorted(groups.items(), key=lambda item: -len(item[1]))[:limit]
    return tuple(
        Template(text, len(group), group[0].at, group[-1].at, group[-1].text[:SHOWN_CHARS]) for text, group in ranked
    )


def template_of(text: str) -> str:
    """The line without what varies: times, numbers, hashes, quoted values."""
    short = text[:SHOWN_CHARS]
    short = re.sub(r"\d\d\d\d-\d\d-\d\d[T ][0-9:.,]+(?:Z|[+-]\d\d:?\d\d)?", "<time>", short)
    short = re.sub(r"\b[0-9a-f]{8,64}\b", "<id>", short)
    return re.sub(r"\d+", "<n>", short)


@lru_cache(maxsize=8)
def _screen(catalogue: Catalogue) -> Catalogue:
    """The catalogue with our triggers, built once."""
    return catalogue.with_triggers(TRIGGERS)


def _candidates(screen: Catalogue, occurring: list[int], buffer: bytes, texts: list[str]) -> dict[int, int | None]:
    """Line number → index of the first pattern that finds it, None when only a trigger does."""
    sizes = [len(text) if text.isascii() else len(text.encode()) for text in texts]
    starts = list(accumulate(sizes, lambda total, size: total + size + 1, initial=0))
    found: dict[int, int | None] = {}
    for index in occurring:
        is_pattern = index < screen.pattern_count()
        compiled = screen.compiled(index) if is_pattern else _compiled_trigger(index - screen.pattern_count())
        for number in _matching_lines(compiled, buffer, starts):
            if is_pattern:
                found[number] = index if found.get(number) is None else found[number]
            else:
                found.setdefault(number, None)
    return found


def _matching_lines(compiled: Any, buffer: bytes, starts: list[int]) -> Iterable[int]:
    """Numbers of the lines that hold a match; each line once, and at most MAX_CANDIDATES, the newest.

    A match may cross a line end (a negated class does); then the line alone decides.
    """
    position, yielded = 0, 0
    while yielded < MAX_CANDIDATES * 2:
        match = compiled.search(buffer, position)
        if match is None:
            return
        number = bisect_right(starts, match.start()) - 1
        position = starts[number + 1] if number + 1 < len(starts) else len(buffer)
        if match.end() < position or compiled.search(buffer[starts[number] : position - 1]) is not None:
            yielded += 1
            yield number
        if position >= len(buffer):
            return


def _judge(lines: Sequence[LogLine], patterns: Sequence[int | None], screen: Catalogue) -> LogEvent | None:
    level = level_of(lines[0].text)
    hits = _hits(lines, patterns, level, screen)
    if any(hit.signature.benign for hit in hits):
        return None
    failed = _failed(lines, level, hits)
    if not hits and not failed and level < Level.WARNING:
        return None
    text = hits[0].line if hits else lines[0].text
    if failed and level is Level.UNKNOWN:
        level = Level.ERROR
    return LogEvent(lines[0].at, level, text.strip(), len(lines), hits, failed)


def _hits(lines: Sequence[LogLine], patterns: Sequence[int | None], level: Level, screen: Catalogue) -> tuple[Hit, ...]:
    hits: list[Hit] = []
    for line, index in zip(lines, patterns, strict=True):
        if index is None:
            continue
        signature = screen.owner(index)
        if level < signature.min_level and not signature.benign:
            continue
        if all(hit.signature is not signature for hit in hits):
            hits.append(Hit(signature, line.text.strip(), _peer(screen.compiled(index), line.text)))
    return tuple(hits)


def _peer(compiled: Any, text: str) -> str | None:
    if b"peer" not in compiled.groupindex:
        return None
    match = compiled.search(text.encode("utf-8", "replace"))
    if match is None or match.group(b"peer") is None:
        return None
    peer: str = match.group(b"peer").decode("utf-8", "replace").rstrip(".:")
    return peer or None


def _failed(lines: Sequence[LogLine], level: Level, hits: tuple[Hit, ...]) -> bool:
    if level >= Level.ERROR:
        return True
    if level is Level.UNKNOWN:
        return any(hit.signature.error for hit in hits) or looks_like_failure(lines[0].text, len(lines))
    return any(hit.signature.error and hit.signature.symptom is SymptomType.LOG_ERROR for hit in hits)


@lru_cache(maxsize=16)
def _compiled_trigger(index: int) -> Any:
    return compile_pattern(TRIGGERS[index])
