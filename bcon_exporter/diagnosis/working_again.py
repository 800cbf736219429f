"""Decides whether a failed connection works again although no line says so: by an answer, or by work as before."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby, pairwise

import re2

from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.diagnosis.log_levels import level_of
from bcon_exporter.diagnosis.server_kinds import kind_of_server
from bcon_exporter.model.signatures import Level
from bcon_exporter.regexes import compile_pattern

AFTER_ONE, AFTER_MANY = 3, 2
"""It works again after so many lines of one kind of work, after one failure or after several."""

LOOKED_AT = 100
"""So many lines before and after the last failure are searched."""

MAX_LOOKED_AT = 1000
"""At most so many lines before the end of the last failure are searched."""

OUTAGE_SECONDS = 10
"""Shortest outage: a routine that stops in a shorter time may have stopped by chance."""

HICCUPS = 2
"""So many failures apart from an outage are tolerated."""

MAX_ROUTINE_CHARS = 300

MISSED = 1.5
"""A routine has stopped when it was missing for so many times the pause between two of its lines."""

_WORK = compile_pattern(
    r"\"(?:GET|POST|PUT|HEAD|DELETE|PATCH) [^\"]*\" (?:2\d\d|30\d)\b"
    r"|(?:/\d+){4} (?:2\d\d|30\d) \d|(?i:\b(?:get|post|put|head|delete|patch) \S+"
    r"(?: HTTP/[\d.]+)?\"?(?: ->| =>|:)? (?:2\d\d|30\d)\b|\bstatus(?:_?code)?\"?[=:] ?\"?(?:2\d\d|30\d)\b|\b200 OK\b)"
    r"|(?i:\b(?:serv|handl|process|complet|finish|answer|respond|deliver|stor|sav|fetch|receiv|got|wrote|writ|sent"
    r"|publish|consum|sync|updat|insert|load|read|poll|refresh|flush|repl)\w*\b.*"
    r"(?:\b(?:in|took|after)\b|=|:) ?[\d.]+ ?m?s\b)"
    r"|(?i:\b(?:ok|success|succeeded|successful(?:ly)?|pong)\b)|(?i:\b(?:served|handled|processed|completed|stored|saved"
    r"|fetched|delivered|published|consumed|synced|answered)\b)"
    r"|(?i:\b[1-9][0-9]* \w+ (?:read|written|loaded|sent|received|inserted|updated|indexed|imported|exported|copied"
    r"|done|finished)\b)"
)
_NO_WORK = compile_pattern(
    r"(?i)\b(?:fail|error|refus|timed? ?out|timeout|unable|cannot|can't|retry|not ok|unavailable|50\d\b)"
)
_NUMBERS = re2.compile(r"[0-9]+")
_VARIES = re2.compile(r"\b[0-9a-fA-F-]*[0-9][\w:.,+-]*")
_REQUEST = re2.compile(r"(?i)\b(GET|POST|PUT|HEAD|DELETE|PATCH) (\S+)")


def works_again(buffer: LineBuffer, first: int, last: int, failures: int) -> bool:
    """Whether work was done after the last failure that was not done between the first and the last.

    Args:
        buffer: The whole log.
        first: Index of the first failure's first line.
        last: Index of the last failure's last line.
        failures: How many there were.
    """
    total, near = len(buffer.texts), max(first, last + 1 - LOOKED_AT)
    after = Counter(_kinds_of_work(buffer, last + 1, min(total, last + 1 + LOOKED_AT)))
    wanted = AFTER_ONE if failures == 1 else AFTER_MANY
    done = {kind for kind, count in after.items() if count >= wanted}
    return bool(done) and not done.issubset(_kinds_of_work(buffer, near, last + 1))


def routine_resumed(
    buffer: LineBuffer, times: Sequence[datetime | None], failures: Sequence[tuple[int, int]], sustained: int
) -> bool:
    """Whether a routine line stopped with an outage and has come again since the last failure.

    Whatever it says: it must have come again twice, and so soon that it would have come during the outage as well. A
    failure or two apart from the outage are hiccups; where the line stands between most failures, it tells nothing.

    Args:
        buffer: The whole log.
        times: Of its lines.
        failures: First line of each, and one past its last, oldest first.
        sustained: So many failures without the line between them are an outage.
    """
    last = failures[-1][1]
    after = range(last, min(len(buffer.texts), last + LOOKED_AT))
    again = Counter(_routine(buffer, index) for index in after)
    wanted = {kind for kind, count in again.items() if kind and count >= AFTER_MANY}
    if not wanted:
        return False
    inside = {index for first, stop in failures for index in range(first, stop)}
    places: dict[str, list[int]] = defaultdict(list)
    for index in range(max(0, failures[0][0] - LOOKED_AT, last - MAX_LOOKED_AT), after.stop):
        kind = "" if index in inside else _routine(buffer, index)
        if kind in wanted:
            places[kind].append(index)
    return any(_stopped_and_resumed(line_indexes, times, failures, sustained) for line_indexes in places.values())


def _stopped_and_resumed(
    places: Sequence[int], times: Sequence[datetime | None], failures: Sequence[tuple[int, int]], sustained: int
) -> bool:
    """Whether the lines of one kind show an outage that has ended."""
    again = [at for index in places if index >= failures[-1][1] and (at := times[index]) is not None]
    pause = max((after - before for before, after in pairwise(again)), default=None)
    if pause is None:
        return False
    least = max(MISSED * pause, timedelta(seconds=OUTAGE_SECONDS))
    outages, hiccups = 0, 0
    for _, group in groupby(failures, lambda failure: bisect_left(places, failure[0])):
        episode = list(group)
        first, last = times[episode[0][0]], times[episode[-1][1] - 1]
        lasted = last - first if first is not None and last is not None else timedelta()
        if len(episode) >= sustained and lasted >= least and places[0] < episode[0][0]:
            outages += 1
        else:
            hiccups += 1
    return outages >= 1 and hiccups <= HICCUPS


def _routine(buffer: LineBuffer, index: int) -> str:
    """Return the kind of a line by its words; "" for a warning, an error or a failure."""
    text = buffer.texts[index]
    if level_of(text) >= Level.WARNING or _NO_WORK.search(buffer.line(index)):
        return ""
    return " ".join(_VARIES.sub("#", text[:MAX_ROUTINE_CHARS]).split())


def same_server(first_line: str, second_line: str) -> bool:
    """Whether two lines may be about the same server: they name no two different kinds."""
    kinds = {kind_of_server(first_line), kind_of_server(second_line)} - {None}
    return len(kinds) <= 1


def _kinds_of_work(buffer: LineBuffer, first: int, stop: int) -> list[str]:
    """Return the kind of each line in a range that reports work done."""
    indexes = buffer.lines_with(_WORK, first, stop) if first < stop else []
    good = [index for index in indexes if _NO_WORK.search(buffer.line(index)) is None]
    return [_kind_of_work(buffer.texts[index]) for index in good if level_of(buffer.texts[index]) < Level.WARNING]


def _kind_of_work(text: str) -> str:
    """Return the kind of work: a request by method and path, any other line by its words."""
    request = _REQUEST.search(text)
    if request is not None:
        return f"{request.group(1).upper()} {_NUMBERS.sub('#', request.group(2).partition('?')[0])}"
    return " ".join(word for word in text.split() if word.isalpha())


ANSWERS: Sequence[str] = ("auth_", "missing_table", "missing_in_service", "connections_exhausted", "peer_")
"""Prefixes of signatures that prove that the server was reached."""
