"""read_logs and system_status: a container's log by the name of a unit, and how engine and host are."""

from collections import Counter
from typing import Literal

from bcon_exporter.engine import Wants
from bcon_exporter.errors import BconError, ContainerNotFoundError, DeadlineExceededError, NotAvailableError
from bcon_exporter.model.container_facts import EngineFacts, HostSnapshot
from bcon_exporter.model.disk import DiskUsageInput
from bcon_exporter.model.reports import ContainerLogs
from bcon_exporter.model.system_status import (
    HostLoad,
    MemoryUser,
    ReadLogsInput,
    SystemDisk,
    SystemMemory,
    SystemStatus,
    SystemStatusInput,
)
from bcon_exporter.model.tool_inputs import GetContainerLogsInput
from bcon_exporter.stages import EXPERIMENTAL
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.disk import get_disk_usage
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.log_views import get_container_logs
from bcon_exporter.tools.tool import Tool

_SERVICE, _SCOPE, _SCOPE_OF_DOCKER = ".service", ".scope", "docker-"
_SIGNS = "_.-"
_LARGEST = 5


def read_logs(context: Context, request: ReadLogsInput) -> ContainerLogs:
    """Return the newest log lines of the container that a unit's name means.

    Raises:
        NotAvailableError: It means none; the journal of the host is not read. `details["would_help"]`.
        BconError: The log cannot be read.
    """
    name = find_container_name(request.unit)
    if name is None:
        raise _no_journal(request, ())
    try:
        return get_container_logs(context, GetContainerLogsInput(container_id=name, tail=request.lines))
    except ContainerNotFoundError as error:
        raise _no_journal(request, error.details.get("near_matches")) from error


def find_container_name(unit: str) -> str | None:
    """Return the container's name or id that a unit's name may mean (web, web.service, docker-ID.scope), or None."""
    name = unit.removesuffix(_SERVICE)
    if unit.endswith(_SCOPE):
        name = unit.removesuffix(_SCOPE).removeprefix(_SCOPE_OF_DOCKER)
    fits = name[:1].isalnum() and all(sign.isalnum() or sign in _SIGNS for sign in name)
    return name if fits else None


def _no_journal(request: ReadLogsInput, near: object) -> NotAvailableError:
    names = [str(name) for name in near] if isinstance(near, list | tuple) else []
    hint = f" Did you mean the container {names[0]}?" if names else ""
    msg = (
        f"{request.unit} is no container of this host, and the journal of the host is not read from here.{hint} "
        "Somebody with a shell on the host can read it with journalctl."
    )
    command = ["journalctl", "-u", request.unit, "-n", str(request.lines), "--no-pager"]
    return NotAvailableError(msg, {"unit": request.unit, "near_matches": names, "would_help": command})


def system_status(context: Context, request: SystemStatusInput) -> SystemStatus:
    """Return how engine and host are: the engine is asked, the containers are those of the last scan.

    Raises:
        BconError: The engine does not answer.
    """
    snapshot = _read_containers(context)
    engine = _ask_engine(context, snapshot)
    load = context.host.read_load(engine)
    seen = load if isinstance(load, HostLoad) else HostLoad()
    unseen = {} if isinstance(load, HostLoad) else {"load and memory of the host": load}
    disk, disk_unseen = _read_disk(context) if request.include_disk else (None, {})
    view: Literal["host", "container", "none"] = (
        "none" if unseen else "container" if context.host.is_in_container() else "host"
    )
    ratios = [facts.usage for facts in snapshot.containers if facts.usage is not None]
    cpus = [one.cpu_ratio * one.cpu_count for one in ratios if one.cpu_ratio is not None and one.cpu_count is not None]
    return SystemStatus(
        timestamp=context.now(),
        view=view,
        engine_name=engine.name,
        engine_version=engine.server_version,
        api_version=engine.api_version,
        architecture=engine.architecture,
        operating_system=engine.operating_system,
        kernel=engine.kernel,
        storage_driver=engine.storage_driver,
        cgroup_version=engine.cgroup_version,
        cpu_count=engine.cpu_count,
        engine_started_at=engine.started_at,
        as_of=snapshot.taken_at,
        containers=len(snapshot.containers),
        states=dict(sorted(Counter(facts.state.value for facts in snapshot.containers).items())),
        cpu_used=round(sum(cpus), 3) if cpus else None,
        uptime_seconds=seen.uptime_seconds,
        load_1m=seen.load_1m,
        load_5m=seen.load_5m,
        load_15m=seen.load_15m,
        pressure=seen.pressure,
        memory=_sum_memory(snapshot, engine, seen) if request.include_memory else None,
        disk=disk,
        unseen={**unseen, **disk_unseen},
    )


def _read_containers(context: Context) -> HostSnapshot:
    """Return the last scan's; without one, what is there now."""
    if context.scans.diagnosis is not None:
        return context.scans.diagnosis.snapshot
    return observe(context, Wants(logs=False, usage=True, wait_for_usage=context.one_shot))


def _ask_engine(context: Context, snapshot: HostSnapshot) -> EngineFacts:
    """Return what the engine says of itself; what it said last where it is slow to say it (containerd hangs)."""
    try:
        return context.host.engine()
    except DeadlineExceededError:
        if snapshot.engine is None or not context.host.is_up():
            raise
        return snapshot.engine


def _sum_memory(snapshot: HostSnapshot, engine: EngineFacts, seen: HostLoad) -> SystemMemory:
    users = [
        MemoryUser(
            name=facts.name,
            memory_usage_bytes=facts.usage.memory_usage_bytes,
            memory_limit_bytes=facts.limits.memory_bytes if facts.limits is not None else None,
        )
        for facts in snapshot.containers
        if facts.usage is not None and facts.usage.memory_usage_bytes is not None
    ]
    users.sort(key=lambda one: (-one.memory_usage_bytes, one.name))
    return SystemMemory(
        total_bytes=seen.memory_total_bytes or engine.memory_bytes,
        available_bytes=seen.memory_available_bytes,
        swap_total_bytes=seen.swap_total_bytes,
        swap_free_bytes=seen.swap_free_bytes,
        containers_bytes=sum(one.memory_usage_bytes for one in users) if users else None,
        largest=tuple(users[:_LARGEST]),
    )


def _read_disk(context: Context) -> tuple[SystemDisk | None, dict[str, str]]:
    """Return what get_disk_usage says, by kind, and what could not be read."""
    try:
        report = get_disk_usage(context, DiskUsageInput(limit=1))
    except BconError as error:
        return None, {"disk": context.secrets.hide(error.message)}
    disk = SystemDisk(
        space=report.space,
        full_in_seconds=report.full_in_seconds,
        totals=report.totals,
        read_at=report.stored_at or report.logs_at,
    )
    return disk, report.unread


READ_LOGS = Tool(
    "read_logs",
    "Show the newest log lines of the container that a unit's name means; no journal.",
    ReadLogsInput,
    ContainerLogs,
    read_logs,
    toolset="agents",
    stage=EXPERIMENTAL,
    rows="entries",
)
SYSTEM_STATUS = Tool(
    "system_status",
    "Say how engine and host are: containers by state, load, memory and pressure, with include_disk the disk by kind.",
    SystemStatusInput,
    SystemStatus,
    system_status,
    toolset="agents",
    stage=EXPERIMENTAL,
    timeout_seconds=240.0,
)
