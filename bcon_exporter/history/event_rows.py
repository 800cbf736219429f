"""Lifecycle events in the database: one row each, the same event never twice."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from bcon_exporter.history.database import Database, Row, Statement
from bcon_exporter.history.schema import from_micros, to_micros
from bcon_exporter.model.lifecycle import LifecycleEvent
from bcon_exporter.model.lifecycle_restarts import INFERRED_RESTART

EVENTS_PER_IDENTITY = 1000
"""The newest of them are kept: a crash loop of a month must not fill the disk."""

EVENTS_IN_ALL = 200_000

_ENGINE_ACTIONS = "create start die kill stop restart oom pause unpause destroy rename health_status"
KEPT_ACTIONS = frozenset((*_ENGINE_ACTIONS.split(), INFERRED_RESTART))

_INSERT = (
    "INSERT OR IGNORE INTO events (identity, at, container_id, action, detail, image, counted)"
    " VALUES (?, ?, ?, ?, ?, ?, 0)"
)


def load_events(database: Database, identity: str) -> list[tuple[LifecycleEvent, bool]]:
    """Return the newest events of an identity, oldest first, each with whether the counters have it."""
    rows = database.query(
        "SELECT at, container_id, action, detail, image, counted FROM events WHERE identity = ?"
        " ORDER BY at DESC LIMIT ?",
        (identity, EVENTS_PER_IDENTITY),
    )
    return [(_from_row(row), bool(row[5])) for row in reversed(rows)]


def _from_row(row: tuple[Any, ...]) -> LifecycleEvent:
    at, container_id, action, detail, image = row[:5]
    number = int(detail) if detail.lstrip("-").isdigit() else None
    return LifecycleEvent(
        at=from_micros(at),
        action=action,
        container_id=container_id,
        name="",
        image=image,
        exit_code=number if action == "die" else None,
        signal=number if action == "kill" else None,
        health=detail if action == "health_status" else None,
    )


def insert_events(events: Iterable[tuple[str, LifecycleEvent]]) -> Statement:
    """Return the statement that keeps events of identities."""
    return _INSERT, [_to_row(identity, event) for identity, event in events]


def _to_row(identity: str, event: LifecycleEvent) -> Row:
    return (identity, *_key(event), event.image)


def _key(event: LifecycleEvent) -> tuple[int, str, str, str]:
    match event.action:
        case "die":
            detail = "" if event.exit_code is None else str(event.exit_code)
        case "kill":
            detail = "" if event.signal is None else str(event.signal)
        case _:
            detail = event.health or ""
    return to_micros(event.at), event.container_id, event.action, detail


def mark_counted(events: Iterable[tuple[str, LifecycleEvent]]) -> Statement:
    """Return the statement that marks events as counted."""
    return (
        "UPDATE events SET counted = 1"
        " WHERE identity = ? AND at = ? AND container_id = ? AND action = ? AND detail = ?",
        [(identity, *_key(event)) for identity, event in events],
    )


def cap_events(identities: Iterable[str]) -> Statement:
    """Return the statement that drops an identity's events beyond the newest."""
    return (
        "DELETE FROM events WHERE identity = ?1 AND at < (SELECT at FROM events WHERE identity = ?1"
        " ORDER BY at DESC LIMIT 1 OFFSET ?2)",
        [(identity, EVENTS_PER_IDENTITY - 1) for identity in identities],
    )


def prune_events(before: datetime) -> tuple[Statement, ...]:
    """Return the statements that drop old events, and the oldest beyond `EVENTS_IN_ALL`."""
    return (
        ("DELETE FROM events WHERE at < ?", [(to_micros(before),)]),
        ("DELETE FROM events WHERE at < (SELECT at FROM events ORDER BY at DESC LIMIT 1 OFFSET ?)", [(EVENTS_IN_ALL,)]),
    )


def strip(event: LifecycleEvent) -> LifecycleEvent:
    """Return the event as it comes back from the database: equal to what is loaded."""
    return LifecycleEvent(
        at=event.at,
        action=event.action,
        container_id=event.container_id,
        name="",
        image=event.image,
        exit_code=event.exit_code if event.action == "die" else None,
        signal=event.signal if event.action == "kill" else None,
        health=event.health if event.action == "health_status" else None,
    )
