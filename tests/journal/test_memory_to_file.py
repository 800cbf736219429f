"""Promise: what memory gathered and forgot while the state file could not be used holds in the file afterwards too."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import EntryFilter, IncidentFilter
from bcon_exporter.journal.memory_to_file import move_memory_to_file
from bcon_exporter.journal.opening import copy_to_memory, open_memory
from bcon_exporter.journal.schema import TABLES, from_micros, to_micros
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import EndedBy, Incident, IncidentRoot, IncidentState
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.quiet import Quiet
from bcon_exporter.readings import KillReadings, LogWindow, Readings
from tests.factories import NOON, container, full_id, snapshot
from tests.journal.keepers import batch, open_keeper
from tests.journal.state_files import status_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.journal import MemoryKeeper

MINUTE = timedelta(minutes=1)
LATER = NOON + 5 * MINUTE
SYMPTOM, OTHER = "shop\x1fweb\x1fshop-web-1\x1fexit_error", "shop\x1fdb\x1fshop-db-1\x1funhealthy"


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
    with closing(open_memory()) as source, closing(open_memory()) as target:
        fill(source, table, "new", 1)
        move_memory_to_file(source, target, continues=continues, is_copy=continues)

        assert target.execute(f"SELECT count(*) FROM {table}").fetchone() == (1,)


@pytest.mark.parametrize(("continues", "wins"), [(True, 2), (False, 1)])
@pytest.mark.parametrize("table", ["meta", "incidents", "disk"])
def test_what_both_have_is_that_of_memory_where_it_went_on_from_the_file(
    table: str, continues: bool, wins: int
) -> None:
    with closing(open_memory()) as source, closing(open_memory()) as target:
        fill(target, table, "same", 1)
        fill(source, table, "same", 2)
        move_memory_to_file(source, target, continues=continues, is_copy=continues)

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


def see(keeper: MemoryKeeper, at: datetime, *keys: str) -> None:
    keeper.conclude_first_seen("symptom", dict.fromkeys(keys, Severity.ERROR), at)


def told_as_over(keeper: MemoryKeeper) -> int:
    ends = EntryFilter(NOON - MINUTE, LATER + MINUTE, words="over")
    return keeper.count_entries(ends)


@pytest.mark.parametrize("is_unreadable", [False, True])
def test_a_symptom_that_ends_while_the_file_is_locked_ends_once(
    tmp_path: Path, is_unreadable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    see(keeper, NOON, SYMPTOM, OTHER)
    if is_unreadable:
        monkeypatch.setattr("bcon_exporter.journal.state_file.copy_to_memory", fail_to_copy)
    with locked(tmp_path / "state.db"):
        see(keeper, NOON + MINUTE, OTHER)
    take_back(keeper)
    assert set(keeper.first_seen("symptom")) == {OTHER}
    see(keeper, LATER, OTHER)
    assert told_as_over(keeper) == 1
    keeper.close()
    assert dict(open_keeper(tmp_path / "state.db").first_seen("symptom")) == {OTHER: NOON}


def fail_to_copy(_: sqlite3.Connection, **_how: bool) -> sqlite3.Connection:
    raise sqlite3.OperationalError


def test_reading_goes_on_where_it_was_when_the_file_can_be_used_again(tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    readings = Readings(logs={full_id("web"): LogWindow(cursor=7)})
    logged = KillReadings(logged=((NOON, full_id("unknown")),))
    with closing(open_keeper(state)) as keeper:
        with locked(state):
            keeper.add_kills(batch(), logged, NOON)
            keeper.add_events(batch(), NOON)
            keeper.observe(snapshot(container()), readings)
            oom = keeper.memory.oom
        take_back(keeper)

        assert oom.of_unknown_containers == logged.logged
        assert (keeper.memory.readings, keeper.memory.oom) == (readings, oom)


def test_a_symptom_of_a_file_that_was_never_read_is_kept(tmp_path: Path) -> None:
    first = open_keeper(tmp_path / "state.db")
    see(first, NOON, SYMPTOM)
    first.close()
    with locked(tmp_path / "state.db"):
        keeper = open_keeper(tmp_path / "state.db")
        see(keeper, NOON + MINUTE, OTHER)
    take_back(keeper)

    assert dict(keeper.first_seen("symptom")) == {SYMPTOM: NOON, OTHER: NOON + MINUTE}


def mute(keeper: MemoryKeeper, *names: str, at: datetime = NOON) -> None:
    quiets = tuple(Quiet(name=name, project=name, began_at=NOON, ends_at=NOON + 60 * MINUTE) for name in names)
    keeper.keep_quiets(lambda _: quiets, JournalEntry(at=at, kind=JournalKind.NOTE, text="quiet"))


def muted(keeper: MemoryKeeper) -> set[str]:
    return {quiet.name for quiet in keeper.memory.quiets}


@pytest.mark.parametrize("kept", [(), ("blog",)])
def test_a_quiet_that_a_person_ends_while_the_file_is_locked_stays_ended(tmp_path: Path, kept: tuple[str, ...]) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    mute(keeper, "shop", "blog")
    with locked(tmp_path / "state.db"):
        mute(keeper, *kept, at=NOON + MINUTE)
    take_back(keeper)
    assert muted(keeper) == set(kept)
    keeper.close()
    assert muted(open_keeper(tmp_path / "state.db")) == set(kept)


def test_the_quiets_of_a_file_that_was_never_read_join_those_of_memory(tmp_path: Path) -> None:
    first = open_keeper(tmp_path / "state.db")
    mute(first, "shop")
    first.close()
    with locked(tmp_path / "state.db"):
        keeper = open_keeper(tmp_path / "state.db")
        mute(keeper, "blog", at=NOON + MINUTE)
    take_back(keeper)

    assert muted(keeper) == {"shop", "blog"}


def note(keeper: MemoryKeeper, number: int) -> None:
    entry = JournalEntry(at=NOON + timedelta(seconds=number), kind=JournalKind.NOTE, text=f"note {number}")
    keeper.keep_quiets(lambda quiets: quiets, entry)


def told(keeper: MemoryKeeper, *kinds: JournalKind) -> list[JournalEntry]:
    wanted = EntryFilter(NOON - MINUTE, NOON + timedelta(days=1), kinds=kinds)
    return keeper.find_entries(wanted, 10_000)


@pytest.mark.parametrize("is_read", [True, False])
def test_of_the_entries_that_wait_for_the_file_the_newest_are_kept_and_one_gap_tells_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_read: bool
) -> None:
    monkeypatch.setattr("bcon_exporter.journal.waiting_entries.WAITING_ENTRIES", 20)
    keeper = open_keeper(tmp_path / "state.db")
    for number in range(30):
        note(keeper, number)
    if not is_read:
        keeper.close()
    with locked(tmp_path / "state.db"):
        keeper = keeper if is_read else open_keeper(tmp_path / "state.db")
        for number in range(30, 75):
            note(keeper, number)
        assert len(told(keeper)) == 21 + (30 if is_read else 0)
        (gap,) = told(keeper, JournalKind.GAP)
    assert (gap.data["lost_entries"], gap.at) == (25, NOON + timedelta(seconds=54))
    assert gap.data["began_at"] == (NOON + timedelta(seconds=30)).isoformat()

    take_back(keeper)
    assert [entry.text for entry in told(keeper, JournalKind.NOTE)] == [
        f"note {number}" for number in (*range(74, 54, -1), *range(29, -1, -1))
    ]
    assert told(keeper, JournalKind.GAP) == [gap]


def test_what_waits_is_numbered_behind_what_the_file_has_however_often_that_fails() -> None:
    with closing(open_memory()) as source, closing(open_memory()) as target:
        source.execute("INSERT INTO journal VALUES (1, 5, 'note', 'h', NULL, NULL, NULL, NULL, NULL, 'waited', '{}')")
        target.execute("INSERT INTO journal VALUES (7, 3, 'note', 'h', NULL, NULL, NULL, NULL, NULL, 'before', '{}')")
        target.execute(
            "CREATE TRIGGER full BEFORE INSERT ON journal BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
        for _ in range(3):
            with pytest.raises(sqlite3.Error):
                move_memory_to_file(source, target, continues=False, is_copy=False)
        target.execute("DROP TRIGGER full")
        move_memory_to_file(source, target, continues=False, is_copy=False)

        assert target.execute("SELECT id, text FROM journal ORDER BY id").fetchall() == [(7, "before"), (8, "waited")]
        assert source.execute("SELECT rowid FROM journal_words WHERE journal_words MATCH 'waited'").fetchall() == [(1,)]


def fill_with_past(path: Path, entries: int, incidents: int) -> None:
    open_keeper(path).close()
    with closing(sqlite3.connect(path)) as connection:
        rows = [
            (number, to_micros(NOON) + number, "note", "h", f"note {number}", "{}") for number in range(1, entries + 1)
        ]
        rows[0] = (1, 1, "deployment", "h", "long ago", "{}")
        connection.executemany("INSERT INTO journal (id, at, kind, host, text, data) VALUES (?, ?, ?, ?, ?, ?)", rows)
        old = [
            (f"old-{number}", number, number, "shop", "web", "unhealthy", "by_itself") for number in range(incidents)
        ]
        connection.executemany("INSERT INTO incidents VALUES (?, ?, ?, ?, ?, ?, ?, 'text')", old)
        connection.commit()


def count(connection: sqlite3.Connection, table: str, where: str = "1") -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0])


@pytest.mark.parametrize("is_removed", [False, True])
def test_all_that_the_file_had_is_there_afterwards_also_where_another_file_takes_its_place(
    tmp_path: Path, *, is_removed: bool
) -> None:
    state = tmp_path / "state.db"
    fill_with_past(state, 2_500, 1_200)
    keeper = open_keeper(state)
    if is_removed:
        state.unlink()
        note(keeper, 1)
    else:
        with locked(state):
            note(keeper, 1)
    take_back(keeper)
    keeper.close()

    with closing(sqlite3.connect(state)) as connection:
        assert count(connection, "journal") == 2_501
        assert count(connection, "journal", "kind = 'gap'") == 0
        assert count(connection, "incidents", "incident = 'text'") == 1_200
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        words = "SELECT count(*) FROM journal_words WHERE journal_words MATCH 'note'"
        assert connection.execute(words).fetchone() == (2_500,)


def test_of_a_file_that_is_only_locked_memory_takes_the_newest_entries_and_the_texts_of_the_newest_incidents(
    tmp_path: Path,
) -> None:
    fill_with_past(tmp_path / "state.db", 2_500, 1_200)
    with (
        closing(sqlite3.connect(tmp_path / "state.db")) as source,
        closing(copy_to_memory(source, whole=False)) as memory,
    ):
        assert count(memory, "journal") == 2_001
        assert count(memory, "journal", "kind = 'deployment'") == 1
        assert count(memory, "incidents") == 1_200
        assert count(memory, "incidents", "incident != ''") == 1_000
    with (
        closing(sqlite3.connect(tmp_path / "state.db")) as source,
        closing(copy_to_memory(source, whole=True)) as memory,
    ):
        assert (count(memory, "journal"), count(memory, "incidents", "incident != ''")) == (2_500, 1_200)


def test_the_journal_is_known_no_further_back_than_memory_has_it(tmp_path: Path) -> None:
    fill_with_past(tmp_path / "state.db", 2_500, 0)
    keeper = open_keeper(tmp_path / "state.db")
    keeper.add_events(batch(), NOON)
    assert keeper.journal_since == keeper.observed_since
    with locked(tmp_path / "state.db"):
        note(keeper, 1)
    assert keeper.journal_since == from_micros(to_micros(NOON) + 501)
    take_back(keeper)
    assert keeper.journal_since == keeper.observed_since
