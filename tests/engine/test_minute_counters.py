"""Pressure and open files are read once a minute, from where they can be seen; what cannot be seen is None, never 0."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bcon_exporter.engine.kept_open_files import OpenBudget
from bcon_exporter.engine.minute_counters import (
    EVERY_SECONDS,
    MinuteCounters,
    MinuteWants,
    count_open_files,
    parse_pressure,
)
from bcon_exporter.model.container_facts import Pressure, PressureTotals
from tests.engine.test_cgroup import ID, write
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

IDLE = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
BUSY = "some avg10=38.10 avg60=9.00 avg300=1.00 total=77619\nfull avg10=1.00 avg60=0.00 avg300=0.00 total=68392\n"
SOME = "some avg10=38.10 avg60=9.00 avg300=1.00 total=5\n"


def counters(folder: Path, **wants: bool) -> MinuteCounters:
    return MinuteCounters(str(folder / "cgroup"), str(folder / "proc"), OpenBudget(6), MinuteWants(**wants))


def make_pressure(directory: Path, cpu: str = BUSY, memory: str = IDLE, io: str = SOME) -> None:
    write(directory, {"cpu.pressure": cpu, "memory.pressure": memory, "io.pressure": io})


def make_process(folder: Path, pid: str, files: int) -> None:
    write(folder / "proc" / pid / "fd", {str(number): "" for number in range(files)})


@table(("content", "expected"), [
    (BUSY, PressureTotals(77619, 68392)), (IDLE, PressureTotals(0, 0)), (SOME, PressureTotals(5, None)),
    ("", None), ("some total=x\n", None), ("some total=-1\n", None), (f"some total={'9' * 21}\n", None),
    ("nonsense", None), ("awesome total=3\n", None),
])  # fmt: skip
def test_totals_are_read_and_nonsense_is_none(content: str, expected: PressureTotals | None) -> None:
    assert parse_pressure(content.encode()) == expected


def test_pressure_is_read_in_cgroup_v2(tmp_path: Path) -> None:
    directory = tmp_path / "cgroup" / "docker" / ID
    make_pressure(directory)
    counts = counters(tmp_path).read(ID, str(directory), str(directory / "cgroup.procs"), 42, 0.0)
    assert counts.pressure == Pressure(PressureTotals(77619, 68392), PressureTotals(0, 0), PressureTotals(5))
    assert counts.open_files is None


@table(("line", "is_read"), [
    (f"0::/docker/{ID}\n", True), (f"4:memory:/docker/{ID}\n0::/docker/{ID}\n", True),
    (f"1:name=systemd:/docker/{ID}\n", False), ("0::/user.slice\n", False), ("0::/\n", False),
    (f"0::/../{ID}\n", False),
])  # fmt: skip
def test_on_a_hybrid_machine_the_process_says_where_its_unified_half_lies(
    line: str, is_read: bool, tmp_path: Path
) -> None:
    make_pressure(tmp_path / "cgroup" / "unified" / "docker" / ID)
    make_pressure(tmp_path / "cgroup" / "unified" / "user.slice")
    make_pressure(tmp_path / "cgroup" / "unified" / ID)
    make_pressure(tmp_path / "cgroup" / ID)
    write(tmp_path / "proc" / "42", {"cgroup": line})
    write(tmp_path / "c", {"cgroup.procs": "42\n"})
    processes = str(tmp_path / "c" / "cgroup.procs")
    assert (counters(tmp_path).read(ID, None, processes, 7, 0.0).pressure is not None) is is_read
    assert counters(tmp_path).read(ID, None, str(tmp_path / "none"), 7, 0.0).pressure is None


def test_they_are_read_once_a_minute_and_anew_of_another_process(tmp_path: Path) -> None:
    directory = tmp_path / "cgroup" / "docker" / ID
    make_pressure(directory)
    reader = counters(tmp_path)

    def cpu(now: float, pid: int = 42) -> int | None:
        totals = reader.read(ID, str(directory), "", pid, now).pressure
        return None if totals is None or totals.cpu is None else totals.cpu.waiting

    assert cpu(0.0) == 77619
    make_pressure(directory, cpu=SOME)
    second = next(now for now in range(60) if cpu(float(now)) == 5)
    make_pressure(directory, cpu=BUSY)
    assert cpu(second + EVERY_SECONDS - 0.1) == 5
    assert cpu(second + EVERY_SECONDS) == 77619
    make_pressure(directory, cpu=SOME)
    assert cpu(second + EVERY_SECONDS, pid=43) == 5


def test_what_is_not_wanted_is_not_read(tmp_path: Path) -> None:
    directory = tmp_path / "cgroup" / "docker" / ID
    make_pressure(directory)
    write(directory, {"cgroup.procs": "42\n"})
    make_process(tmp_path, "42", 3)
    procs = str(directory / "cgroup.procs")
    whole = counters(tmp_path).read(ID, str(directory), procs, 42, 0.0)
    assert (whole.pressure is not None, whole.open_files is not None) == (True, True)
    assert counters(tmp_path, pressure=False).read(ID, str(directory), procs, 42, 0.0).pressure is None
    assert counters(tmp_path, open_files=False).read(ID, str(directory), procs, 42, 0.0).open_files is None
    assert counters(tmp_path, pressure=False).read_host() is None


def test_a_kernel_without_pressure_has_none(tmp_path: Path) -> None:
    directory = tmp_path / "cgroup" / "docker" / ID
    directory.mkdir(parents=True)
    reader = counters(tmp_path)
    assert reader.read(ID, str(directory), "", 42, 0.0).pressure is None
    assert reader.read_host() is None


def test_of_the_host_all_tasks_never_wait_for_the_processor(tmp_path: Path) -> None:
    write(tmp_path / "proc" / "pressure", {"cpu": BUSY, "memory": BUSY, "io": IDLE})
    assert counters(tmp_path).read_host() == Pressure(
        PressureTotals(77619), PressureTotals(77619, 68392), PressureTotals(0, 0)
    )


@table("processes", ["", "0\n", "42\n0\n", "42\nx\n", "42\n" * 513])
def test_open_files_are_told_of_all_processes_or_not_at_all(processes: str, tmp_path: Path) -> None:
    write(tmp_path / "c", {"cgroup.procs": processes})
    make_process(tmp_path, "42", 3)
    assert count_open_files(str(tmp_path / "proc"), str(tmp_path / "c" / "cgroup.procs")) is None


def test_a_process_that_has_ended_meanwhile_holds_no_files(tmp_path: Path) -> None:
    write(tmp_path / "c", {"cgroup.procs": "42\n44\n"})
    make_process(tmp_path, "42", 3)
    counted = count_open_files(str(tmp_path / "proc"), str(tmp_path / "c" / "cgroup.procs"))
    assert counted is not None
    assert counted > 0


def test_a_cgroup_with_others_below_does_not_list_all_processes(tmp_path: Path) -> None:
    write(tmp_path / "c", {"cgroup.procs": "42\n"})
    (tmp_path / "c" / "init").mkdir()
    make_process(tmp_path, "42", 3)
    assert count_open_files(str(tmp_path / "proc"), str(tmp_path / "c" / "cgroup.procs")) is None


def test_the_kernels_own_folders_count_descriptors(tmp_path: Path) -> None:

    write(tmp_path / "c", {"cgroup.procs": f"{os.getpid()}\n"})
    before = count_open_files("/proc", str(tmp_path / "c" / "cgroup.procs"))
    with (tmp_path / "c" / "cgroup.procs").open():
        after = count_open_files("/proc", str(tmp_path / "c" / "cgroup.procs"))
    assert before is not None
    assert after == before + 1
