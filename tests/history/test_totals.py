"""Promise: totals neither shrink nor count twice when the state file comes and goes."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from bcon_exporter.model.facts import ContainerState
from tests.factories import NOON, usage
from tests.history.state_files import fill, status_of
from tests.history.told import batch, container, crash_loop, event, open_history, past_of, scan

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
    first = open_history(state)
    told = [*crash_loop(5), event(NOON, "oom")]
    first.record_events(batch(*told), NOON)
    assert past_of(first, container()).restarts_total == 5
    first.close()
    other = lock(state)
    history = open_history(state)
    later = NOON + 5 * MINUTE
    history.record_events(batch(*told[4:], *crash_loop(2, last=later)), later)
    assert (status_of(history), past_of(history, container(), later).restarts_total) == ("memory", 5)
    other.close()
    later += 5 * MINUTE
    history.record_events(batch(), later)
    assert status_of(history) == "file"
    past = past_of(history, container(), later)
    assert (past.restarts_total, past.oom_kills_total) == (7, 1)


def test_what_was_not_written_yet_is_not_lost_when_the_file_comes_back(state: Path) -> None:
    fill(state)
    other = lock(state)
    history = open_history(state)
    history.record_events(batch(), NOON)
    scan(history, container(name="young", usage=usage()))
    other.close()
    later = NOON + 2 * MINUTE
    history.record_events(batch(), later)
    assert status_of(history) == "file"
    gone = container(name="young", state=ContainerState.EXITED, exit_code=0, finished_at=later)
    assert scan(history, gone, now=later).containers[0].last_usage == usage()


def test_totals_that_could_not_be_read_are_not_overwritten_by_smaller_ones(state: Path) -> None:
    first = open_history(state)
    first.record_events(batch(*crash_loop(5)), NOON)
    assert past_of(first, container()).restarts_total == 5
    first.close()
    history = open_history(state)
    history._database._connection.execute("ALTER TABLE identities RENAME TO away")
    later = NOON + 5 * MINUTE
    history.record_events(batch(*crash_loop(1, last=later)), later)
    history._database._connection.execute("ALTER TABLE away RENAME TO identities")
    past_of(history, container(), later)
    history.close()
    assert past_of(open_history(state), container(), later).restarts_total == 5
