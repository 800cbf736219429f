"""Promise: load, memory and pressure are those of the engine's own machine, or are not told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bcon_exporter.engine.host_load import parse_meminfo, parse_pressure, read_host_load
from bcon_exporter.model.container_facts import EngineFacts
from bcon_exporter.model.system_status import HostLoad

if TYPE_CHECKING:
    from pathlib import Path

MEMINFO = """\
MemTotal:        8000000 kB
MemFree:          100000 kB
MemAvailable:    2000000 kB
SwapTotal:       1000000 kB
SwapFree:         900000 kB
HugePages_Total:       0
"""
ENGINE = EngineFacts(name="e", server_version="28", api_version="1.51", memory_bytes=8_000_000 * 1024)


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "meminfo").write_text(MEMINFO)
    (tmp_path / "loadavg").write_text("0.50 1.25 2.00 1/234 5678\n")
    (tmp_path / "uptime").write_text("12345.67 23456.78\n")
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure" / "cpu").write_text("some avg10=1.00 avg60=2.50 avg300=0.00 total=1\n")
    return tmp_path


def test_load_memory_and_pressure_are_read(proc: Path) -> None:
    assert read_host_load("unix:///run/docker.sock", proc, ENGINE) == HostLoad(
        uptime_seconds=12345.67,
        load_1m=0.5,
        load_5m=1.25,
        load_15m=2.0,
        memory_total_bytes=8_000_000 * 1024,
        memory_available_bytes=2_000_000 * 1024,
        swap_total_bytes=1_000_000 * 1024,
        swap_free_bytes=900_000 * 1024,
        pressure={"cpu": 0.025},
    )


def test_another_machine_is_not_taken_for_this_one(proc: Path) -> None:
    assert "another machine" in str(read_host_load("tcp://10.0.0.1:2375", proc, ENGINE))


@pytest.mark.parametrize(("memory", "is_seen"), [(1.0, True), (0.995, True), (0.98, False), (1.02, False)])
def test_a_memory_that_is_not_the_engines_is_not_believed(proc: Path, memory: float, is_seen: bool) -> None:
    engine = ENGINE.model_copy(update={"memory_bytes": round(memory * 8_000_000 * 1024)})
    assert isinstance(read_host_load("unix:///run/docker.sock", proc, engine), HostLoad) is is_seen


def test_where_proc_tells_nothing_that_is_said(tmp_path: Path) -> None:
    assert read_host_load("unix:///run/docker.sock", tmp_path, ENGINE) == "/proc cannot be read here"


@pytest.mark.parametrize("text", ["", "MemTotal", "MemTotal: x kB", "MemTotal: 5 MB", "a b c\n:\n"])
def test_other_lines_are_left_out(text: str) -> None:
    assert parse_meminfo(text) == {}


@pytest.mark.parametrize("text", ["", "full avg60=1", "some avg60=x", "some"])
def test_a_pressure_that_is_not_told_is_none(text: str) -> None:
    assert parse_pressure(text) is None
