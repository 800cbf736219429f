"""The last log lines before an end."""

import json
from collections.abc import Sequence
from datetime import timedelta

from bcon_exporter.history.database import Statement
from bcon_exporter.model.facts import LogLine
from bcon_exporter.model.lifecycle import ExitFacts

LINES_AT_MOST = 20
CHARS_A_LINE = 400
EXITS_WITH_LINES = 5000

_LATE = timedelta(seconds=1)
"""Output may be stamped a little after the end was reported."""

_EARLY = timedelta(minutes=10)


def find_last_lines(lines: Sequence[LogLine], end: ExitFacts) -> tuple[str, ...]:
    """Return the newest lines of the run that ended, oldest first; empty when the log does not reach back to it."""
    lifetime = end.lifetime_seconds
    began = end.at - (_EARLY if lifetime is None else min(timedelta(seconds=lifetime) + _LATE, _EARLY))
    found = [line.text[:CHARS_A_LINE] for line in lines if line.at is not None and began <= line.at <= end.at + _LATE]
    return tuple(found[-LINES_AT_MOST:])


def cap_lines() -> Statement:
    """Return the statement that drops the oldest lines beyond `EXITS_WITH_LINES`."""
    return (
        "DELETE FROM exit_lines WHERE at < (SELECT at FROM exit_lines ORDER BY at DESC LIMIT 1 OFFSET ?)",
        [(EXITS_WITH_LINES,)],
    )


def lines_to_text(lines: Sequence[str]) -> str:
    """Return lines as one column of the database."""
    return json.dumps(list(lines))


def lines_from_text(text: str) -> tuple[str, ...]:
    """Return what `lines_to_text` was given; nothing when it is damaged."""
    try:
        lines = json.loads(text)
    except ValueError:
        return ()
    return tuple(str(line) for line in lines) if isinstance(lines, list) else ()
