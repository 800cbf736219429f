"""What /proc tells about a tree of processes: who is in it, what each is called, and the CPU time it has used."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One process as seen from the host's pid namespace; CPU seconds are its own, without its children's."""

    pid: int
    parent: int
    name: str
    cpu_seconds: float
    start_ticks: int


def read_process(pid: int) -> Process | None:
    """Read one process; None when it has gone."""
    try:
        stat = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    name, _, rest = stat.partition("(")[2].rpartition(")")
    fields = rest.split()  # fields[0] is the state: number 3 in proc(5)
    cpu_seconds = (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
    return Process(pid, int(fields[1]), name, cpu_seconds, int(fields[19]))


def read_tree(root: int) -> tuple[Process, ...]:
    """Every process below `root`, itself included, parents before children."""
    children: dict[int, list[Process]] = {}
    found = [first] if (first := read_process(root)) else []
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (process := read_process(int(entry.name))):
            children.setdefault(process.parent, []).append(process)
    for process in found:  # grows while it is walked
        found.extend(children.get(process.pid, ()))
    return tuple(found)


def innermost_pid(pid: int) -> int:
    """The pid that a process has in its own pid namespace; 0 when it has gone."""
    try:
        lines = (PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[-1]) for line in lines if line.startswith("NSpid:")), pid)
