"""Promise: an OOM kill is told once, also where the engine tells of none (cgroup v2 with the systemd driver).

The records and counts were written by a Docker Engine 28.5 on cgroup v2, of six containers that ate their memory, one
that lost a child and one that `docker kill` ended. The engine set one flag of six, and sent two events of seven.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from bcon_exporter.memory.oom_kills import OomMemory, add_unreported_kills
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent
from bcon_exporter.readings import KillCounts, KillReadings
from tests.factories import NOON, ago, container, exited, full_id

VICTIM, OTHER = full_id("victim"), full_id("other")


@dataclass
class Kernel:
    """What the log and the counters say next."""

    logged: list[tuple[datetime, str]] = field(default_factory=list)
    counts: KillCounts | None = None
    looks: int = 0
    told_before: dict[str, list[datetime]] = field(default_factory=dict)
    memory: OomMemory = field(default_factory=OomMemory)

    def look(self, at: datetime, slice_kills: int, **own: int) -> None:
        """The counters are read at this time; each container's count is given by its name."""
        counts = {full_id(name): count for name, count in own.items()}
        self.looks += 1
        self.counts = KillCounts(counts, {"system.slice": slice_kills}, at, self.looks)

    def tell(
        self, *events: LifecycleEvent, containers: Sequence[ContainerFacts] = (), now: datetime = NOON
    ) -> list[LifecycleEvent]:
        """The oom events, once the engine has told `events`."""
        readings = KillReadings(tuple(self.logged), self.counts, tuple(containers))
        self.logged = []
        told = EventBatch(events=events, covers_since=None)
        self.memory, batch = add_unreported_kills(self.memory, told, readings, now, self.told_before)
        assert [event for event in batch.events if event.action != "oom"] == [e for e in events if e.action != "oom"]
        return [event for event in batch.events if event.action == "oom"]


def event(action: str, at: datetime, container_id: str = VICTIM, **facts: int | None) -> LifecycleEvent:
    return LifecycleEvent(at=at, action=action, container_id=container_id, name="victim", **facts)  # type: ignore[arg-type]


def died(at: datetime, container_id: str = VICTIM) -> LifecycleEvent:
    return event("die", at, container_id, exit_code=137)


def test_a_kill_that_only_the_log_tells_of_is_told_once() -> None:
    kernel = Kernel(logged=[(ago(60.3), VICTIM)])
    dead = exited(137, seconds_ago=60, name="victim")
    [told] = kernel.tell(containers=[dead])
    assert (told.container_id, told.name, told.at) == (VICTIM, "victim", dead.finished_at)
    assert kernel.tell(containers=[dead]) == []


def test_the_engines_own_event_stays_the_only_one() -> None:
    kernel = Kernel(logged=[(ago(60.3), VICTIM)])
    own = event("oom", ago(59))
    assert kernel.tell(own, containers=[container(name="victim")]) == [own]
    kernel.logged = [(ago(30), VICTIM)]
    [told] = kernel.tell(containers=[container(name="victim")])
    assert told.at == ago(30)
    assert kernel.tell(event("oom", ago(29)), containers=[container(name="victim")]) == [], "the engine was late"


def test_the_log_may_be_read_before_the_container_is_known() -> None:
    kernel = Kernel(logged=[(ago(5), VICTIM)])
    assert kernel.tell(containers=[container(name="other")]) == []
    assert [told.container_id for told in kernel.tell(containers=[container(name="victim")])] == [VICTIM]


def test_the_first_reading_has_all_that_the_kernel_still_holds() -> None:
    kernel = Kernel(logged=[(ago(hours=3), VICTIM)])
    assert kernel.tell() == [], "no container is known yet"


@pytest.mark.parametrize("kills", [1, 12])
def test_what_the_engine_told_long_ago_is_told_once_though_its_container_is_read_later(kills: int) -> None:
    """A process that starts is told of the last hours by the engine and by the log, before it has read a container."""
    times = [ago(hours=3, seconds=20 * number) for number in reversed(range(kills))]
    kernel = Kernel(logged=[(at - timedelta(milliseconds=40), VICTIM) for at in times])
    own = [event("oom", at) for at in times]
    assert kernel.tell(*own) == own
    assert kernel.tell(containers=[container(name="victim")]) == []
    assert len(kernel.memory.reported[VICTIM]) <= 8
    assert kernel.memory.of_unknown_containers == ()


@pytest.mark.parametrize(
    ("seconds_apart", "is_new"),
    [(0.4, False), (-0.6, False), (10.5, False), (-10.5, False), (10.6, True), (-10.6, True)],
)
def test_what_an_earlier_process_has_told_is_not_told_again(seconds_apart: float, *, is_new: bool) -> None:
    """The log's clock, which nobody sets right, is off by half a second in three hours."""
    told_at = ago(hours=3)
    kernel = Kernel(logged=[(told_at - timedelta(seconds=seconds_apart), VICTIM)], told_before={VICTIM: [told_at]})
    assert kernel.tell() == []
    assert bool(kernel.tell(containers=[container(name="victim")])) == is_new


@pytest.mark.parametrize(
    ("seconds_apart", "is_new"), [(0.4, False), (5, False), (5.1, True), (-5, False), (-5.1, True)]
)
def test_the_engine_tells_nothing_new_of_a_kill_that_was_told_by_the_logs_time(
    seconds_apart: float, *, is_new: bool
) -> None:
    own = event("oom", ago(hours=3))
    kernel = Kernel(told_before={VICTIM: [own.at - timedelta(seconds=seconds_apart)]})
    assert bool(kernel.tell(own)) == is_new


def test_an_event_that_is_known_as_it_is_proves_that_the_engine_still_knows_it() -> None:
    own = event("oom", ago(hours=3))
    kernel = Kernel(told_before={VICTIM: [own.at, own.at - timedelta(seconds=1)]})
    assert kernel.tell(own) == [own]


def test_a_clock_that_nobody_sets_right_is_off_by_seconds_a_day() -> None:
    dead = exited(137, seconds_ago=10 * 86400, name="victim")
    kernel = Kernel(logged=[(ago(10 * 86400 + 40), VICTIM)])
    assert [told.at for told in kernel.tell(containers=[dead])] == [dead.finished_at]
    kernel = Kernel(logged=[(ago(10 * 86400 + 600), VICTIM)])
    assert [told.at for told in kernel.tell(containers=[dead])] == [ago(10 * 86400 + 600)]


def test_a_restarted_container_was_killed_when_it_died() -> None:
    kernel = Kernel(logged=[(ago(14), VICTIM)])
    [told] = kernel.tell(died(ago(9)), containers=[container(name="victim", started_at=ago(8))])
    assert told.at == ago(9)


def test_a_count_of_its_own_tells_of_a_child() -> None:
    kernel, alive = Kernel(), [container(name="victim")]
    kernel.look(ago(30), 3, victim=1)
    assert kernel.tell(containers=alive) == [], "nobody knows when that was"
    kernel.look(ago(10), 4, victim=2)
    assert [(told.container_id, told.at) for told in kernel.tell(containers=alive)] == [(VICTIM, ago(10))]
    kernel.look(NOON + timedelta(seconds=30), 5, victim=3)
    own = event("oom", NOON + timedelta(seconds=20))
    assert kernel.tell(own, containers=alive, now=NOON + timedelta(seconds=40)) == [own]


def test_the_count_of_the_slice_explains_an_end_that_nobody_asked_for() -> None:
    kernel = Kernel()
    kernel.look(ago(30), 0, victim=0)
    kernel.tell(containers=[container(name="victim")])
    kernel.look(ago(5), 1)
    [told] = kernel.tell(died(ago(10)), containers=[exited(137, seconds_ago=10, name="victim")])
    assert (told.container_id, told.at, told.exit_code) == (VICTIM, ago(10), None)
    assert kernel.tell() == []


def looked(*, slice_kills: int = 1) -> Kernel:
    """One that has looked 30 and 10 seconds ago, and the slice has counted kills in between."""
    kernel = Kernel()
    kernel.look(ago(30), 0)
    assert kernel.tell() == []
    kernel.look(ago(10), slice_kills)
    return kernel


def test_the_end_may_be_told_after_the_count() -> None:
    kernel = looked()
    assert kernel.tell() == []
    assert [told.at for told in kernel.tell(died(ago(8)))] == [ago(8)]


@pytest.mark.parametrize(("seconds_ago", "is_killed"), [(30.001, False), (30, True), (0, True), (-0.001, False)])
def test_an_end_belongs_to_a_kill_of_at_most_ten_seconds_before(seconds_ago: float, *, is_killed: bool) -> None:
    assert bool(looked().tell(died(ago(seconds_ago)))) == is_killed


def test_more_ends_than_kills_prove_nothing() -> None:
    assert looked().tell(died(ago(20)), died(ago(21), OTHER)) == []


def test_a_kill_explains_one_end() -> None:
    kernel = looked()
    assert [told.at for told in kernel.tell(died(ago(20)))] == [ago(20)]
    assert kernel.tell(died(ago(15), OTHER)) == []


def test_an_end_from_before_the_first_look_takes_no_kill_from_another() -> None:
    """A daemon that starts is told of ends of the last day, whose kills were counted before its first look."""
    assert [told.container_id for told in looked().tell(died(ago(32), OTHER), died(ago(25)))] == [VICTIM]


def test_an_end_that_one_look_explains_takes_no_kill_from_the_next() -> None:
    kernel = looked()
    assert [told.container_id for told in kernel.tell(died(ago(9)))] == [VICTIM]
    kernel.look(ago(2), 2)
    assert [told.container_id for told in kernel.tell(died(ago(5), OTHER))] == [OTHER]


def test_a_container_that_is_killed_again_and_again_is_told_each_time() -> None:
    kernel = looked(slice_kills=3)
    ends = [ago(26), ago(23), ago(15)]
    assert [told.at for told in kernel.tell(*map(died, ends))] == ends
    assert kernel.tell() == []


def test_a_dying_container_that_was_still_counted_takes_no_kill_from_another() -> None:
    """A cgroup may be read between the kill and its removal."""
    kernel, both = Kernel(), [container(name="victim"), container(name="other")]
    kernel.look(ago(30), 0, victim=0, other=0)
    kernel.tell(containers=both)
    kernel.look(ago(10), 2, victim=1)
    told = kernel.tell(died(ago(20), OTHER), died(ago(11)), containers=both)
    assert [(each.container_id, each.at) for each in told] == [(OTHER, ago(20)), (VICTIM, ago(11))]


def test_a_dying_container_whose_end_is_not_known_yet_is_told_once() -> None:
    kernel, alive = Kernel(), [container(name="victim")]
    kernel.look(ago(30), 0, victim=0)
    kernel.tell(containers=alive)
    kernel.look(ago(10), 1, victim=1)
    assert [told.at for told in kernel.tell(containers=alive)] == [ago(10)], "the end that follows is taken for its"
    assert kernel.tell(died(ago(9.9)), containers=alive) == []


def test_a_kill_that_its_container_counts_before_the_slice_explains_nobody_elses_end() -> None:
    kernel, alive = Kernel(), [container(name="other")]
    kernel.look(ago(30), 0, other=0)
    kernel.tell(containers=alive)
    kernel.look(ago(20), 0, other=1)
    assert [told.container_id for told in kernel.tell(containers=alive)] == [OTHER]
    kernel.look(ago(10), 1, other=1)
    assert kernel.tell(died(ago(15)), containers=alive) == []
    kernel.look(ago(1), 2, other=1)
    assert [told.at for told in kernel.tell(died(ago(2)), containers=alive)] == [ago(2)]


def test_who_was_killed_by_somebody_was_not_killed_by_the_kernel() -> None:
    kernel = Kernel()
    kernel.look(ago(30), 0)
    kernel.tell(event("kill", ago(31), signal=9))
    kernel.look(ago(20), 1)
    assert kernel.tell(died(ago(29))) == []
    assert [told.container_id for told in kernel.tell(died(ago(18), OTHER))] == [OTHER]


def test_a_kill_of_the_run_before_is_none_of_this_one() -> None:
    kernel = Kernel()
    kernel.look(ago(30), 0)
    kernel.tell(event("kill", ago(60), signal=9), died(ago(59)))
    kernel.look(ago(15), 1)
    assert [told.at for told in kernel.tell(died(ago(18)))] == [ago(18)]


def test_an_end_of_another_kind_is_not_the_kernels() -> None:
    assert looked().tell(event("die", ago(20), OTHER, exit_code=1)) == []


def test_a_child_that_was_killed_explains_nobody_elses_end() -> None:
    kernel = Kernel()
    kernel.look(ago(30), 0, other=0)
    living = [container(name="other")]
    kernel.tell(containers=living)
    kernel.look(ago(5), 1, other=1)
    assert [told.container_id for told in kernel.tell(died(ago(10)), containers=living)] == [OTHER]


def test_no_counter_no_claim() -> None:
    kernel = Kernel()
    kernel.look(ago(30), 0)
    kernel.tell()
    assert kernel.tell(died(ago(10))) == []
    assert Kernel().tell(died(ago(10))) == []


def test_counts_that_were_held_up_are_not_counted_back() -> None:
    kernel = Kernel()
    kernel.look(ago(30), 0, victim=0)
    kernel.tell()
    held_up = kernel.counts
    kernel.look(ago(10), 1, victim=1)
    kernel.tell()
    kernel.counts = held_up
    kernel.tell()
    kernel.look(ago(2), 2, victim=2)
    assert kernel.tell(died(ago(20)), died(ago(15))) == [], "one was killed before the second look, one after it"


def test_what_is_over_is_forgotten_also_where_no_container_is_there() -> None:
    kernel = Kernel()
    for minutes in range(60):
        at = NOON + timedelta(minutes=minutes)
        kernel.tell(died(at, full_id(f"gone {minutes}")), event("oom", at, full_id(f"gone {minutes}")), now=at)
        kernel.tell(event("kill", at, full_id(f"killed {minutes}"), signal=9), now=at)
    memory = kernel.memory
    assert max(map(len, (memory.deaths, memory.reported, memory.killed))) <= 4
