"""How severe a log line says it is: by the field or the place where its kind of logger puts the level.

The word "error" elsewhere in a line says nothing. Expressions are RE2: linear on hostile lines.
"""

from collections.abc import Callable, Iterator
from typing import Any

import re2

from bcon_exporter.model.signatures import Level

HEAD_CHARS = 400
"""Levels stand near the beginning of a line."""

_NAMES = {
    **dict.fromkeys(("trace", "debug", "dbug", "fine", "finer", "finest", "verbose"), Level.DEBUG),
    **dict.fromkeys(("info", "information", "informational", "notice", "note", "log", "system", "config"), Level.INFO),
    **dict.fromkeys(("hint", "detail", "statement", "context", "inf", "success", "ok"), Level.INFO),
    **dict.fromkeys(("warn", "warning", "wrn"), Level.WARNING),
    **dict.fromkeys(("error", "err", "eror", "fail", "severe", "failure"), Level.ERROR),
    **dict.fromkeys(
        ("fatal", "critical", "crit", "crt", "panic", "alert", "emerg", "emergency", "dpanic"), Level.CRITICAL
    ),
}
_LETTERS = {"D": Level.DEBUG, "I": Level.INFO, "W": Level.WARNING, "E": Level.ERROR, "F": Level.CRITICAL}
_BUNYAN = dict(enumerate((Level.DEBUG, Level.DEBUG, Level.INFO, Level.WARNING, Level.ERROR, Level.CRITICAL), start=1))
_SYSLOG_LEVELS = (
    *(Level.CRITICAL, Level.CRITICAL, Level.CRITICAL, Level.ERROR),
    *(Level.WARNING, Level.INFO, Level.INFO, Level.DEBUG),
)
_REDIS = {".": Level.DEBUG, "-": Level.INFO, "*": Level.INFO, "#": Level.WARNING}

_PREFIX = re2.compile(r"^[\w.-]+ +\| ")
_JSON = re2.compile(
    r'"(?:level|lvl|severity|severity_text|log\.level|levelname|log_level|loglevel|@l|s)"\s*:\s*"?([A-Za-z]+|\d+)"?'
)
_LOGFMT = re2.compile(r'(?:^|[\s\[{,])(?:level|lvl|severity|loglevel)="?([A-Za-z]+)"?')
_KLOG = re2.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d\d")
_REDIS_LINE = re2.compile(r"^(?:\d+:[A-Z]|\[\d+\]) \d+ \w{3} (?:\d{4} )?[\d:.]+ ([.*#-]) ")
_MONGO = re2.compile(r"^\d{4}-\d\d-\d\dT\S+ ([DIWEF])\d? +[A-Z_-]+ +\[")
_SYSLOG = re2.compile(r"^<(\d{1,3})>")
_ACCESS = re2.compile(r'"(?:GET|POST|PUT|HEAD|DELETE|PATCH|OPTIONS|CONNECT) [^"]*" (\d{3})\b')
_IN_BRACKETS = re2.compile(r"\[ *(?:\w+:)?([A-Za-z]+)(?: [^\]]*)? *\]")
_UPPER = re2.compile(
    r"(?:^|[\s\[|(<:>-])(TRACE|DEBUG|INFO|NOTICE|LOG|HINT|DETAIL|STATEMENT|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL"
    r"|PANIC|ALERT|EMERG)(?:[\s\])>:|,\[-]|$)"
)
_START = re2.compile(
    r"^(?:[\w./-]+: )?(trace|debug|dbug|info|Info|notice|warn|warning|Warning|fail|crit|fatal|Fatal|critical):?(?: |$)"
)
_COLUMN = re2.compile(r"[,|] ?(Trace|Debug|Info|Information|Notice|Warn|Warning|Error|Fatal|Critical)(?:\s|[,|])")


def level_of(text: str) -> Level:
    """Read the level of one line; UNKNOWN when it carries none."""
    head = text[:HEAD_CHARS]
    if " | " in head:
        prefix = _PREFIX.match(head)
        head = head[prefix.end() :] if prefix is not None else head
    for read in _readers(head):
        level = read(head)
        if level is not None:
            return level
    return Level.UNKNOWN


def _readers(head: str) -> Iterator[Callable[[str], Level | None]]:
    """The readers that may know the line, the surest first; cheap looks spare most of the searches."""
    first = head[:1]
    if first == "{":
        yield _json
    elif first == "<":
        yield _syslog
    elif first in "IWEF" and head[1:2].isdigit():
        yield _klog
    elif first.isdigit() or first == "[":
        yield _redis
        yield _mongo
    if "l=" in head or "y=" in head:
        yield _logfmt
    if "HTTP/" in head:
        yield _access
    yield _token
    yield _start
    if "," in head or "|" in head:
        yield _column


def _json(head: str) -> Level | None:
    found = _JSON.search(head)
    if found is None:
        return None
    word = found.group(1)
    if word.isdigit():
        return _numbered(int(word))
    return _LETTERS.get(word) or _NAMES.get(word.lower())


def _numbered(value: int) -> Level | None:
    """Bunyan's and pino's numbers: 10 trace, 30 info, 40 warn, 50 error, 60 fatal."""
    return _BUNYAN.get(value // 10)


def _syslog(head: str) -> Level | None:
    found = _SYSLOG.search(head)
    if found is None:
        return None
    severity = int(found.group(1)) & 7
    return _SYSLOG_LEVELS[severity]


def _access(head: str) -> Level | None:
    found = _ACCESS.search(head)
    if found is None:
        return None
    return Level.WARNING if found.group(1).startswith("5") else Level.INFO


def _letter(pattern: Any, head: str) -> Level | None:
    found = pattern.search(head)
    return None if found is None else _LETTERS[found.group(1)]


def _klog(head: str) -> Level | None:
    return _letter(_KLOG, head)


def _mongo(head: str) -> Level | None:
    return _letter(_MONGO, head)


def _name(pattern: Any, head: str) -> Level | None:
    found = pattern.search(head)
    return None if found is None else _NAMES.get(found.group(1).lower())


def _logfmt(head: str) -> Level | None:
    return _name(_LOGFMT, head)


def _start(head: str) -> Level | None:
    return _name(_START, head)


def _column(head: str) -> Level | None:
    return _name(_COLUMN, head)


def _redis(head: str) -> Level | None:
    found = _REDIS_LINE.search(head)
    return None if found is None else _REDIS[found.group(1)]


def _token(head: str) -> Level | None:
    """The first level in brackets or in capitals, whichever stands further left."""
    bracket = _first_bracket(head) if "[" in head else None
    upper = _UPPER.search(head)
    if bracket is not None and (upper is None or bracket[0] <= upper.start(1)):
        return bracket[1]
    return None if upper is None else _NAMES[upper.group(1).lower()]


def _first_bracket(head: str) -> tuple[int, Level] | None:
    for found in _IN_BRACKETS.finditer(head):
        level = _NAMES.get(found.group(1).lower())
        if level is not None:
            return found.start(), level
    return None
