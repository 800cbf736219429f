"""What is read of a container once a minute, since it would make a scan dearer: pressure (PSI) and open files.

Pressure: cgroup v2, and the unified half of a hybrid machine; a kernel without PSI has no such files. Source: kernel,
Documentation/accounting/psi.rst and admin-guide/cgroup-v2.rst.
"""

import os
from dataclasses import dataclass
from typing import NamedTuple

from bcon_exporter.engine.cgroup_paths import read_process_cgroups
from bcon_exporter.engine.kept_open_files import KernelFiles, OpenBudget, read_once
from bcon_exporter.model.container_facts import Pressure, PressureTotals

EVERY_SECONDS = 55.0
"""A little less than a minute: a scan that comes a minute later finds it due."""
_SPREAD_SECONDS = 60
_RESOURCES = Pressure._fields
_MOST_PROCESSES = 512
"""Of a container with more the open files are not counted: each is a look at a folder."""
_LONE_DIRECTORY_LINKS = 2
_MOST_DIGITS = 20


class MinuteCounts(NamedTuple):
    """What was read within the last minute; None where it cannot be."""

    pressure: Pressure | None = None
    open_files: int | None = None


NOTHING = MinuteCounts()


@dataclass(frozen=True, slots=True)
class MinuteWants:
    """Which of them are read."""

    pressure: bool = True
    open_files: bool = True


class _Watched:
    """One container: its files, when it is due, and what was read last."""

    __slots__ = ("contents", "counts", "due_at", "files", "pid")

    def __init__(self, pid: int | None) -> None:
        self.files: KernelFiles | None = None
        self.pid = pid
        self.contents: list[bytes | None] = []
        self.counts = NOTHING
        self.due_at = float("-inf")


class MinuteCounters:
    """Reads them; to be used by one thread.

    Args:
        root: Where the cgroup hierarchies are mounted.
        proc: Where processes are.
        budget: For files that are kept open.
        wants: What to read.
    """

    def __init__(self, root: str, proc: str, budget: OpenBudget, wants: MinuteWants) -> None:
        self._root, self._proc = root, proc
        self._budget = budget
        self._wants = wants
        self._watched: dict[str, _Watched] = {}

    def read(
        self, container_id: str, directory: str | None, processes: str, pid: int | None, now: float
    ) -> MinuteCounts:
        """Return what is known of a container, read anew when a minute has passed.

        Args:
            container_id: Full id.
            directory: Of its cgroup v2; None on a hybrid machine, where one of its processes says where that lies.
            processes: The file that lists its processes, by their ids here.
            pid: Of its main process as the engine says: another one begins anew.
            now: On the monotonic clock.
        """
        watched = self._watched.get(container_id)
        if watched is None or watched.pid != pid:
            self.forget(container_id)
            watched = self._watched[container_id] = _Watched(pid)
            # The first look at all falls into one scan; those after it are spread over a minute.
            pause = float(hash(container_id) % _SPREAD_SECONDS)
        elif now < watched.due_at:
            return watched.counts
        else:
            pause = EVERY_SECONDS
        watched.due_at = now + pause
        if watched.files is None:
            watched.files = self._open(container_id, directory, processes)
        open_files = count_open_files(self._proc, processes) if self._wants.open_files else None
        watched.counts = MinuteCounts(self._read_pressure(watched), open_files)
        return watched.counts

    def read_host(self) -> Pressure | None:
        """Return the pressure of the whole machine; None where its kernel does not tell.

        That all tasks wait for the processor is not defined for a whole machine: the kernel writes 0.
        """
        if not self._wants.pressure:
            return None
        cpu, memory, io = (parse_pressure(read_once(f"{self._proc}/pressure/{name}")) for name in _RESOURCES)
        pressure = Pressure(None if cpu is None else cpu._replace(stalled=None), memory, io)
        return None if pressure == Pressure() else pressure

    def forget(self, container_id: str) -> None:
        """Close the files of a container."""
        watched = self._watched.pop(container_id, None)
        if watched is not None and watched.files is not None:
            watched.files.close()

    def _open(self, container_id: str, directory: str | None, processes: str) -> KernelFiles | None:
        if not self._wants.pressure:
            return None
        directory = directory or self._find_unified(container_id, processes)
        return KernelFiles([f"{directory}/{name}.pressure" for name in _RESOURCES], self._budget) if directory else None

    def _find_unified(self, container_id: str, processes: str) -> str | None:
        """Return where a process of the container stands in the unified hierarchy; None where none can be asked."""
        pids = (read_once(processes) or b"").split()
        if not pids or not pids[0].isdigit():
            return None
        paths = (path for controllers, path in read_process_cgroups(self._proc, int(pids[0])) if not controllers)
        path = next((path for path in paths if container_id in path), None)
        return None if path is None or ".." in path.split("/") else f"{self._root}/unified/{path.strip('/')}"

    def _read_pressure(self, watched: _Watched) -> Pressure | None:
        if watched.files is None:
            return None
        contents = [watched.files.read(number) for number in range(len(_RESOURCES))]
        if contents != watched.contents:  # of an idle container they are the same for long
            watched.contents = contents
            pressure = Pressure(*map(parse_pressure, contents))
            return None if pressure == Pressure() else pressure
        return watched.counts.pressure


def parse_pressure(content: bytes | None) -> PressureTotals | None:
    """Return the totals of "some avg10=0.00 avg60=0.00 avg300=0.00 total=42" and of "full …"."""
    if not content:
        return None
    waiting = _total(content, b"some ")
    return None if waiting is None else PressureTotals(waiting, _total(content, b"full "))


def _total(content: bytes, line: bytes) -> int | None:
    start = 0 if content.startswith(line) else content.find(b"\n" + line) + 1
    if start == 0 and not content.startswith(line):
        return None
    end = content.find(b"\n", start)
    digits = content[start : end if end >= 0 else None].rpartition(b"total=")[2].strip()
    return int(digits) if digits.isdigit() and len(digits) <= _MOST_DIGITS else None


def count_open_files(proc: str, processes: str) -> int | None:
    """Return the descriptors of all processes of a cgroup; None where not all of them can be seen.

    Where the cgroup has others below it, its own list of processes is not the whole one.
    """
    content = read_once(processes)
    if not content or _has_cgroups_below(processes.rpartition("/")[0]):
        return None
    pids = content.split()
    if len(pids) > _MOST_PROCESSES or any(not pid.isdigit() or pid == b"0" for pid in pids):
        return None
    total = 0
    for pid in pids:
        try:
            total += _count_descriptors(f"{proc}/{pid.decode()}/fd")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        except OSError:
            return None
    return total


def _has_cgroups_below(directory: str) -> bool:
    try:
        return os.stat(directory).st_nlink > _LONE_DIRECTORY_LINKS  # noqa: PTH116 - hot: no Path objects
    except OSError:
        return True


def _count_descriptors(folder: str) -> int:
    """Return how many entries there are; the kernel gives the number as the folder's size from 6.2 on."""
    return os.stat(folder).st_size or len(os.listdir(folder))  # noqa: PTH116, PTH208 - hot: no Path objects
