"""The daemon's own log on standard error: one line a message, as text or JSON, cleaned and masked."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

from bcon_exporter.model.cleaning import clean_text
from bcon_exporter.model.masking import mask_text

_QUIET = ("uvicorn", "uvicorn.error", "urllib3", "docker", "asyncio", "apscheduler")
"""Libraries whose notes repeat ours: only their warnings count, of APScheduler only errors."""


def set_up_logging(level: Literal["debug", "info", "warning", "error"], fmt: Literal["text", "json"]) -> None:
    """Send everything to standard error in one format; may be called again on reload."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if fmt == "json" else TextLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("bcon_exporter").setLevel(level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.ERROR if name == "apscheduler" else logging.WARNING)


def safe(text: str) -> str:
    """Return text that may come from outside, fit for a terminal and a log collector."""
    return mask_text(clean_text(text)).replace("\n", "\\n").replace("\t", " ")


class TextLines(logging.Formatter):
    """`2026-01-31T12:00:00.000Z INFO scheduler: message`; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's lines."""
        name = record.name.rpartition(".")[2]
        line = f"{_stamp(record)} {record.levelname} {name}: {safe(record.getMessage())}"
        if record.exc_info:
            line += "".join(f"\n  {safe(part)}" for part in self.formatException(record.exc_info).splitlines())
        return line


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON."""
        fields = {
            "time": _stamp(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": safe(record.getMessage()),
        }
        if record.exc_info:
            trace = self.formatException(record.exc_info).splitlines()
            fields["traceback"] = "\n".join(safe(part) for part in trace)
        return json.dumps(fields)


def _stamp(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
