"""Events come out once and in order; what the daemon may have forgotten is marked as a gap."""

from datetime import UTC, datetime, timedelta

import pytest

from bcon_exporter.engine.event_log import RING_SIZE, EventLog

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
NANO = 1_000_000_000


def event(second: int, action: str = "start", kind: str = "container") -> dict[str, object]:
    """A raw event, `second` seconds after NOW."""
    at = int(NOW.timestamp()) + second
    actor = {"ID": "a" * 64, "Attributes": {"name": "web"}}
    return {"Type": kind, "Action": action, "Actor": actor, "time": at, "timeNano": at * NANO}


def test_a_backfill_and_the_stream_that_overlap_give_each_event_once() -> None:
    log = EventLog()
    log.add_backfill([event(1), event(2)], NOW)
    log.add(event(2))
    log.add(event(3))
    batch = log.drain()
    assert [e.at - NOW for e in batch.events] == [timedelta(seconds=n) for n in (1, 2, 3)]
    assert (batch.covers_since, batch.gap) == (NOW + timedelta(seconds=1), False)
    assert log.drain().events == ()


def test_two_events_of_the_same_moment_are_both_kept() -> None:
    log = EventLog()
    log.add(event(1, "die"))
    log.add(event(1, "stop"))
    assert [e.action for e in log.drain().events] == ["die", "stop"]


def test_a_full_ring_that_still_holds_a_known_event_is_no_gap() -> None:
    log = EventLog()
    log.add_backfill([event(0)], NOW)
    log.add_backfill([event(n, "exec_start: x", "other") for n in range(1, RING_SIZE)] + [event(0)], NOW)
    assert not log.drain().gap


def test_a_full_ring_of_only_unknown_events_is_a_gap() -> None:
    log = EventLog()
    log.add_backfill([event(0)], NOW)
    log.drain()
    log.add_backfill([event(n) for n in range(10, 10 + RING_SIZE)], NOW)
    batch = log.drain()
    assert batch.gap
    assert log.take_touched()[1]
    assert batch.covers_since == NOW + timedelta(seconds=10)
    assert not log.drain().gap


def test_a_ring_one_short_of_full_is_no_gap() -> None:
    log = EventLog()
    log.add_backfill([event(0)], NOW)
    log.add_backfill([event(n) for n in range(10, 9 + RING_SIZE)], NOW)
    assert not log.drain().gap


def test_the_first_backfill_is_never_a_gap_and_says_from_when_on_it_knows() -> None:
    log = EventLog()
    log.add_backfill([event(n) for n in range(RING_SIZE)], NOW)
    batch = log.drain()
    assert (batch.gap, batch.covers_since) == (False, NOW)
    empty = EventLog()
    assert empty.drain().covers_since is None
    empty.add_backfill([], NOW)
    assert empty.drain().covers_since == NOW


def test_events_touch_their_container_until_taken() -> None:
    log = EventLog()
    log.add(event(1))
    assert log.take_touched() == ({"a" * 64}, False)
    assert log.take_touched() == (set(), False)
    log.add({"nonsense": True})
    assert log.take_touched() == (set(), False)


def test_a_ring_that_forgot_the_last_event_without_being_full_tells_that_the_engine_restarted() -> None:
    log = EventLog()
    log.add_backfill([event(0), event(5)], NOW)
    assert log.drain().broken_at == ()
    log.add_backfill([event(60)], NOW)
    batch = log.drain()
    assert (batch.broken_at, batch.gap) == ((NOW + timedelta(seconds=5),), False)
    assert log.drain().broken_at == ()


def test_the_engine_was_there_until_its_stream_ended_however_quiet_it_was() -> None:
    log = EventLog()
    log.add_backfill([event(0)], NOW)
    ended = NOW + timedelta(hours=3)
    log.note_end(ended)
    log.add_backfill([event(4 * 3600)], NOW + timedelta(hours=4))
    assert log.drain().broken_at == (ended,)
    log.add_backfill([event(5 * 3600)], NOW + timedelta(hours=5))
    assert log.drain().broken_at == (NOW + timedelta(hours=4),)


def test_a_ring_that_still_knows_the_last_event_tells_of_no_restart() -> None:
    log = EventLog()
    log.add_backfill([event(0), event(5)], NOW)
    log.add_backfill([event(5), event(60)], NOW)
    assert log.drain().broken_at == ()


def execs(first: int) -> list[dict[str, object]]:
    """A ring full of health checks, which the live stream leaves out."""
    return [event(n, "exec_start: x", "other") for n in range(first, first + RING_SIZE)]


@pytest.mark.parametrize(("oldest", "gap"), [(599, False), (600, False), (601, True)])
def test_a_full_ring_that_reaches_back_to_the_end_of_a_quiet_stream_is_no_gap(oldest: int, gap: bool) -> None:
    log = EventLog()
    log.add_backfill([event(0)], NOW)
    log.note_live()
    log.note_end(NOW + timedelta(seconds=600))
    log.add_backfill(execs(oldest), NOW + timedelta(seconds=900))
    assert log.drain().gap is gap


@pytest.mark.parametrize(("skew", "gap"), [(60, False), (-60, True)])
def test_the_end_of_the_stream_is_compared_by_the_engines_clock(skew: int, gap: bool) -> None:
    log = EventLog()
    log.add_backfill([event(0)], NOW)
    log.note_end(NOW + timedelta(seconds=600))
    log.add_backfill(execs(630 if skew > 0 else 570), NOW + timedelta(seconds=900), skew=timedelta(seconds=skew))
    batch = log.drain()
    assert (batch.gap, batch.covered_until) == (gap, NOW + timedelta(seconds=900 - skew))


def test_a_batch_says_until_when_it_covers_while_no_stream_is_open() -> None:
    log = EventLog()
    log.add_backfill([event(0)], NOW)
    assert log.drain().covered_until == NOW
    log.note_live()
    assert log.drain().covered_until is None
    log.note_end(NOW + timedelta(seconds=7))
    assert [log.drain().covered_until for _ in range(2)] == [NOW + timedelta(seconds=7)] * 2


def test_only_events_that_change_a_container_are_counted_as_changes() -> None:
    log = EventLog()
    for second, action in enumerate(
        ("create", "start", "health_status: healthy", "kill", "oom", "exec_start: x", "die")
    ):
        log.add(event(second, action))
    log.add(event(6, "die"))
    assert log.changes == 3


@pytest.mark.parametrize(("back", "gap"), [(2, False), (3, True)])
def test_a_clock_that_was_set_back_since_the_stream_ended_is_a_gap(back: int, gap: bool) -> None:
    """The engine leaves out what happened between the two: by now that lies in the future."""
    log = EventLog()
    log.add_backfill([event(0)], NOW)
    log.note_end(NOW + timedelta(seconds=600))
    set_back = NOW + timedelta(seconds=600 - back)
    log.add_backfill([event(0)], set_back)
    batch = log.drain()
    assert (batch.gap, log.take_touched()[1]) == (gap, gap)
    assert batch.covers_since == (set_back if gap else NOW)
    log.add_backfill([event(0)], set_back + timedelta(seconds=9))
    assert not log.drain().gap


@pytest.mark.parametrize(("ahead", "kept"), [(0, True), (1, False)])
def test_only_an_event_that_is_still_to_come_is_forgotten_and_a_gap(ahead: int, kept: bool) -> None:
    log = EventLog()
    log.add_backfill([event(0)], NOW)
    log.forget_later_than(int(NOW.timestamp()) * NANO - ahead)
    assert (log.last_nano > 0) is kept
    log.add_backfill([event(0)], NOW)
    batch = log.drain()
    assert (len(batch.events), batch.gap, batch.broken_at) == (1, not kept, ())
