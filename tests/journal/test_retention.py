"""Promise: old rows go after the retention, the newest stay under a cap, and a wrong clock deletes nothing."""

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bcon_exporter.memory import EVENTS_PER_IDENTITY
from tests.factories import NOON, ago, usage
from tests.journal.keepers import RETENTION_SECONDS, batch, container, crash_loop, event, open_keeper, past_of, scan

HOUR = timedelta(hours=1)


def count(path: Path, kind: str) -> int:
    """Events, or remembered values of a kind, as another process sees them."""
    sql = "SELECT count(*) FROM events" if kind == "events" else "SELECT count(*) FROM memory WHERE key GLOB ?"
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute(sql, () if kind == "events" else (f"{kind}/*",)).fetchone()[0])


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def watch(path: Path, since: datetime, until: datetime) -> None:
    """A daemon that scans every hour."""
    keeper = open_keeper(path, now=since)
    now = since
    while now <= until:
        keeper.add_events(batch(since=since), now)
        scan(keeper, container(usage=usage()), now=now)
        now += HOUR
    keeper.close()


def test_events_are_kept_for_the_retention_and_no_longer(state: Path) -> None:
    keep = timedelta(seconds=RETENTION_SECONDS)
    keeper = open_keeper(state)
    keeper.add_events(batch(event(NOON, "die", exit_code=1)), NOON)
    keeper.close()
    watch(state, NOON, NOON + keep)
    assert count(state, "events") == 1
    watch(state, NOON + keep, NOON + keep + 2 * HOUR)
    assert count(state, "events") == 0


def test_what_is_still_there_is_not_pruned(state: Path) -> None:
    keeper = open_keeper(state)
    keeper.add_events(batch(*crash_loop(2)), NOON)
    past_of(keeper, container())
    keeper.close()
    end = NOON + timedelta(days=40)
    watch(state, NOON, end)
    assert (count(state, "container"), count(state, "past")) == (1, 1)
    assert past_of(open_keeper(state), container(), end).restarts_total == 2


def test_removed_containers_are_forgotten_after_two_days(state: Path) -> None:
    keeper = open_keeper(state)
    scan(keeper, container(name="gone"))
    scan(keeper, container())
    keeper.close()
    watch(state, NOON, NOON + timedelta(days=1))
    assert count(state, "container") == 2
    watch(state, NOON, NOON + timedelta(days=3))
    assert count(state, "container") == 1


def test_a_far_leap_of_the_clock_deletes_nothing(state: Path) -> None:
    watch(state, ago(hours=3), NOON)
    keeper = open_keeper(state)
    keeper.add_events(batch(event(NOON, "die", exit_code=1)), NOON)
    leap = NOON + timedelta(days=5 * 365)
    for minutes in range(0, 230, 10):
        scan(keeper, container(), now=leap + timedelta(minutes=minutes))
    scan(keeper, container(), now=NOON + 4 * HOUR)
    keeper.close()
    assert count(state, "events") == 1


def test_a_clock_that_was_rightly_set_forward_is_believed_after_some_hours(state: Path) -> None:
    keeper = open_keeper(state)
    keeper.add_events(batch(event(NOON, "die", exit_code=1)), NOON)
    keeper.close()
    later = NOON + timedelta(days=365)
    watch(state, later, later + 5 * HOUR)
    assert count(state, "events") == 0


@pytest.mark.slow
def test_a_crash_loop_does_not_fill_the_disk(state: Path) -> None:
    keeper = open_keeper(state)
    for part in range(5):
        last = NOON + timedelta(minutes=20 * part)
        keeper.add_events(batch(*crash_loop(500, every_seconds=2, last=last)), last)
        past_of(keeper, container(), last)
    keeper.close()
    assert count(state, "events") == EVENTS_PER_IDENTITY
    again = open_keeper(state, now=NOON)
    assert past_of(again, container(), NOON + timedelta(minutes=80)).restarts_total == 2500
