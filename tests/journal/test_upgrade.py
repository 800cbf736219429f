"""Promise: an upgrade from 0.1.0 loses nothing, not even when it is killed, and 0.1.0 can start again on its copy."""

import json
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from bcon_exporter.journal import EntryFilter, MemoryKeeper
from bcon_exporter.journal.schema import APPLICATION_ID, SCHEMA_VERSION, TABLES
from bcon_exporter.model.container_facts import ContainerState
from tests.factories import NOON, ago
from tests.journal.keepers import batch, container, crash_loop, open_keeper, past_of, scan

OLD = Path(__file__).parent / "state_of_0_1_0.sql"
"""What 0.1.0 wrote: seven restarts of api, two and an OOM kill of web, an end of job with its last line, a gap."""

LATER = NOON + timedelta(minutes=8)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return make_old(tmp_path / "state.db")


def make_old(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OLD.read_text())
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        connection.execute("PRAGMA journal_mode = WAL")
    path.chmod(0o600)
    return path


def make_of_0_2_0(path: Path) -> Path:
    """A crash loop, a job that failed and removed itself, and the journal of both."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((Path(__file__).parent / "state_of_0_2_0.sql").read_text())
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 2")
        connection.execute("PRAGMA journal_mode = WAL")
    path.chmod(0o600)
    return path


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize("read_only", [False, True], ids=["daemon", "command"])
def test_counters_first_seen_times_and_usage_go_on(state: Path, *, read_only: bool) -> None:
    keeper = open_keeper(state, now=LATER, read_only=read_only)
    assert keeper.status == "file", keeper.reason
    keeper.add_events(batch(*crash_loop(1, last=LATER), since=NOON + timedelta(minutes=7)), LATER)
    stopped = {"state": ContainerState.EXITED, "exit_code": 3, "finished_at": NOON}
    seen = scan(
        keeper,
        container(),
        container(name="web", **{**stopped, "exit_code": 0}),
        container(name="job", **stopped),
        container(name="young", started_at=NOON + timedelta(minutes=6)),
        now=LATER,
    )
    api, web, job, young = (one.lifecycle for one in seen.containers)
    assert api is not None
    assert web is not None
    assert job is not None
    assert young is not None
    assert (api.restarts_total, len(api.restarts), web.restarts_total, web.oom_kills_total) == (8, 8, 2, 1)
    assert (api.observed_since, api.complete, young.complete) == (ago(days=1), True, False), "0.1.0 knew of a gap"
    assert [end.last_lines for end in job.exits] == [("panic: out of cheese",)]
    last = seen.containers[1].last_usage
    assert last is not None
    assert last.pids == 5
    first_seen = {"shop\x1fweb\x1fweb\x1frestart_loop": ago(hours=5)}
    assert keeper.conclude_first_seen("symptom", dict.fromkeys(set(first_seen)), LATER) == first_seen
    assert keeper.first_seen("drift") == {"shop\x1fweb\x1fimage_mismatch": ago(hours=9)}
    assert keeper.memory.alerts == '{"held": true}'
    assert [cost.operation for cost in keeper.costs(ago(hours=1), LATER)] == ["health_check"]


@pytest.mark.parametrize("value", ["²", "--5", "9" * 30, ""])
def test_a_damaged_time_is_no_time(state: Path, value: str) -> None:
    with closing(sqlite3.connect(state)) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('observed_since', ?)", (value,))
    keeper = open_keeper(state, now=LATER)
    assert (keeper.status, keeper.observed_since) == ("file", None)
    assert past_of(keeper, container(), LATER).restarts_total == 7


def test_the_old_file_is_kept_as_it_was(state: Path) -> None:
    before = dump(state)
    open_keeper(state, now=LATER).close()
    kept = state.with_name("state.db.v1")
    assert (version_of(state), version_of(kept)) == (SCHEMA_VERSION, 1)
    assert dump(kept) == before
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    taken = kept.stat().st_mtime_ns
    open_keeper(state, now=LATER).close()
    assert kept.stat().st_mtime_ns == taken, "once"


def test_a_command_leaves_the_old_file_as_it_is(state: Path) -> None:
    before = dump(state)
    assert past_of(open_keeper(state, now=LATER, read_only=True), container(), LATER).restarts_total == 7
    assert dump(state) == before
    assert not state.with_name("state.db.v1").exists()


def test_one_that_is_set_back_to_0_1_0_is_taken_over_again(state: Path) -> None:
    keeper = open_keeper(state, now=LATER)
    keeper.add_events(batch(*crash_loop(3, last=LATER)), LATER)
    keeper.close()
    for file in state.parent.glob("state.db*"):
        if file.name != "state.db.v1":
            file.unlink()
    state.with_name("state.db.v1").rename(state)
    assert past_of(open_keeper(state, now=LATER), container(), LATER).restarts_total == 7


def read_texts(keeper: MemoryKeeper) -> list[str]:
    return [entry.text for entry in keeper.find_entries(EntryFilter(ago(days=1), LATER), 1000)]


@pytest.mark.parametrize("read_only", [False, True], ids=["daemon", "command"])
def test_a_file_of_0_2_0_is_read_as_it_is(tmp_path: Path, *, read_only: bool) -> None:
    state = make_of_0_2_0(tmp_path / "state.db")
    keeper = open_keeper(state, now=LATER, read_only=read_only)
    assert keeper.status == "file", keeper.reason
    assert read_texts(keeper)[:4] == ["removed", "crashed after 1 s, exit code 7", "started", "became unhealthy"]
    assert len(read_texts(keeper)) == 10
    assert [(run.name, run.exit_code) for run in scan(keeper, now=LATER).failed_runs] == [("job", 7)]
    assert not state.with_name("state.db.v2").exists()


def test_0_2_0_can_read_what_is_written_now(tmp_path: Path) -> None:
    """Its tables have its columns, rows of its kinds their fields; what is new are keys and indexes."""
    state = make_of_0_2_0(tmp_path / "state.db")
    with closing(sqlite3.connect(state)) as connection:
        before = {table: columns_of(connection, table) for table in TABLES}
        old = connection.execute("SELECT * FROM journal ORDER BY id").fetchall()
    keeper = open_keeper(state, now=LATER)
    keeper.add_events(batch(*crash_loop(30, last=LATER), since=NOON), LATER)
    scan(keeper, container(restart_count=33), now=LATER + timedelta(seconds=10))
    keeper.close()
    with closing(sqlite3.connect(state)) as connection:
        assert {table: columns_of(connection, table) for table in TABLES} == before
        assert version_of(state) == 2
        rows = connection.execute("SELECT * FROM journal ORDER BY id").fetchall()
        assert rows[: len(old)] == old
        fields = {"crash": ("exit_code", 1), "start": ("by_policy", True)}
        for row in rows[len(old) :]:
            name, value = fields[row[2]]
            assert json.loads(row[-1])[name] == value
        assert connection.execute(
            "SELECT count(*) FROM journal_words WHERE journal_words MATCH 'times'"
        ).fetchone() == (2,)


def columns_of(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    return connection.execute(f"PRAGMA table_info({table})").fetchall()


OPENING = """
import os, signal, sqlite3, sys
from datetime import UTC, datetime
from pathlib import Path

class Dying(sqlite3.Connection):
    left = int(sys.argv[2])

    def _step(self):
        Dying.left -= 1
        if Dying.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def execute(self, *arguments):
        self._step()
        return super().execute(*arguments)

    def executemany(self, *arguments):
        self._step()
        return super().executemany(*arguments)

    def backup(self, *arguments):
        self._step()
        super().backup(*arguments)
        self._step()

connect = sqlite3.connect
sqlite3.connect = lambda *arguments, **named: connect(*arguments, **named, factory=Dying)
from bcon_exporter.journal import MemoryKeeper
MemoryKeeper.open(Path(sys.argv[1]), retention_seconds=9e6, now=datetime(2026, 1, 1, 12, 8, tzinfo=UTC))
print("done")
"""


@pytest.mark.integration
def test_one_that_is_killed_in_the_middle_is_taken_over_by_the_next_start(tmp_path: Path) -> None:
    """After each statement of it: the file is the old one or the new one, never half of each."""
    seen, steps, is_done = [], 0, False
    while not is_done:
        state = make_old(fresh_folder(tmp_path) / "state.db")
        before = dump(state)
        command = [sys.executable, "-c", OPENING, str(state), str(steps)]
        run = subprocess.run(command, capture_output=True, check=False)
        is_done = run.stdout == b"done\n"
        assert is_done or run.returncode == -signal.SIGKILL, run.stderr
        seen.append(version_of(state))
        keeper = open_keeper(state, now=LATER)
        assert past_of(keeper, container(), LATER).restarts_total == 7
        keeper.close()
        assert dump(state.with_name("state.db.v1")) == before
        assert not state.with_name("state.db.v1.part").exists()
        steps += 4
    assert seen[0] == 1
    assert seen[-1] == SCHEMA_VERSION
    assert len(seen) > 10, "some of them in the middle"


def fresh_folder(parent: Path) -> Path:
    folder = parent / "folder"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
