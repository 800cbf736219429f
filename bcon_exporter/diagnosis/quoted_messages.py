"""Quotes what a program itself said where a cause of ours would fit many failures, and says to search for it."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

import re2

from bcon_exporter.catalogue.causes import known_step, load_causes
from bcon_exporter.diagnosis.log_events import LogEvent
from bcon_exporter.diagnosis.named_in_line import SHOWN_CHARS
from bcon_exporter.diagnosis.signature_hits import Hit
from bcon_exporter.model.container_facts import LogLine
from bcon_exporter.model.findings import LikelyCause
from bcon_exporter.model.signatures import CauseText, Quoting, SuggestionText
from bcon_exporter.regexes import compile_pattern

MAX_CHARS = 160
_BEFORE_CHARS = 24
"""What is shown before the words that are known, in a line too long to be quoted whole."""
_HEAD = re2.compile(
    r"^(?:[\s\[(]*(?:"
    r"\d{2,4}[-/.]\d\d[-/.]\d{2,4}(?:[T ,]+\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d|UTC|[AP]M))?"
    r"|\d\d:\d\d:\d\d(?:[.,]\d+)?|\w{3} +\d+ \d\d:\d\d:\d\d(?: \d{4})?|\d{10,13}(?:\.\d+)?:"
    r"|(?i:trace|debug|info|notice|warn|warning|error|err|fatal|critical|crit|panic|emerg|alert|severe|wrn|ftl|inf|main/\w+)"
    r"|[\w.-]{1,30}\[\d+\]:|\d+#\d+:|(?:main|pid|tid|thread)[ -]?\d*|\d{1,7}"
    r")[\])\s:|,-]+)+"
)
"""Time, level, process: what stands before the message."""
_KLOG = re2.compile(r"^[IWEF]\d{4} [\d:.]+ +\d+ [\w.]+:\d+\] ")
_FIELDS = re2.compile(r'\b(msg|message|err|error|reason|details?)=("(?:[^"\\]|\\.)*"|[^\s"]+)')
_TEXTS = ("msg", "message", "event", "text", "log")
_REASONS = ("err", "error", "reason", "exception", "details", "detail")
_EXCEPTION = re2.compile(
    r"^(?:panic: |fatal error: |thread '.*' panicked at |Uncaught |Unhandled |Caused by: )"
    r"|^(?:Exception|Error): \S"
    r"|(?:^|[\s\[(])(?:[A-Za-z_][\w$]*(?:\.|::|\\))*[A-Z]\w*(?:Error|Exception|Failure|Panic|Fault)\b"
)
_INNERMOST_LAST = re2.compile(r'^\s*File ".*", line \d+')
"""Python's traces name the place of the failure last; all others name it first."""


def message_in(line: str) -> str:
    """Return the message of a line without time, level and field names, on one line, shortened."""
    return shorten(whole_message_in(line[:SHOWN_CHARS]))


def whole_message_in(line: str) -> str:
    """Return the message of a line without time, level and field names."""
    text = line.strip()
    return _in_json(text) or _in_fields(text) or _without_head(text)


def shorten(text: str) -> str:
    """Return a text on one line, cut where it is too long to be quoted."""
    message = " ".join(text.split())
    return message if len(message) <= MAX_CHARS else f"{message[: MAX_CHARS - 1].rstrip()}…"


def message_of_hit(hit: Hit) -> str:
    """Return the message of the line that shows a signature; of a long one the part that shows it."""
    message = message_in(hit.line)
    if not message.endswith("…"):
        return message
    matches = (_compile(pattern.regex).search(hit.line.encode()) for pattern in hit.signature.patterns)
    starts = [len(hit.line.encode()[: match.start()].decode()) for match in matches if match is not None]
    if not starts or min(starts) < MAX_CHARS // 2:
        return message
    return f"…{shorten(hit.line[hit.line.rfind(' ', 0, max(0, min(starts) - _BEFORE_CHARS)) + 1 :])}"


def _without_head(text: str) -> str:
    head = _KLOG.search(text) or _HEAD.search(text)
    rest = text[head.end() :] if head is not None else text
    return rest if any(character.isalpha() for character in rest) else text


def _in_json(text: str) -> str | None:
    if not text.startswith("{"):
        return None
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    return _joined(
        next((fields[name] for name in _TEXTS if fields.get(name)), None),
        next((fields[name] for name in _REASONS if fields.get(name)), None),
    )


def _in_fields(text: str) -> str | None:
    fields: dict[str, str] = {}
    for match in _FIELDS.finditer(text):
        fields.setdefault(match.group(1), match.group(2).removeprefix('"').removesuffix('"').replace('\\"', '"'))
    if not fields or (not fields.keys() & {"msg", "message"} and "error=" not in text):
        return None
    return _joined(
        fields.get("msg") or fields.get("message"),
        next((fields[name] for name in _REASONS if fields.get(name)), None),
    )


def _joined(text: object, reason: object) -> str | None:
    parts = [part for part in (text, reason) if isinstance(part, str)]
    return ": ".join(dict.fromkeys(parts)) or None


def message_of_event(event: LogEvent, lines: Sequence[LogLine]) -> str:
    """Return what an event says: of a trace its exception, else its telling line."""
    trace = [line.text[:SHOWN_CHARS] for line in lines[event.index : event.index + event.line_count]]
    exception = None if event.hits else find_exception(trace)
    return message_in(exception or event.text)


def find_exception(trace: Sequence[str]) -> str | None:
    """Return the line of a trace that names what was raised; None where none does."""
    named = [text for text in trace if _EXCEPTION.search(text.encode("utf-8", "replace")) is not None]
    return named[-1] if named and is_innermost_last(trace) else next(iter(named), None)


def is_innermost_last(trace: Sequence[str]) -> bool:
    """Whether a trace names the place of the failure last."""
    return any(_INNERMOST_LAST.search(text.encode("utf-8", "replace")) is not None for text in trace)


def ids_to_quote(causes: Iterable[CauseText]) -> frozenset[str]:
    """Return the ids of the causes with which the program's message is quoted."""
    return frozenset(cause.id for cause in causes if cause.quotes is not Quoting.NO)


@lru_cache(maxsize=64)
def _compile(regex: str) -> Any:
    return compile_pattern(regex)


def newest_hit_for(causes: Sequence[LikelyCause], hits: Sequence[Hit]) -> Hit | None:
    """Return the newest line that shows the first of these causes; None where no line does."""
    first = causes[0].id if causes else None
    return next((hit for hit in reversed(hits) if any(cause.id == first for cause in hit.signature.causes)), None)


def with_message(
    causes: Sequence[LikelyCause], quoted: Collection[str], message: str | None
) -> tuple[LikelyCause, ...]:
    """Return the causes, the first with the program's message where its own words would fit many failures.

    Args:
        causes: The likeliest first.
        quoted: Ids of the causes of which the message is quoted.
        message: What the program said; None or "" where it said nothing.
    """
    if not causes or not message or causes[0].id not in quoted:
        return tuple(causes)
    return (causes[0].quoting(message), *causes[1:])


def with_step_of_message(
    steps: Sequence[SuggestionText], cause: LikelyCause, find_advice: Callable[[], str | None]
) -> list[SuggestionText]:
    """Return the steps for the first cause; where the program's message is quoted with it, that says what to do first.

    What the program asks for comes first, and else a search for its words; where our words name a step for the kind of
    failure, that stands before both. A cause that brings steps of its own says well enough what to do.

    Args:
        steps: The first one first.
        cause: The likeliest.
        find_advice: Returns what the program itself asks for (see `program_advice`); called only where it is said.
    """
    known = load_causes().texts.get(cause.id)
    if cause.says is None or (known is not None and known.steps):
        return list(steps)
    advice = find_advice()
    by_message = [] if advice is None else [known_step("follow_message").model_copy(update={"says": advice})]
    if known is not None and known.quotes is Quoting.ALONE:
        return [*steps[:1], *by_message, *steps[1:]]
    named = [step for step in steps[:1] if step.needs_name]
    search = known_step("search_message")
    return [*named, *by_message, search, *(step for step in steps if step not in named)]
