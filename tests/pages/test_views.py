"""What the pages draw: curves without invented points."""

from __future__ import annotations

from datetime import timedelta

from bcon_exporter.memory import Spread, UsageSlot
from bcon_exporter.outputs.pages.charts import draw_cpu, draw_memory
from tests.factories import NOON, ago


def slot(minutes_ago: float, cpu: float | None, memory: float | None = 2.0**26) -> UsageSlot:
    """Five minutes."""
    return UsageSlot(ago(minutes=minutes_ago), "a" * 64, Spread(cpu, cpu), Spread(memory, memory))


def test_a_curve_is_broken_where_nothing_is_known() -> None:
    chart = draw_cpu([slot(60, 0.1), slot(55, 0.2), slot(50, None), slot(30, 0.4), slot(25, 0.3)], NOON)

    assert chart is not None
    assert chart.mean.count("M") == 2
    assert (chart.newest, chart.highest) == ("30 %", "40 %")
    assert draw_cpu([slot(10, None)], NOON) is None


def test_a_limit_is_drawn_where_it_can_be_seen_and_the_curve_stays_below_the_top() -> None:
    near = draw_memory([slot(10, 0.1), slot(5, 0.1)], NOON, 2.0**26 * 1.5)
    far = draw_memory([slot(10, 0.1), slot(5, 0.1)], NOON, 2.0**36)

    assert near is not None
    assert far is not None
    assert near.limit is not None
    assert near.across[-1].at < near.limit < near.across[0].at
    assert far.limit is None
    assert far.newest == "64.0 MiB"


def test_points_lie_within_the_day() -> None:
    chart = draw_cpu([slot(24 * 60, 0.5), slot(0, 0.5)], NOON + timedelta(seconds=1))

    assert chart is not None
    lefts = [float(point.split(" ")[0].strip("M")) for point in chart.mean.replace("M", "L").split("L") if point]
    assert min(lefts) >= 60
    assert max(lefts) <= 600
