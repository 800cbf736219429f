"""What the pages choose to show: lines around the event, curves without invented points."""

from __future__ import annotations

from datetime import timedelta

from bcon_exporter.memory import Spread, UsageSlot
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.outputs.pages.charts import draw_cpu, draw_memory
from bcon_exporter.outputs.pages.views import pick_lines
from tests.factories import NOON, ago, container, logs
from tests.outputs.scenes import diagnosis, symptom

LINES = [f"line {number}" for number in range(100, 160)]


def slot(minutes_ago: float, cpu: float | None, memory: float | None = 2.0**26) -> UsageSlot:
    """Five minutes."""
    return UsageSlot(ago(minutes=minutes_ago), "a" * 64, Spread(cpu, cpu), Spread(memory, memory))


def test_the_lines_that_the_diagnosis_quotes_are_marked_among_their_neighbours() -> None:
    facts = container(logs=logs(*LINES))
    seen = symptom(SymptomType.LOG_ERROR, evidence=("3 times: line 120", "line 150"))
    lines = pick_lines(facts, diagnosis(facts, status="error", symptoms=(seen,)))

    assert [one.line.text for one in lines if one.marked] == ["line 120", "line 150"]
    assert [one.line.text for one in lines if one.skipped] == ["line 146"]
    assert [one.line.text for one in lines][:9] == LINES[16:25]


def test_without_a_quote_the_newest_lines_are_shown() -> None:
    facts = container(logs=logs(*LINES))

    assert [one.line.text for one in pick_lines(facts, diagnosis(facts))] == LINES[-20:]
    assert pick_lines(container(logs=None), diagnosis(facts)) == ()


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
