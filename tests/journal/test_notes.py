"""Promise: notes outlive restarts and times without the state file; none comes twice, none comes back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.memory import add_note, remove_note
from bcon_exporter.model.notes import Note
from tests.factories import NOON
from tests.journal.keepers import batch, open_beside, open_keeper
from tests.journal.state_files import fill, status_of
from tests.journal.test_upgrade import make_old

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.journal import MemoryKeeper

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "state.db"


def write(keeper: MemoryKeeper, text: str) -> None:
    """Write a note down that a person has approved."""
    note = Note(id="", text=text, written_by="person", written_at=NOON, expires_at=NOON + DAY, approved_at=NOON)
    keeper.keep_notes(lambda book: add_note(book, note), NOON)


def remove(keeper: MemoryKeeper, note_id: str) -> None:
    keeper.keep_notes(lambda book: remove_note(book, note_id, NOON), NOON)


def told(keeper: MemoryKeeper) -> list[tuple[str, str]]:
    return [(note.id, note.text) for note in keeper.memory.notes.notes]


def test_a_file_from_before_there_were_notes_is_read_and_takes_them(state: Path) -> None:
    fill(state)
    with closing(sqlite3.connect(state)) as connection:
        assert connection.execute("SELECT count(*) FROM memory WHERE key = 'notes'").fetchone() == (0,)
    keeper = open_keeper(state)
    assert told(keeper) == []
    write(keeper, "harmless")
    keeper.close()
    assert told(open_keeper(state)) == [("n1", "harmless")]


def test_the_file_of_the_first_version_takes_notes(tmp_path: Path) -> None:
    keeper = open_keeper(make_old(tmp_path / "state.db"))
    write(keeper, "harmless")
    assert (keeper.status, told(keeper)) == ("file", [("n1", "harmless")])


def test_a_damaged_row_of_notes_loses_nothing_else(state: Path) -> None:
    keeper = open_keeper(state)
    write(keeper, "harmless")
    keeper.conclude_first_seen("symptom", dict.fromkeys({"old"}), NOON)
    keeper.close()
    with closing(sqlite3.connect(state)) as connection, connection:
        connection.execute("UPDATE memory SET value = '{\"notes\": [{}]}' WHERE key = 'notes'")
    keeper = open_keeper(state)
    assert (keeper.status, told(keeper)) == ("file", [])
    assert dict(keeper.first_seen("symptom")) == {"old": NOON}


def test_the_last_note_that_is_removed_is_gone_after_a_restart_too(state: Path) -> None:
    keeper = open_keeper(state)
    write(keeper, "harmless")
    remove(keeper, "n1")
    keeper.close()
    keeper = open_keeper(state)
    assert told(keeper) == []
    write(keeper, "another")
    assert told(keeper) == [("n2", "another")]


def test_a_command_reads_the_notes_of_a_daemon_that_runs(state: Path) -> None:
    daemon = open_keeper(state)
    write(daemon, "harmless")
    assert told(open_beside(state, read_only=True)) == [("n1", "harmless")]


def test_notes_from_a_time_without_the_file_join_those_in_it_under_new_numbers(state: Path) -> None:
    keeper = open_keeper(state)
    write(keeper, "in the file")
    keeper.close()
    with closing(sqlite3.connect(state, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        keeper = open_keeper(state)
        write(keeper, "in memory")
        assert (status_of(keeper), told(keeper)) == ("memory", [("n1", "in memory")])
    keeper.add_events(batch(), NOON + 10 * MINUTE)
    assert status_of(keeper) == "file"
    assert told(keeper) == [("n1", "in the file"), ("n2", "in memory")]
    keeper.close()
    assert told(open_keeper(state)) == [("n1", "in the file"), ("n2", "in memory")]


def test_what_happens_to_notes_while_the_file_is_locked_holds_after_it(state: Path) -> None:
    keeper = open_keeper(state)
    write(keeper, "removed meanwhile")
    write(keeper, "kept")
    with closing(sqlite3.connect(state, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        remove(keeper, "n1")
        write(keeper, "written meanwhile")
        assert status_of(keeper) == "memory"
    keeper.add_events(batch(), NOON + 5 * MINUTE)
    assert status_of(keeper) == "file"
    assert told(keeper) == [("n2", "kept"), ("n3", "written meanwhile")]
    keeper.close()
    assert told(open_keeper(state)) == [("n2", "kept"), ("n3", "written meanwhile")]
