"""Promise: what happened to a container is known over its recreation and over restarts of the exporter, once each."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.memory.timeline import EXITS_WITH_LINES
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent, LifecycleFacts
from tests.factories import NOON, ago, compose, full_id, logs, usage
from tests.journal.keepers import batch, container, crash_loop, event, open_keeper, past_of, scan
from tests.memory.recorded import SCENARIOS, recorded

SECOND = timedelta(seconds=1)


@pytest.fixture
def keeper() -> MemoryKeeper:
    """A keeper in memory that has seen the last day."""
    memory = open_keeper()
    memory.add_events(batch(), NOON)
    return memory


def stopped(exit_code: int = 0, *, at: datetime = ago(60), **facts: object) -> ContainerFacts:  # noqa: B008 - frozen
    return container(**{"state": ContainerState.EXITED, "exit_code": exit_code, "finished_at": at, **facts})


def test_restarts_of_the_last_day_are_listed_oldest_first(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(*crash_loop(5)), NOON)
    past = past_of(keeper, container())
    assert list(past.restarts) == sorted(past.restarts)
    assert (len(past.restarts), past.restarts_total) == (5, 5)
    assert [end.exit_code for end in past.exits] == [1] * 5


def test_restarts_leave_the_window_after_a_day_but_not_the_total(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(*crash_loop(1)), NOON)
    day = timedelta(hours=24)
    assert len(past_of(keeper, container(), NOON + day - SECOND).restarts) == 1
    past = past_of(keeper, container(), NOON + day)
    assert (past.restarts, past.restarts_total) == ((), 1)


def test_the_same_events_again_change_nothing(keeper: MemoryKeeper) -> None:
    events = tuple(crash_loop(3))
    for _ in range(3):
        keeper.add_events(batch(*events), NOON)
    past = past_of(keeper, container())
    assert (len(past.exits), past.restarts_total) == (3, 3)


def test_back_fill_after_a_restart_of_the_exporter_counts_nothing_twice(tmp_path: Path) -> None:
    events = tuple(crash_loop(3))
    for run in range(3):
        again = open_keeper(tmp_path / "state.db")
        again.add_events(batch(*events), NOON)
        past = past_of(again, container())
        assert (len(past.exits), past.restarts_total, past.complete) == (3, 3, True), run
        again.close()


@pytest.mark.parametrize("later", [timedelta(minutes=1), timedelta(days=2)])
def test_among_many_that_are_new_the_past_of_one_is_known_after_a_restart(tmp_path: Path, later: timedelta) -> None:
    others = [container(id=full_id(f"other-{number}"), name=f"other-{number}", compose=None) for number in range(100)]
    first = open_keeper(tmp_path / "state.db")
    first.add_events(batch(*crash_loop(3)), NOON)
    past_of(first, container())
    first.close()
    again = open_keeper(tmp_path / "state.db")
    seen = scan(again, *others, container(), now=NOON + later)
    assert [facts.lifecycle.restarts_total for facts in seen.containers if facts.lifecycle] == [0] * 100 + [3]


def test_totals_outlive_the_events(tmp_path: Path) -> None:
    first = open_keeper(tmp_path / "state.db")
    first.add_events(batch(*crash_loop(3)), NOON)
    past_of(first, container())
    first.close()
    again = open_keeper(tmp_path / "state.db")
    later = NOON + timedelta(days=2)
    again.add_events(batch(*crash_loop(2, last=later), since=NOON), later)
    assert past_of(again, container(), later).restarts_total == 5


def test_a_recreated_replica_keeps_its_past(keeper: MemoryKeeper) -> None:
    service = {"project": "shop", "service": "web", "number": 1}
    old = [event(e.at, e.action, "old", exit_code=e.exit_code, **service) for e in crash_loop(3, last=ago(100))]
    old += [event(ago(50), "destroy", "old", **service), event(ago(40), "create", "new", **service)]
    keeper.add_events(batch(*old), NOON)
    past = past_of(keeper, container(name="new", compose=compose("web", number=1)))
    assert (len(past.exits), past.restarts_total) == (3, 3)


def test_restarts_of_the_old_one_are_told_apart_though_compose_makes_the_new_one_first(keeper: MemoryKeeper) -> None:
    service = {"project": "shop", "service": "web", "number": 1}
    keeper.add_events(
        batch(
            *(event(e.at, e.action, "old", exit_code=e.exit_code, **service) for e in crash_loop(3, last=ago(60))),
            event(ago(61.5), "create", "new", **service),
            event(ago(60), "kill", "old", signal=15, **service),
            event(ago(59), "die", "old", exit_code=0, **service),
            event(ago(59), "stop", "old", **service),
            event(ago(59), "destroy", "old", **service),
            event(ago(58), "start", "new", **service),
        ),
        NOON,
    )
    new = container(name="new", created_at=ago(61.5), started_at=ago(58), compose=compose("web", number=1))
    assert (len(past_of(keeper, new).restarts), past_of(keeper, new).predecessors_restarts) == (3, 3)

    again = [event(ago(20), "die", "new", exit_code=1, **service), event(ago(19), "start", "new", **service)]
    keeper.add_events(batch(*again), NOON)
    assert (len(past_of(keeper, new).restarts), past_of(keeper, new).predecessors_restarts) == (4, 3)


def test_other_replicas_have_other_pasts(keeper: MemoryKeeper) -> None:
    service = {"project": "shop", "service": "web"}
    ends = [event(e.at, e.action, "w1", exit_code=e.exit_code, number=1, **service) for e in crash_loop(3)]
    keeper.add_events(batch(*ends), NOON)
    seen = scan(
        keeper,
        container(name="w1", compose=compose("web", number=1)),
        container(name="w2", compose=compose("web", number=2)),
    )
    assert [len(c.lifecycle.restarts) for c in seen.containers if c.lifecycle] == [3, 0]


def test_a_container_with_the_same_labels_does_not_taint_the_other(keeper: MemoryKeeper) -> None:
    service = {"project": "shop", "service": "web", "number": 1}
    ends = [event(e.at, e.action, "impostor", exit_code=e.exit_code, **service) for e in crash_loop(3)]
    keeper.add_events(batch(*ends), NOON)
    claim = compose("web", number=1)
    seen = scan(keeper, container(name="real", compose=claim), container(name="impostor", compose=claim))
    assert [len(c.lifecycle.restarts) for c in seen.containers if c.lifecycle] == [0, 3]


def test_the_temporary_name_of_a_recreation_is_the_same_identity(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(*crash_loop(2, name="0123456789ab_api")), NOON)
    assert len(past_of(keeper, container(name="api")).restarts) == 2


def test_one_off_runs_are_known_by_their_names(keeper: MemoryKeeper) -> None:
    run = {"project": "shop", "service": "web", "oneoff": True}
    keeper.add_events(batch(event(ago(5), "die", "shop-web-run-1", exit_code=4, **run)), NOON)
    assert past_of(keeper, container(compose=compose("web"))).exits == ()
    own = stopped(4, at=ago(5), name="shop-web-run-1", compose=compose("web", oneoff=True))
    assert [end.exit_code for end in past_of(keeper, own).exits] == [4]


def test_a_renamed_container_takes_its_past_along(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(*crash_loop(2)), NOON)
    past_of(keeper, container())
    renamed = event(NOON, "rename", "brave", container_id=full_id("api"))
    keeper.add_events(batch(renamed), NOON)
    past = past_of(keeper, container(name="brave", id=full_id("api")))
    assert len(past.restarts) == 2


def test_a_stopped_container_says_whether_somebody_stopped_it(keeper: MemoryKeeper) -> None:
    asked = [event(ago(61), "kill", signal=15), event(ago(60), "die", exit_code=0), event(ago(60), "stop")]
    keeper.add_events(batch(*asked), NOON)
    assert past_of(keeper, stopped()).stop_requested is True
    keeper.add_events(batch(event(ago(30), "start"), event(ago(20), "die", exit_code=1)), NOON)
    assert past_of(keeper, stopped(1, at=ago(20))).stop_requested is False
    assert past_of(keeper, container()).stop_requested is None


def test_of_an_end_that_no_event_told_nobody_knows_whether_it_was_asked_for(keeper: MemoryKeeper) -> None:
    past = past_of(keeper, stopped(3, at=ago(60), started_at=ago(100)))
    assert (past.exits, past.stop_requested) == ((), None)


def test_exit_code_255_alone_proves_no_crash_of_the_host(keeper: MemoryKeeper) -> None:
    past = past_of(keeper, stopped(255))
    assert (past.exits, past.stop_requested) == ((), None)
    keeper.add_events(batch(event(ago(60), "die", exit_code=255)), NOON)
    assert [end.shutdown for end in past_of(keeper, stopped(255)).exits] == [False]


def test_a_kill_by_the_engine_is_told_from_one_by_the_kernel(keeper: MemoryKeeper) -> None:
    ends = [event(ago(61), "kill", signal=9), event(ago(60), "die", exit_code=137), event(ago(50), "start")]
    keeper.add_events(batch(*ends, event(ago(40), "die", exit_code=137)), NOON)
    assert [end.killed for end in past_of(keeper, stopped(137, at=ago(40))).exits] == [True, False]


def test_a_paused_container_says_since_when(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(90), "pause"), event(ago(80), "unpause"), event(ago(70), "pause")), NOON)
    assert past_of(keeper, container(state=ContainerState.PAUSED)).paused_at == ago(70)
    keeper.add_events(batch(event(ago(60), "unpause")), NOON)
    assert past_of(keeper, container()).paused_at is None


def test_the_last_end_of_a_stopped_container_is_told_however_old(keeper: MemoryKeeper) -> None:
    old = ago(days=5)
    keeper.add_events(batch(event(old, "die", exit_code=1), since=ago(days=6)), NOON)
    assert [end.at for end in past_of(keeper, stopped(1, at=old)).exits] == [old]
    assert past_of(keeper, container()).exits == ()


def test_at_most_fifty_ends_are_told(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(*crash_loop(80)), NOON)
    past = past_of(keeper, container())
    assert (len(past.exits), len(past.restarts)) == (50, 80)


def test_the_flag_makes_an_end_an_oom_kill_when_the_event_was_lost(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(60), "die", exit_code=137)), NOON)
    past = past_of(keeper, stopped(137, oom_killed=True))
    assert [end.oom for end in past.exits] == [True]
    assert len(past.oom_kills) == 1


def test_the_kernels_word_tells_of_an_end_of_which_no_event_does(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(61), "oom")), NOON)
    past = past_of(keeper, stopped(137))
    assert (past.exits[-1].oom, past.exits[-1].shutdown, past.stop_requested) == (True, False, False)
    assert len(past.oom_kills) == 1
    assert past_of(keeper, stopped(1)).exits == (), "another end than the kernel's"


@pytest.mark.parametrize(
    ("told", "code", "asked"),
    [
        ([event(ago(60.1), "kill", signal=9)], 137, False),
        ([event(ago(61), "kill", signal=15), event(ago(60.1), "stop")], 143, True),
        ([event(ago(75), "kill", signal=15), event(ago(60.1), "kill", signal=9)], 137, True),
    ],
)
def test_an_end_whose_event_is_still_to_come_is_told_by_what_led_to_it(
    keeper: MemoryKeeper, told: list[LifecycleEvent], code: int, *, asked: bool
) -> None:
    keeper.add_events(batch(event(ago(300), "start"), *told), NOON)
    past = past_of(keeper, stopped(code))
    assert past.stop_requested is asked
    assert [end.killed for end in past.exits] == [not asked]
    keeper.add_events(batch(event(ago(59.9), "die", exit_code=code)), NOON)
    assert [end.at for end in past_of(keeper, stopped(code)).exits] == [ago(59.9)], "it is not told twice"


def test_a_signal_long_before_an_end_tells_nothing_of_it(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(300), "start"), event(ago(200), "kill", signal=1)), NOON)
    assert past_of(keeper, stopped(1)).stop_requested is None


def test_the_kernels_word_of_another_time_does_not(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(90), "oom")), NOON)
    past = past_of(keeper, stopped(137))
    assert (past.exits, past.stop_requested) == ((), None)


def test_an_image_change_is_told(keeper: MemoryKeeper) -> None:
    made = [event(ago(500), "create", "one", image="app:1"), event(ago(100), "create", "two", image="app:2")]
    both = [event(e.at, e.action, e.name, image=e.image, project="shop", service="web", number=1) for e in made]
    keeper.add_events(batch(*both), NOON)
    past = past_of(keeper, container(name="two", compose=compose("web")))
    assert (past.previous_image, past.image_changed_at) == ("app:1", ago(100))


def made_anew(keeper: MemoryKeeper, *ids: str | None, name: str = "app:1") -> LifecycleFacts:
    """The past of a service whose container was made so many times of one tag, scanned each time."""
    past = LifecycleFacts(observed_since=NOON)
    for number, image_id in enumerate(ids):
        at = ago(500 - 100 * number)
        made = event(at, "create", f"c{number}", image=name, project="shop", service="web", number=1)
        keeper.add_events(batch(made), at)
        past = past_of(
            keeper, container(name=f"c{number}", compose=compose("web"), image=name, image_id=image_id), now=at
        )
    return past


@pytest.mark.parametrize(
    ("ids", "previous", "changed"),
    [
        (("sha256:aa", "sha256:bb"), "sha256:aa", 400),
        (("sha256:aa", "sha256:aa"), None, None),
        (("sha256:aa", None, "sha256:bb"), "sha256:aa", 300),
        (("sha256:aa", None), None, None),
        ((None, "sha256:bb"), None, None),
    ],
)
def test_another_image_under_the_same_tag_is_told(
    keeper: MemoryKeeper, ids: tuple[str | None, ...], previous: str | None, changed: float | None
) -> None:
    past = made_anew(keeper, *ids)
    assert past.previous_image == (None if changed is None else "app:1")
    assert past.previous_image_id == previous
    assert past.image_changed_at == (None if changed is None else ago(changed))


def test_the_ids_of_images_outlast_the_exporter(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    made_anew(keeper, "sha256:aa")
    keeper.close()
    again = open_keeper(tmp_path / "state.db")
    made = event(ago(50), "create", "c9", image="app:1", project="shop", service="web", number=1)
    again.add_events(batch(made), NOON)
    seen = container(name="c9", compose=compose("web"), image="app:1", image_id="sha256:bb")
    assert past_of(again, seen).previous_image_id == "sha256:aa"


def test_a_policy_that_is_taken_away_leaves_the_restarts_that_it_made(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(*crash_loop(4)), NOON)
    assert len(past_of(keeper, container()).restarts) == 4
    taken_away = container(restart_policy="no", restart_count=4)
    assert len(past_of(keeper, taken_away, NOON + SECOND).restarts) == 4
    assert past_of(keeper, container(restart_policy="no", restart_count=0), NOON + 2 * SECOND).restarts == ()


def test_without_a_policy_from_the_beginning_starts_are_somebodys(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(*crash_loop(4)), NOON)
    assert past_of(keeper, container(restart_policy=None)).restarts != ()
    assert past_of(keeper, container(restart_policy="no"), NOON + SECOND).restarts == ()


def test_the_last_lines_before_an_end_are_kept(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    keeper.add_events(batch(event(ago(100), "start"), event(ago(60), "die", exit_code=1)), NOON)
    output = logs("listening", "panic: out of cheese", at=ago(60))
    expected = ("listening", "panic: out of cheese")
    assert past_of(keeper, stopped(1, logs=output)).exits[0].last_lines == expected
    keeper.close()
    again = open_keeper(tmp_path / "state.db")
    assert past_of(again, stopped(1)).exits[0].last_lines == expected


def test_a_scan_without_logs_does_not_keep_later_ones_from_finding_the_last_lines(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(100), "start"), event(ago(60), "die", exit_code=1)), NOON)
    for seen in (stopped(1), stopped(1, logs=logs()), stopped(1, logs=logs("listening", at=ago(90 * 60)))):
        assert past_of(keeper, seen).exits[0].last_lines == ()
    output = logs("panic: out of cheese", at=ago(60))
    for seen in (stopped(1, logs=output), stopped(1)):
        assert past_of(keeper, seen, NOON + timedelta(seconds=5)).exits[0].last_lines == ("panic: out of cheese",)


@pytest.mark.slow
def test_what_was_counted_is_known_no_longer_than_the_events_are(keeper: MemoryKeeper) -> None:
    for loop in range(3):
        keeper.add_events(batch(*crash_loop(800, every_seconds=5, last=NOON + timedelta(hours=2 * loop))), NOON)
        past_of(keeper, container(), NOON + timedelta(hours=2 * loop))
    assert past_of(keeper, container(), NOON + timedelta(hours=4)).restarts_total == 3 * 500
    (kept,) = keeper.memory.pasts.values()
    assert len(kept.counted) <= len(kept.events)


@pytest.mark.slow
def test_of_a_service_that_is_made_anew_again_and_again_no_more_is_kept_than_is_told(keeper: MemoryKeeper) -> None:
    for number in range(400):
        at = NOON + timedelta(minutes=number)
        name = f"run-{number}"
        steps = (("create", 0), ("start", 1), ("die", 3))
        told = (event(at + s * SECOND, step, name, project="p", service="job", number=1) for step, s in steps)
        keeper.add_events(batch(*told), at)
        seen = stopped(
            1,
            id=full_id(name),
            name=name,
            compose=compose("job", project="p"),
            image_id=f"sha256:{number}",
            stop_signal="SIGINT",
            at=at + 3 * SECOND,
            started_at=at + SECOND,
            logs=logs("panic", at=at + 2 * SECOND),
        )
        past_of(keeper, seen, at + 5 * SECOND)
    (kept,) = keeper.memory.pasts.values()
    told_of = {each.container_id for each in kept.events}
    assert len(told_of) < 400
    assert kept.containers.keys() <= told_of
    assert len(kept.last_lines) <= 2 * EXITS_WITH_LINES


def test_lines_of_a_later_run_are_not_the_last_words_of_an_earlier_one(keeper: MemoryKeeper) -> None:
    keeper.add_events(
        batch(event(ago(100), "start"), event(ago(60), "die", exit_code=1), event(ago(50), "start")), NOON
    )
    past = past_of(keeper, container(logs=logs("hello again", at=ago(49))))
    assert past.exits[0].last_lines == ()


def test_the_last_usage_of_a_stopped_container_is_known(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    used = usage(memory_usage_bytes=12345)
    scan(keeper, container(usage=used))
    seen = scan(keeper, stopped(), now=NOON + 30 * SECOND).containers[0]
    assert (seen.usage, seen.last_usage) == (None, used)
    keeper.close()
    again = open_keeper(tmp_path / "state.db")
    assert scan(again, stopped()).containers[0].last_usage == used


def test_usage_of_a_running_exporter_is_on_disk_when_it_stops(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    scan(keeper, container(usage=usage(pids=7)))
    keeper.close()
    last = scan(open_keeper(tmp_path / "state.db"), stopped()).containers[0].last_usage
    assert last is not None
    assert last.pids == 7


def test_stale_usage_is_not_taken_for_the_last(keeper: MemoryKeeper) -> None:
    scan(keeper, container(usage=usage(pids=7)))
    scan(keeper, container(usage=usage(pids=9, stale=True)))
    last = scan(keeper, stopped()).containers[0].last_usage
    assert last is not None
    assert last.pids == 7


def test_events_of_no_interest_are_left_out(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(5), "connect", ""), event(ago(5), "update"), event(ago(4), "oom", "")), NOON)
    assert past_of(keeper, container()).oom_kills == ()


@pytest.mark.parametrize("health", ["²", "--5", "5", "", "healthy"])
def test_an_odd_health_that_is_stored_holds_up_no_scan(tmp_path: Path, health: str) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    keeper.add_events(batch(event(ago(60), "health_status", health=health), *crash_loop(1)), NOON)
    before = past_of(keeper, container())
    keeper.close()
    again = open_keeper(tmp_path / "state.db")
    assert past_of(again, container()) == before
    (past,) = again.memory.pasts.values()
    assert [one.health for one in past.events if one.action == "health_status"] == [health]


ORDER = st.permutations(tuple(crash_loop(4)))


@given(ORDER, st.integers(0, 8))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_neither_order_nor_batches_nor_repetition_matter(events: list[LifecycleEvent], cut: int) -> None:
    keeper = open_keeper()
    for part in (events[:cut], events[cut:], events):
        keeper.add_events(batch(*part), NOON)
    past = past_of(keeper, container())
    assert (len(past.exits), len(past.restarts), past.restarts_total) == (4, 4, 4)


@given(st.lists(st.sampled_from(SCENARIOS), min_size=1, max_size=4))
@settings(max_examples=25)
def test_totals_never_shrink(scenarios: list[str]) -> None:
    keeper = open_keeper()
    before: dict[str, tuple[int, int]] = {}
    for scenario in scenarios:
        events = recorded(scenario)
        names = {e.container_id: e for e in events}
        for upto in range(1, len(events) + 1):
            keeper.add_events(EventBatch(events[:upto], ago(hours=1)), NOON)
        seen = [
            container(
                id=i, name=e.name, compose=compose(e.service, "shop", number=e.number or 1) if e.service else None
            )
            for i, e in names.items()
        ]
        for kept in scan(keeper, *seen, now=NOON + timedelta(minutes=1)).containers:
            assert kept.lifecycle is not None
            now = (kept.lifecycle.restarts_total, kept.lifecycle.oom_kills_total)
            earlier = before.get(kept.name, (0, 0))
            assert now[0] >= earlier[0]
            assert now[1] >= earlier[1]
            before[kept.name] = now


def test_a_container_that_is_being_stopped_says_since_when(keeper: MemoryKeeper) -> None:
    keeper.add_events(batch(event(ago(60), "start"), event(ago(5), "kill", signal=15)), NOON)
    assert past_of(keeper, container()).stopping_since == ago(5)
    keeper.add_events(batch(event(ago(4), "die", exit_code=0), event(ago(3), "start")), NOON)
    assert past_of(keeper, container()).stopping_since is None
