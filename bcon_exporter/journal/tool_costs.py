"""The ledger of what tool calls cost."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from uuid import uuid4

from pydantic import ValidationError

from bcon_exporter.journal.event_rows import Query, Statement
from bcon_exporter.journal.schema import to_micros
from bcon_exporter.memory import share_out
from bcon_exporter.model.reports import CostEntry

COSTS_IN_ALL = 100_000
_ENTRIES_AT_ONCE = 500
_OPERATION = "CASE WHEN json_valid(entry) THEN coalesce(json_extract(entry, '$.operation'), '') ELSE '' END"
_SOME_ENTRIES = "SELECT at, id, entry FROM costs WHERE (at, id) > (?, ?) AND at < ? ORDER BY at, id LIMIT ?"


def insert_cost(entry: CostEntry) -> Statement:
    """Return the statement that adds an entry."""
    return "INSERT INTO costs VALUES (?, ?, ?)", [(to_micros(entry.timestamp), uuid4().hex, entry.model_dump_json())]


def load_costs(query: Query, since: datetime, until: datetime) -> Iterator[CostEntry]:
    """Yield the entries of `since` ≤ time < `until`, oldest first; what cannot be read is left out.

    Args:
        query: Runs a SELECT; asked for some entries at a time, since all of them are 100 MB.
        since: Inclusive.
        until: Exclusive.
    """
    at, entry_id = to_micros(since), ""
    while True:
        rows = query(_SOME_ENTRIES, (at, entry_id, to_micros(until), _ENTRIES_AT_ONCE))
        for _, _, text in rows:
            try:
                yield CostEntry.model_validate_json(text)
            except ValidationError:
                continue
        if len(rows) < _ENTRIES_AT_ONCE:
            return
        at, entry_id, _ = rows[-1]


def find_costly(query: Query) -> dict[str, int]:
    """Return the operations that have too many entries, and how many: each has its share of `COSTS_IN_ALL`."""
    ((total,),) = query("SELECT count(*) FROM costs", ()) or [(0,)]
    if total <= COSTS_IN_ALL:
        return {}
    counts: dict[str, int] = dict(query(f"SELECT {_OPERATION}, count(*) FROM costs GROUP BY 1", ()))  # noqa: S608 -- our own
    shares = share_out(counts, COSTS_IN_ALL)
    return {name: count - shares[name] for name, count in counts.items() if shares[name] < count}


def prune_costs(before: datetime, costly: Mapping[str, int]) -> tuple[Statement, ...]:
    """Return the statements that drop old entries, and the oldest of operations that have too many."""
    chosen = f"SELECT at, id FROM costs WHERE {_OPERATION} = ? ORDER BY at, id LIMIT ?"  # noqa: S608 -- our own
    oldest = f"DELETE FROM costs WHERE (at, id) IN ({chosen})"  # noqa: S608 -- our own
    return (("DELETE FROM costs WHERE at < ?", [(to_micros(before),)]), (oldest, list(costly.items())))
