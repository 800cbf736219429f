"""The ledger of what tool calls cost."""

from datetime import datetime
from uuid import uuid4

from pydantic import ValidationError

from bcon_exporter.history.database import Database, Statement
from bcon_exporter.history.schema import to_micros
from bcon_exporter.model.reports import CostEntry

COSTS_IN_ALL = 100_000


def insert_cost(entry: CostEntry) -> Statement:
    """Return the statement that adds an entry."""
    return "INSERT INTO costs VALUES (?, ?, ?)", [(to_micros(entry.timestamp), uuid4().hex, entry.model_dump_json())]


def load_costs(database: Database, since: datetime, until: datetime) -> tuple[CostEntry, ...]:
    """Return the entries of `since` ≤ time < `until`, oldest first; what cannot be read is left out."""
    rows = database.query(
        "SELECT entry FROM costs WHERE at >= ? AND at < ? ORDER BY at", (to_micros(since), to_micros(until))
    )
    entries = []
    for (text,) in rows:
        try:
            entries.append(CostEntry.model_validate_json(text))
        except ValidationError:
            continue
    return tuple(entries)


def prune_costs(before: datetime) -> tuple[Statement, ...]:
    """Return the statements that drop old entries, and the oldest beyond `COSTS_IN_ALL`."""
    return (
        ("DELETE FROM costs WHERE at < ?", [(to_micros(before),)]),
        (
            "DELETE FROM costs WHERE at <= (SELECT at FROM costs ORDER BY at DESC LIMIT 1 OFFSET ?)",
            [(COSTS_IN_ALL,)],
        ),
    )
