"""Promise: old rows go after the retention, the newest stay under a cap, and a wrong clock deletes nothing."""

import sqlite3
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bcon_exporter.history.event_rows import EVENTS_PER_IDENTITY
from tests.factories import NOON, ago, usage
from tests.history.told import RETENTION_SECONDS, batch, container, crash_loop, event, open_history, past_of, scan

HOUR = timedelta(hours=1)


def count(path: Path, table: str) -> int:
    """Rows of a table, as another process sees them."""
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    finally:
        connection.close()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def watch(path: Path, since: datetime, until: datetime) -> None:
    """A daemon that scans every hour."""
    history = open_history(path, now=since)
    now = since
    while now <= until:
        history.record_events(batch(since=since), now)
        scan(history, container(usage=usage()), now=now)
        now += HOUR
    history.close()


def test_events_are_kept_for_the_retention_and_no_longer(state: Path) -> None:
    keep = timedelta(seconds=RETENTION_SECONDS)
    history = open_history(state)
    history.record_events(batch(event(NOON, "die", exit_code=1)), NOON)
    history.close()
    watch(state, NOON, NOON + keep)
    assert count(state, "events") == 1
    watch(state, NOON + keep, NOON + keep + 2 * HOUR)
    assert count(state, "events") == 0


def test_what_is_still_there_is_not_pruned(state: Path) -> None:
    history = open_history(state)
    history.record_events(batch(*crash_loop(2)), NOON)
    past_of(history, container())
    history.close()
    end = NOON + timedelta(days=40)
    watch(state, NOON, end)
    assert (count(state, "containers"), count(state, "identities")) == (1, 1)
    assert past_of(open_history(state), container(), end).restarts_total == 2


def test_the_ids_of_images_go_with_their_containers(state: Path) -> None:
    history = open_history(state)
    scan(history, container(name="gone", image_id="sha256:aa"))
    scan(history, container(image_id="sha256:bb"))
    history.close()
    watch(state, NOON, NOON + timedelta(days=1))
    assert (count(state, "containers"), count(state, "images")) == (2, 2)
    watch(state, NOON, NOON + timedelta(days=3))
    assert (count(state, "containers"), count(state, "images")) == (1, 1)


def test_a_far_leap_of_the_clock_deletes_nothing(state: Path) -> None:
    watch(state, ago(hours=3), NOON)
    history = open_history(state)
    history.record_events(batch(event(NOON, "die", exit_code=1)), NOON)
    leap = NOON + timedelta(days=5 * 365)
    for minutes in range(0, 230, 10):
        scan(history, container(), now=leap + timedelta(minutes=minutes))
    scan(history, container(), now=NOON + 4 * HOUR)
    history.close()
    assert count(state, "events") == 1


def test_a_clock_that_was_rightly_set_forward_is_believed_after_some_hours(state: Path) -> None:
    history = open_history(state)
    history.record_events(batch(event(NOON, "die", exit_code=1)), NOON)
    history.close()
    later = NOON + timedelta(days=365)
    watch(state, later, later + 5 * HOUR)
    assert count(state, "events") == 0


def test_a_crash_loop_does_not_fill_the_disk(state: Path) -> None:
    history = open_history(state)
    for part in range(5):
        last = NOON + timedelta(minutes=20 * part)
        history.record_events(batch(*crash_loop(500, every_seconds=2, last=last)), last)
        past_of(history, container(), last)
    history.close()
    assert count(state, "events") == EVENTS_PER_IDENTITY
    again = open_history(state, now=NOON)
    assert past_of(again, container(), NOON + timedelta(minutes=80)).restarts_total == 2500
