"""Promise: totals neither shrink nor count twice when the state file comes and goes."""

import sqlite3
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bcon_exporter.model.container_facts import ContainerState, HostSnapshot
from bcon_exporter.model.lifecycle import LifecycleEvent
from bcon_exporter.readings import KillReadings
from tests.factories import NOON, ago, full_id, usage
from tests.journal.keepers import batch, container, crash_loop, event, open_keeper, past_of, scan
from tests.journal.state_files import fill, status_of

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
KernelKill = tuple[datetime, str]


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


KILLED_AT = ago(hours=3)
LOGGED = (KILLED_AT - timedelta(milliseconds=40), full_id("api"))


def start_anew(
    state: Path, *events: LifecycleEvent, logged: tuple[KernelKill, ...], now: datetime = NOON, **facts: Any
) -> list[datetime]:
    """Return the OOM kills in all that an exporter knows of once it has started and scanned, each with its time."""
    keeper, api = open_keeper(state, now=now), container(started_at=ago(60), **facts)
    for batched, kills in (
        (batch(*events), KillReadings(logged)),  # no container is known yet
        (batch(), KillReadings(containers=(api,))),
    ):
        keeper.add_events(keeper.add_kills(batched, kills, now), now)
    past = past_of(keeper, api, now)
    keeper.close()
    assert past.oom_kills_total == len(past.oom_kills)
    return list(past.oom_kills)


OWN = event(KILLED_AT, "oom")


@pytest.mark.parametrize("told", [(OWN,), (OWN, event(KILLED_AT + SECOND / 10, "die", exit_code=137)), ()])
@pytest.mark.parametrize("step", [0, 1, -1])
def test_an_old_kill_in_the_kernels_log_is_counted_once_over_restarts(
    state: Path, told: tuple[LifecycleEvent, ...], step: float
) -> None:
    """The kernel's start, to which its log's times are added, is known to the second and moves with the clock."""
    logged_at, victim = LOGGED
    kills = start_anew(state, *told, logged=(LOGGED,))
    assert kills == [KILLED_AT if told else logged_at]
    assert start_anew(state, logged=((logged_at + step * SECOND, victim),), now=NOON + MINUTE) == kills
    assert start_anew(state, *told, logged=(LOGGED,), now=NOON + 2 * MINUTE) == kills
    assert start_anew(state, OWN, logged=(), now=NOON + 3 * MINUTE) == kills


def test_a_kill_while_no_exporter_ran_is_counted(state: Path) -> None:
    start_anew(state, OWN, logged=(LOGGED,), now=ago(hours=2))
    meanwhile = (KILLED_AT + MINUTE, LOGGED[1]), (ago(hours=1), LOGGED[1])
    kills = start_anew(state, logged=(LOGGED, *meanwhile))
    assert kills == [KILLED_AT, KILLED_AT + MINUTE, ago(hours=1)]
    assert start_anew(state, logged=(LOGGED, *meanwhile), now=NOON + MINUTE) == kills


def test_kills_seven_seconds_apart_are_two_also_after_a_restart(state: Path) -> None:
    start_anew(state, OWN, logged=(LOGGED,), now=ago(hours=2))
    keeper, api = open_keeper(state), container()
    for seconds in (30, 37):
        now = NOON + seconds * SECOND
        kills = KillReadings(((now, full_id("api")),), containers=(api,))
        keeper.add_events(keeper.add_kills(batch(), kills, now), now)
    assert past_of(keeper, api, NOON + MINUTE).oom_kills_total == 3


def test_a_kill_is_counted_once_though_its_container_was_renamed_while_no_exporter_ran(state: Path) -> None:
    start_anew(state, OWN, logged=(LOGGED,))
    assert start_anew(state, logged=(LOGGED,), now=NOON + MINUTE, name="brave", id=full_id("api")) == []


def test_a_kill_of_which_everything_else_is_forgotten_is_not_counted_again(state: Path) -> None:
    keeper, api = open_keeper(state, now=KILLED_AT), container()
    keeper.add_events(batch(OWN), KILLED_AT)
    for hours in range(0, 34 * 24, 2):
        scan(keeper, api, now=KILLED_AT + timedelta(hours=hours))
    keeper.close()
    now = KILLED_AT + timedelta(days=34)
    again = open_keeper(state, now=now)
    for kills in (KillReadings((LOGGED,)), KillReadings(containers=(api,))):
        again.add_events(again.add_kills(batch(), kills, now), now)
    assert past_of(again, api, now).oom_kills_total == 1


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
