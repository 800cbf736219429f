"""Entries of the journal that wait in memory for the state file: so many, and one `gap` that tells of more."""

import json
import sqlite3
from datetime import datetime

from bcon_exporter.journal.schema import from_micros
from bcon_exporter.model.journal_kinds import JournalKind

WAITING_ENTRIES = 2_000
"""An entry takes half a kilobyte: these a megabyte."""

_LOST = "lost_entries"
_BEGAN = "began_at"


def find_newest_id(connection: sqlite3.Connection) -> int:
    """Return the number of the newest entry, 0 where there is none."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM journal").fetchone()[0])


def find_oldest_taken(connection: sqlite3.Connection, saved_id: int) -> datetime | None:
    """Return the time of the oldest of the newest entries, where older ones may be in the file only; else None."""
    oldest_id = saved_id - WAITING_ENTRIES + 1
    if oldest_id <= 1:
        return None
    ((at,),) = connection.execute("SELECT min(at) FROM journal WHERE id >= ?", (oldest_id,))
    return None if at is None else from_micros(at)


def bound_waiting_entries(connection: sqlite3.Connection, saved_id: int) -> None:
    """Drop all but the newest of the entries that no file has had; one `gap` in their place tells how many there were.

    Args:
        connection: The database in memory.
        saved_id: Entries up to this number came from the file.
    """
    newest = "SELECT id FROM journal WHERE id > ? ORDER BY id DESC LIMIT 1 OFFSET ?"
    oldest_kept = connection.execute(newest, (saved_id, WAITING_ENTRIES - 1)).fetchone()
    if oldest_kept is None:
        return
    beyond = (saved_id, *oldest_kept)
    lost = connection.execute(
        "SELECT id, at, host, data FROM journal WHERE id > ? AND id < ? ORDER BY id", beyond
    ).fetchall()
    if not lost or (len(lost) == 1 and _LOST in json.loads(lost[0][3])):
        return
    with connection:  # commits, or takes all back
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM journal WHERE id > ? AND id < ?", beyond)
        _tell(connection, lost)


def _tell(connection: sqlite3.Connection, lost: list[tuple[int, int, str, str]]) -> None:
    known = [json.loads(data) for *_, data in lost]
    count = sum(data.get(_LOST, 1) for data in known)
    newest_id, newest_at, host, _ = lost[-1]
    began_at = known[0][_BEGAN] if _LOST in known[0] else from_micros(lost[0][1]).isoformat()
    text = f"{count:,} entries were lost, since the state file could not be used for long"
    data = json.dumps({_BEGAN: began_at, _LOST: count})
    connection.execute(
        "INSERT INTO journal (id, at, kind, host, text, data) VALUES (?, ?, ?, ?, ?, ?)",
        (newest_id, newest_at, JournalKind.GAP, host, text, data),
    )
