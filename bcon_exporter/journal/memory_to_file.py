"""Carries what a database in memory has gathered over to the state file, once that can be used again."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from bcon_exporter.journal.event_rows import load_events
from bcon_exporter.journal.memory_rows import past_record, read_past
from bcon_exporter.journal.waiting_entries import find_newest_id
from bcon_exporter.memory import Past, join_pasts

_REPLACED = ("alerts", "container", "usage", "window", "past", "repeated")
"""Kinds of values of which the newer one holds in any case."""

_KNOWN_IN_FULL = ("seen", "quiets", "repeated")
"""Kinds of values that memory holds all of: one that it lacks was deleted."""

_CHANGING = ("meta", "disk")
"""Tables of which a row may be written again."""

_MARK_COUNTED = (
    " ON CONFLICT (identity, at, container_id, action, detail) DO UPDATE SET counted = max(counted, excluded.counted)"
)


def move_memory_to_file(
    source: sqlite3.Connection, target: sqlite3.Connection, *, continues: bool, is_copy: bool
) -> None:
    """Add the rows of one database to another, in one transaction.

    Args:
        source: Read.
        target: Added to.
        continues: The source went on from what the target held, so that its values are the newer ones, and what was
            deleted there goes. Else both began on their own: totals are added up, and what either knows is kept.
        is_copy: The source began as a copy of what the target held, so that both number the journal's entries alike.
    """
    target.execute("BEGIN IMMEDIATE")
    try:
        for key, at, value in source.execute("SELECT key, at, value FROM memory"):
            _carry_value(source, target, (key, at, value), continues=continues)
        if continues:
            gone = _find_kept(target) - _find_kept(source)
            target.executemany("DELETE FROM memory WHERE key = ?", [(key,) for key in gone])
        _copy(source, target, "events", "ABORT", _MARK_COUNTED)
        for table in ("costs", "usage"):
            _copy(source, target, table, "IGNORE")
        verb = "REPLACE" if continues else "IGNORE"
        for table in _CHANGING:
            _copy(source, target, table, verb)
        _copy(source, target, "incidents", verb, where="incident != ''")
        _copy(source, target, "incidents", "IGNORE", where="incident = ''")  # their text stayed in the file
        # What both count from 1 is not the same entry.
        _copy_entries(source, target, 0 if is_copy else find_newest_id(target))
        target.execute("COMMIT")
    except BaseException:
        if target.in_transaction:
            target.execute("ROLLBACK")
        raise


def _carry_value(
    source: sqlite3.Connection, target: sqlite3.Connection, row: tuple[str, int, str], *, continues: bool
) -> None:
    key, at, value = row
    kind, _, rest = key.partition("/")
    if kind == "past":
        stored = target.execute("SELECT value FROM memory WHERE key = ?", (key,)).fetchone()
        if stored is not None:
            ours = _read(source, rest, value)
            theirs = _read(target, rest, stored[0])
            value = past_record(rest, join_pasts(theirs, ours, continues=continues)).value
    verb = "REPLACE" if continues or kind in _REPLACED else "IGNORE"
    target.execute(f"INSERT OR {verb} INTO memory VALUES (?, ?, ?)", (key, at, value))  # noqa: S608 -- words of our own


def _find_kept(connection: sqlite3.Connection) -> set[str]:
    keys = {key for (key,) in connection.execute("SELECT key FROM memory")}
    return {key for key in keys if key.partition("/")[0] in _KNOWN_IN_FULL}


def _read(connection: sqlite3.Connection, identity: str, value: str) -> Past:
    def query(sql: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        return connection.execute(sql, parameters).fetchall()

    return load_events(query, identity, read_past(value))


def _copy_entries(source: sqlite3.Connection, target: sqlite3.Connection, shift: int) -> None:
    names = ", ".join(name for _, name, *_ in source.execute("PRAGMA table_info(journal)") if name != "id")
    rows = source.execute(f"SELECT id + ?, {names} FROM journal", (shift,))  # noqa: S608 -- names of our own
    marks = ",".join("?" * len(rows.description))
    target.executemany(f"INSERT OR IGNORE INTO journal (id, {names}) VALUES ({marks})", rows)  # noqa: S608 -- as above


def _copy(
    source: sqlite3.Connection, target: sqlite3.Connection, table: str, verb: str, more: str = "", where: str = "1"
) -> None:
    rows = source.execute(f"SELECT * FROM {table} WHERE {where}")  # noqa: S608 -- words of our own
    marks = ",".join("?" * len(rows.description))
    target.executemany(f"INSERT OR {verb} INTO {table} VALUES ({marks}){more}", rows)  # noqa: S608 -- as above
