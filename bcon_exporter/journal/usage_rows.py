"""What containers used in each five minutes of the last day, in the state file."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from bcon_exporter.journal.event_rows import Query, Statement
from bcon_exporter.journal.schema import from_micros, to_micros
from bcon_exporter.memory import Spread, UsageSlot

KEEP = timedelta(hours=24)

_ID_CHARS = 12
"""As much of an id as people are shown: whole ones would be half of what is written."""


def insert_slots(slots: Iterable[UsageSlot]) -> Statement:
    """Return the statement that stores slots; of one that a restart of the exporter has cut in two the later part."""
    rows = [(to_micros(slot.at), slot.container_id[:_ID_CHARS], *slot.cpu_ratio, *slot.memory_bytes) for slot in slots]
    return "INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?, ?)", rows


def find_slots(query: Query, container_id: str, since: datetime) -> list[UsageSlot]:
    """Return what a container used since then, oldest first."""
    rows = query(
        "SELECT at, cpu_mean, cpu_max, memory_mean, memory_max FROM usage"
        " WHERE at >= ? AND container_id = ? ORDER BY at",
        (to_micros(since), container_id[:_ID_CHARS]),
    )
    return [
        UsageSlot(from_micros(at), container_id, Spread(cpu_mean, cpu_max), Spread(memory_mean, memory_max))
        for at, cpu_mean, cpu_max, memory_mean, memory_max in rows
    ]


def prune_slots(now: datetime) -> Statement:
    """Return the statement that drops the slots of before the last day."""
    return "DELETE FROM usage WHERE at < ?", [(to_micros(now - KEEP),)]
