"""Promise: usage is read from cgroup files of v1, v2 and hybrid hosts wherever the engine put the container."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bcon_exporter.engine.cgroup import CgroupReader, parse_network_devices
from bcon_exporter.model.container_facts import NetworkCounters
from tests.table_rows import table

ID = "1d9ce5dc444139c94e0ffda0e4e5c52d67a15b50496f8eccdc30b5b3a711ae4d"
OTHER = "f" * 64
NET_DEV = b"\n".join(
    (
        b"Inter-|   Receive                                |  Transmit",
        b" face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier",
        b"    lo:  100 1 0 0 0 0 0 0  100 1 0 0 0 0 0 0",
        b"  eth0: 1602 19 3 5 0 0 0 0  42 1 7 9 0 0 0 0",
        b"  eth1:    8 1 0 0 0 0 0 0    1 1 0 0 0 0 0 0",
        b"",
    )
)


def write(directory: Path, files: dict[str, str]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / name).write_text(content)


def make_v1(root: Path, path: str) -> None:
    for controller in ("memory", "cpuacct", "cpu", "pids", "blkio"):
        write(root / controller, {"cgroup.procs": "1\n"})
    write(root / "unified", {"cgroup.controllers": "\n"})
    write(root / "cpuacct" / path, {"cpuacct.usage": "17137201997\n"})
    write(root / "cpu" / path, {"cpu.stat": "nr_periods 3368\nnr_throttled 7\nthrottled_time 99\nnr_bursts 0\n"})
    write(
        root / "memory" / path,
        {
            "memory.usage_in_bytes": "1000\n",
            "memory.stat": "inactive_file 1\nactive_file 2\ntotal_inactive_file 400\ntotal_active_file 50\n",
        },
    )
    write(root / "pids" / path, {"pids.current": "2\n"})
    write(
        root / "blkio" / path,
        {"blkio.throttle.io_service_bytes_recursive": "8:0 Read 4096\n8:0 Write 10\n8:16 Read 1\nTotal 4107\n"},
    )


def make_v2(root: Path, path: str) -> None:
    write(root, {"cgroup.controllers": "cpu io memory pids\n"})
    write(
        root / path,
        {
            "cpu.stat": "usage_usec 17137201\nuser_usec 1\nnr_periods 3368\nnr_throttled 7\nthrottled_usec 99\n",
            "memory.current": "1000\n",
            "memory.stat": "anon 1\ninactive_file 400\nactive_file 50\n",
            "pids.current": "2\n",
            "io.stat": "8:0 rbytes=4096 wbytes=10 rios=1\n8:16 rbytes=1 wbytes=0\n",
        },
    )


def reader(root: Path, *, kept_open: int | None = None) -> CgroupReader:
    return CgroupReader(root / "cgroup", root / "proc", kept_open=kept_open)


def test_v1_counters_are_read(tmp_path: Path) -> None:
    make_v1(tmp_path / "cgroup", f"docker/{ID}")
    sample = reader(tmp_path).read(ID, "", None)
    assert sample is not None
    assert (sample.source, sample.cpu_nanoseconds, sample.throttled_nanoseconds) == ("cgroup", 17_137_201_997, 99)
    assert (sample.periods, sample.throttled_periods, sample.pids) == (3368, 7, 2)
    assert (sample.memory_bytes, sample.active_cache_bytes) == (600, 50)
    assert (sample.block_read_bytes, sample.block_write_bytes) == (4097, 10)


def test_v2_counters_are_read(tmp_path: Path) -> None:
    make_v2(tmp_path / "cgroup", f"system.slice/docker-{ID}.scope")
    sample = reader(tmp_path).read(ID, "", None)
    assert sample is not None
    assert (sample.cpu_nanoseconds, sample.throttled_nanoseconds) == (17_137_201_000, 99_000)
    assert (sample.periods, sample.throttled_periods, sample.pids) == (3368, 7, 2)
    assert (sample.memory_bytes, sample.active_cache_bytes) == (600, 50)
    assert (sample.block_read_bytes, sample.block_write_bytes) == (4097, 10)


@table(
    ("path", "parent"),
    [
        (f"docker/{ID}", ""),
        (f"docker/{ID}", "docker"),
        (f"system.slice/docker-{ID}.scope", ""),
        (f"custom/deep/{ID}", "/custom/deep"),
        (f"app.slice/docker-{ID}.scope", "app.slice"),
        (f"a.slice/a-b.slice/docker-{ID}.scope", "a-b.slice"),
        (f"machine.slice/libpod-{ID}.scope", ""),
        (f"libpod_parent/libpod-{ID}", ""),
        (f"user.slice/user-1000.slice/app.slice/docker-{ID}.scope", ""),
        (f"engine-of-its-own/{ID}", ""),
        (f"docker/{OTHER}/docker/{ID}", ""),
    ],
)
@table("make", [make_v1, make_v2])
def test_a_container_is_found_wherever_the_engine_put_it(
    tmp_path: Path, make: Callable[[Path, str], None], path: str, parent: str
) -> None:
    make(tmp_path / "cgroup", path)
    sample = reader(tmp_path).read(ID, parent, None)
    assert sample is not None
    assert sample.memory_bytes == 600


def test_a_learned_place_serves_the_next_container_without_a_search(tmp_path: Path) -> None:
    make_v2(tmp_path / "cgroup", f"odd/{ID}")
    one = reader(tmp_path)
    assert one.read(ID, "", None) is not None
    make_v2(tmp_path / "cgroup", f"odd/{OTHER}")
    assert one.read(OTHER, "", None) is not None


def test_the_process_tells_the_place_last(tmp_path: Path) -> None:
    make_v2(tmp_path / "cgroup", f"a/b/c/d/e/{ID}")
    write(tmp_path / "proc" / "42", {"cgroup": f"0::/a/b/c/d/e/{ID}\n"})
    assert reader(tmp_path).read(ID, "", 42) is not None


def test_a_foreign_process_is_not_believed(tmp_path: Path) -> None:
    make_v2(tmp_path / "cgroup", "a/b/c/d/e/other")
    write(tmp_path / "proc" / "42", {"cgroup": "0::/a/b/c/d/e/other\n", "net_dev": ""})
    assert reader(tmp_path).read(ID, "", 42) is None


def test_network_counters_come_from_the_containers_own_process_only(tmp_path: Path) -> None:
    make_v2(tmp_path / "cgroup", f"docker/{ID}")
    write(tmp_path / "proc" / "42" / "net", {})
    (tmp_path / "proc" / "42" / "net" / "dev").write_bytes(NET_DEV)
    write(tmp_path / "proc" / "42", {"cgroup": f"0::/docker/{ID}\n"})
    one = reader(tmp_path)
    sample = one.read(ID, "", 42)
    assert sample is not None
    assert (sample.network_rx_bytes, sample.network_tx_bytes) == (1610, 43)
    shared = one.read(ID, "", 42, own_network=False)
    assert shared is not None
    assert shared.network_rx_bytes is None
    write(tmp_path / "proc" / "43" / "net", {})
    (tmp_path / "proc" / "43" / "net" / "dev").write_bytes(NET_DEV)
    write(tmp_path / "proc" / "43", {"cgroup": "0::/user.slice\n"})
    foreign = one.read(ID, "", 43)
    assert foreign is not None
    assert foreign.network_rx_bytes is None


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("kept_open", [0, 3, 5, 6])
def test_files_stay_open_within_the_budget_and_are_closed_when_forgotten(tmp_path: Path, kept_open: int) -> None:
    make_v2(tmp_path / "cgroup", f"docker/{ID}")
    before = open_files()
    one = reader(tmp_path, kept_open=kept_open)
    for pids in ("2", "7"):
        write(tmp_path / "cgroup" / "docker" / ID, {"pids.current": pids})
        sample = one.read(ID, "", None)
        assert sample is not None
        assert sample.pids == int(pids)
    assert open_files() - before == min(kept_open, 5)
    one.retain(())
    assert open_files() == before


def test_a_vanished_container_has_no_sample(tmp_path: Path) -> None:
    make_v2(tmp_path / "cgroup", f"docker/{ID}")
    # An open file of a removed cgroup fails to read; one of an ordinary directory would not.
    one = reader(tmp_path, kept_open=0)
    assert one.read(ID, "", None) is not None
    for file in (tmp_path / "cgroup" / "docker" / ID).iterdir():
        file.unlink()
    (tmp_path / "cgroup" / "docker" / ID).rmdir()
    assert one.read(ID, "", None) is None


def test_a_container_that_moved_is_found_again(tmp_path: Path) -> None:
    make_v2(tmp_path / "cgroup", f"docker/{ID}")
    one = reader(tmp_path)
    assert one.read(ID, "", None) is not None
    (tmp_path / "cgroup" / "docker").rename(tmp_path / "cgroup" / "system.slice")
    assert one.read(ID, "", None) is not None


def test_missing_controllers_leave_their_facts_unknown(tmp_path: Path) -> None:
    make_v2(tmp_path / "cgroup", f"docker/{ID}")
    for name in ("memory.current", "memory.stat", "pids.current", "io.stat"):
        (tmp_path / "cgroup" / "docker" / ID / name).unlink()
    sample = reader(tmp_path).read(ID, "", None)
    assert sample is not None
    assert (sample.cpu_nanoseconds, sample.memory_bytes, sample.pids) == (17_137_201_000, None, None)
    assert sample.block_read_bytes is None


@pytest.mark.parametrize("content", ["", "max\n", "-1\n", "nonsense", "9" * 40])
def test_nonsense_in_a_file_reads_as_unknown(tmp_path: Path, content: str) -> None:
    make_v2(tmp_path / "cgroup", f"docker/{ID}")
    write(tmp_path / "cgroup" / "docker" / ID, {"pids.current": content, "memory.current": content})
    sample = reader(tmp_path).read(ID, "", None)
    assert sample is not None
    assert (sample.pids, sample.memory_bytes) == (None, None)


@pytest.mark.parametrize("parent", ["../../etc", "/..", "a/../b", "\0", "x" * 5000])
def test_a_hostile_parent_reaches_nothing(tmp_path: Path, parent: str) -> None:
    make_v2(tmp_path / "cgroup", "docker/none")
    assert reader(tmp_path).read(ID, parent, None) is None


def test_a_host_without_cgroups_gives_no_sample(tmp_path: Path) -> None:
    assert reader(tmp_path).read(ID, "", 1) is None


def test_network_devices_are_summed_without_the_loopback() -> None:
    assert parse_network_devices(NET_DEV) == (1610, 43, NetworkCounters(20, 3, 5, 2, 7, 9))
    assert parse_network_devices(b"") == (0, 0, NetworkCounters(0, 0, 0, 0, 0, 0))
