"""What shows that a failed connection works again although no line says so: an answer, or work as before."""

from collections import Counter
from collections.abc import Sequence

import re2

from bcon_exporter.diagnosis.levels import level_of
from bcon_exporter.diagnosis.line_buffer import LineBuffer
from bcon_exporter.diagnosis.servers import kind_of_server
from bcon_exporter.model.automata import compile_pattern
from bcon_exporter.model.signatures import Level

AFTER_ONE, AFTER_MANY = 3, 2
"""So many lines of one kind of work after one failure, or after several, tell that it works again."""

LOOKED_AT = 100
"""So many lines before and after the last failure are looked at."""

_WORK = compile_pattern(
    r"\"(?:GET|POST|PUT|HEAD|DELETE|PATCH) [^\"]*\" (?:2\d\d|30\d)\b|(?i:\b(?:get|post|put|head|delete|patch) \S+"
    r"(?: HTTP/[\d.]+)?\"?(?: ->| =>|:)? (?:2\d\d|30\d)\b|\bstatus(?:_?code)?\"?[=:] ?\"?(?:2\d\d|30\d)\b|\b200 OK\b)"
    r"|(?i:\b(?:serv|handl|process|complet|finish|answer|respond|deliver|stor|sav|fetch|receiv|got|wrote|writ|sent"
    r"|publish|consum|sync|updat|insert|load|read|poll|refresh|flush|repl)\w*\b.*"
    r"(?:\b(?:in|took|after)\b|=|:) ?[\d.]+ ?m?s\b)"
    r"|(?i:\b(?:ok|success|succeeded|successful(?:ly)?|pong)\b)|(?i:\b(?:served|handled|processed|completed|stored|saved"
    r"|fetched|delivered|published|consumed|synced|answered)\b)"
)
_NO_WORK = compile_pattern(
    r"(?i)\b(?:fail|error|refus|timed? ?out|timeout|unable|cannot|can't|retry|not ok|unavailable|50\d\b)"
)
_NUMBERS = re2.compile(r"[0-9]+")
_REQUEST = re2.compile(r"(?i)\b(GET|POST|PUT|HEAD|DELETE|PATCH) (\S+)")


def works_again(buffer: LineBuffer, first: int, last: int, failures: int) -> bool:
    """Whether after the last failure work was done that was not done between the first and the last.

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


def same_server(one: str, other: str) -> bool:
    """Whether two lines may be about the same server, by the kind that their words name."""
    kinds = {kind_of_server(one), kind_of_server(other)} - {None}
    return len(kinds) <= 1


def _kinds_of_work(buffer: LineBuffer, first: int, stop: int) -> list[str]:
    """The kind of each line between two that tells of work done."""
    found = buffer.lines_with(_WORK, first, stop) if first < stop else []
    good = [index for index in found if _NO_WORK.search(buffer.line(index)) is None]
    return [_kind_of_work(buffer.texts[one]) for one in good if level_of(buffer.texts[one]) < Level.WARNING]


def _kind_of_work(text: str) -> str:
    """A request by method and path, any other line by its words."""
    request = _REQUEST.search(text)
    if request is not None:
        return f"{request.group(1).upper()} {_NUMBERS.sub('#', request.group(2).partition('?')[0])}"
    return " ".join(word for word in text.split() if word.isalpha())


ANSWERS: Sequence[str] = ("auth_", "missing_table", "missing_in_service", "connections_exhausted", "peer_")
"""Signatures of what only a server says that was reached."""
