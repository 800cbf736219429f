"""What containers used in each five minutes: mean and maximum, as samples of the day before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from bcon_exporter.model.container_facts import ContainerFacts

SLOT = timedelta(minutes=5)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Spread(NamedTuple):
    """Mean and maximum of some samples; None where no sample told."""

    mean: float | None = None
    maximum: float | None = None


class UsageSlot(NamedTuple):
    """What a container used from `at` on, for five minutes.

    Attributes:
        cpu_ratio: Of the CPUs that it may use, 0 to 1.
        memory_bytes: Working set.
    """

    at: datetime
    container_id: str
    cpu_ratio: Spread
    memory_bytes: Spread


_Sum = tuple[int, float, float]
"""Samples of one quantity so far: how many, their total and their maximum. A plain tuple: each container has two."""
_NO_SAMPLES: _Sum = (0, 0.0, 0.0)


def _add(samples: _Sum, value: float | None) -> _Sum:
    count, total, maximum = samples
    return samples if value is None else (count + 1, total + value, max(maximum, value))


def _to_spread(samples: _Sum) -> Spread:
    count, total, maximum = samples
    return Spread(total / count, maximum) if count else Spread()


@dataclass(frozen=True, slots=True)
class OpenSlot:
    """The five minutes that go on, by full container id; `at` is None before the first scan."""

    at: datetime | None = None
    cpu_ratio: Mapping[str, _Sum] = field(default_factory=dict)
    memory_bytes: Mapping[str, _Sum] = field(default_factory=dict)


def add_usage(
    slot: OpenSlot, containers: Iterable[ContainerFacts], now: datetime
) -> tuple[OpenSlot, tuple[UsageSlot, ...]]:
    """Return the slot with what containers use now, and what is finished where another slot has begun."""
    began = _EPOCH + (now - _EPOCH) // SLOT * SLOT
    finished: tuple[UsageSlot, ...] = ()
    if slot.at != began:
        finished, slot = close_slot(slot), OpenSlot(began)
    cpu_ratio, memory_bytes = dict(slot.cpu_ratio), dict(slot.memory_bytes)
    for container in containers:
        usage = container.usage
        if usage is not None and not usage.stale:
            cpu_ratio[container.id] = _add(cpu_ratio.get(container.id, _NO_SAMPLES), usage.cpu_ratio)
            memory = memory_bytes.get(container.id, _NO_SAMPLES)
            memory_bytes[container.id] = _add(memory, usage.memory_usage_bytes)
    return replace(slot, cpu_ratio=cpu_ratio, memory_bytes=memory_bytes), finished


def close_slot(slot: OpenSlot) -> tuple[UsageSlot, ...]:
    """Return what is known of a slot."""
    if slot.at is None:
        return ()
    return tuple(
        UsageSlot(slot.at, container_id, _to_spread(slot.cpu_ratio[container_id]), _to_spread(memory))
        for container_id, memory in slot.memory_bytes.items()
    )
