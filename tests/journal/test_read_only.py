"""Promise: a command reads what a daemon has kept, beside it or after it, and writes nothing."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.factories import NOON, ago, usage
from tests.journal.keepers import batch, container, crash_loop, open_keeper, past_of
from tests.journal.state_files import corrupt_files, fill, foreign, newer, replace_by_garbage, works

MINUTE = timedelta(minutes=1)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "state.db"


def test_a_command_reads_beside_a_running_daemon_and_writes_nothing(state: Path) -> None:
    daemon = open_keeper(state)
    daemon.add_events(batch(*crash_loop(3)), NOON)
    past_of(daemon, container(usage=usage(pids=7)))
    daemon.conclude_first_seen("symptom", dict.fromkeys({"x"}), ago(hours=1))
    before = {p.name: p.stat().st_size for p in state.parent.iterdir()}
    command = open_keeper(state, read_only=True)
    assert command.status == "file"
    assert past_of(command, container()).restarts_total == 3
    assert command.conclude_first_seen("symptom", dict.fromkeys({"x"}), NOON) == {"x": ago(hours=1)}
    command.add_events(batch(*crash_loop(1, last=NOON + MINUTE)), NOON + MINUTE)
    assert past_of(command, container(), NOON + MINUTE).restarts_total == 4
    command.close()
    assert {p.name: p.stat().st_size for p in state.parent.iterdir()} == before
    assert past_of(daemon, container()).restarts_total == 3
    daemon.close()


def test_a_command_reads_what_a_daemon_left(state: Path) -> None:
    fill(state)
    assert not state.with_name("state.db-wal").exists()
    command = open_keeper(state, read_only=True)
    assert past_of(command, container()).restarts_total == 200
    command.close()


def test_a_command_where_no_daemon_ran_makes_no_file(state: Path) -> None:
    command = open_keeper(state, read_only=True)
    assert (command.status, command.errors_total, works(command)) == ("none", 0, True)
    assert not state.parent.exists()


@pytest.mark.parametrize("make", [foreign, newer])
def test_a_command_says_what_it_cannot_read(state: Path, make: object) -> None:
    make(state)  # type: ignore[operator]  # a function of the parameters
    command = open_keeper(state, read_only=True)
    assert (command.status, works(command)) == ("memory", True)


def test_a_command_leaves_a_damaged_file_to_the_daemon(state: Path) -> None:
    fill(state)
    replace_by_garbage(state)
    command = open_keeper(state, read_only=True)
    assert (command.status, works(command)) == ("memory", True)
    assert corrupt_files(state) == []
