"""Promise: what a container used in each five minutes of the last day is known, also over a restart of the exporter."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.memory import Spread
from tests.factories import NOON, full_id, usage
from tests.journal.keepers import container, open_keeper, scan

MINUTE = timedelta(minutes=1)
API = full_id("api")


def use(keeper: MemoryKeeper, at: datetime, cpu_ratio: float | None, memory_bytes: int | None, **facts: object) -> None:
    """Scan a host on which the container uses so much."""
    used = usage(cpu_ratio=cpu_ratio, memory_usage_bytes=memory_bytes, **facts)
    scan(keeper, container(usage=used), now=at)


def test_five_minutes_have_mean_and_maximum() -> None:
    keeper = open_keeper()
    for minute, cpu_ratio in enumerate((0.1, 0.2, 0.6)):
        use(keeper, NOON + minute * MINUTE, cpu_ratio, 100 * (minute + 1))
    use(keeper, NOON + 4 * MINUTE, None, None)
    assert keeper.find_usage(API, NOON) == [], "these five minutes go on"
    use(keeper, NOON + 5 * MINUTE, 0.5, 1)
    (slot,) = keeper.find_usage(API, NOON)
    assert (slot.at, slot.cpu_ratio.maximum, slot.memory_bytes) == (NOON, 0.6, Spread(200, 300))
    assert slot.cpu_ratio.mean == pytest.approx(0.3)
    assert keeper.find_usage(full_id("other"), NOON) == []


def test_a_last_known_sample_is_none_of_now() -> None:
    keeper = open_keeper()
    use(keeper, NOON, 0.4, 100)
    use(keeper, NOON + MINUTE, 0.9, 900, stale=True)
    use(keeper, NOON + 5 * MINUTE, 0.4, 100)
    (slot,) = keeper.find_usage(API, NOON)
    assert slot.cpu_ratio == Spread(0.4, 0.4)


def test_what_nobody_measured_is_not_zero() -> None:
    keeper = open_keeper()
    use(keeper, NOON, None, None)
    use(keeper, NOON + 5 * MINUTE, None, None)
    (slot,) = keeper.find_usage(API, NOON)
    assert (slot.cpu_ratio, slot.memory_bytes) == (Spread(), Spread())


def test_it_is_known_after_a_restart_and_for_a_day(tmp_path: Path) -> None:
    first = open_keeper(tmp_path / "state.db")
    use(first, NOON, 0.4, 100)
    first.close()
    keeper = open_keeper(tmp_path / "state.db")
    assert [slot.at for slot in keeper.find_usage(API, NOON)] == [NOON]
    for minutes in range(5, 26 * 60, 5):
        use(keeper, NOON + minutes * MINUTE, 0.1, 50)
    slots = keeper.find_usage(API, NOON)
    assert slots[0].at > NOON
    assert 24 * 12 <= len(slots) <= 25 * 12 + 1
