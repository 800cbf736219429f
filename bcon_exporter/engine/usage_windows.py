"""Computes usage over the last minute from samples of counters."""

from array import array
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from math import isnan

from bcon_exporter.model.container_facts import Limits, UsageFacts
from bcon_exporter.readings import UsageRow, UsageSample, UsageWindow

_MIN_SPAN_SECONDS = 0.2
"""Shortest span for a ratio: below it the counters' own resolution dominates."""
_MICROSECOND = timedelta(microseconds=1)
_WIDTH = len(UsageRow._fields)
_MEMORY = UsageRow._fields.index("memory_bytes")


class UsageWindows:
    """Adds samples to the windows of an earlier scan, whose values it leaves as they are; any thread may add.

    Args:
        window_seconds: Means are taken over this time, or over what has been seen of it.
        windows: By full container id.
    """

    def __init__(self, window_seconds: float, windows: Mapping[str, UsageWindow] | None = None) -> None:
        self._span = timedelta(seconds=window_seconds)
        self._windows = dict(windows or {})

    @property
    def windows(self) -> Mapping[str, UsageWindow]:
        """The windows as they are now, for the next scan; samples that come later are lost."""
        return self._windows.copy()

    def add(self, container_id: str, sample: UsageSample) -> None:
        """Add a sample; counters that decreased (a restart) or a clock set back start a new window."""
        row = UsageRow.of(sample)
        window = self._windows.get(container_id)
        if window is None or _is_new_beginning(window.newest, sample):
            self._windows[container_id] = UsageWindow(sample, array("d", row).tobytes())
            return
        rows = window.numbers()
        if sample.read_at == window.newest.read_at:
            del rows[-_WIDTH:]
        rows.extend(row)
        # The newest sample before the window's start stays: the mean needs its counters.
        start = row.microseconds - self._span / _MICROSECOND
        dropped = 0
        while len(rows) - dropped > 2 * _WIDTH and rows[dropped + _WIDTH] <= start:  # a mean needs two
            dropped += _WIDTH
        self._windows[container_id] = UsageWindow(sample, rows[dropped:].tobytes())

    def retain(self, container_ids: Collection[str]) -> None:
        """Drop the samples of all other containers."""
        for gone in self._windows.keys() - set(container_ids):
            del self._windows[gone]

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
        window = self._windows.get(container_id)
        if window is None:
            return None
        sample, rows = window.newest, window.numbers()
        first, newest = UsageRow(*rows[:_WIDTH]), UsageRow(*rows[-_WIDTH:])
        cpus = cpu_count(limits, host_cpus) if limits else None
        own_limit = limits.memory_bytes if limits else None
        whole = (own_limit or host_memory) if limits else None
        return UsageFacts(
            read_at=sample.read_at,
            source=sample.source,
            samples=len(rows) // _WIDTH,
            window_seconds=_span_seconds(first, newest),
            cpu_count=cpus,
            cpu_ratio=_cpu_ratio(first, newest, cpus),
            cpu_seconds_total=_seconds(sample.cpu_nanoseconds),
            cpu_throttled_seconds_total=_seconds(sample.throttled_nanoseconds),
            throttled_ratio=_throttled_ratio(first, newest),
            memory_usage_bytes=sample.memory_bytes,
            memory_cache_bytes=sample.active_cache_bytes,
            memory_limit_bytes=own_limit,
            memory_ratio=_memory_ratio(rows[_MEMORY::_WIDTH], whole),
            pids=sample.pids,
            network_rx_bytes=sample.network_rx_bytes,
            network_tx_bytes=sample.network_tx_bytes,
            block_read_bytes=sample.block_read_bytes,
            block_write_bytes=sample.block_write_bytes,
            network=sample.network,
            pressure=sample.pressure,
            open_files=sample.open_files,
            stale=now - sample.read_at > 2 * self._span,
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


def _is_new_beginning(before: UsageSample, after: UsageSample) -> bool:
    return after.source != before.source or after.read_at < before.read_at or _went_back(before, after)


def _went_back(before: UsageSample, after: UsageSample) -> bool:
    return (
        _is_less(after.cpu_nanoseconds, before.cpu_nanoseconds)
        or _is_less(after.throttled_nanoseconds, before.throttled_nanoseconds)
        or _is_less(after.periods, before.periods)
        or _is_less(after.network_rx_bytes, before.network_rx_bytes)
    )


def _is_less(value: int | None, than: int | None) -> bool:
    return value is not None and than is not None and value < than


def _span_seconds(first: UsageRow, newest: UsageRow) -> float:
    return (newest.microseconds - first.microseconds) / 1e6


def _cpu_ratio(first: UsageRow, newest: UsageRow, cpus: float | None) -> float | None:
    span, used = _span_seconds(first, newest), newest.cpu_nanoseconds - first.cpu_nanoseconds
    if not cpus or span < _MIN_SPAN_SECONDS or isnan(used):
        return None
    return _clamp(used / 1e9 / span / cpus)


def _throttled_ratio(first: UsageRow, newest: UsageRow) -> float | None:
    """Return throttled periods over all; a container that wanted no CPU in the window was not throttled."""
    periods, throttled = newest.periods - first.periods, newest.throttled_periods - first.throttled_periods
    if newest.microseconds == first.microseconds or isnan(periods) or isnan(throttled) or newest.periods == 0:
        return None
    return _clamp(throttled / periods) if periods > 0 else 0.0


def _memory_ratio(samples: "array[float]", whole: int | None) -> float | None:
    values = [memory for memory in samples if not isnan(memory)]
    if not whole or len(values) < 2:  # noqa: PLR2004 - one sample is no mean
        return None
    return _clamp(sum(values) / len(values) / whole)


def _clamp(ratio: float) -> float:
    return min(1.0, max(0.0, ratio))


def _seconds(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e9
