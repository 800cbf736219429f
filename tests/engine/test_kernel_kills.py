"""Promise: what the kernel has killed is read of its log and its counters, and of nothing else.

The records and counts were written by a Docker Engine 28.5 on cgroup v2.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bcon_exporter.engine.cgroup import CgroupReader
from bcon_exporter.engine.kernel_log import KernelLog, parse_kill
from tests.factories import full_id

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
OTHER = full_id("other")


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
