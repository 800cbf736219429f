"""Takes over the state file of 0.1.0 (schema 1): once, in one transaction, with a copy of it kept beside."""

import json
import os
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from bcon_exporter.journal.memory_rows import (
    Record,
    container_record,
    encode,
    lines_key,
    losses_record,
    past_record,
    read_time,
    times_record,
)
from bcon_exporter.journal.schema import from_micros, schema_statements
from bcon_exporter.memory import Configured, CountedContainer, Coverage, Gap, Past, Shutdown

OLD_VERSION = 1
_OLD_TABLES = (
    "identities", "containers", "images", "exit_lines", "usage", "first_seen", "alerts", "gaps", "shutdowns",
)  # fmt: skip


def keep_copy(connection: sqlite3.Connection, path: Path) -> Path:
    """Write the file as it is to `<name>.v1`, whole or not at all; 0.1.0 can start again on it.

    Raises:
        OSError, sqlite3.Error: It cannot be written.
    """
    target = path.with_name(f"{path.name}.v1")
    scratch = path.with_name(f"{path.name}.v1.part")
    scratch.unlink(missing_ok=True)
    os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    copy = sqlite3.connect(scratch)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    scratch.replace(target)
    return target


def upgrade(connection: sqlite3.Connection) -> None:
    """Turn the tables of schema 1 to those of today, within the caller's transaction."""
    records = list(_read_old(connection))
    for table in _OLD_TABLES:
        connection.execute(f"DROP TABLE {table}")
    for statement in schema_statements():
        connection.execute(statement)
    connection.executemany(
        "INSERT OR REPLACE INTO memory VALUES (?, ?, ?)", [(record.key, at, record.value) for record, at in records]
    )
    connection.execute("DELETE FROM meta WHERE key IN ('observed_since', 'observed_until')")


def _read_old(connection: sqlite3.Connection) -> Iterator[tuple[Record, int]]:
    """Yield what the tables hold as today's records, each with when it was seen."""

    def query(sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        return connection.execute(sql, parameters).fetchall()

    times = {key: read_time(value) for key, value in query("SELECT key, value FROM meta")}
    newest = max([0, *(seen_at for (seen_at,) in query("SELECT seen_at FROM containers"))])
    coverage = Coverage(
        observed_since=times.get("observed_since"),
        observed_until=times.get("observed_until"),
        gaps=tuple(Gap(*_times(row)) for row in query("SELECT began, ended FROM gaps ORDER BY began")),
        shutdowns=tuple(Shutdown(*_times(row)) for row in query("SELECT began, ended FROM shutdowns ORDER BY began")),
    )
    yield losses_record(coverage), newest
    yield times_record(coverage), newest
    configured: dict[str, dict[str, Configured]] = {}
    containers = (
        "SELECT container_id, identity, restart_count, started_at, policy, stop_signal, image_id, seen_at"
        " FROM containers LEFT JOIN images USING (container_id)"
    )
    for container_id, identity, count, started_at, policy, stop_signal, image_id, seen_at in query(containers):
        configured.setdefault(identity, {})[container_id] = Configured(stop_signal, policy, image_id)
        counted = CountedContainer(count, None if started_at is None else from_micros(started_at))
        yield container_record(container_id, identity, counted), seen_at
    totals = {
        row[0]: row[1:] for row in query("SELECT identity, restarts_total, oom_kills_total, seen_at FROM identities")
    }
    for identity in totals.keys() | configured.keys():
        restarts, oom_kills, seen_at = totals.get(identity, (0, 0, newest))
        past = Past(restarts_total=restarts, oom_kills_total=oom_kills, containers=configured.get(identity, {}))
        yield past_record(identity, past), seen_at
    for container_id, at, lines in query("SELECT container_id, at, lines FROM exit_lines"):
        yield Record(lines_key(container_id, from_micros(at)), encode(_lines(lines))), at
    for container_id, read_at, usage in query("SELECT container_id, read_at, usage FROM usage"):
        yield Record(f"usage/{container_id}", usage), read_at
    for kind, key, since in query("SELECT kind, key, since FROM first_seen"):
        yield Record(f"seen/{kind}/{key}", str(since)), since
    for (state,) in query("SELECT state FROM alerts"):
        yield Record("alerts", state), newest


def _times(row: tuple[int, int]) -> tuple[datetime, datetime]:
    return from_micros(row[0]), from_micros(row[1])


def _lines(text: str) -> list[str]:
    try:
        lines = json.loads(text)
    except ValueError:
        return []
    return [str(line) for line in lines] if isinstance(lines, list) else []
