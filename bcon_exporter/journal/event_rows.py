"""Lifecycle events in the state file: one row each, the same event never twice."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from bcon_exporter.journal.schema import from_micros, to_micros
from bcon_exporter.memory import EVENTS_PER_IDENTITY, Past, counted_as, may_be_counted, order_of, share_out
from bcon_exporter.model.lifecycle import LifecycleEvent

EVENTS_IN_ALL = 200_000

Query = Callable[[str, Sequence[Any]], Sequence[tuple[Any, ...]]]
"""Runs a SELECT with parameters."""

Statement = tuple[str, Sequence[Sequence[Any]]]
"""One SQL statement and the rows to run it with."""


def load_events(query: Query, identity: str, past: Past) -> Past:
    """Return the past with the newest stored events of its identity, and which of them are counted."""
    rows = query(
        "SELECT at, container_id, action, detail, image, counted FROM events WHERE identity = ?"
        " ORDER BY at DESC LIMIT ?",
        (identity, EVENTS_PER_IDENTITY),
    )
    loaded = [(_from_row(row), bool(row[5])) for row in rows]
    return replace(
        past,
        events=tuple(sorted((event for event, _ in loaded), key=order_of)),
        counted=frozenset(counted_as(event) for event, is_counted in loaded if is_counted),
    )


def _from_row(row: tuple[Any, ...]) -> LifecycleEvent:
    at, container_id, action, detail, image = row[:5]
    number = _to_number(detail) if action in ("die", "kill") else None
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


def _to_number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def changed_events(identity: str, before: Past, after: Past) -> list[Statement]:
    """Return the statements that store what two pasts of an identity differ in."""
    # The same values are the same objects: one past is made of the other.
    if after.events is before.events and after.counted is before.counted:
        return []
    stored = {id(event) for event in before.events}
    new = [event for event in after.events if id(event) not in stored]
    counted = after.counted - before.counted
    marked = [event for event in after.events if may_be_counted(event) and counted_as(event) in counted]
    statements: list[Statement] = [
        (
            "INSERT OR IGNORE INTO events (identity, container_id, at, action, detail, image, counted)"
            " VALUES (?, ?, ?, ?, ?, ?, 0)",
            [_to_row(identity, event) for event in new],
        ),
        (
            "UPDATE events SET counted = 1"
            " WHERE identity = ? AND container_id = ? AND at = ? AND action = ? AND detail = ?",
            [_to_row(identity, event)[:-1] for event in marked],
        ),
    ]
    kept = {id(event) for event in after.events}
    dropped = [event for event in before.events if id(event) not in kept]
    if dropped:
        forget = "DELETE FROM events WHERE identity = ? AND container_id = ? AND at = ? AND action = ? AND detail = ?"
        statements.append((forget, [_to_row(identity, event)[:-1] for event in dropped]))
    return statements


def _to_row(identity: str, event: LifecycleEvent) -> tuple[Any, ...]:
    match event.action:
        case "die":
            detail = "" if event.exit_code is None else str(event.exit_code)
        case "kill":
            detail = "" if event.signal is None else str(event.signal)
        case _:
            detail = event.health or ""
    return identity, event.container_id, to_micros(event.at), event.action, detail, event.image


def find_beyond(query: Query, present: Collection[str]) -> dict[str, int]:
    """Return whose events are too many, and how many of each: those that are there have equal shares.

    Args:
        query: Runs a SELECT.
        present: Identities that have a container. The others have what these leave; the least recent goes first.
    """
    ((total,),) = query("SELECT count(*) FROM events", ()) or [(0,)]
    if total <= EVENTS_IN_ALL:
        return {}
    rows = query("SELECT identity, count(*), max(at) FROM events GROUP BY identity", ())
    counts = {identity: count for identity, count, _ in rows}
    shares = share_out({identity: count for identity, count in counts.items() if identity in present}, EVENTS_IN_ALL)
    left = EVENTS_IN_ALL - sum(shares.values())
    for identity, count, _ in sorted(rows, key=lambda row: -row[2]):
        if identity not in present:
            shares[identity] = min(count, left)
            left -= shares[identity]
    return {identity: counts[identity] - share for identity, share in shares.items() if share < counts[identity]}


def prune_events(before: datetime, beyond: Mapping[str, int]) -> tuple[Statement, ...]:
    """Return the statements that drop old events, and the oldest of those that have too many."""
    oldest = (
        "DELETE FROM events WHERE (identity, at, container_id, action, detail) IN"
        " (SELECT identity, at, container_id, action, detail FROM events WHERE identity = ? ORDER BY at LIMIT ?)"
    )
    return (("DELETE FROM events WHERE at < ?", [(to_micros(before),)]), (oldest, list(beyond.items())))
