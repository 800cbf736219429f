"""The daemon's own log on standard error: one line a message, as text or JSON, cleaned and masked."""

import json
import logging
import sqlite3
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

from bcon_exporter.errors import BconError
from bcon_exporter.secrets.cleaning import strip_controls
from bcon_exporter.secrets.masking import safe_text

_QUIET = ("uvicorn", "uvicorn.error", "urllib3", "docker", "asyncio", "apscheduler", "mcp")
"""Libraries whose notes repeat ours: only their warnings count."""
_ERRORS_ONLY = ("uvicorn", "uvicorn.error", "apscheduler", "mcp")
"""Of these only errors: uvicorn warns of every malformed request, so that strangers could fill the log."""

_CAUSED_BY_CLIENTS = ("uvicorn", "asyncio", "mcp", "bcon_exporter.outputs.http", "bcon_exporter.outputs.mcp")
_REPEAT_SECONDS = 60.0
_KINDS_MAX = 256

_SAYS_NO_VALUES = (BconError, OSError, sqlite3.Error, AttributeError, NameError, ImportError, TypeError, MemoryError)
"""Errors whose words hold names, paths and types. Others quote what they choke on (`int("hunter2")`), so their words
are left out: a value of no known shape cannot be masked."""
_MOST_CAUSES = 8


Hide = Callable[[str], str]


def set_up_logging(
    level: Literal["debug", "info", "warning", "error"], fmt: Literal["text", "json"], hide: Hide = str
) -> None:
    """Send everything to standard error in one format; may be called again on reload.

    Args:
        level: The least that is told.
        fmt: Text or JSON.
        hide: Takes out of a text what containers and projects are known to hold as secrets.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(hide) if fmt == "json" else TextLines(hide))
    handler.addFilter(OncePerMinute())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("bcon_exporter").setLevel(level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.ERROR if name in _ERRORS_ONLY else logging.WARNING)


def safe(text: str, hide: Hide = str) -> str:
    """Return text that may come from outside, fit for a terminal and a log collector."""
    return safe_text(hide(strip_controls(text))).replace("\n", "\\n").replace("\t", " ")


def format_error(error: BaseException) -> list[str]:
    """Return the lines of a traceback, causes first; without the words of errors that quote values."""
    lines: list[str] = []
    one: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if one is None:
            break
        words = f": {one}" if isinstance(one, _SAYS_NO_VALUES) else ""
        above = ["which led to:"] if lines else []
        frames = "".join(traceback.format_tb(one.__traceback__)).splitlines()
        lines = [*frames, f"{type(one).__qualname__}{words}", *above, *lines]
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return ["Traceback (most recent call last):", *lines]


class OncePerMinute(logging.Filter):
    """Lets one record of a kind through in a minute, of those that clients or a lack of descriptors can cause.

    A kind is a logger and the first line of its message before anything is put in: asyncio's errors list objects below.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[tuple[str, str], float] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the record is to be written; says with it how many were not."""
        if not record.name.startswith(_CAUSED_BY_CLIENTS):
            return True
        kind = record.name, str(record.msg).partition("\n")[0]
        last = self._kinds.get(kind)
        if last is not None and last <= record.created < last + _REPEAT_SECONDS:
            self._left_out[kind] += 1
            return False
        if len(self._kinds) >= _KINDS_MAX:
            self._kinds.clear()
        self._kinds[kind] = record.created
        if left_out := self._left_out.pop(kind, 0):
            record.msg, record.args = f"{record.getMessage()} ({left_out} more like this since the last one)", None
        return True


class _Lines(logging.Formatter):
    def __init__(self, hide: Hide = str) -> None:
        super().__init__()
        self._hide = hide

    def _safe(self, text: str) -> str:
        return safe(text, self._hide)

    def _trace(self, record: logging.LogRecord) -> list[str]:
        error = record.exc_info[1] if record.exc_info else None
        return [] if error is None else [self._safe(part) for part in format_error(error)]


class TextLines(_Lines):
    """`2026-01-31T12:00:00.000Z INFO scheduler: message`; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's lines."""
        name = record.name.rpartition(".")[2]
        line = f"{_stamp(record)} {record.levelname} {name}: {self._safe(record.getMessage())}"
        line += "".join(f"\n  {part}" for part in self._trace(record))
        return line


class JsonLines(_Lines):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON."""
        fields = {
            "time": _stamp(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._safe(record.getMessage()),
        }
        if trace := self._trace(record):
            fields["traceback"] = "\n".join(trace)
        return json.dumps(fields)


def _stamp(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
