"""Carries the rows of one state database over to another: to memory when the file fails, and back."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from bcon_exporter.history.schema import TABLES

_ADD_TOTALS = (
    " ON CONFLICT (identity) DO UPDATE SET restarts_total = restarts_total + excluded.restarts_total,"
    " oom_kills_total = oom_kills_total + excluded.oom_kills_total"
)
_RAISE_TOTALS = (
    " ON CONFLICT (identity) DO UPDATE SET restarts_total = max(restarts_total, excluded.restarts_total),"
    " oom_kills_total = max(oom_kills_total, excluded.oom_kills_total)"
)
_MARK_COUNTED = (
    " ON CONFLICT (identity, at, container_id, action, detail) DO UPDATE SET counted = max(counted, excluded.counted)"
)


def copy_rows(
    source: sqlite3.Connection, target: sqlite3.Connection, *, newer: bool = False, raised: bool = False
) -> None:
    """Add the rows of one state database to another.

    Args:
        source: Read.
        target: Added to, in one transaction.
        newer: The source began as a copy of the target, so its rows replace those there. Else rows that are there
            stay, and totals are added up, but for events that both have counted.
        raised: The source's totals go on from those of the target: the greater ones hold.
    """
    target.execute("BEGIN IMMEDIATE")
    try:
        twice = Counter[tuple[str, bool]]() if newer or raised else _count_twice(source, target)
        for table in TABLES:
            verb, on_conflict = "OR REPLACE" if newer or table == "alerts" else "OR IGNORE", ""
            if table == "identities" and not newer:
                verb, on_conflict = "", _RAISE_TOTALS if raised else _ADD_TOTALS
            elif table == "events" and not newer:
                verb, on_conflict = "", _MARK_COUNTED
            rows = source.execute(f"SELECT * FROM {table}")  # noqa: S608 -- a name of our own
            marks = ",".join("?" * len(rows.description))
            insert = f"INSERT {verb} INTO {table} VALUES ({marks}){on_conflict}"  # noqa: S608 -- as above
            target.executemany(insert, _without(twice, rows) if table == "identities" else rows)
        target.execute("COMMIT")
    except BaseException:
        if target.in_transaction:
            target.execute("ROLLBACK")
        raise


def _without(twice: Counter[tuple[str, bool]], totals: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for identity, restarts, oom_kills, seen_at in totals:
        yield identity, restarts - twice[identity, False], oom_kills - twice[identity, True], seen_at


def _count_twice(source: sqlite3.Connection, target: sqlite3.Connection) -> Counter[tuple[str, bool]]:
    """Return how many events both have counted, by identity and whether they are OOM kills."""
    twice = Counter[tuple[str, bool]]()
    events = "SELECT identity, at, container_id, action, detail FROM events WHERE counted = 1"
    same = " AND identity = ? AND at = ? AND container_id = ? AND action = ? AND detail = ?"
    for row in source.execute(events):
        if target.execute(events + same, row).fetchone() is not None:
            twice[row[0], row[3] == "oom"] += 1
    return twice
