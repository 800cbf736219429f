"""Promise: what memory gathered and forgot while the state file could not be used holds in the file afterwards too."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import IncidentFilter
from bcon_exporter.journal.memory_to_file import move_memory_to_file
from bcon_exporter.journal.opening import open_memory
from bcon_exporter.journal.schema import TABLES
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import EndedBy, Incident, IncidentRoot, IncidentState
from tests.factories import NOON
from tests.journal.keepers import batch, open_keeper
from tests.journal.state_files import status_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.journal import MemoryKeeper

MINUTE = timedelta(minutes=1)
LATER = NOON + 5 * MINUTE


@contextmanager
def locked(path: Path) -> Iterator[None]:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


def take_back(keeper: MemoryKeeper) -> None:
    assert status_of(keeper) == "memory"
    keeper.add_events(batch(), LATER)
    assert status_of(keeper) == "file"


def over(name: str) -> Incident:
    return Incident(
        id=f"{name}-1",
        started_at=NOON,
        ended_at=NOON + MINUTE,
        ended_by=EndedBy.BY_ITSELF,
        severity=Severity.ERROR,
        root=IncidentRoot(container=name, code="unhealthy"),
        title=name,
        members=(),
    )


def end(keeper: MemoryKeeper, *incidents: Incident) -> None:
    keeper.fold_incidents(lambda _: FoldedIncidents(IncidentState(), incidents), NOON + MINUTE)


def titles(keeper: MemoryKeeper) -> set[str]:
    return {one.title for one in keeper.find_ended_incidents(IncidentFilter(NOON))}


def fill(connection: sqlite3.Connection, table: str, key: str, value: int) -> None:
    """Add a row: with `key` where the primary key is text, and `value` in the columns beside it."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    own = {"TEXT": key, "INTEGER": 7}
    row = [own[kind] if in_key else value for _, _, kind, _, _, in_key in columns]
    connection.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)


@pytest.mark.parametrize("continues", [True, False])
@pytest.mark.parametrize("table", TABLES)
def test_the_rows_of_every_table_are_carried_over(table: str, continues: bool) -> None:
    source, target = open_memory(), open_memory()
    fill(source, table, "new", 1)
    move_memory_to_file(source, target, continues=continues)

    assert target.execute(f"SELECT count(*) FROM {table}").fetchone() == (1,)


@pytest.mark.parametrize(("continues", "wins"), [(True, 2), (False, 1)])
@pytest.mark.parametrize("table", ["meta", "incidents", "disk"])
def test_what_both_have_is_that_of_memory_where_it_went_on_from_the_file(
    table: str, continues: bool, wins: int
) -> None:
    source, target = open_memory(), open_memory()
    fill(target, table, "same", 1)
    fill(source, table, "same", 2)
    move_memory_to_file(source, target, continues=continues)

    ((*_, value),) = target.execute(f"SELECT * FROM {table}").fetchall()
    assert int(value) == wins


@pytest.mark.parametrize("starts_locked", [False, True])
def test_an_incident_that_ends_while_the_file_is_locked_is_known_afterwards(
    tmp_path: Path, starts_locked: bool
) -> None:
    state = tmp_path / "state.db"
    first = open_keeper(state)
    end(first, over("before"))
    if starts_locked:
        first.close()
    with locked(state):
        keeper = open_keeper(state) if starts_locked else first
        end(keeper, over("meanwhile"))
    take_back(keeper)

    assert titles(keeper) == {"before", "meanwhile"}
    keeper.close()
    assert titles(open_keeper(state)) == {"before", "meanwhile"}
