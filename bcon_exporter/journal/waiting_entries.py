"""Entries of the journal that wait in memory for the state file: so many, and one `gap` that tells of more."""

import json
import sqlite3

from bcon_exporter.journal.schema import from_micros
from bcon_exporter.model.journal_kinds import JournalKind

WAITING_ENTRIES = 2_000
"""An entry takes half a kilobyte: these a megabyte."""

_LOST = "lost_entries"
_BEGAN = "began_at"


def find_newest_id(connection: sqlite3.Connection) -> int:
    """Return the number of the newest entry, 0 where there is none."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM journal").fetchone()[0])


def bound_waiting_entries(connection: sqlite3.Connection, saved_id: int) -> None:
    """Drop all but the newest entries; of those that no file has, one `gap` in their place tells how many there were.

    Args:
        connection: The database in memory.
        saved_id: Entries up to this number are in the file too.
    """
    beyond = "SELECT id FROM journal ORDER BY id DESC LIMIT 1 OFFSET ?"
    oldest_kept = connection.execute(beyond, (WAITING_ENTRIES - 1,)).fetchone()
    if oldest_kept is None:
        return
    chosen = "FROM journal WHERE id > ? AND id < ? ORDER BY id"
    lost = connection.execute(f"SELECT id, at, host, data {chosen}", (saved_id, *oldest_kept)).fetchall()
    if len(lost) == 1 and _LOST in json.loads(lost[0][3]):
        return
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM journal WHERE id < ?", oldest_kept)
    if lost:
        _tell(connection, lost)
    connection.execute("COMMIT")


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
