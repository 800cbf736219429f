"""Promise: one daemon a state file; a second one says so and goes on in memory until the first has ended."""

import errno
import fcntl
import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from tests.factories import NOON, ago
from tests.journal.keepers import batch, container, crash_loop, open_beside, past_of
from tests.journal.state_files import fill, status_of, works

HOLD = """
import sys
from pathlib import Path
from tests.journal.keepers import open_beside
keeper = open_beside(Path(sys.argv[1]))
print(keeper.status, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "state.db"


@pytest.mark.slow
def test_a_second_daemon_leaves_the_file_to_the_first_and_says_so(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = open_beside(state), open_beside(state)
    assert (status_of(first), status_of(second)) == ("file", "memory")
    assert "another bcon-exporter" in str(second.reason)
    assert "--state.path" in str(second.reason)
    assert works(first)
    assert works(second)
    for minutes in range(1, 5):
        second.add_events(batch(), NOON + timedelta(minutes=minutes))
    assert status_of(second) == "memory"
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1
    first.close()
    second.close()


def test_a_second_daemon_takes_the_file_over_when_the_first_has_ended_and_says_so(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(state)
    first, second = open_beside(state), open_beside(state)
    second.add_events(batch(*crash_loop(3, name="works")), NOON)
    first.close()
    later = NOON + timedelta(minutes=10)
    second.add_events(batch(), later)
    assert status_of(second) == "file"
    assert caplog.messages[-1].startswith(
        f"The state file {state} is taken over; until now: {state} is in use by another bcon-exporter"
    )
    assert past_of(second, container(), later).restarts_total == 200, "what the first had seen"
    assert past_of(second, container(name="works"), later).restarts_total == 3, "what the second had seen"
    assert second.conclude_first_seen("symptom", dict.fromkeys({"old"}), later)["old"] == ago(hours=5)
    assert status_of(open_beside(state)) == "memory", "the file is the second one's now"
    second.close()


@pytest.mark.integration
def test_the_file_is_free_once_a_daemon_was_killed(state: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "file\n"
        assert status_of(open_beside(state)) == "memory"
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate(timeout=20)
    assert status_of(open_beside(state)) == "file"


def test_a_file_that_was_left_for_memory_stays_reserved(state: Path) -> None:
    first = open_beside(state)
    other = sqlite3.connect(state, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    first.add_events(batch(*crash_loop(1)), NOON)
    assert status_of(first) == "memory"
    other.close()
    assert status_of(open_beside(state)) == "memory", "or the first could not go back to it"
    first.add_events(batch(), NOON + timedelta(minutes=5))
    assert status_of(first) == "file"
    first.close()


def test_a_file_system_without_locks_is_used_without(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert status_of(open_beside(state)) == "file"


def test_a_link_in_the_place_of_the_lock_is_not_followed(state: Path) -> None:
    state.parent.mkdir()
    target = state.parent / "precious"
    target.write_text("kept")
    state.with_name("state.db.lock").symlink_to(target)
    keeper = open_beside(state)
    assert status_of(keeper) == "memory"
    assert "state.db.lock cannot be written" in str(keeper.reason)
    assert target.read_text() == "kept"


def test_a_removed_file_and_its_lock_are_reserved_anew(state: Path) -> None:
    first = open_beside(state)
    shutil.rmtree(state.parent)
    for minutes in (1, 5):
        first.add_events(batch(*crash_loop(1)), NOON + timedelta(minutes=minutes))
    assert (status_of(first), status_of(open_beside(state))) == ("file", "memory")
    first.close()


def test_who_makes_a_new_file_before_the_first_daemon_does_keeps_it(state: Path) -> None:
    first = open_beside(state)
    shutil.rmtree(state.parent)
    first.add_events(batch(*crash_loop(1)), NOON)
    second = open_beside(state)
    first.add_events(batch(), NOON + timedelta(minutes=5))
    assert (status_of(first), status_of(second)) == ("memory", "file")
    assert "another bcon-exporter" in str(first.reason)
    first.close()
    second.close()
