"""Usage read from the cgroup files of this host: v1, v2 and hybrid; about thirty microseconds a container.

The files are readable by everyone, but only where the exporter sees the host's hierarchy. A container whose cgroup is
not found is no error: its usage then comes from the engine's stats.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection
from pathlib import Path
from typing import ClassVar, Literal

from bcon_exporter import clock
from bcon_exporter.engine.cgroup_paths import CgroupPaths, read_process_cgroups
from bcon_exporter.engine.kept_open_files import KernelFiles, OpenBudget, read_once
from bcon_exporter.engine.minute_counters import NOTHING, MinuteCounters, MinuteWants
from bcon_exporter.model.container_facts import NetworkCounters, Pressure
from bcon_exporter.readings import KillCounts, UsageSample

Version = Literal["v1", "v2"]

_SENT_FIELDS = 12
"""Of a line of net/dev: eight received fields, then bytes, packets, errors and drops of what was sent."""
_EVENTS = "memory.events"
_V1_CPU = (b"nr_periods ", b"nr_throttled ", b"throttled_time ")
_OOM_KILLS = b"oom_kill "
_V2_CPU = (b"nr_periods ", b"nr_throttled ", b"throttled_usec ")


def _number(content: bytes | None) -> int | None:
    return _to_int(content.strip()) if content else None


def _to_int(digits: bytes) -> int | None:
    return int(digits) if digits.isdigit() and len(digits) <= 20 else None  # noqa: PLR2004 - 64 bits


def _value(content: bytes, key: bytes) -> int | None:
    """Return the number after a key that stands at the start of a line."""
    at = 0 if content.startswith(key) else content.find(b"\n" + key) + 1
    if at == 0 and not content.startswith(key):
        return None
    end = content.find(b"\n", at)
    return _to_int(content[at + len(key) : end if end >= 0 else None].strip())


def _working_set(usage: int | None, stat: bytes, keys: tuple[bytes, ...]) -> int | None:
    """Subtract the inactive page cache, as `docker stats` does."""
    if usage is None:
        return None
    for key in keys:
        inactive = _value(stat, key)
        if inactive is not None:
            return usage - inactive if inactive < usage else usage
    return usage


class _Files(ABC):
    """The files of one container, by name; the last of them counts OOM kills."""

    __slots__ = ("_files", "_killed", "path")
    names: ClassVar[tuple[str, ...]]

    def __init__(self, root: str, path: str, budget: OpenBudget) -> None:
        self.path = path
        self._files = KernelFiles([f"{root}/{name.format(path)}" for name in self.names], budget)
        self._killed: int | None = None

    def count_kills(self, *, calm: bool) -> int | None:
        """Return how many of its processes the kernel has killed; None where it cannot be read.

        While the kernel kills nothing, a count of 0 stays one, also in a cgroup that is made anew meanwhile.
        """
        if not calm or self._killed != 0:
            self._killed = _value(self._files.read(len(self.names) - 1) or b"", _OOM_KILLS)
        return self._killed

    @abstractmethod
    def read(self) -> UsageSample | None:
        """Return a sample; None when neither CPU nor memory can be read."""

    def close(self) -> None:
        """Close what is kept open."""
        self._files.close()


class _V1Files(_Files):
    __slots__ = ()
    names = (
        "cpuacct/{}/cpuacct.usage",
        "memory/{}/memory.usage_in_bytes",
        "cpu/{}/cpu.stat",
        "memory/{}/memory.stat",
        "pids/{}/pids.current",
        "blkio/{}/blkio.throttle.io_service_bytes_recursive",
        "memory/{}/memory.oom_control",
    )

    def read(self) -> UsageSample | None:
        cpu_usage, memory_usage, cpu_stats, memory_stats, pids, blocks, _kills = range(len(self.names))
        read_file = self._files.read
        cpu, memory = _number(read_file(cpu_usage)), _number(read_file(memory_usage))
        if cpu is None and memory is None:
            return None
        read_at = clock.utc_now()
        cpu_stat = read_file(cpu_stats) or b""
        periods, throttled, throttled_time = [_value(cpu_stat, key) for key in _V1_CPU]
        read, written = _v1_blocks(read_file(blocks))
        memory_stat = read_file(memory_stats) or b""
        return UsageSample(
            read_at=read_at,
            source="cgroup",
            cpu_nanoseconds=cpu,
            throttled_nanoseconds=throttled_time,
            periods=periods,
            throttled_periods=throttled,
            memory_bytes=_working_set(memory, memory_stat, (b"total_inactive_file ", b"inactive_file ")),
            active_cache_bytes=_value(memory_stat, b"total_active_file "),
            pids=_number(read_file(pids)),
            block_read_bytes=read,
            block_write_bytes=written,
        )


class _V2Files(_Files):
    __slots__ = ()
    names = ("{}/cpu.stat", "{}/memory.current", "{}/memory.stat", "{}/pids.current", "{}/io.stat", "{}/" + _EVENTS)

    def read(self) -> UsageSample | None:
        cpu_stats, memory_usage, memory_stats, pids, blocks, _kills = range(len(self.names))
        read_file = self._files.read
        cpu_stat, memory = read_file(cpu_stats), _number(read_file(memory_usage))
        if cpu_stat is None and memory is None:
            return None
        read_at = clock.utc_now()
        content = cpu_stat or b""
        cpu = _value(content, b"usage_usec ")
        periods, throttled, throttled_usec = [_value(content, key) for key in _V2_CPU]
        read, written = _v2_blocks(read_file(blocks))
        memory_stat = read_file(memory_stats) or b""
        return UsageSample(
            read_at=read_at,
            source="cgroup",
            cpu_nanoseconds=None if cpu is None else cpu * 1000,
            throttled_nanoseconds=None if throttled_usec is None else throttled_usec * 1000,
            periods=periods,
            throttled_periods=throttled,
            memory_bytes=_working_set(memory, memory_stat, (b"inactive_file ",)),
            active_cache_bytes=_value(memory_stat, b"active_file "),
            pids=_number(read_file(pids)),
            block_read_bytes=read,
            block_write_bytes=written,
        )


def _v1_blocks(content: bytes | None) -> tuple[int | None, int | None]:
    """Sum "8:0 Read 4096" and "8:0 Write 0" over the devices."""
    if content is None:
        return None, None
    read = written = 0
    for line in content.splitlines():
        parts = line.split()
        if len(parts) == 3 and parts[1] in (b"Read", b"Write"):  # noqa: PLR2004 - device, operation, bytes
            count = _to_int(parts[2]) or 0
            read, written = (read + count, written) if parts[1] == b"Read" else (read, written + count)
    return read, written


def _v2_blocks(content: bytes | None) -> tuple[int | None, int | None]:
    """Sum "8:0 rbytes=4096 wbytes=0 ..." over the devices."""
    if content is None:
        return None, None
    read = written = 0
    for word in content.split():
        if word.startswith(b"rbytes="):
            read += _to_int(word[7:]) or 0
        elif word.startswith(b"wbytes="):
            written += _to_int(word[7:]) or 0
    return read, written


class CgroupReader:
    """Reads the usage of containers of this host; to be used by one thread.

    Args:
        root: Where the cgroup hierarchies are mounted, usually /sys/fs/cgroup.
        proc: Where processes are, usually /proc; only for network counters and as the last way to a path.
        kept_open: How many files may stay open; None for most of what the process may open.
        wants: What to read once a minute.
    """

    def __init__(
        self, root: Path, proc: Path, *, kept_open: int | None = None, wants: MinuteWants | None = None
    ) -> None:
        self._root = str(root)
        self._proc = str(proc)
        self._version: Version | None = None
        self._paths: CgroupPaths | None = None
        self._files: dict[str, _Files] = {}
        self._budget = OpenBudget(kept_open)
        self._by_the_minute = MinuteCounters(self._root, self._proc, self._budget, wants or MinuteWants())
        self._processes: dict[str, tuple[int, bool]] = {}
        self._kill_readings = 0
        self._host_kills: tuple[int | None, int | None] = (None, None)

    def read(
        self, container_id: str, cgroup_parent: str, pid: int | None, *, own_network: bool = True
    ) -> UsageSample | None:
        """Read the counters of one container.

        Args:
            container_id: Full id.
            cgroup_parent: As configured; "" for the engine's default.
            pid: Of its main process in this host's namespace; a foreign one does no harm.
            own_network: False when it shares the host's or another container's network: then none is counted.

        Returns:
            None when its cgroup is not to be seen here.
        """
        files = self._files.get(container_id)
        sample = files.read() if files else None
        if sample is None:
            self._forget(container_id)
            files = self._find(container_id, cgroup_parent, pid)
            if files is None:
                return None
            self._files[container_id] = files
            sample = files.read()
        if sample is None or files is None:
            return sample
        counts = self._by_the_minute.read(
            container_id, self._unified_directory(files.path), self._processes_file(files.path), pid, clock.monotonic()
        )
        if counts != NOTHING:
            sample = sample._replace(pressure=counts.pressure, open_files=counts.open_files)
        if pid is None or not own_network:
            return sample
        return self._with_network(sample, container_id, pid)

    def read_host_pressure(self) -> Pressure | None:
        """Return the machine's pressure; None where none of its containers is seen, or its kernel does not tell."""
        return self._by_the_minute.read_host() if self._files else None

    def _unified_directory(self, path: str) -> str | None:
        return f"{self._root}/{path}" if self._version == "v2" else None

    def _processes_file(self, path: str) -> str:
        return f"{self._root}/{path if self._version == 'v2' else f'memory/{path}'}/cgroup.procs"

    def count_kills(self) -> KillCounts | None:
        """Return the OOM kills of the containers that were read, and of the cgroups around them; None of none.

        Around them first: no kill is counted there that its container does not count yet.
        """
        if not self._files:
            return None
        self._kill_readings += 1
        read_at = clock.utc_now()
        around = self._count_around()
        calm = self._is_calm()
        counts = ((container_id, files.count_kills(calm=calm)) for container_id, files in self._files.items())
        own = {container_id: count for container_id, count in counts if count is not None}
        return KillCounts(own, around, read_at, self._kill_readings)

    def _count_around(self) -> dict[str, int]:
        if self._version != "v2":
            return {}
        paths = {files.path.rpartition("/")[0] for files in self._files.values()}
        counts = {path: _value(read_once(f"{self._root}/{path}/{_EVENTS}") or b"", _OOM_KILLS) for path in paths}
        return {path: count for path, count in counts.items() if count is not None}

    def _is_calm(self) -> bool:
        """Whether the kernel has killed nothing on the whole host since the look before the last one.

        Not since the last one: a kill is counted there a moment before its cgroup counts it.
        """
        total = _value(read_once(f"{self._proc}/vmstat") or b"", _OOM_KILLS)
        is_calm = total is not None and self._host_kills == (total, total)
        self._host_kills = (self._host_kills[1], total)
        return is_calm

    def retain(self, container_ids: Collection[str]) -> None:
        """Forget the paths of all other containers, and close their files: open ones keep a removed cgroup alive."""
        for gone in self._files.keys() - set(container_ids):
            self._forget(gone)

    def _forget(self, container_id: str) -> None:
        self._processes.pop(container_id, None)
        self._by_the_minute.forget(container_id)
        files = self._files.pop(container_id, None)
        if files is not None:
            files.close()

    def _find(self, container_id: str, cgroup_parent: str, pid: int | None) -> _Files | None:
        if not self._detect() or self._paths is None:
            return None
        path = self._paths.find(container_id, cgroup_parent, pid)
        if path is None:
            return None
        kind = _V2Files if self._version == "v2" else _V1Files
        return kind(self._root, path, self._budget)

    def _detect(self) -> bool:
        """Tell v2 (one hierarchy) from v1 and hybrid (one directory a controller; v2 beside it has no controllers)."""
        if self._version is not None:
            return True
        controllers: tuple[str, ...] = ()
        base = self._root
        if read_once(f"{self._root}/cgroup.controllers") is not None:
            self._version = "v2"
        elif read_once(f"{self._root}/memory/cgroup.procs") is not None:
            self._version, base, controllers = "v1", f"{self._root}/memory", ("memory",)
        elif read_once(f"{self._root}/cpuacct/cgroup.procs") is not None:
            self._version, base, controllers = "v1", f"{self._root}/cpuacct", ("cpuacct", "cpu")
        else:
            return False
        self._paths = CgroupPaths(base, self._proc, controllers)
        return True

    def _with_network(self, sample: UsageSample, container_id: str, pid: int) -> UsageSample:
        """Add the counters of the process's network, when it is truly the container's process.

        Looked at once for each process: a restart gives the container another one, and a new cgroup.
        """
        process = self._processes.get(container_id)
        if process is None or process[0] != pid:
            own = any(container_id in path for _, path in read_process_cgroups(self._proc, pid))
            process = self._processes[container_id] = (pid, own)
        content = read_once(f"{self._proc}/{pid}/net/dev") if process[1] else None
        if content is None:
            return sample
        received, sent, counters = parse_network_devices(content)
        return sample._replace(network_rx_bytes=received, network_tx_bytes=sent, network=counters)


def parse_network_devices(content: bytes) -> tuple[int, int, NetworkCounters]:
    """Sum received and sent bytes and packets of /proc/PID/net/dev over all interfaces but the loopback."""
    totals = [0] * _SENT_FIELDS
    for line in content.splitlines()[2:]:
        name, _, counters = line.partition(b":")
        fields = counters.split(None, _SENT_FIELDS)
        if name.strip() != b"lo" and len(fields) >= _SENT_FIELDS:
            totals = [total + (_to_int(field) or 0) for total, field in zip(totals, fields, strict=False)]
    return totals[0], totals[8], NetworkCounters(*totals[1:4], *totals[9:12])
