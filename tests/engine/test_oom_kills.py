"""Promise: an OOM kill is told once, also where the engine tells of none (cgroup v2 with the systemd driver).

The records and counts were written by a Docker Engine 28.5 on cgroup v2, of six containers that ate their memory, one
that lost a child and one that `docker kill` ended. The engine set one flag of six, and sent two events of seven.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bcon_exporter.engine.cgroup import CgroupReader, KillCounts
from bcon_exporter.engine.kernel_log import KernelLog, parse_kill
from bcon_exporter.engine.oom_kills import OomKills
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent
from tests.factories import NOON, ago, container, exited, full_id

BOOT = datetime(2026, 11, 23, 6, 12, 57, tzinfo=UTC)
ID = "10dd2a0f9b02bc9eff8e4aa0898b08d8fc76140367392e657f64f9c300a181d7"
ON_V2 = (
    f"6,823,66640000,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/system.slice/docker-{ID}.scope,"
    f"task_memcg=/system.slice/docker-{ID}.scope,task=tail,pid=2052,uid=0\n"
).encode()
ON_V1 = (
    f"6,111489,13326644326,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset={ID},mems_allowed=0,"
    f"oom_memcg=/bcon-30871-24e3a5/{ID},task_memcg=/bcon-30871-24e3a5/{ID},task=tail,pid=16457,uid=0\n"
).encode()
BESIDE = (
    b"3,824,66640000,-;Memory cgroup out of memory: Killed process 2052 (tail) total-vm:18172kB, anon-rss:16104kB, "
    b"file-rss:1348kB, shmem-rss:0kB, UID:0 pgtables:64kB oom_score_adj:0\n"
)
MEMORY_EVENTS = "low 0\nhigh 0\nmax 37\noom 1\noom_kill {}\noom_group_kill 0\nsock_throttled 0\n"
OOM_CONTROL = "oom_kill_disable 0\nunder_oom 0\noom_kill {}\n"
VICTIM, OTHER = full_id("victim"), full_id("other")


@dataclass
class Kernel:
    """What the log and the counters say next."""

    logged: list[tuple[datetime, str]] = field(default_factory=list)
    counts: KillCounts | None = None

    def __post_init__(self) -> None:
        self.kills = OomKills()

    def look(self, at: datetime, slice_kills: int, **own: int) -> None:
        """The counters are read at this time; each container's count is given by its name."""
        counts = {full_id(name): count for name, count in own.items()}
        self.counts = KillCounts(counts, {"system.slice": slice_kills}, at)

    def tell(
        self, *events: LifecycleEvent, containers: Sequence[ContainerFacts] = (), now: datetime = NOON
    ) -> list[LifecycleEvent]:
        """The oom events, once the engine has told `events`."""
        logged, self.logged = self.logged, []
        told = EventBatch(events=events, covers_since=None)
        batch = self.kills.complete(told, containers, now, logged=logged, counts=self.counts)
        assert [event for event in batch.events if event.action != "oom"] == [e for e in events if e.action != "oom"]
        return [event for event in batch.events if event.action == "oom"]


def event(action: str, at: datetime, container_id: str = VICTIM, **facts: int | None) -> LifecycleEvent:
    return LifecycleEvent(at=at, action=action, container_id=container_id, name="victim", **facts)  # type: ignore[arg-type]


def died(at: datetime, container_id: str = VICTIM) -> LifecycleEvent:
    return event("die", at, container_id, exit_code=137)


@pytest.mark.parametrize(("record", "seconds"), [(ON_V2, 66.64), (ON_V1, 13326.644326)])
def test_a_record_of_the_kernel_names_the_container(record: bytes, seconds: float) -> None:
    assert parse_kill(record, BOOT) == (BOOT + timedelta(seconds=seconds), ID)


@pytest.mark.parametrize(
    "record",
    [
        BESIDE,
        ON_V2.replace(b"6,823", b"14,823"),  # a program has written it
        ON_V2.replace(ID.encode(), b"sshd"),
        ON_V2.replace(b"66640000", b"-1"),
        ON_V2.replace(b"66640000", b"9" * 30),
        b";oom-kill:",
        b"",
    ],
)
def test_no_other_record_is_taken_for_a_kill(record: bytes) -> None:
    assert parse_kill(record, BOOT) is None


def test_a_log_that_cannot_be_read_tells_nothing(tmp_path: Path) -> None:
    assert KernelLog(tmp_path / "none", tmp_path).read_kills() == []


def test_a_log_is_read_on_from_where_it_was_left(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  1 2 3\nintr 1 0 0\nctxt 5\nbtime 1795414377\nprocesses 4\n")
    log = tmp_path / "kmsg"
    log.write_bytes(ON_V2)  # a plain file gives all of a record at once, as long as there is one
    reader = KernelLog(log, tmp_path)
    assert reader.read_kills() == [(BOOT + timedelta(seconds=66.64), ID)]
    assert reader.read_kills() == []
    with log.open("ab") as more:
        more.write(ON_V1)
    assert [each for _, each in reader.read_kills()] == [ID]
    reader.close()
    assert reader.read_kills() == []


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


def counted(reader: CgroupReader) -> tuple[dict[str, int], dict[str, int]] | None:
    """Its counts: of containers, and of what is around them."""
    counts = reader.count_kills()
    return None if counts is None else (dict(counts.own), dict(counts.around))


def write(folder: Path, name: str, content: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)


def test_counts_of_v2_are_read_of_the_scope_and_the_slice(tmp_path: Path) -> None:
    write(tmp_path, "cgroup.controllers", "cpu io memory pids\n")
    scope = tmp_path / "system.slice" / f"docker-{ID}.scope"
    write(scope, "memory.current", "1000\n")
    write(scope, "memory.events", MEMORY_EVENTS.format(1))
    write(tmp_path / "system.slice", "memory.events", MEMORY_EVENTS.format(7))
    reader = CgroupReader(tmp_path, tmp_path / "proc")
    assert counted(reader) is None
    assert reader.read(ID, "", None) is not None
    assert counted(reader) == ({ID: 1}, {"system.slice": 7})
    write(scope, "memory.events", MEMORY_EVENTS.format(2))
    assert counted(reader) == ({ID: 2}, {"system.slice": 7})
    (scope / "memory.events").unlink()
    reader.retain(())
    assert counted(reader) is None


def test_counts_of_v1_are_the_containers_own(tmp_path: Path) -> None:
    folder = tmp_path / "memory" / "docker" / ID
    write(tmp_path / "memory", "cgroup.procs", "1\n")
    write(folder, "memory.usage_in_bytes", "1000\n")
    write(folder, "memory.oom_control", OOM_CONTROL.format(3))
    reader = CgroupReader(tmp_path, tmp_path / "proc")
    assert reader.read(ID, "", None) is not None
    assert counted(reader) == ({ID: 3}, {})


def killing_host(tmp_path: Path) -> tuple[CgroupReader, Path, Path]:
    """A reader that has looked three times at a host where nothing was killed, its count, and a container's."""
    own, host = tmp_path / "memory" / "docker" / ID / "memory.oom_control", tmp_path / "proc" / "vmstat"
    write(tmp_path / "memory", "cgroup.procs", "1\n")
    write(own.parent, "memory.usage_in_bytes", "1000\n")
    write(own.parent, own.name, OOM_CONTROL.format(0))
    write(host.parent, host.name, "pgmajfault 7\noom_kill 40\nnuma_hit 9\n")
    reader = CgroupReader(tmp_path, tmp_path / "proc")
    reader.read(ID, "", None)
    assert [counted(reader) for _ in range(3)] == 3 * [({ID: 0}, {})]
    return reader, host, own


def test_no_count_is_read_while_the_kernel_kills_nothing(tmp_path: Path) -> None:
    reader, _, own = killing_host(tmp_path)
    own.write_text("not read")
    assert counted(reader) == ({ID: 0}, {})


def test_counts_are_read_once_the_kernel_has_killed_something(tmp_path: Path) -> None:
    reader, host, own = killing_host(tmp_path)
    host.write_text("oom_kill 41\n")
    assert counted(reader) == ({ID: 0}, {})
    own.write_text(OOM_CONTROL.format(1))  # a moment later than the host's
    assert counted(reader) == ({ID: 1}, {})


def test_a_count_that_is_not_zero_is_read_each_time_for_its_cgroup_may_be_made_anew(tmp_path: Path) -> None:
    reader, host, own = killing_host(tmp_path)
    host.write_text("oom_kill 42\n")
    own.write_text(OOM_CONTROL.format(2))
    assert [counted(reader) for _ in range(3)] == 3 * [({ID: 2}, {})]
    own.write_text(OOM_CONTROL.format(0))
    assert counted(reader) == ({ID: 0}, {})


def test_a_container_that_is_new_is_counted_while_the_kernel_kills_nothing(tmp_path: Path) -> None:
    reader, _, own = killing_host(tmp_path)
    other = own.parent.parent / OTHER
    write(other, "memory.usage_in_bytes", "1000\n")
    write(other, own.name, OOM_CONTROL.format(5))
    reader.read(OTHER, "", None)
    assert counted(reader) == ({ID: 0, OTHER: 5}, {})


@pytest.mark.parametrize("content", ["", "pgmajfault 7\n", "oom_kill many\n"])
def test_counts_are_read_each_time_where_the_host_has_none(tmp_path: Path, content: str) -> None:
    reader, host, own = killing_host(tmp_path)
    host.write_text(content)
    assert [counted(reader) for _ in range(3)] == 3 * [({ID: 0}, {})]
    own.write_text(OOM_CONTROL.format(1))
    assert counted(reader) == ({ID: 1}, {})
