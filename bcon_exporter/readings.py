"""What reading a host carries from one scan to the next: the engine's edge makes it, the memory keeps it."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import nan
from types import MappingProxyType
from typing import Literal, NamedTuple

from bcon_exporter.model.container_facts import (
    ContainerFacts,
    HostSnapshot,
    LogFacts,
    LogLines,
    NetworkCounters,
    Pressure,
    nanoseconds_of,
)
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets

_TRUSTED_SECONDS = 300.0
"""A log is read at least this often although its file looks unchanged: it may be a copy that somebody mounted there."""


@dataclass(frozen=True, slots=True)
class LogMark:
    """State of a log file.

    Attributes:
        seen_at: On the monotonic clock.
        stamp: Device and inode, size in bytes, time of change in nanoseconds.
    """

    seen_at: float
    stamp: tuple[int, int, int, int]

    def is_current(self, current: "LogMark | None") -> bool:
        """Return whether nothing was written between this mark and the current one."""
        return current is not None and current.stamp == self.stamp and current.seen_at - self.seen_at < _TRUSTED_SECONDS


LineKey = tuple[int, str, int]
"""What tells a line from others: its stamp, its stream, the hash of its bytes."""


class LogWindow(NamedTuple):
    """One container's log: up to where it was read, and its newest lines.

    A tuple: thousands change at each scan, and a frozen dataclass takes several times as long to change.

    Attributes:
        cursor: Stamp of the newest line, in nanoseconds; None before the first read.
        recent: Each line that the next read may bring again → how often it came.
        lines: Those that are kept, masked.
        held_bytes: Their approximate size.
        open_lines: The last line of each stream that the container has not ended yet: shown, but read again.
        lost_at: Stamp of the oldest line after the last loss of lines.
        hidden: The values that are hidden in the lines.
        tail, window_seconds: Of the first read: a scan that wants more reads the log anew.
        ended_run: The run whose last lines were read after its end: no more will come. None while it goes on.
        refused_run: The run in which its log driver could not be read back (none); None when it can.
        mark: State of its file before the last read; None when the file cannot be seen.
        facts: What was last made of the window, for as long as it does not change: a quiet container costs nothing.
    """

    cursor: int | None = None
    recent: Mapping[LineKey, int] = MappingProxyType({})
    lines: LogLines = LogLines()
    held_bytes: int = 0
    open_lines: LogLines = LogLines()
    lost_at: datetime | None = None
    hidden: KnownSecrets = NO_SECRETS
    tail: int = 0
    window_seconds: float = 0.0
    ended_run: tuple[object, ...] | None = None
    refused_run: tuple[object, ...] | None = None
    mark: LogMark | None = None
    facts: LogFacts | None = None


class UsageSample(NamedTuple):
    """One reading of a container's counters; None where the source did not tell.

    A tuple, since one is made for each container at each scan: a frozen dataclass costs five times as much.

    Attributes:
        read_at: Aware UTC. With the engine's stats the engine's time, else ours.
        cpu_nanoseconds: Since the container's start, all CPUs together.
        memory_bytes: Working set, without inactive page cache.
        active_cache_bytes: Page cache that is in use: part of `memory_bytes`, and given back when memory is short.
        periods: Scheduler periods in which it wanted to run; only with a CPU quota.
    """

    read_at: datetime
    source: Literal["cgroup", "stats"]
    cpu_nanoseconds: int | None = None
    throttled_nanoseconds: int | None = None
    periods: int | None = None
    throttled_periods: int | None = None
    memory_bytes: int | None = None
    active_cache_bytes: int | None = None
    pids: int | None = None
    network_rx_bytes: int | None = None
    network_tx_bytes: int | None = None
    block_read_bytes: int | None = None
    block_write_bytes: int | None = None
    network: NetworkCounters | None = None
    pressure: Pressure | None = None
    open_files: int | None = None


class UsageRow(NamedTuple):
    """The numbers of a sample that means need; NaN for unknown. Counters beyond 2**53 lose their last digits."""

    microseconds: float
    cpu_nanoseconds: float
    periods: float
    throttled_periods: float
    memory_bytes: float

    @classmethod
    def of(cls, sample: UsageSample) -> "UsageRow":
        """Return a sample's row; its time counts from 1970."""
        return cls(
            nanoseconds_of(sample.read_at) // 1000,
            _or_nan(sample.cpu_nanoseconds),
            _or_nan(sample.periods),
            _or_nan(sample.throttled_periods),
            _or_nan(sample.memory_bytes),
        )


def _or_nan(value: int | None) -> float:
    return nan if value is None else value


@dataclass(frozen=True, slots=True)
class UsageWindow:
    """One container's newest sample, and the rows of all in the window, its own last.

    Attributes:
        rows: Numbers of a `UsageRow` each, side by side as doubles: a sample is 350 bytes, a row 40, and at one scan a
            second each container has 60 of them.
    """

    newest: UsageSample
    rows: bytes

    def numbers(self) -> "array[float]":
        """Return the rows' numbers, all in one."""
        return array("d", self.rows)


@dataclass(frozen=True, slots=True)
class Readings:
    """By full container id, of containers that are there."""

    logs: Mapping[str, LogWindow] = field(default_factory=dict)
    usage: Mapping[str, UsageWindow] = field(default_factory=dict)


NOTHING_READ = Readings()


@dataclass(frozen=True, slots=True)
class Observation:
    """What one look at the host has brought.

    Attributes:
        snapshot: The host without its past.
        readings: What the next look goes on from; None where neither logs nor usage were read.
    """

    snapshot: HostSnapshot
    readings: Readings | None = None


@dataclass(frozen=True, slots=True)
class KillCounts:
    """How many processes the kernel has killed for want of memory.

    Attributes:
        own: By container: within its cgroup, since that was made.
        around: By path of a cgroup with containers in it: within all that it holds or has held. None of cgroup v1.
        read_at: Our wall clock, just before they were read.
        number: Of the reading, from 1 on: whoever was held up must not count back.
    """

    own: Mapping[str, int]
    around: Mapping[str, int]
    read_at: datetime
    number: int = 1


@dataclass(frozen=True, slots=True)
class KillReadings:
    """What the kernel says of its OOM kills.

    Attributes:
        logged: Time and container of each that its log has told since the last reading.
        counts: As they were last read; None where they cannot be.
        containers: As they were last read, for their names and times of exit.
    """

    logged: tuple[tuple[datetime, str], ...] = ()
    counts: KillCounts | None = None
    containers: tuple[ContainerFacts, ...] = ()
