"""Promise: a full, corrupt, locked or foreign state file never stops the daemon: it goes on in memory and says so."""

import logging
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from bcon_exporter.errors import ErrorCode, StateFileError
from bcon_exporter.journal import EntryFilter, IncidentFilter, MemoryKeeper
from bcon_exporter.journal.opening import BUSY_SECONDS, set_aside
from bcon_exporter.journal.schema import APPLICATION_ID
from bcon_exporter.journal.state_file import StateFile
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.incidents import IncidentRoot
from bcon_exporter.readings import KillReadings
from tests.docker.nobody import as_nobody
from tests.factories import NOON, ago, compose, full_id, usage
from tests.journal.keepers import RETENTION_SECONDS, batch, container, crash_loop, event, open_keeper, past_of, scan
from tests.journal.state_files import (
    corrupt_files,
    damage_an_index,
    damage_header,
    damage_middle,
    fill,
    foreign,
    newer,
    replace_by_garbage,
    status_of,
    truncate,
    unreadable,
    works,
)
from tests.left_open import close_later

MINUTE = timedelta(minutes=1)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "state.db"


def test_the_file_is_private(state: Path) -> None:
    keeper = open_keeper(state)
    assert works(keeper)
    assert status_of(keeper) == "file"
    assert stat.S_IMODE(state.parent.stat().st_mode) == 0o700
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in state.parent.iterdir()}
    assert modes == {"state.db": 0o600, "state.db-wal": 0o600, "state.db-shm": 0o600, "state.db.lock": 0o600}
    keeper.close()


def test_a_file_that_others_may_read_is_made_private(state: Path) -> None:
    state.parent.mkdir()
    state.touch(mode=0o644)
    open_keeper(state).close()
    assert stat.S_IMODE(state.stat().st_mode) == 0o600


def test_no_file_is_no_failure() -> None:
    keeper = open_keeper(None)
    assert works(keeper)
    assert (keeper.status, keeper.errors_total) == ("none", 0)
    keeper.close()


@pytest.mark.parametrize("damage", [damage_header, damage_middle, damage_an_index, truncate, replace_by_garbage])
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(
    state: Path, damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    fill(state)
    damage(state)  # type: ignore[operator]  # a function of the parameters
    bad = state.read_bytes()
    began = time.thread_time()
    keeper = open_keeper(state)
    assert time.thread_time() - began < 1
    assert (keeper.status, keeper.errors_total) == ("file", 1)
    assert corrupt_files(state) == ["state.db.corrupt-20260101T120000Z"]
    assert (state.parent / corrupt_files(state)[0]).read_bytes() == bad
    assert "corrupt-20260101T120000Z" in caplog.text
    assert works(keeper)
    keeper.close()
    assert works(open_keeper(state))


def test_companions_of_a_damaged_file_go_with_it(state: Path) -> None:
    fill(state)
    for suffix in ("-wal", "-shm"):
        state.with_name(state.name + suffix).write_bytes(b"old")
    set_aside(state, NOON)
    name = "state.db.corrupt-20260101T120000Z"
    assert corrupt_files(state) == [name, f"{name}-shm", f"{name}-wal"]
    others = {p.name for p in state.parent.iterdir() if not p.name.startswith(name)}
    assert others == {"state.db", "state.db.lock"}


def test_two_damaged_files_in_one_second_are_both_kept(state: Path) -> None:
    for _ in range(2):
        fill(state)
        replace_by_garbage(state)
        open_keeper(state).close()
    assert len(corrupt_files(state)) == 2


@pytest.mark.parametrize(("make", "words"), [(foreign, "another program's"), (newer, "newer bcon-exporter")])
def test_somebody_elses_database_is_left_alone(
    state: Path, make: object, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    make(state)  # type: ignore[operator]  # a function of the parameters
    before = state.read_bytes()
    keeper = open_keeper(state)
    assert (keeper.status, keeper.errors_total) == ("memory", 1)
    assert words in str(keeper.reason)
    assert words in caplog.text
    assert works(keeper)
    keeper.close()
    assert state.read_bytes() == before
    assert corrupt_files(state) == []


def test_a_folder_in_the_files_place_is_left_alone(state: Path) -> None:
    state.mkdir(parents=True)
    keeper = open_keeper(state)
    assert (keeper.status, works(keeper)) == ("memory", True)
    assert "no regular file" in str(keeper.reason)


def test_a_folder_that_cannot_be_made_is_no_end(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    keeper = open_keeper(tmp_path / "file" / "sub" / "state.db")
    assert (keeper.status, works(keeper)) == ("memory", True)


@pytest.mark.integration
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_forbidden_folder_is_no_end(tmp_path: Path) -> None:
    """In a process of another user: root may do everything."""
    state = tmp_path / "state.db"
    code = (
        "import sys; from pathlib import Path; from datetime import UTC, datetime\n"
        "from bcon_exporter.journal import MemoryKeeper\n"
        "now = datetime(2026, 1, 1, tzinfo=UTC)\n"
        "for read_only in (False, True):\n"
        "    keeper = MemoryKeeper.open(Path(sys.argv[1]), retention_seconds=9e5, now=now, read_only=read_only)\n"
        "    print(keeper.status, keeper.reason)\n"
    )
    fill(state)
    tmp_path.chmod(0o700)
    command = [*as_nobody(), sys.executable, "-c", code, str(state)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stderr
    assert all(line.startswith("memory") for line in lines), lines


@pytest.mark.slow
def test_a_locked_file_is_waited_for_a_moment_and_used_when_free(state: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(state)
    other = sqlite3.connect(state, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    began = time.thread_time()
    keeper = open_keeper(state)  # the other one never lets go: it is waited for BUSY_SECONDS
    assert time.thread_time() - began < 1
    assert BUSY_SECONDS <= 0.5
    assert (keeper.status, works(keeper)) == ("memory", True)
    assert "locked" in str(keeper.reason)
    for seconds in range(0, 180, 30):
        keeper.add_events(batch(), NOON + timedelta(seconds=seconds))
    assert status_of(keeper) == "memory"
    assert 2 <= keeper.errors_total <= 4
    assert len([r for r in caplog.records if r.levelno >= logging.WARNING]) == 1
    other.close()
    later = NOON + 10 * MINUTE
    keeper.add_events(batch(), later)
    assert status_of(keeper) == "file"
    past = past_of(keeper, container(), later)
    assert past.restarts_total == 200, "what the file held"
    assert past_of(keeper, container(name="works"), later).restarts_total == 3, "and what memory held"
    assert keeper.conclude_first_seen("symptom", dict.fromkeys({"old", "x"}), later)["old"] == ago(hours=5)
    keeper.close()
    again = open_keeper(state)
    assert past_of(again, container(name="works"), later).restarts_total == 3


def test_a_file_locked_while_it_runs_loses_nothing(state: Path) -> None:
    keeper = open_keeper(state)
    keeper.add_events(batch(*crash_loop(2)), NOON)
    assert past_of(keeper, container()).restarts_total == 2
    other = sqlite3.connect(state, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    keeper.add_events(batch(*crash_loop(1, last=NOON + MINUTE)), NOON + MINUTE)
    assert status_of(keeper) == "memory"
    assert past_of(keeper, container(), NOON + MINUTE).restarts_total == 3
    other.close()
    later = NOON + 5 * MINUTE
    keeper.add_events(batch(), later)
    assert status_of(keeper) == "file"
    assert past_of(keeper, container(), later).restarts_total == 3
    keeper.close()
    assert past_of(open_keeper(state), container(), later).restarts_total == 3


def test_a_file_that_breaks_while_it_runs_is_set_aside(state: Path) -> None:
    keeper = open_keeper(state)
    keeper.add_events(batch(*crash_loop(200)), NOON)
    assert past_of(keeper, container()).restarts_total == 200
    keeper.conclude_first_seen("symptom", dict.fromkeys({"old"}), ago(hours=5))
    checkpoint = sqlite3.connect(state)
    checkpoint.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    checkpoint.close()
    with state.open("r+b") as file:
        file.write(os.urandom(state.stat().st_size))
    for n in range(1, 20):
        now = NOON + n * MINUTE
        keeper.add_events(batch(*crash_loop(1, name=f"c{n}", last=now)), now)
        assert past_of(keeper, container(), now).restarts_total == 200
        scan(keeper, container(), now=now)
    assert keeper.errors_total >= 1
    assert len(corrupt_files(state)) >= 1
    assert status_of(keeper) == "file"
    keeper.close()
    again = open_keeper(state)
    later = NOON + 30 * MINUTE
    assert past_of(again, container(), later).restarts_total == 200
    assert again.conclude_first_seen("symptom", dict.fromkeys({"old"}), later) == {"old": ago(hours=5)}


DB = IncidentRoot(container="db", code="exit_error")
ASKED: dict[str, Callable[[MemoryKeeper], object]] = {
    "journal": lambda keeper: keeper.find_entries(EntryFilter(ago(days=1), NOON + MINUTE), 10, 0),
    "usage": lambda keeper: keeper.find_usage(full_id("api"), ago(days=1)),
    "costs": lambda keeper: list(keeper.costs(ago(days=1), NOON + MINUTE)),
    "incidents": lambda keeper: keeper.find_ended_incidents(IncidentFilter(ago(days=1))),
    "incidents, by id": lambda keeper: keeper.find_ended_incident("2026-01-01-db-exit_error-1"),
    "incidents, earlier ones": lambda keeper: keeper.find_earlier_incidents(DB),
    "incidents, their ids": lambda keeper: keeper.ended_incident_ids(),
    "incidents, the mark": lambda keeper: keeper.ended_incidents_mark(),
}


@pytest.mark.parametrize("what", ASKED)
def test_what_cannot_be_read_is_an_error_for_who_asks_and_not_an_empty_answer(state: Path, what: str) -> None:
    keeper, ask = open_keeper(state), ASKED[what]
    before = ask(keeper)
    with unreadable(state, what.partition(",")[0]), pytest.raises(StateFileError, match="look for room") as raised:
        ask(keeper)
    assert raised.value.code is ErrorCode.INTERNAL_ERROR
    assert (status_of(keeper), keeper.errors_total) == ("file", 1)
    assert ask(keeper) == before


@pytest.mark.parametrize("table", ["memory", "events", "journal", "disk", "usage", "costs", "incidents", "meta"])
def test_a_scan_goes_on_whatever_cannot_be_read(state: Path, table: str) -> None:
    fill(state)
    keeper = open_keeper(state)
    many = tuple(container(name=f"c{number}", usage=usage()) for number in range(40))
    with unreadable(state, table):
        assert len(keeper.look(HostSnapshot(taken_at=NOON, containers=many)).containers) == 40
        keeper.add_kills(batch(event(NOON, "oom")), KillReadings(((NOON, full_id("api")),)), NOON)
        keeper.add_events(batch(*crash_loop(1, name="works")), NOON)
        host = scan(keeper, container(name="works"), container(usage=usage()), *many, now=NOON + MINUTE)
        assert len(host.containers) == 42
        assert keeper.find_due_deployments(host) == ()
        assert keeper.look(host).containers[0].lifecycle is not None


@pytest.mark.parametrize("table", ["memory", "events", "journal", "disk", "usage", "costs", "incidents", "meta"])
def test_a_file_of_which_a_part_cannot_be_read_is_begun_with_all_the_same(state: Path, table: str) -> None:
    fill(state)
    file = StateFile(state, read_only=False)
    file.open(NOON)
    with unreadable(state, table):
        keeper = close_later(MemoryKeeper(file, RETENTION_SECONDS, NOON))
        assert works(keeper)


def test_a_verdict_on_deployments_is_recalled_as_far_as_it_can_be_read(state: Path) -> None:
    keeper = open_keeper(state)
    keeper.add_events(batch(), NOON)
    host = scan(keeper, container(compose=compose("web", config_hash="h"), created_at=ago(hours=3)))
    with unreadable(state, "journal"):
        assert keeper.find_due_deployments(host) == ()
    assert keeper.memory.deployments.judged is not None


def remove(state: Path) -> None:
    state.unlink()


def remove_all(state: Path) -> None:
    for file in state.parent.glob("state.db*"):
        file.unlink()


def remove_folder(state: Path) -> None:
    shutil.rmtree(state.parent)


def move_folder(state: Path) -> None:
    state.parent.rename(state.parent.with_name("elsewhere"))


def put_a_file_in_its_place(state: Path) -> None:
    """As who restores a backup."""
    backup = state.parent.with_name("backup") / "state.db"
    fill(backup)
    backup.rename(state)


@pytest.mark.parametrize("lose", [remove, remove_all, remove_folder, move_folder, put_a_file_in_its_place])
def test_a_file_that_is_removed_while_it_runs_is_made_again_with_all_it_held(
    state: Path, lose: object, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = open_keeper(state)
    keeper.add_events(batch(*crash_loop(200)), NOON)
    keeper.conclude_first_seen("symptom", dict.fromkeys({"old"}), ago(hours=5))
    assert past_of(keeper, container()).restarts_total == 200
    lose(state)  # type: ignore[operator]  # a function of the parameters

    soon = NOON + timedelta(seconds=30)
    keeper.add_events(batch(*crash_loop(3, name="works", last=soon)), soon)
    assert (status_of(keeper), keeper.errors_total) == ("memory", 1)
    assert "state.db was removed or replaced" in str(keeper.reason)
    assert past_of(keeper, container(name="works"), soon).restarts_total == 3
    later = NOON + 3 * MINUTE
    keeper.add_events(batch(), later)
    assert (status_of(keeper), keeper.errors_total) == ("file", 1)
    assert len([r for r in caplog.records if "removed or replaced" in r.message]) == 1
    keeper.close()

    again = open_keeper(state)
    assert past_of(again, container(), later).restarts_total == 200
    assert past_of(again, container(name="works"), later).restarts_total == 3
    assert again.conclude_first_seen("symptom", dict.fromkeys({"old"}), later) == {"old": ago(hours=5)}
    again.close()
    with closing(sqlite3.connect(state)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert corrupt_files(state) == []


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 KiB."""
    where = tmp_path / "tiny"
    where.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("needs root to mount a file system")
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(where)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"cannot mount here: {done.stderr.strip()}")
    yield where
    subprocess.run(["umount", str(where)], check=True)


@pytest.mark.integration
def test_a_disk_that_is_full_from_the_start_is_no_end(tiny_disk: Path) -> None:
    (tiny_disk / "ballast").write_bytes(b"x" * 60 * 1024)
    began = time.thread_time()
    keeper = open_keeper(tiny_disk / "state.db")
    assert time.thread_time() - began < 1
    assert (keeper.status, works(keeper)) == ("memory", True)
    (tiny_disk / "ballast").unlink()
    keeper.close()


@pytest.mark.integration
def test_a_disk_that_fills_up_loses_nothing_of_what_is_known(tiny_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    remount = ["mount", "-o", "remount,size=400k", str(tiny_disk)]
    subprocess.run(remount, check=True)
    keeper = open_keeper(tiny_disk / "state.db")
    assert status_of(keeper) == "file"
    keeper.add_events(batch(*crash_loop(2)), NOON)
    assert past_of(keeper, container()).restarts_total == 2
    now = NOON
    for n in range(1, 40):
        now = NOON + timedelta(seconds=n)
        keeper.add_events(batch(*crash_loop(50, name=f"filler{n}", last=now)), now)
    assert status_of(keeper) == "memory"
    assert "full" in str(keeper.reason)
    assert len([r for r in caplog.records if r.levelno >= logging.WARNING]) == 1
    assert past_of(keeper, container(), now).restarts_total == 2
    subprocess.run([*remount[:2], "remount,size=8m", remount[3]], check=True)
    later = now + 2 * MINUTE
    keeper.add_events(batch(event(later, "pause")), later)
    assert status_of(keeper) == "file"
    keeper.close()
    again = open_keeper(tiny_disk / "state.db")
    assert past_of(again, container(name="filler39"), later).restarts_total == 50
    again.close()


def test_the_file_says_whose_it_is(state: Path) -> None:
    fill(state)
    connection = sqlite3.connect(state)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_what_comes_after_the_end_is_written_nowhere(state: Path, caplog: pytest.LogCaptureFixture) -> None:
    keeper = open_keeper(state)
    keeper.close()
    held = state.read_bytes()

    keeper.add_events(batch(*crash_loop(3)), NOON + timedelta(minutes=5))

    assert (status_of(keeper), keeper.errors_total, caplog.records) == ("file", 0, [])
    assert state.read_bytes() == held
