"""Promise: what the event stream missed is said, inferred where the engine's own counts allow it, never invented."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, EngineFacts, HostSnapshot
from bcon_exporter.model.lifecycle import EventBatch, LifecycleFacts
from tests.factories import NOON, ago
from tests.journal.keepers import batch, container, crash_loop, event, open_keeper, past_of, scan
from tests.memory.recorded import of_container, recorded

MINUTE = timedelta(minutes=1)
NOTHING = EventBatch(events=(), covers_since=None)


def known_until_noon(path: Path, *containers: ContainerFacts) -> None:
    """A daemon watched these containers for a day and ended at NOON."""
    keeper = open_keeper(path)
    keeper.add_events(batch(event(ago(60), "pause"), event(ago(50), "unpause")), NOON)
    scan(keeper, *containers)
    keeper.close()


def test_the_past_is_known_since_the_oldest_event_of_the_back_fill() -> None:
    keeper = open_keeper()
    keeper.add_events(batch(since=ago(hours=2)), NOON)
    past = past_of(keeper, container())
    assert (past.observed_since, past.complete) == (ago(hours=2), True)


def test_nothing_is_known_where_events_cannot_be_read() -> None:
    keeper = open_keeper()
    keeper.add_events(NOTHING, NOON)
    assert past_of(keeper, container()).observed_since == NOON


def test_a_gap_makes_the_past_incomplete_for_a_day() -> None:
    keeper = open_keeper()
    keeper.add_events(batch(), NOON)
    lost = NOON + 10 * MINUTE
    keeper.add_events(batch(since=lost, gap=True), lost)
    assert keeper.gaps_total == 1
    young = container(started_at=lost, created_at=ago(hours=3))
    assert past_of(keeper, young, lost).complete is False
    later = lost + timedelta(hours=24)
    keeper.add_events(batch(since=lost), later)
    past = past_of(keeper, young, later)
    assert (past.complete, past.observed_since) == (True, lost)


def test_a_container_that_outlived_a_gap_has_a_complete_past() -> None:
    keeper = open_keeper()
    keeper.add_events(batch(), NOON)
    keeper.add_events(batch(since=NOON + MINUTE, gap=True), NOON + MINUTE)
    now = NOON + 2 * MINUTE
    stopped = {"state": ContainerState.EXITED, "exit_code": 0}
    assert past_of(keeper, container(started_at=NOON), now).complete is True
    assert past_of(keeper, container(started_at=NOON + timedelta(seconds=1)), now).complete is False
    assert past_of(keeper, container(finished_at=NOON, **stopped), now).complete is True
    assert past_of(keeper, container(finished_at=NOON + MINUTE, **stopped), now).complete is False


def test_a_restart_of_the_exporter_that_the_ring_covers_is_no_gap(tmp_path: Path) -> None:
    known_until_noon(tmp_path / "state.db")
    again = open_keeper(tmp_path / "state.db")
    again.add_events(batch(since=ago(60)), NOON + 10 * MINUTE)
    assert again.gaps_total == 0
    assert past_of(again, container(started_at=NOON + MINUTE), NOON + 10 * MINUTE).complete is True


def test_a_back_fill_that_holds_a_known_event_is_no_gap(tmp_path: Path) -> None:
    known_until_noon(tmp_path / "state.db")
    again = open_keeper(tmp_path / "state.db")
    again.add_events(batch(event(ago(50), "unpause"), since=NOON + MINUTE), NOON + 10 * MINUTE)
    assert again.gaps_total == 0


def test_a_restart_of_the_exporter_beyond_the_ring_is_a_gap(tmp_path: Path) -> None:
    known_until_noon(tmp_path / "state.db")
    again = open_keeper(tmp_path / "state.db")
    later = NOON + timedelta(hours=2)
    again.add_events(batch(since=later - MINUTE), later)
    assert again.gaps_total == 1
    past = past_of(again, container(started_at=NOON + MINUTE), later)
    assert (past.complete, past.observed_since) == (False, ago(days=1))


@pytest.mark.parametrize(("minutes", "complete"), [(2.9, True), (3, True), (3.1, False)])
def test_events_that_cannot_be_read_for_minutes_leave_the_past_incomplete(minutes: float, complete: bool) -> None:
    keeper = open_keeper()
    keeper.add_events(batch(), NOON)
    now = NOON + minutes * MINUTE
    keeper.add_events(NOTHING, now)
    assert past_of(keeper, container(started_at=NOON + MINUTE), now).complete is complete


def looping(count: int, **facts: object) -> ContainerFacts:
    return container(restart_count=count, started_at=facts.pop("started_at", ago(hours=1)), **facts)


def after_a_gap(path: Path, before: ContainerFacts, after: ContainerFacts) -> MemoryKeeper:
    """Two scans after the exporter was away for two hours that the ring does not cover."""
    known_until_noon(path, before)
    again = open_keeper(path)
    later = NOON + timedelta(hours=2)
    again.add_events(batch(since=later), later)
    for n in range(2):
        now = later + n * MINUTE
        again.add_events(batch(since=later), now)
        scan(again, after, now=now)
    return again


def test_restarts_in_a_gap_are_inferred_from_the_engines_count(tmp_path: Path) -> None:
    started = NOON + timedelta(minutes=110)
    again = after_a_gap(tmp_path / "state.db", looping(3), looping(7, started_at=started))
    past = past_of(again, looping(7, started_at=started), NOON + timedelta(hours=2))
    assert past.restarts_total == 4
    assert past.restarts[-1] == started
    assert all(NOON < at <= started for at in past.restarts)
    again.close()
    third = open_keeper(tmp_path / "state.db", now=NOON + timedelta(hours=2))
    third.add_events(batch(), NOON + timedelta(hours=2))
    assert past_of(third, looping(7, started_at=started), NOON + timedelta(hours=2)).restarts_total == 4


def test_a_count_that_began_anew_in_a_gap_counts_from_its_beginning(tmp_path: Path) -> None:
    started = NOON + timedelta(minutes=110)
    again = after_a_gap(tmp_path / "state.db", looping(6), looping(2, started_at=started))
    assert past_of(again, looping(2, started_at=started), NOON + timedelta(hours=2)).restarts_total == 2


def test_nothing_is_inferred_for_a_container_that_outlived_the_gap(tmp_path: Path) -> None:
    again = after_a_gap(tmp_path / "state.db", looping(3), looping(3))
    assert past_of(again, looping(3), NOON + timedelta(hours=2)).restarts_total == 0


def test_nothing_is_inferred_without_a_gap() -> None:
    keeper = open_keeper()
    for count in range(3, 8):
        keeper.add_events(batch(), NOON)
        assert past_of(keeper, looping(count)).restarts_total == 0


def first_look(count: int, *, created_minutes_ago: float) -> tuple[int, int]:
    """Return restarts in total and within the last hour after a first start: the ring told of three restarts."""
    keeper = open_keeper()
    seen = looping(count, started_at=ago(5), created_at=ago(minutes=created_minutes_ago))
    keeper.add_events(batch(*crash_loop(3, last=ago(5), every_seconds=40), since=ago(minutes=2)), NOON)
    for n in range(3):
        scan(keeper, seen, now=NOON + n * MINUTE)
    past = past_of(keeper, seen, NOON + 2 * MINUTE)
    return past.restarts_total, sum(at > ago(minutes=58) for at in past.restarts)


def test_at_the_first_look_a_young_containers_count_tells_of_what_the_ring_has_forgotten() -> None:
    assert first_look(12, created_minutes_ago=50)[1] == 12


def test_what_happened_before_the_first_look_does_not_raise_the_total_at_a_later_scan(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    seen = looping(12, started_at=ago(5), created_at=ago(minutes=50))
    keeper.add_events(batch(*crash_loop(3, last=ago(5), every_seconds=40), since=ago(minutes=2)), NOON)
    assert [past_of(keeper, seen, NOON + n * MINUTE).restarts_total for n in range(3)] == [3, 3, 3]
    keeper.add_events(batch(*crash_loop(1, last=NOON + 3 * MINUTE)), NOON + 3 * MINUTE)
    assert past_of(keeper, seen, NOON + 3 * MINUTE).restarts_total == 4
    keeper.close()
    again = open_keeper(tmp_path / "state.db", now=NOON + 3 * MINUTE)
    assert past_of(again, seen, NOON + 3 * MINUTE).restarts_total == 4


def test_at_the_first_look_an_older_count_may_be_of_any_hour() -> None:
    assert first_look(12, created_minutes_ago=61) == (3, 3)


def test_at_the_first_look_what_the_ring_tells_in_full_is_not_counted_twice() -> None:
    assert first_look(3, created_minutes_ago=50) == (3, 3)


def test_restarts_that_events_did_tell_are_not_inferred_again(tmp_path: Path) -> None:
    known_until_noon(tmp_path / "state.db", looping(3))
    again = open_keeper(tmp_path / "state.db")
    later = NOON + timedelta(hours=2)
    after = looping(5, started_at=later)
    again.add_events(batch(since=later), later)
    scan(again, after, now=later)
    again.add_events(batch(*crash_loop(2, last=later + timedelta(milliseconds=100)), since=later), later)
    assert past_of(again, after, later).restarts_total == 2


def engine_comes_back(keeper: MemoryKeeper, scenario: str, *, broke: float, up: float) -> list[ContainerFacts]:
    """Feed a recorded end of the engine; `broke` and `up` are seconds after NOON."""
    events = recorded(scenario)
    now = NOON + timedelta(seconds=up + 5)
    broken = (NOON + timedelta(seconds=broke),)
    keeper.add_events(batch(*events, broken_at=broken), now)
    seen = []
    for name in ("always", "slow", "never", "loop"):
        own = of_container(events, name)
        last = own[-1]
        running = last.action == "start"
        ended = next((e for e in reversed(own) if e.action == "die"), None)
        seen.append(
            container(
                name=name,
                id=last.container_id,
                state=ContainerState.RUNNING if running else ContainerState.EXITED,
                started_at=last.at if running else own[1].at,
                finished_at=ended.at if ended else None,
                exit_code=ended.exit_code if ended else 0,
            )
        )
    return list(scan(keeper, *seen, now=now).containers)


@pytest.mark.parametrize(
    ("scenario", "broke", "up"),
    [("engine_stopped_and_started", 13.9, 16.4), ("engine_killed_and_restarted", 3.1, 15.9)],
)
def test_the_engines_restart_is_noticed_and_makes_no_loop(scenario: str, broke: float, up: float) -> None:
    keeper = open_keeper()
    keeper.add_events(batch(), NOON)
    for seen in engine_comes_back(keeper, scenario, broke=broke, up=up):
        assert seen.lifecycle is not None
        assert seen.lifecycle.restarts == ()
        assert [end.shutdown for end in seen.lifecycle.exits] == [True], seen.name
        assert seen.lifecycle.stop_requested is (None if seen.is_running else False)


def test_a_restart_of_the_exporter_beside_a_loop_is_no_shutdown(tmp_path: Path) -> None:
    """All that runs began after the break, as after the engine's restart; but the engine still knows our events."""
    events = tuple(crash_loop(6, every_seconds=3))
    first = open_keeper(tmp_path / "state.db")
    first.add_events(batch(*events[:6]), ago(8))
    past_of(first, container(started_at=ago(9)), ago(8))
    first.close()
    again = open_keeper(tmp_path / "state.db")
    again.add_events(batch(*events[2:], since=ago(hours=1)), NOON)
    past = past_of(again, container(started_at=NOON))
    assert (len(past.restarts), past.restarts_total) == (6, 6)
    assert [end.shutdown for end in past.exits] == [False] * 6


def test_a_broken_stream_with_a_container_that_lived_on_is_no_shutdown() -> None:
    keeper = open_keeper()
    keeper.add_events(batch(), NOON)
    stop = [event(ago(5), "kill", signal=15), event(ago(4), "die", exit_code=0), event(ago(4), "stop")]
    keeper.add_events(batch(*stop, broken_at=(NOON,)), NOON)
    stopped = container(state=ContainerState.EXITED, exit_code=0, finished_at=ago(4))
    witness = container(name="witness", started_at=ago(hours=1))
    seen = scan(keeper, stopped, witness, now=NOON + MINUTE).containers[0].lifecycle
    assert seen is not None
    assert seen.stop_requested is True


@pytest.mark.parametrize("forgot", [True, False])
def test_where_nothing_runs_any_more_only_an_engine_that_forgot_has_restarted(forgot: bool) -> None:
    keeper = open_keeper()
    keeper.add_events(batch(), NOON)
    fall = [event(ago(4), "kill", signal=15), event(ago(3), "die", exit_code=143), event(ago(3), "stop")]
    keeper.add_events(batch(*fall, broken_at=(NOON,) if forgot else ()), NOON + MINUTE)
    fallen = container(state=ContainerState.EXITED, exit_code=143, started_at=ago(60), finished_at=ago(3))
    seen = scan(keeper, fallen, now=NOON + MINUTE).containers[0].lifecycle
    assert seen is not None
    assert (seen.exits[-1].shutdown, seen.stop_requested) == (forgot, not forgot)


def test_an_engine_that_was_down_for_hours_went_down_all_the_same() -> None:
    keeper = open_keeper()
    keeper.add_events(batch(), ago(hours=3))
    fall = [event(ago(10_000), "kill", signal=15), event(ago(9_999), "die", exit_code=143)]
    keeper.add_events(batch(*fall, broken_at=(ago(9_998),)), NOON)
    fallen = container(state=ContainerState.EXITED, exit_code=143, started_at=ago(20_000), finished_at=ago(9_999))
    back = container(name="back", started_at=ago(3))
    seen = scan(keeper, fallen, back, now=NOON).containers[0].lifecycle
    assert seen is not None
    assert seen.exits[-1].shutdown


def stop_and_restart(
    path: Path, stopped_before: float, *, lived: bool = True, heard: bool = True, down_minutes: float = 1
) -> LifecycleFacts:
    """An engine stops at NOON and comes back; a container without policy was stopped so many seconds before.

    Args:
        path: Of the state file.
        stopped_before: 0 for one that ran until the engine stopped.
        lived: Another one ran until then and was started again.
        heard: A daemon heard the events of the stop.
        down_minutes: How long the engine was away.
    """
    engine_up = NOON + down_minutes * MINUTE
    ended = NOON - timedelta(seconds=stopped_before)
    job = container(name="job", state=ContainerState.EXITED, exit_code=143, started_at=ago(5000), finished_at=ended)
    web = container(name="web", started_at=engine_up, finished_at=NOON)
    events = [
        event(at - timedelta(milliseconds=300), "kill", one.name, signal=15) for one, at in ((job, ended), (web, NOON))
    ]
    events += [event(at, "die", one.name, exit_code=143) for one, at in ((job, ended), (web, NOON))]
    keeper = open_keeper(path)
    began = NOON + timedelta(seconds=1) if heard else ago(hours=1)
    keeper.add_events(batch(since=ago(hours=2), covered_until=None if heard else began), began)
    now = engine_up + timedelta(seconds=30)
    keeper.add_events(batch(*(events if heard else ()), broken_at=(began,), since=engine_up), now)
    seen = scan(keeper, *((job, web) if lived else (job,)), now=now, engine_started_at=engine_up)
    assert seen.containers[0].lifecycle is not None
    return seen.containers[0].lifecycle


@pytest.mark.parametrize(("stopped_before", "heard", "told"), [
    (0, True, "shutdown"), (0.9, True, "shutdown"), (1.1, True, "requested"), (18, True, "requested"),
    (0, False, "shutdown"), (14, False, "shutdown"), (16, False, "unknown"), (1800, False, "unknown"),
])  # fmt: skip
def test_what_was_stopped_before_the_engine_was_did_not_end_with_it(
    tmp_path: Path, stopped_before: float, heard: bool, told: str
) -> None:
    past = stop_and_restart(tmp_path / "state.db", stopped_before, heard=heard)
    last = past.exits[-1] if past.exits else None
    known = "unknown" if last is None else "shutdown" if last.shutdown else "requested" if last.requested else "crash"
    assert known == told


def test_after_hours_without_contact_an_end_of_which_nothing_tells_is_not_put_down_to_the_engine(
    tmp_path: Path,
) -> None:
    past = stop_and_restart(tmp_path / "state.db", 60, lived=False, heard=False, down_minutes=600)
    assert past.exits == ()


def test_an_engine_that_slept_and_woke_leaves_no_trace() -> None:
    """SIGSTOP and SIGCONT: no events meanwhile, nothing read, then all as before."""
    keeper = open_keeper()
    keeper.add_events(batch(), NOON)
    before = past_of(keeper, container())
    keeper.add_events(NOTHING, NOON + MINUTE)
    keeper.add_events(batch(broken_at=(NOON + MINUTE,)), NOON + 2 * MINUTE)
    after = past_of(keeper, container(), NOON + 2 * MINUTE)
    assert after == before


@pytest.mark.parametrize("step", [timedelta(hours=1), timedelta(days=5 * 365)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_stepping_clock_neither_fails_nor_forgets(tmp_path: Path, step: timedelta, sign: int) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    keeper.add_events(batch(*crash_loop(3, last=ago(10))), NOON)
    assert len(past_of(keeper, container()).restarts) == 3
    for n in range(5):
        now = NOON + sign * step + n * MINUTE
        keeper.add_events(batch(event(now, "unpause")), now)
        past_of(keeper, container(), now)
    back = NOON + 5 * MINUTE
    keeper.add_events(batch(event(back, "pause")), back)
    past = past_of(keeper, container(), back)
    assert (len(past.restarts), past.restarts_total) == (3, 3)
    keeper.close()
    again = open_keeper(tmp_path / "state.db", now=back)
    again.add_events(batch(), back)
    assert len(past_of(again, container(), back).restarts) == 3


@pytest.mark.parametrize(("minutes", "complete"), [(3, True), (3.1, False)])
def test_a_stream_that_stays_down_leaves_the_past_incomplete_scan_after_scan(minutes: float, complete: bool) -> None:
    keeper = open_keeper()
    keeper.add_events(batch(), NOON)
    for share in (0.5, 0.9, 1):
        keeper.add_events(batch(covered_until=NOON), NOON + share * minutes * MINUTE)
    assert past_of(keeper, container(started_at=NOON + MINUTE), NOON + minutes * MINUTE).complete is complete


def test_a_gap_begins_when_the_stream_ended_not_at_the_last_scan() -> None:
    keeper = open_keeper()
    keeper.add_events(batch(), NOON)
    for minute in range(1, 60):
        keeper.add_events(batch(covered_until=NOON), NOON + minute * MINUTE)
    now = NOON + 60 * MINUTE
    keeper.add_events(batch(since=now - MINUTE, gap=True), now)
    outlived, within = container(started_at=NOON), container(started_at=NOON + 30 * MINUTE)
    assert [past_of(keeper, each, now).complete for each in (outlived, within)] == [True, False]


@pytest.mark.parametrize(("seconds_ago", "after_crash"), [(3, False), (3.1, False), (2.9, True)])
def test_what_ended_while_the_engine_was_away_was_ended_by_its_crash(seconds_ago: float, after_crash: bool) -> None:
    """A shutdown ends its containers while the engine is still heard; a new engine what a killed one left running."""
    keeper = open_keeper()
    keeper.add_events(batch(), NOON - MINUTE)
    end = ago(seconds_ago)
    fall = [event(end, "kill", signal=15), event(end, "die", exit_code=143), event(end, "stop")]
    keeper.add_events(batch(*fall, broken_at=(ago(3),)), NOON)
    seen = scan(keeper, fallen(end), container(name="back", started_at=ago(1))).containers[0].lifecycle
    assert seen is not None
    assert [(one.shutdown, one.after_crash, one.requested) for one in seen.exits] == [(True, after_crash, False)]


def fallen(end: datetime) -> ContainerFacts:
    return container(state=ContainerState.EXITED, exit_code=143, started_at=ago(hours=1), finished_at=end)


@pytest.mark.parametrize(
    ("up_after", "told"), [(None, "requested"), (0, "requested"), (0.1, "crash"), (60, "crash"), (60.1, "requested")]
)
def test_a_fresh_look_tells_what_the_engine_ended_before_it_was_up(up_after: float | None, told: str) -> None:
    """All that is known stems from the engine's own memory: kill, die and stop, as when somebody had asked."""
    keeper, end = open_keeper(), ago(seconds=600)
    fall = [event(end, "kill", signal=15), event(end, "die", exit_code=143), event(end, "stop")]
    keeper.add_events(batch(*fall, since=end), NOON)
    keeper.add_events(batch(since=end), NOON)
    seen = enriched(keeper, fallen(end), None if up_after is None else end + timedelta(seconds=up_after))
    assert ["crash" if one.after_crash else "requested" if one.requested else "?" for one in seen.exits] == [told]


def test_a_daemon_that_has_watched_before_trusts_what_it_heard_itself() -> None:
    """A stop that somebody asked for just before the engine came up again is not the engine's."""
    keeper, end = open_keeper(), ago(seconds=600)
    keeper.add_events(batch(since=ago(hours=2)), ago(hours=1))
    fall = [event(end, "kill", signal=15), event(end, "die", exit_code=143), event(end, "stop")]
    keeper.add_events(batch(*fall, since=end), NOON)
    seen = enriched(keeper, fallen(end), end + timedelta(seconds=5))
    assert [one.requested for one in seen.exits] == [True]


def enriched(keeper: MemoryKeeper, seen: ContainerFacts, engine_started_at: datetime | None) -> LifecycleFacts:
    engine = EngineFacts(name="h", server_version="28", api_version="1.51", started_at=engine_started_at)
    facts = keeper.observe(HostSnapshot(taken_at=NOON, containers=(seen,), engine=engine)).containers[0].lifecycle
    assert facts is not None
    return facts
