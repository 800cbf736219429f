"""Samples of usage counters → usage over the last minute: what rules judge."""

from collections import deque
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from bcon_exporter.model.facts import Limits, UsageFacts

_MIN_SPAN_SECONDS = 0.2
"""Two readings closer than this tell more about the counters' ticks than about the container."""


class UsageSample(NamedTuple):
    """One reading of a container's counters; None where the source did not tell.

    A tuple, since one is made for each container at each scan: a frozen dataclass costs five times as much.

    Attributes:
        read_at: Aware UTC. With the engine's stats the engine's time, else ours.
        cpu_nanoseconds: Since the container's start, all CPUs together.
        memory_bytes: Working set, without inactive page cache.
        periods: Scheduler periods in which it wanted to run; only with a CPU quota.
    """

    read_at: datetime
    source: Literal["cgroup", "stats"]
    cpu_nanoseconds: int | None = None
    throttled_nanoseconds: int | None = None
    periods: int | None = None
    throttled_periods: int | None = None
    memory_bytes: int | None = None
    pids: int | None = None
    network_rx_bytes: int | None = None
    network_tx_bytes: int | None = None
    block_read_bytes: int | None = None
    block_write_bytes: int | None = None


class UsageWindows:
    """The samples of the last seconds of all containers; to be used by one thread.

    Args:
        window_seconds: Means are taken over this time, or over what has been seen of it.
    """

    def __init__(self, window_seconds: float) -> None:
        self._span = timedelta(seconds=window_seconds)
        self._windows: dict[str, deque[UsageSample]] = {}

    def add(self, container_id: str, sample: UsageSample) -> None:
        """Take in a sample; counters that went back (a restart) or a clock set back start the window anew."""
        samples = self._windows.setdefault(container_id, deque())
        if samples:
            newest = samples[-1]
            if sample.source != newest.source or sample.read_at < newest.read_at or _went_back(newest, sample):
                samples.clear()
            elif sample.read_at == newest.read_at:
                samples.pop()
        samples.append(sample)
        # The newest sample before the window's start stays: the mean needs its counters.
        start = sample.read_at - self._span
        while len(samples) > 2 and samples[1].read_at <= start:  # noqa: PLR2004 - a mean needs two
            samples.popleft()

    def forget(self, container_ids: Collection[str]) -> None:
        """Drop the samples of these containers."""
        for container_id in container_ids:
            self._windows.pop(container_id, None)

    def retain(self, container_ids: Collection[str]) -> None:
        """Drop the samples of all other containers."""
        self.forget(self._windows.keys() - set(container_ids))

    def facts(
        self,
        container_id: str,
        limits: Limits | None,
        *,
        host_cpus: int | None,
        host_memory: int | None,
        now: datetime,
    ) -> UsageFacts | None:
        """Return the usage of a container; None when nothing was read.

        Args:
            container_id: Full id.
            limits: None when unknown: then no ratio can be told.
            host_cpus: CPUs of the engine's host.
            host_memory: Its memory in bytes, the limit of a container without one.
            now: Samples older than twice the window are no current usage: stale.
        """
        samples = self._windows.get(container_id)
        if not samples:
            return None
        first, newest = samples[0], samples[-1]
        cpus = cpu_count(limits, host_cpus) if limits else None
        own_limit = limits.memory_bytes if limits else None
        whole = (own_limit or host_memory) if limits else None
        return UsageFacts(
            read_at=newest.read_at,
            source=newest.source,
            samples=len(samples),
            window_seconds=max(0.0, (newest.read_at - first.read_at).total_seconds()),
            cpu_count=cpus,
            cpu_ratio=_cpu_ratio(first, newest, cpus),
            cpu_seconds_total=_seconds(newest.cpu_nanoseconds),
            cpu_throttled_seconds_total=_seconds(newest.throttled_nanoseconds),
            throttled_ratio=_throttled_ratio(first, newest),
            memory_usage_bytes=newest.memory_bytes,
            memory_limit_bytes=own_limit,
            memory_ratio=_memory_ratio(samples, whole),
            pids=newest.pids,
            network_rx_bytes=newest.network_rx_bytes,
            network_tx_bytes=newest.network_tx_bytes,
            block_read_bytes=newest.block_read_bytes,
            block_write_bytes=newest.block_write_bytes,
            stale=now - newest.read_at > 2 * self._span,
        )


def cpu_count(limits: Limits, host_cpus: int | None) -> float | None:
    """Return the CPUs a container may use: the smallest of quota, cpuset and host; None when none is known."""
    candidates: list[float] = []
    if limits.cpus:
        candidates.append(limits.cpus)
    if limits.cpuset_cpus and (in_set := count_cpuset(limits.cpuset_cpus)):
        candidates.append(float(in_set))
    if host_cpus:
        candidates.append(float(host_cpus))
    return min(candidates, default=None)


def count_cpuset(cpuset: str) -> int | None:
    """Count the CPUs of a list like "0-3,8"; None when it is malformed."""
    cpus: set[int] = set()
    for part in cpuset.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()) or len(low) > 5 or len(high) > 5:  # noqa: PLR2004
            return None
        cpus.update(range(int(low), int(high if dash else low) + 1))
    return len(cpus) or None


def _went_back(before: UsageSample, after: UsageSample) -> bool:
    return (
        _is_less(after.cpu_nanoseconds, before.cpu_nanoseconds)
        or _is_less(after.throttled_nanoseconds, before.throttled_nanoseconds)
        or _is_less(after.periods, before.periods)
        or _is_less(after.network_rx_bytes, before.network_rx_bytes)
    )


def _is_less(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one < other


def _cpu_ratio(first: UsageSample, newest: UsageSample, cpus: float | None) -> float | None:
    span = (newest.read_at - first.read_at).total_seconds()
    if not cpus or span < _MIN_SPAN_SECONDS or first.cpu_nanoseconds is None or newest.cpu_nanoseconds is None:
        return None
    return _clamp((newest.cpu_nanoseconds - first.cpu_nanoseconds) / 1e9 / span / cpus)


def _throttled_ratio(first: UsageSample, newest: UsageSample) -> float | None:
    """Return throttled periods over all; a container that wanted no CPU in the window was not throttled."""
    if first is newest or first.periods is None or newest.periods is None:
        return None
    if first.throttled_periods is None or newest.throttled_periods is None or newest.periods == 0:
        return None
    periods = newest.periods - first.periods
    return _clamp((newest.throttled_periods - first.throttled_periods) / periods) if periods > 0 else 0.0


def _memory_ratio(samples: Collection[UsageSample], whole: int | None) -> float | None:
    values = [sample.memory_bytes for sample in samples if sample.memory_bytes is not None]
    if not whole or len(values) < 2:  # noqa: PLR2004 - one sample is no mean
        return None
    return _clamp(sum(values) / len(values) / whole)


def _clamp(ratio: float) -> float:
    return min(1.0, max(0.0, ratio))


def _seconds(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e9
