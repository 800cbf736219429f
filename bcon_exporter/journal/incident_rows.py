"""Incidents that are over, in the state file; the open ones are values of the memory."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from pydantic import ValidationError

from bcon_exporter.journal.event_rows import Query, Statement
from bcon_exporter.journal.schema import to_micros
from bcon_exporter.memory import share_out
from bcon_exporter.model.incidents import EndedBy, Incident, IncidentRoot, SeenBefore
from bcon_exporter.model.journal import HISTORY_KEPT

INCIDENTS_IN_ALL = 20_000
"""Of 90 days. Beyond, each root has its share, and its oldest go first."""


class IncidentFilter(NamedTuple):
    """Which incidents are wanted: those that had not ended by `since`; of a project, or of all."""

    since: datetime
    project: str | None = None


def insert_incidents(incidents: Iterable[Incident]) -> Statement:
    """Return the statement that stores incidents that are over."""
    rows = [
        (
            incident.id, to_micros(incident.started_at), to_micros(incident.ended_at or incident.started_at),
            incident.root.project, incident.root.service or incident.root.name, incident.root.code, incident.ended_by,
            incident.model_dump_json(exclude_defaults=True),
        )
        for incident in incidents
    ]  # fmt: skip
    return "INSERT OR REPLACE INTO incidents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows


def find_ended(query: Query, wanted: IncidentFilter) -> list[Incident]:
    """Return incidents that are over, newest first."""
    rows = query(
        "SELECT incident FROM incidents WHERE ended_at >= ? AND (? IS NULL OR project = ?)"
        " ORDER BY started_at DESC, id DESC",
        (to_micros(wanted.since), wanted.project, wanted.project),
    )
    return [incident for (text,) in rows if (incident := _read(text)) is not None]


def find_by_id(query: Query, incident_id: str) -> Incident | None:
    """Return one that is over; None when there is no such."""
    rows = query("SELECT incident FROM incidents WHERE id = ?", (incident_id,))
    return _read(rows[0][0]) if rows else None


def find_ids(query: Query) -> frozenset[str]:
    """Return the ids of all that are over."""
    return frozenset(incident_id for (incident_id,) in query("SELECT id FROM incidents", ()))


def find_mark(query: Query) -> object:
    """Return a value that changes with the incidents that are over."""
    return query("SELECT count(*), total(started_at) FROM incidents", ())


def _read(text: str) -> Incident | None:
    try:
        return Incident.model_validate_json(text)
    except ValidationError:
        return None


def find_earlier(query: Query, root: IncidentRoot) -> SeenBefore:
    """Return how often the same has happened; incidents that were merged into others do not count."""
    rows = query(
        "SELECT id, ended_by FROM incidents WHERE project IS ? AND root = ? AND code = ? AND ended_by IS NOT NULL"
        " ORDER BY started_at",
        (root.project, root.service or root.name, root.code),
    )
    if not rows:
        return SeenBefore()
    (usual, _), *_ = Counter(ended_by for _, ended_by in rows).most_common(1)
    return SeenBefore(count=len(rows), last_id=rows[-1][0], usual_end=EndedBy(usual))


def find_crowding(query: Query) -> dict[tuple[str | None, str, str], int]:
    """Return the roots of which there are too many incidents, by project, name and code, and how many of each."""
    ((total,),) = query("SELECT count(*) FROM incidents", ()) or [(0,)]
    if total <= INCIDENTS_IN_ALL:
        return {}
    rows = query("SELECT project, root, code, count(*) FROM incidents GROUP BY project, root, code", ())
    counts = {(project, root, code): count for project, root, code, count in rows}
    shares = share_out(counts, INCIDENTS_IN_ALL)
    return {root: count - shares[root] for root, count in counts.items() if shares[root] < count}


def prune_incidents(now: datetime, crowding: Mapping[tuple[str | None, str, str], int]) -> tuple[Statement, ...]:
    """Return the statements that drop incidents of long ago, and the oldest of roots that have too many."""
    oldest = (
        "DELETE FROM incidents WHERE id IN (SELECT id FROM incidents WHERE project IS ? AND root = ? AND code = ?"
        " ORDER BY started_at LIMIT ?)"
    )
    return (
        ("DELETE FROM incidents WHERE ended_at < ?", [(to_micros(now - HISTORY_KEPT),)]),
        (oldest, [(*root, count) for root, count in crowding.items()]),
    )
