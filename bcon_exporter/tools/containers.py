"""Tools about containers as they are: list, info, stats."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from pydantic import TypeAdapter

from bcon_exporter.engine import Wants
from bcon_exporter.errors import (
    BconError,
    ContainerNotFoundError,
    DeadlineExceededError,
    DockerConnectionError,
    InvalidInputError,
)
from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot, UsageFacts
from bcon_exporter.model.reports import ContainerInfo, ContainerStats
from bcon_exporter.model.tool_inputs import ContainerInput, ListContainersInput
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.listing import is_up, list_order, matches_filters, show_container
from bcon_exporter.tools.tool import Tool

_LIST_ONLY = Wants(logs=False, usage=False)
_BY_AGE = ("before", "since")
"""Filters that name another container: created before it, or since."""


def list_containers(context: Context, request: ListContainersInput) -> tuple[ContainerInfo, ...]:
    """Return the running containers, or all, that match every filter, by project, service and name."""
    snapshot = observe(context, _LIST_ONLY)
    filters = [(str(key), wanted) for key, wanted in (request.filters or {}).items()]
    first, last = _created_between(context, snapshot, dict(filters))
    filters = [(key, wanted) for key, wanted in filters if key not in _BY_AGE]
    # As docker does: asking for stopped ones by a filter means to see them.
    stopped_too = request.all or any(key in ("status", "exited") for key, _ in filters)
    chosen = [
        facts
        for facts in snapshot.containers
        if (stopped_too or is_up(facts))
        and (first is None or facts.created_at > first)
        and (last is None or facts.created_at < last)
    ]
    return tuple(show_container(facts) for facts in sorted(chosen, key=list_order) if matches_filters(facts, filters))


def _created_between(
    context: Context, snapshot: HostSnapshot, filters: Mapping[str, str]
) -> tuple[datetime | None, datetime | None]:
    """Return when the containers were created that `since` and `before` name.

    Raises:
        ContainerNotFoundError, InvalidInputError: No container has such a name, or several have this prefix.
    """
    created = {}
    for key in _BY_AGE:
        wanted = filters.get(key)
        if wanted is not None:
            created[key] = find_container(snapshot, context.host.resolve(wanted), wanted).created_at
    return created.get("since"), created.get("before")


def get_container_info(context: Context, request: ContainerInput) -> ContainerInfo:
    """Return one container."""
    facts, _ = read_container(context, request.container_id, _LIST_ONLY)
    return show_container(facts)


def get_container_stats(context: Context, request: ContainerInput) -> ContainerStats:
    """Return a container's usage; a stopped one's last known, if it was seen running.

    A command without the daemon's state file has the daemon say what was last known.
    CPU needs two samples: where no earlier one is known, a second is taken a second later.
    """
    wants = Wants(logs=False, usage=True, wait_for_usage=context.one_shot)
    facts, snapshot = read_container(context, request.container_id, wants)
    if facts.is_running and (facts.usage is None or facts.usage.cpu_ratio is None) and not context.one_shot:
        wants = Wants(logs=False, usage=True, wait_for_usage=True)
        facts, snapshot = read_container(context, facts.id, wants)
    usage = facts.usage or facts.last_usage
    if usage is None and not facts.is_running and context.ask_past is not None:
        stats = context.ask_past("get_container_stats", {"container_id": facts.id}, TypeAdapter(ContainerStats))
        if stats is not None:
            return ContainerStats.model_validate(stats)
    if usage is None:
        raise _no_usage(facts)
    return show_usage(facts, usage, host_memory_bytes(snapshot))


def read_container(context: Context, container: str, wants: Wants) -> tuple[ContainerFacts, HostSnapshot]:
    """Return one container's fresh facts, and the snapshot that holds them.

    Raises:
        ContainerNotFoundError, InvalidInputError: No container has this id or name, or several have this prefix.
    """
    full_id = context.host.resolve(container)
    snapshot = observe(context, replace(wants, only=(full_id,)))
    return find_container(snapshot, full_id, container), snapshot


def find_container(snapshot: HostSnapshot, full_id: str, container: str) -> ContainerFacts:
    """Return the facts of one container, which was asked for as `container`.

    Raises:
        ContainerNotFoundError: It was removed before the snapshot was taken.
    """
    for facts in snapshot.containers:
        if facts.id == full_id:
            return facts
    msg = f"container {container} was removed a moment ago"
    raise ContainerNotFoundError(msg, {"container_id": container, "near_matches": ()})


def host_memory_bytes(snapshot: HostSnapshot) -> int | None:
    """Return the memory of the host; None where the engine did not say."""
    return None if snapshot.engine is None else snapshot.engine.memory_bytes


def show_usage(facts: ContainerFacts, usage: UsageFacts, host_memory: int | None) -> ContainerStats:
    """Return usage as a report shows it: percent of what the container may use."""
    limit = usage.memory_limit_bytes or host_memory
    ratio = usage.memory_ratio
    if (
        ratio is None and limit and usage.memory_usage_bytes is not None
    ):  # the window's mean is gone, the last sample is not
        ratio = usage.memory_usage_bytes / limit
    return ContainerStats(
        container_id=facts.short_id,
        container_name=facts.name,
        timestamp=usage.read_at,
        cpu_percent=_percent(usage.cpu_ratio),
        cpu_count=usage.cpu_count,
        memory_usage_bytes=usage.memory_usage_bytes,
        memory_limit_bytes=limit,
        memory_percent=_percent(ratio),
        network_rx_bytes=usage.network_rx_bytes,
        network_tx_bytes=usage.network_tx_bytes,
        block_read_bytes=usage.block_read_bytes,
        block_write_bytes=usage.block_write_bytes,
        pids=usage.pids,
        throttled_percent=_percent(usage.throttled_ratio),
        last_known=usage.stale or not facts.is_running,
    )


def _no_usage(facts: ContainerFacts) -> BconError:
    reason = facts.unread.get("usage")
    details = {"container_id": facts.short_id, "state": facts.state.value, "reason": reason}
    if not facts.is_running:
        msg = f"{facts.name} is {facts.state.value} and was never seen running, so no usage is known of it"
        return InvalidInputError(msg, details)
    if reason is None:
        return DockerConnectionError(f"the engine gave no usage of {facts.name}; try again in a moment", details)
    return DeadlineExceededError(f"the usage of {facts.name} could not be read: {reason}", details)


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else round(100 * ratio, 2)


CONTAINER_TOOLS = (
    Tool(
        "list_containers",
        "List running containers, or all, that match the filters.",
        ListContainersInput,
        tuple[ContainerInfo, ...],
        list_containers,
        toolset="core",
    ),
    Tool(
        "get_container_info", "Show one container.", ContainerInput, ContainerInfo, get_container_info, toolset="core"
    ),
    Tool(
        "get_container_stats",
        "Show one container's CPU, memory, network and disk use; a stopped one's last known.",
        ContainerInput,
        ContainerStats,
        get_container_stats,
        toolset="core",
    ),
)
