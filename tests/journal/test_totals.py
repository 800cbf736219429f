"""Promise: totals neither shrink nor count twice when the state file comes and goes."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from bcon_exporter.model.container_facts import ContainerState, HostSnapshot
from tests.factories import NOON, usage
from tests.journal.keepers import batch, container, crash_loop, event, open_keeper, past_of, scan
from tests.journal.state_files import fill, status_of

MINUTE = timedelta(minutes=1)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def lock(path: Path) -> sqlite3.Connection:
    """Keep the file from others until it is closed."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    return other


def test_what_a_locked_file_had_counted_is_not_counted_again_when_it_is_free(state: Path) -> None:
    """The engine tells an exporter that begins without its file what the one before has counted."""
    first = open_keeper(state)
    told = [*crash_loop(5), event(NOON, "oom")]
    first.add_events(batch(*told), NOON)
    assert past_of(first, container()).restarts_total == 5
    first.close()
    other = lock(state)
    keeper = open_keeper(state)
    later = NOON + 5 * MINUTE
    keeper.add_events(batch(*told[4:], *crash_loop(2, last=later)), later)
    assert (status_of(keeper), past_of(keeper, container(), later).restarts_total) == ("memory", 5)
    other.close()
    later += 5 * MINUTE
    keeper.add_events(batch(), later)
    assert status_of(keeper) == "file"
    past = past_of(keeper, container(), later)
    assert (past.restarts_total, past.oom_kills_total) == (7, 1)


def test_what_was_not_written_yet_is_not_lost_when_the_file_comes_back(state: Path) -> None:
    fill(state)
    other = lock(state)
    keeper = open_keeper(state)
    keeper.add_events(batch(), NOON)
    scan(keeper, container(name="young", usage=usage()))
    other.close()
    later = NOON + 2 * MINUTE
    keeper.add_events(batch(), later)
    assert status_of(keeper) == "file"
    gone = container(name="young", state=ContainerState.EXITED, exit_code=0, finished_at=later)
    assert scan(keeper, gone, now=later).containers[0].last_usage == usage()


def test_totals_that_could_not_be_read_go_on_once_they_can(state: Path) -> None:
    first = open_keeper(state)
    first.add_events(batch(*crash_loop(5)), NOON)
    assert past_of(first, container()).restarts_total == 5
    first.close()
    keeper = open_keeper(state)
    keeper._state._connection.execute("ALTER TABLE memory RENAME TO away")
    later = NOON + 5 * MINUTE
    keeper.look(HostSnapshot(taken_at=later, containers=(container(),)))
    keeper._state._connection.execute("ALTER TABLE away RENAME TO memory")
    keeper.add_events(batch(*crash_loop(1, last=later)), later)
    past_of(keeper, container(), later)
    keeper.close()
    assert past_of(open_keeper(state), container(), later).restarts_total == 6
