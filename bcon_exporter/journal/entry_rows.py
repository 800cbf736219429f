"""Entries of the journal in the state file: written once, found by whom they are about, kind, time and words."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from bcon_exporter.journal.event_rows import Query, Statement
from bcon_exporter.journal.schema import from_micros, to_micros
from bcon_exporter.model.journal import HISTORY_KEPT, JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind

ENTRIES_IN_ALL = 200_000
ENTRIES_WITHOUT_FILE = 20_000
"""Where no state file is wanted: ten megabytes of memory."""

_COLUMNS = "at, kind, host, project, service, container, code, severity, text, data"


class EntryFilter(NamedTuple):
    """Which entries are wanted.

    Attributes:
        since, until: `since` ≤ time < `until`.
        name: A container, service or project; None takes all, also those about none.
        kinds: Any of these; empty takes all.
        words: All of these stand in the text; empty takes all.
    """

    since: datetime
    until: datetime
    name: str | None = None
    kinds: tuple[JournalKind, ...] = ()
    words: str = ""


def insert_entries(entries: Iterable[JournalEntry], host: str) -> Statement:
    """Return the statement that adds entries; `host` is the engine they were seen on."""
    rows = [
        (
            to_micros(entry.at), entry.kind, entry.host or host, entry.project, entry.service, entry.container,
            entry.code, entry.severity, entry.text, json.dumps(entry.data),
        )
        for entry in entries
    ]  # fmt: skip
    return f"INSERT INTO journal ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows  # noqa: S608 -- our own


def find_entries(query: Query, wanted: EntryFilter, limit: int, offset: int = 0) -> list[JournalEntry]:
    """Return entries, newest first."""
    where, parameters = _where(wanted)
    rows = query(
        f"SELECT {_COLUMNS} FROM journal WHERE {where} ORDER BY at DESC, id DESC LIMIT ? OFFSET ?",  # noqa: S608
        [*parameters, limit, offset],
    )
    return [_from_row(row) for row in rows]


def count_entries(query: Query, wanted: EntryFilter) -> int:
    """Return how many entries there are."""
    where, parameters = _where(wanted)
    rows = query(f"SELECT count(*) FROM journal WHERE {where}", parameters)  # noqa: S608 -- words of our own
    return int(rows[0][0]) if rows else 0


def _where(wanted: EntryFilter) -> tuple[str, list[Any]]:
    conditions = ["at >= ?", "at < ?"]
    parameters: list[Any] = [to_micros(wanted.since), to_micros(wanted.until)]
    if wanted.name is not None:
        conditions.append("? IN (container, service, project)")
        parameters.append(wanted.name)
    if wanted.kinds:
        conditions.append(f"kind IN ({','.join('?' * len(wanted.kinds))})")
        parameters += wanted.kinds
    printable = "".join(char if char.isprintable() and char != '"' else " " for char in wanted.words)
    words = [f'"{word}"' for word in printable.split()]
    if words:
        conditions.append("id IN (SELECT rowid FROM journal_words WHERE journal_words MATCH ?)")
        parameters.append(" ".join(words))
    return " AND ".join(conditions), parameters


def _from_row(row: tuple[Any, ...]) -> JournalEntry:
    at, kind, host, project, service, container, code, severity, text, data = row
    return JournalEntry(
        at=from_micros(at),
        kind=JournalKind(kind),
        host=host,
        project=project,
        service=service,
        container=container,
        code=code,
        severity=severity,
        text=text,
        data=json.loads(data),
    )


def prune_entries(now: datetime, at_most: int) -> tuple[Statement, ...]:
    """Return the statements that drop entries of long ago, and the oldest beyond so many."""
    return (
        ("DELETE FROM journal WHERE at < ?", [(to_micros(now - HISTORY_KEPT),)]),
        (
            "DELETE FROM journal WHERE id <= (SELECT id FROM journal ORDER BY id DESC LIMIT 1 OFFSET ?)",
            [(at_most,)],
        ),
    )
