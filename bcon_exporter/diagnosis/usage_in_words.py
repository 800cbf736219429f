"""Puts a container's own numbers into words, for the texts of rules and signatures."""

import re  # noqa: TID251 - sees texts of signatures and rules, and names of at most 255 characters
from datetime import datetime, timedelta

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.last_exit import recent_restarts
from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot, MemoryGrowth, UsageFacts
from bcon_exporter.model.image_versions import name_image
from bcon_exporter.model.quantities import show_count, show_duration
from bcon_exporter.model.signatures import CauseText
from bcon_exporter.model.text_patterns import CONTAINER_PATTERN
from bcon_exporter.model.thresholds import Thresholds

_SAFE_NAME = re.compile(CONTAINER_PATTERN)
_HOUR_SECONDS = 3600
_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def numbers_of(container: ContainerFacts, host: HostSnapshot, thresholds: Thresholds) -> dict[str, str]:
    """Return the values of all placeholders; "unknown" where a fact was not read."""
    usage = container.usage or container.last_usage
    limits = container.limits
    limit = usage.memory_limit_bytes if usage else None
    limit = limit or (limits.memory_bytes if limits else None)
    restarts = recent_restarts(container, host.taken_at, thresholds)
    lifecycle, health = container.lifecycle, container.health
    previous_image, image = name_images(container)
    ooms = lifecycle.oom_kills if lifecycle else ()
    return {
        "name": safe_name(container),
        "memory_limit": in_bytes(limit) if limit else "no limit",
        "memory_usage": in_bytes(usage.memory_usage_bytes if usage else None),
        "memory_percent": in_percent(usage.memory_ratio if usage else None),
        "memory_facts": _memory_facts(usage, limit),
        "cpu_facts": _cpu_facts(usage),
        "cpu_percent": in_percent(usage.cpu_ratio if usage else None),
        "cpu_count": f"{usage.cpu_count:g}" if usage and usage.cpu_count else "unknown",
        "throttled_percent": in_percent(usage.throttled_ratio if usage else None),
        "pids": str(usage.pids) if usage and usage.pids is not None else "unknown",
        "pids_limit": str(limits.pids) if limits and limits.pids else "no limit",
        "restarts": str(len(restarts)),
        "oom_kills": str(len(ooms)),
        "oom_kills_hour": _count_or_no(_recent(ooms, host), "OOM kill"),
        "restarts_hour": _count_or_no(len(restarts), "restart"),
        "image": image,
        "previous_image": previous_image or "unknown",
        "log_driver": container.log_driver or "unknown",
        "up": _uptime(container, host),
        "health_timeout": f"{health.timeout_seconds:g} s" if health and health.timeout_seconds else "unknown",
        "health_retries": str(health.retries) if health and health.retries else "unknown",
        "failing_streak": str(health.failing_streak) if health else "unknown",
        "exit_code": "unknown" if container.exit_code is None else str(container.exit_code),
        "restart_policy": container.restart_policy or "no",
    }


def cause_of_growth(growth: MemoryGrowth) -> CauseText:
    """Return the cause that a working set grew steadily."""
    over, low, high = show_duration(growth.seconds), in_bytes(growth.from_bytes), in_bytes(growth.to_bytes)
    return known_cause("memory_leak.grew", over=over, low=low, high=high)


def _uptime(container: ContainerFacts, host: HostSnapshot) -> str:
    started = container.started_at
    return "unknown" if started is None else show_duration((host.taken_at - started).total_seconds())


def name_images(container: ContainerFacts) -> tuple[str | None, str]:
    """Return the names of its previous image and of its own, with the versions that the names do not say.

    Where only ids tell the two apart, they have them, too.
    """
    lifecycle = container.lifecycle
    previous, own = lifecycle.previous_image if lifecycle else None, container.image
    if lifecycle is None or previous is None:
        return previous, own
    before, after = lifecycle.previous_image_version, container.image_version
    if previous != own or lifecycle.previous_image_id is None or container.image_id is None:
        return name_image(previous, before), name_image(own, after)
    return name_image(previous, before, lifecycle.previous_image_id), name_image(own, after, container.image_id)


def _memory_facts(usage: UsageFacts | None, limit: int | None) -> str:
    """What is known of its memory: "Limit 64 MiB, working set 61 MiB"."""
    known = [f"Limit {in_bytes(limit)}" if limit else "No limit of its own"]
    if usage is not None and usage.memory_usage_bytes is not None:
        known.append(f"working set {in_bytes(usage.memory_usage_bytes)}")
    return ", ".join(known)


def _cpu_facts(usage: UsageFacts | None) -> str:
    """What is known of its CPU use: "97.1 % of 2 CPUs, held back in 40 % of all periods"."""
    if usage is None or usage.cpu_ratio is None:
        return "CPU use unknown"
    count = f" of {usage.cpu_count:g} CPU{'' if usage.cpu_count == 1 else 's'}" if usage.cpu_count else " of its CPUs"
    throttled = f", held back in {in_percent(usage.throttled_ratio)} of all periods" if usage.throttled_ratio else ""
    return f"{in_percent(usage.cpu_ratio)}{count}{throttled}"


def _recent(times: tuple[datetime, ...], host: HostSnapshot) -> int:
    return sum(host.taken_at - at <= timedelta(seconds=_HOUR_SECONDS) for at in times)


def _count_or_no(count: int, noun: str) -> str:
    """`3` as "3 OOM kills", `0` as "no OOM kill"."""
    return show_count(count, noun) if count else f"no {noun}"


def safe_name(container: ContainerFacts) -> str:
    """A name that may stand in a command line: the container's, or its short id where the name is odd."""
    return container.name if _SAFE_NAME.match(container.name) else container.short_id


def in_bytes(value: int | None) -> str:
    """`67108864` as "64 MiB"."""
    if value is None:
        return "unknown"
    for unit, size in _UNITS:
        if value >= size:
            return f"{value / size:.3g} {unit}" if value < 1000 * size else f"{value / size:.0f} {unit}"
    return f"{value} B"


def in_percent(ratio: float | None) -> str:
    """`0.853` as "85.3 %"."""
    if ratio is None:
        return "unknown"
    return f"{round(ratio * 100, 1):g} %"


def lasted(shortest: float, longest: float | None = None) -> str:
    """How long something took, in seconds: "less than a second", "4 s", "1 s to 2 min", "at most 4 s"."""
    low, high = show_duration(shortest), show_duration(shortest if longest is None else longest)
    if high == show_duration(0):
        return "less than a second"
    if low == show_duration(0):
        return f"at most {high}"
    return high if low == high else f"{low} to {high}"
