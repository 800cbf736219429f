"""Reads the level of a log line from the field or place where its kind of logger puts it.

The word "error" elsewhere in a line says nothing. Expressions are RE2: linear on hostile lines.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import re2

from bcon_exporter.model.signatures import Level

HEAD_CHARS = 400
"""Levels stand near the beginning of a line."""
REMEMBERED = 4_096
"""The level of a line is read repeatedly: as the first of an event, and as the neighbour of the next line."""

_WORDS = {
    Level.DEBUG: "trace trce debug dbug debu debg dbg trc fine finer finest verbose vrb silly spam t d",
    Level.INFO: "info information informational inf notice ntc note log system config hint detail statement context "
    "query success ok n i",
    Level.WARNING: "warn warning wrn w warnung attention advertencia aviso avviso предупреждение",
    Level.ERROR: "error err eror erro fail severe failure e fehler erreur errore ошибка",
    Level.CRITICAL: "fatal fata pani critical crit crt ftl panic alert emerg emergency dpanic f c "
    "fatale panik panique panico pánico pânico важно паника",
}
_NAMES = {name: level for level, names in _WORDS.items() for name in names.split()}
_ANY = (
    "success|trace|trce|debug|dbug|dbg|verbose|vrb|info|information|inf|notice|note|warn|warning|wrn|error|err|eror|fail"
    "|severe|fatal|ftl|critical|crit|crt|panic|alert|emerg"
)
_UPPERS = (
    "TRACE|DEBUG|DEBG|DEBU|DBG|VRB|INFO|INF|NOTICE|WARN|WARNING|WRN|ERROR|ERR|EROR|ERRO|SEVERE|CRITICAL|CRIT|FATAL|FATA"
    "|FTL|PANIC|PANI"
    "|ALERT|EMERG"
)
_LETTERS = {"D": Level.DEBUG, "I": Level.INFO, "W": Level.WARNING, "E": Level.ERROR, "F": Level.CRITICAL}
_TENS = dict(enumerate((Level.DEBUG, Level.DEBUG, Level.INFO, Level.WARNING, Level.ERROR, Level.CRITICAL), start=1))
"""Bunyan's and pino's numbers: 10 trace, 30 info, 40 warn, 50 error, 60 fatal."""
_MONOLOG = 100
"""Monolog's numbers begin here: 100 debug, 200 info, 300 warning, 400 error, 500 to 600 worse."""
_SYSLOG_LEVELS = (
    *(Level.CRITICAL, Level.CRITICAL, Level.CRITICAL, Level.ERROR),
    *(Level.WARNING, Level.INFO, Level.INFO, Level.DEBUG),
)
_UNITS = (Level.DEBUG, Level.INFO, Level.WARNING, Level.ERROR, Level.CRITICAL, Level.INFO, Level.INFO, Level.DEBUG)
"""PHP applications' own numbers in JSON: 0 debug to 4 fatal; what lies above is syslog's."""
_NO_BRACKETS = frozenset(
    {
        "config",
        "log",
        "query",
        "statement",
        "context",
        "detail",
        "hint",
        "success",
        "fine",
        "finer",
        "finest",
        "silly",
        "spam",
    }
)
"""In brackets these name a part of the program."""
_REDIS = {".": Level.DEBUG, "-": Level.INFO, "*": Level.INFO, "#": Level.WARNING}

_PREFIX = re2.compile(r"^([\w.-]+) +\| ")
_JSON = re2.compile(
    r'(?i)"(?:@?level|lvl|severity|severity_?text|log\.level|level_?name|log_?level|@l)"\s*:\s*"?([A-Za-z]+|\d+)\b'
)
_MONGO_JSON = re2.compile(r'"s" ?: ?"([DIWEF])\d?"')
_LOGFMT = re2.compile(r'(?i)(?:^|[\s\[{,])(?:level|lvl|severity|loglevel)="?([A-Z]+)"?')
_KLOG = re2.compile(r"^([IWEF])\d{4,8} \d\d:\d\d:\d\d")
_LOGCAT = re2.compile(r"^\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +\d+ +\d+ ([VDIWEF]) ")
_LOGCAT_LEVELS = {**_LETTERS, "V": Level.DEBUG, "E": Level.WARNING}
"""On Android apps use E for a missing default; F is what ends an app."""
_REDIS_LINE = re2.compile(r"^(?:\d+:[A-Z]|\[\d+\]) \d+ \w{3} (?:\d{4} )?[\d:.]+ ([.*#-]) ")
_REDIS_WARNING = "#"
"""The worst level of Redis and its forks: they use it for failed saves, fatal errors and advice."""
_MONGO = re2.compile(r"^\d{4}-\d\d-\d\dT\S+ ([DIWEF])\d? +[A-Z_-]+ +\[")
_SYSLOG = re2.compile(r"^(?:<(\d{1,3})>|%([0-7])\|)|^[\d.: ]{0,24}LOG([0-7])\[")
_ACCESS = re2.compile(
    r'"(?:GET|POST|PUT|HEAD|DELETE|PATCH|OPTIONS|CONNECT|PROPFIND) [^"]*" (\d{3})\b|^\[GIN\] [^|]*\| (\d{3}) \|'
)
_LETTER = re2.compile(
    r"^\[([TDIWECF]) \d|^([DIWEF]), \[\d|^\(([NIWC])\) \d{4}-|(?:^| )([DIWE])! |\[([DIWEF])\] "
    r"|\]\[([DIWE])\]\[|^\d[\d:.,TZ/ -]{8,30} ([DINWEC]) \| |^\[[^\]]{8,30}\] [0-9a-f]{8} \S+ +([FEWID])  "
    r"|^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: ([IWEF]) [\w./-]+:\d+\] |^\((EE|WW|II)\) "
    r"|^([IWEF]) [\w./-]+\.(?:cc|cpp|c|go|rs):\d+\]"
)
_REPORT = re2.compile(r"^=(CRASH|ERROR|SUPERVISOR|WARNING|INFO|PROGRESS) REPORT====")
_REPORTS = {"CRASH": Level.ERROR, "SUPERVISOR": Level.ERROR, "PROGRESS": Level.INFO}
_PHP = re2.compile(
    r"\b(?:PHP|Node) (Fatal error|Parse error|Recoverable fatal error|Warning|Notice|Deprecated|Startup)\b"
)
_PHP_LEVELS = {"Warning": Level.WARNING, "Notice": Level.INFO, "Deprecated": Level.INFO, "Startup": Level.WARNING}
_OWN_WARNING = re2.compile(r"^(?:\(node:\d+\) |\S+:\d+: )(?:\[\w+\] )?(\w*Warning): ")
_NPM = re2.compile(r"^npm (ERR!|error|WARN|warn|notice|info|verb|timing)(?: |$)")
_IN_BRACKETS = re2.compile(r"[\[<] *(?:[\w.-]+:|[\w .#:-]{1,60}/)?([A-Za-z]{3,13}) *[\]>]")
_UPPER = re2.compile(rf"(?:^|[\s\[|(<:>./\[]|[\d\s]-)({_UPPERS})(?:[\s\])>:|,\[!/-]|$)")
_PIHOLE = re2.compile(r"^\[\d{4}-\d\d-\d\d [\d:.]+ (?:[A-Z]{2,4} )?\d+[\w/]*\] ")
"""Lines of Pi-hole's resolver, whose name is FTL."""
_POSTGRES = re2.compile(
    r"(?:^|[\s\[])(LOG|HINT|DETAIL|STATEMENT|CONTEXT|QUERY|NOTICE"
    r"|FEHLER|WARNUNG|PANIK|ERREUR|ATTENTION|PANIQUE|ADVERTENCIA|PÁNICO|ERRO|AVISO|PÂNICO|ERRORE|AVVISO|FATALE"
    r"|PANICO|ОШИБКА|ПРЕДУПРЕЖДЕНИЕ|ВАЖНО|ПАНИКА):  ?"
)
"""PostgreSQL's own levels, also its translations."""
_START = re2.compile(
    r"^(?:[\d\[][\d:.,TZ+/\s\]-]{3,40}|\w{3} +\d+ [\d:.]+ \S+ |[\w./@-]+(?:\[\d+\])?: |[\w./-]+:\d+: |\[[\w./-]+\] )*"
    rf"(?i:({_ANY})(?: error)?(?:\[\d+\])?(?::| ?\t|  | -))"
)
_TAGGED = re2.compile(
    rf"^\s*[\w.-]+:({_ANY})\s+\d|\w\[[\d:]+\]:? (?i:({_ANY})): "
    r"|\b(?:kern|user|daemon|auth|authpriv|local\d|mail|cron|syslog|ftp)"
    r"\.(debug|info|notice|warn|warning|err|crit|alert|emerg) "
    rf"|^\[?\d[\d:.,TZ/+ -]{{7,32}}\]?:? (?:\d+: )?"
    rf"(?i:({_ANY}|critical|information)(?: ?: |/)|(trace|debug|info|notice|trc|dbg|inf|ntc|wrn|warn|warning) +\S)"
)
"""The level behind the program's name, its number or the facility; a word alone only where it says that all is well."""
_WORD = re2.compile(r"^(trace|debug|dbug|info|notice|warn|warning|fail|crit|fatal|critical):? ")
_COLUMN = re2.compile(rf"[,|] ?(?i:({_ANY})) *(?:[,|]|  )")


def is_level_name(word: str) -> bool:
    """Whether a word is the name of a level, as loggers write them."""
    return word.lower() in _NAMES


def level_of(text: str) -> Level:
    """Read the level of one line; UNKNOWN when it carries none."""
    return _level_of_head(text[:HEAD_CHARS])


@lru_cache(maxsize=REMEMBERED)
def _level_of_head(head: str) -> Level:
    if " | " in head:
        prefix = _PREFIX.match(head)
        head = head[prefix.end() :] if prefix is not None and not is_level_name(prefix.group(1)) else head
    for read in _readers(head):
        level = read(head)
        if level is not None:
            return level
    return Level.UNKNOWN


def _readers(head: str) -> Iterator[Callable[[str], Level | None]]:
    """Yield the readers that may know the line, the surest first; cheap checks avoid most of the searches."""
    first = head[:1]
    if "{" in head:
        yield _mongo_json
        yield _json
    if first in "<%" or "LOG" in head[:32]:
        yield _syslog
    if first in "IWEF" and head[1:2].isdigit():
        yield _klog
    elif first.isdigit() or first == "[":
        yield _redis
        yield _mongo
        yield _logcat
    elif first == "=":
        yield _report
    yield from _other_readers(head)


def _other_readers(head: str) -> Iterator[Callable[[str], Level | None]]:
    if "=" in head:
        yield _logfmt
    if "HTTP/" in head or head.startswith("[GIN]"):
        yield _access
    if head.startswith("npm "):
        yield _npm
    if "Warning: " in head or "PHP " in head:
        yield _own_warning
        yield _php
    yield _letter
    yield _token
    yield _start
    yield _tagged
    if "," in head or "|" in head:
        yield _column


def _json(head: str) -> Level | None:
    match = _JSON.search(head)
    if match is None:
        return None
    word = match.group(1)
    if not word.isdigit():
        return _NAMES.get(word.lower())
    value = int(word)
    if value < len(_UNITS):
        return _SYSLOG_LEVELS[value] if '"short_message"' in head else _UNITS[value]
    return _TENS.get(value // 10) if value < _MONOLOG else _TENS.get(min(value // 100 + 1, max(_TENS)))


def _mongo_json(head: str) -> Level | None:
    return _letter_of(_MONGO_JSON, head) if '"s"' in head else None


def _syslog(head: str) -> Level | None:
    match = _SYSLOG.search(head)
    if match is None:
        return None
    digits = next(group for group in match.groups() if group is not None)
    return _SYSLOG_LEVELS[int(digits) & 7]


def _access(head: str) -> Level | None:
    match = _ACCESS.search(head)
    if match is None:
        return None
    status = match.group(1) or match.group(2)
    return Level.WARNING if status.startswith("5") else Level.INFO


def _letter_of(pattern: Any, head: str) -> Level | None:
    match = pattern.search(head)
    return None if match is None else _LETTERS[match.group(1)]


def _klog(head: str) -> Level | None:
    return _letter_of(_KLOG, head)


def _mongo(head: str) -> Level | None:
    return _letter_of(_MONGO, head)


def _logcat(head: str) -> Level | None:
    match = _LOGCAT.search(head)
    return None if match is None else _LOGCAT_LEVELS[match.group(1)]


def _letter(head: str) -> Level | None:
    match = _LETTER.search(head)
    if match is None:
        return None
    return _NAMES[next(group for group in match.groups() if group is not None)[0].lower()]


def _name(pattern: Any, head: str) -> Level | None:
    match = pattern.search(head)
    return None if match is None else _NAMES.get(match.group(1).lower())


def _logfmt(head: str) -> Level | None:
    return _name(_LOGFMT, head)


def _report(head: str) -> Level | None:
    match = _REPORT.search(head)
    return None if match is None else _REPORTS.get(match.group(1)) or _NAMES[match.group(1).lower()]


def _npm(head: str) -> Level | None:
    match = _NPM.search(head)
    if match is None:
        return None
    return _NAMES.get(match.group(1).rstrip("!").lower(), Level.INFO)


def _php(head: str) -> Level | None:
    match = _PHP.search(head)
    return None if match is None else _PHP_LEVELS.get(match.group(1), Level.CRITICAL)


def _own_warning(head: str) -> Level | None:
    """Read warnings of Node and Python; an unhandled promise is an error."""
    match = _OWN_WARNING.search(head)
    if match is None:
        return None
    return Level.ERROR if match.group(1).startswith("Unhandled") else Level.WARNING


def _start(head: str) -> Level | None:
    match = _START.search(head)
    if match is not None:
        return _NAMES[match.group(1).lower()]
    return _name(_WORD, head)


def _tagged(head: str) -> Level | None:
    match = _TAGGED.search(head)
    return None if match is None else _NAMES[next(group for group in match.groups() if group is not None).lower()]


def _column(head: str) -> Level | None:
    return _name(_COLUMN, head)


def _redis(head: str) -> Level | None:
    match = _REDIS_LINE.search(head)
    return None if match is None else _REDIS[match.group(1)]


def redis_warning(text: str) -> str | None:
    """Return the message of a line that Redis or a fork calls a warning (their worst level); else None.

    What says WARNING once more in its message is advice, and means it.
    """
    match = _REDIS_LINE.search(text[:HEAD_CHARS])
    if match is None or match.group(1) != _REDIS_WARNING:
        return None
    message = text[match.end() :]
    return None if message.lower().startswith("warning") else message


def _token(head: str) -> Level | None:
    """Read the leftmost level in brackets, in capitals or in PostgreSQL's form."""
    levels_by_position = [(match.start(1), _NAMES[match.group(1).lower()]) for match in _tokens(head)]
    return min(levels_by_position)[1] if levels_by_position else None


def _tokens(head: str) -> Iterator[Any]:
    if "[" in head or "<" in head:
        for match in _IN_BRACKETS.finditer(head):
            if match.group(1).lower() in _NAMES and match.group(1).lower() not in _NO_BRACKETS:
                yield match
                break
    upper = _UPPER.search(head)
    if upper is not None and not (upper.group(1) == "FTL" and _PIHOLE.search(head) is not None):
        yield upper
    if ":  " in head or ": " in head:
        own = _POSTGRES.search(head)
        if own is not None:
            yield own
