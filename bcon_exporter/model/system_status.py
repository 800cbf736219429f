"""read_logs and system_status: a log by the name of a unit, and how engine and host are."""

from typing import Literal

from pydantic import Field

from bcon_exporter.model.base import Frozen, UtcDatetime
from bcon_exporter.model.disk import DiskSpace, DiskTotal
from bcon_exporter.model.text_patterns import UNIT_PATTERN
from bcon_exporter.model.tool_inputs import MAX_TAIL, Switch, Whole


class ReadLogsInput(Frozen):
    """Input of read_logs."""

    unit: str = Field(pattern=UNIT_PATTERN, description="Container, with or without .service")
    lines: Whole = Field(100, ge=1, le=MAX_TAIL, description="Newest lines to return")


class SystemStatusInput(Frozen):
    """Input of system_status."""

    include_disk: Switch = Field(False, description="The disk by kind")
    include_memory: Switch = True


class HostLoad(Frozen):
    """What the kernel tells of the machine.

    Attributes:
        load_1m, load_5m, load_15m: Processes that run or wait for a disk, on average.
        memory_available_bytes: What programs may still take without swapping.
        pressure: Share of the last 60 s in which something waited for it, 0 to 1: "cpu", "memory", "io".
    """

    uptime_seconds: float | None = None
    load_1m: float | None = None
    load_5m: float | None = None
    load_15m: float | None = None
    memory_total_bytes: int | None = None
    memory_available_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_free_bytes: int | None = None
    pressure: dict[str, float] = {}


class SystemMemory(Frozen):
    """The memory of the host; `containers_bytes` is what running containers use together."""

    total_bytes: int | None = None
    available_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_free_bytes: int | None = None
    containers_bytes: int | None = None
    largest: tuple["MemoryUser", ...] = ()


class MemoryUser(Frozen):
    """One of the containers that use most memory."""

    name: str
    memory_usage_bytes: int
    memory_limit_bytes: int | None = None


class SystemDisk(Frozen):
    """The disk of the engine; see `DiskReport`."""

    space: DiskSpace | None = None
    full_in_seconds: float | None = None
    totals: tuple[DiskTotal, ...] = ()
    read_at: UtcDatetime | None = None


class SystemStatus(Frozen):
    """How engine and host are.

    Attributes:
        view: "host": load and memory are those of the engine's machine. "container": bcon-exporter runs in a container
            on it, where the kernel tells the same. "none": they are not seen from here; `unseen` says why.
        as_of: When the containers were read.
        states: State → number of containers.
        unseen: What could not be seen → why.
    """

    timestamp: UtcDatetime
    view: Literal["host", "container", "none"]
    engine_name: str
    engine_version: str
    api_version: str
    architecture: str | None = None
    operating_system: str | None = None
    kernel: str | None = None
    storage_driver: str | None = None
    cgroup_version: str | None = None
    cpu_count: int | None = None
    engine_started_at: UtcDatetime | None = None
    as_of: UtcDatetime
    containers: int
    states: dict[str, int] = {}
    cpu_used: float | None = Field(None, description="CPUs that running containers use together")
    uptime_seconds: float | None = None
    load_1m: float | None = None
    load_5m: float | None = None
    load_15m: float | None = None
    pressure: dict[str, float] = {}
    memory: SystemMemory | None = None
    disk: SystemDisk | None = None
    unseen: dict[str, str] = {}
