"""Joins lines into events: a stack trace is one event.

Decided by two neighbouring lines, so that it works from any line in both directions and costs nothing where nothing is
wrong.
"""

from collections.abc import Sequence

import re2

from bcon_exporter.diagnosis.log_levels import level_of
from bcon_exporter.model.container_facts import LogLine
from bcon_exporter.model.signatures import Level

MAX_EVENT_LINES = 200
CLOSING_CHARS = 3

_TRACE_PART = re2.compile(
    r"^(?:Caused by: |Suppressed: |\.\.\. \d+ more|Traceback \(most recent call last\)|During handling of the above"
    r"|The above exception was|goroutine \d+ \[|created by |exit status \d|Require stack:|Stack trace:|#\d+ |   at "
    r"|stack backtrace:|note: run with |[\w./*()\[\]$-]+\(0x|main\.[\w.()*]+\(|---> )"
)
_EXCEPTION = re2.compile(
    r"^(?:[a-zA-Z_][\w.$]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Iteration|Failure|Warning)\b"
)
_PYTHON_EXCEPTION = re2.compile(r"^(?:(?:[a-zA-Z_]\w*\.)+[a-zA-Z_]\w*|[A-Z]\w*)(?:: |:?$)")
"""The exception below the frames, whatever its name: `requests.exceptions.ReadTimeout: …`, `Http404`."""
_PYTHON_FRAME = '  File "'
_FRAME_LINES = 3
"""A frame has a place, mostly a line of code, and at times a line that marks a part of it."""
_EXCEPTION_WORDS = ("Error", "Exception", "Exit", "Interrupt", "Iteration", "Failure", "Warning")
_TRACE_STARTS = (
    *(
        "Caused by",
        "Suppressed",
        "... ",
        "Traceback",
        "During ",
        "The above",
        "goroutine ",
        "created by",
        "exit status",
    ),
    *("Require stack", "Stack trace", "#", "stack backtrace", "note: run", "main.", "---> "),
)
_TELLS_OF_EXCEPTION = re2.compile(
    r"(?i)\b(?:exceptions?|errors?|closed|closing|disconnect\w*|reset|aborted|rejected|dropped|ignor\w+|interrupted)\b"
)
_CHAINS = ("During handling of the above", "The above exception was")
_WHERE_AT_END = re2.compile(r"^(.*?\S) {2,}[\w.]+\.\w{1,4}:\d+ *$")
"""Loggers for terminals wrap the message, and write the place in the source at the end of its first line."""
_MARKED = re2.compile(
    r"^\s+(?:\[(?:[✓✔✗✘xi!+*-]| ?(?:ok|OK|FAIL(?:ED)?|WARN|INFO) ?)\] |[✓✔✅✗✘❌]|[\x{2A2F}✖\x{D7}⚠\x{2139}▲○●] ?\S"
    r"|(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S+ [1-5][0-9]{2}\b)"
)
"""Entries of a check list, which some programs indent, and of a program that indents all of its lines (Next.js)."""
_NPM_HEADS = ("npm ERR!", "npm error")
_GO_HEADS = ("panic:", "fatal error:", "[signal", "goroutine ", "\t")


def event_bounds(lines: Sequence[LogLine], index: int, earliest: int = 0) -> tuple[int, int]:
    """Return first and one-past-last index of the event that line `index` belongs to.

    Args:
        lines: The whole log.
        index: A line of the event.
        earliest: Lines before this one belong to another event: in a trace without end nobody goes back over all of it.
    """
    start = index
    while start > earliest and index - start < MAX_EVENT_LINES and _belongs(lines, start):
        start -= 1
    end = index + 1
    while end < len(lines) and end - start < MAX_EVENT_LINES and _belongs(lines, end):
        end += 1
    return start, end


def unwrapped(texts: Sequence[str]) -> str | None:
    """Return the message that a logger for terminals wrapped over several lines; None where none did."""
    head = _WHERE_AT_END.match(texts[0]) if len(texts) > 1 and texts[0].rstrip()[-1:].isdigit() else None
    if head is None:
        return None
    following = [text.strip() for text in texts[1:] if text[:1] == " "]
    return " ".join([head.group(1), *following])


def _belongs(lines: Sequence[LogLine], index: int) -> bool:
    """Whether a line belongs to the one before it; so does an empty line between two chained exceptions."""
    text = lines[index].text
    if not text and index + 1 < len(lines):
        following = lines[index + 1].text
        if following.startswith(_CHAINS) or _is_logged_below(lines[index - 1].text, following):
            return True
    if index > 1 and not lines[index - 1].text and _is_logged_below(lines[index - 2].text, text):
        return True
    if text.startswith("Traceback (most recent") and _logs_below_error(lines[index - 1].text):
        return _goes_on(lines, index)
    return continues(lines[index - 1].text, text) or _ends_python_trace(lines, index)


def _ends_python_trace(lines: Sequence[LogLine], index: int) -> bool:
    """Whether a line is the exception at the end of a Python trace."""
    text = lines[index].text
    if not text or text[0] in " \t" or lines[index - 1].text[:2] != "  " or _PYTHON_EXCEPTION.match(text) is None:
        return False
    frame = lines[max(0, index - _FRAME_LINES) : index]
    return any(line.text.startswith(_PYTHON_FRAME) for line in frame) and level_of(text) is Level.UNKNOWN


def _is_logged_below(record: str, text: str) -> bool:
    """Whether an exception was logged with the record above it, with an empty line between, as Spring does."""
    if not record or record[0] in " \t" or not any(word in text for word in _EXCEPTION_WORDS):
        return False
    return _EXCEPTION.match(text) is not None and _logs_exception(record)


def _logs_below_error(record: str) -> bool:
    """Whether a record below ERROR may have an exception attached: a warning, or a lower one that mentions it."""
    level = level_of(record)
    if level in (Level.DEBUG, Level.INFO):
        return _TELLS_OF_EXCEPTION.search(record) is not None
    return level is Level.WARNING


def _goes_on(lines: Sequence[LogLine], index: int) -> bool:
    """Whether the program logs on after a trace: the trace then belongs to the record above it, and was no crash."""
    after = lines[index + 1 : index + MAX_EVENT_LINES]
    return any(line.text[:1] not in {"", " ", "\t"} and level_of(line.text) is not Level.UNKNOWN for line in after)


def continues(previous: str, current: str) -> bool:
    """Whether `current` belongs to the same event as the line before it."""
    if not current:
        return previous.startswith((*_GO_HEADS, *_CHAINS))
    first = current[0]
    if first in " \t":
        return bool(previous) and level_of(current.lstrip()) is Level.UNKNOWN and _MARKED.match(current) is None
    if current.startswith(_NPM_HEADS) and previous.startswith(_NPM_HEADS):
        return True
    if first in "})]" and len(current) <= CLOSING_CHARS:
        return True
    if _may_be_trace(current) and _TRACE_PART.match(current) is not None:
        return not current.startswith("Traceback") or _introduces_trace(previous)
    if not any(word in current for word in _EXCEPTION_WORDS):
        return False
    if previous[:1] in (" ", "\t") or previous.startswith(("Traceback (most recent", "The above", "During handling")):
        return _EXCEPTION.match(current) is not None
    return _EXCEPTION.match(current) is not None and _logs_exception(previous)


def _logs_exception(text: str) -> bool:
    """Whether the exception below this line was logged with it; at level INFO only if the line mentions one."""
    level = level_of(text)
    if level is Level.INFO:
        return _TELLS_OF_EXCEPTION.search(text) is not None
    return level is Level.DEBUG or level >= Level.WARNING


def _may_be_trace(text: str) -> bool:
    """Whether the line may be a part of a trace; a cheap check before the search."""
    return text.startswith(_TRACE_STARTS) or "(0x" in text


def _introduces_trace(previous: str) -> bool:
    return not previous or level_of(previous) >= Level.ERROR or previous.startswith(("The above", "During handling"))
