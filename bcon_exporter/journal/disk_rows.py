"""How large logs, layers and volumes were in each hour of the last day, in the state file."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from bcon_exporter.journal.event_rows import Query, Statement
from bcon_exporter.journal.schema import from_micros, to_micros
from bcon_exporter.memory import DiskSample

KEEP = timedelta(hours=25)


def insert_samples(samples: Iterable[DiskSample]) -> Statement:
    """Return the statement that stores sizes."""
    rows = [(sample.subject, to_micros(sample.at), sample.size_bytes) for sample in samples]
    return "INSERT OR REPLACE INTO disk VALUES (?, ?, ?)", rows


def load_samples(query: Query) -> list[DiskSample]:
    """Return all that are stored; those that are too old are left out when the next reading comes."""
    return [
        DiskSample(subject, from_micros(at), size)
        for subject, at, size in query("SELECT subject, at, size FROM disk", ())
    ]


def prune_samples(now: datetime) -> Statement:
    """Return the statement that drops the sizes of before the last day."""
    return "DELETE FROM disk WHERE at < ?", [(to_micros(now - KEEP),)]
