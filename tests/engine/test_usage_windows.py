"""Promise: usage is the mean over the window, of what the container may use, and never told from too little."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.engine.usage_windows import UsageWindows, count_cpuset, cpu_count
from bcon_exporter.model.container_facts import Limits, UsageFacts
from bcon_exporter.readings import UsageSample
from tests.table_rows import table

START = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
NO_LIMITS = Limits()


def sample(seconds: float, **fields: Any) -> UsageSample:
    return UsageSample(read_at=START + timedelta(seconds=seconds), source=fields.pop("source", "cgroup"), **fields)


def cpu(seconds: float, used: float, **fields: Any) -> UsageSample:
    return sample(seconds, cpu_nanoseconds=int(used * 1e9), **fields)


def usage(*samples: UsageSample, limits: Limits | None = NO_LIMITS, window: float = 60, after: float = 0) -> UsageFacts:
    windows = UsageWindows(window)
    for one in samples:
        windows.add("a", one)
    now = samples[-1].read_at + timedelta(seconds=after)
    facts = windows.facts("a", limits, host_cpus=4, host_memory=1000, now=now)
    assert facts is not None
    return facts


def test_without_a_sample_there_is_no_usage() -> None:
    assert UsageWindows(60).facts("a", NO_LIMITS, host_cpus=4, host_memory=1, now=START) is None


def test_one_sample_gives_no_ratio_but_the_newest_values() -> None:
    facts = usage(cpu(0, 5, memory_bytes=500))
    assert (facts.cpu_ratio, facts.memory_ratio, facts.samples) == (None, None, 1)
    assert (facts.memory_usage_bytes, facts.cpu_seconds_total) == (500, 5.0)


@pytest.mark.parametrize(
    ("limits", "ratio"),
    [
        (Limits(), 0.25),
        (Limits(cpus=2.0), 0.5),
        (Limits(cpuset_cpus="0-1"), 0.5),
        (Limits(cpus=1.0, cpuset_cpus="0-1"), 1.0),
        (Limits(cpus=16.0), 0.25),
    ],
)
def test_cpu_is_the_share_of_what_the_container_may_use(limits: Limits, ratio: float) -> None:
    assert usage(cpu(0, 100), cpu(10, 110), limits=limits).cpu_ratio == pytest.approx(ratio)


def test_cpu_is_the_mean_over_the_window_and_not_over_all_time() -> None:
    busy_long_ago = [cpu(-600 + 30 * i, 4 * 30 * i) for i in range(20)]
    idle = [cpu(i * 30, busy_long_ago[-1].cpu_nanoseconds / 1e9) for i in range(4)]  # type: ignore[operator] # set above
    facts = usage(*busy_long_ago, *idle)
    assert facts.cpu_ratio == 0.0
    assert facts.window_seconds == 60.0
    assert facts.samples <= 4


def test_a_short_spike_does_not_count_as_sustained() -> None:
    facts = usage(cpu(0, 0), cpu(30, 1), cpu(58, 2), cpu(60, 10))
    assert facts.cpu_ratio == pytest.approx(10 / 60 / 4)


def test_a_restart_begins_the_window_anew() -> None:
    facts = usage(cpu(0, 100), cpu(30, 200), cpu(60, 1))
    assert (facts.samples, facts.cpu_ratio) == (1, None)


def test_a_clock_set_back_begins_the_window_anew() -> None:
    assert usage(cpu(0, 1), cpu(-3600, 2)).samples == 1


def test_samples_of_two_sources_are_never_mixed() -> None:
    assert usage(cpu(0, 1), cpu(10, 2, source="stats")).samples == 1


def test_two_readings_at_the_same_moment_are_one() -> None:
    assert usage(cpu(0, 1), cpu(0, 1)).samples == 1


@pytest.mark.parametrize(("gap", "told"), [(0.19, False), (0.2, True), (1.0, True)])
def test_readings_too_close_tell_no_cpu_share(gap: float, told: bool) -> None:
    assert (usage(cpu(0, 1), cpu(gap, 1.01)).cpu_ratio is not None) is told


def test_memory_is_the_mean_of_the_limit_or_of_the_hosts_memory() -> None:
    samples = (sample(0, memory_bytes=100), sample(30, memory_bytes=300))
    assert usage(*samples).memory_ratio == pytest.approx(0.2)
    limited = usage(*samples, limits=Limits(memory_bytes=400))
    assert limited.memory_ratio == pytest.approx(0.5)
    assert limited.memory_limit_bytes == 400
    assert usage(*samples).memory_limit_bytes is None


def test_unknown_limits_give_no_ratio_at_all() -> None:
    facts = usage(cpu(0, 1, memory_bytes=1), cpu(10, 2, memory_bytes=1), limits=None)
    assert (facts.cpu_ratio, facts.memory_ratio, facts.cpu_count) == (None, None, None)


def test_throttling_is_the_share_of_periods_in_the_window() -> None:
    facts = usage(sample(0, periods=100, throttled_periods=10), sample(30, periods=300, throttled_periods=160))
    assert facts.throttled_ratio == pytest.approx(0.75)


def test_throttling_without_a_quota_is_unknown_and_of_an_idle_container_zero() -> None:
    assert (
        usage(sample(0, periods=0, throttled_periods=0), sample(9, periods=0, throttled_periods=0)).throttled_ratio
        is None
    )
    assert (
        usage(sample(0, periods=5, throttled_periods=5), sample(9, periods=5, throttled_periods=5)).throttled_ratio
        == 0.0
    )
    assert usage(sample(0), sample(9)).throttled_ratio is None


@pytest.mark.parametrize(("after", "stale"), [(119, False), (120, False), (121, True)])
def test_usage_older_than_two_windows_is_stale(after: float, stale: bool) -> None:
    assert usage(cpu(0, 1), after=after).stale is stale


def test_forgotten_containers_have_no_usage() -> None:
    windows = UsageWindows(60)
    windows.add("a", cpu(0, 1))
    windows.add("b", cpu(0, 1))
    windows.retain(["b"])
    assert windows.facts("a", NO_LIMITS, host_cpus=1, host_memory=1, now=START) is None
    assert windows.facts("b", NO_LIMITS, host_cpus=1, host_memory=1, now=START) is not None


def test_what_an_earlier_scan_has_left_stays_as_it_was() -> None:
    first = UsageWindows(60)
    first.add("a", cpu(0, 0))
    later = UsageWindows(60, first.windows)
    later.add("a", cpu(10, 20))
    kept = [
        facts.samples
        for windows in (first, later)
        if (facts := windows.facts("a", NO_LIMITS, host_cpus=4, host_memory=1, now=START)) is not None
    ]
    assert kept == [1, 2]


COUNTERS = st.none() | st.integers(0, 2**64)
SAMPLES = st.builds(
    sample,
    st.floats(-100, 100),
    cpu_nanoseconds=COUNTERS,
    periods=COUNTERS,
    throttled_periods=COUNTERS,
    memory_bytes=COUNTERS,
    source=st.sampled_from(["cgroup", "stats"]),
)
LIMITS = st.builds(
    Limits,
    cpus=st.none() | st.floats(0.001, 64),
    memory_bytes=st.none() | st.integers(1, 2**50),
    cpuset_cpus=st.none() | st.text(),
)


@given(st.lists(SAMPLES, min_size=1, max_size=8), st.none() | LIMITS)
def test_no_ratio_ever_leaves_zero_to_one(samples: list[UsageSample], limits: Limits | None) -> None:
    facts = usage(*samples, limits=limits)
    for ratio in (facts.cpu_ratio, facts.memory_ratio, facts.throttled_ratio):
        assert ratio is None or 0.0 <= ratio <= 1.0


@table(
    ("cpuset", "count"),
    [
        ("0", 1),
        ("0-3", 4),
        ("0-1,4,6-7", 5),
        ("0,0", 1),
        ("", None),
        ("x", None),
        ("3-", None),
        ("5-2", None),
        ("0-99999999", None),
    ],
)
def test_cpusets_are_counted(cpuset: str, count: int | None) -> None:
    assert count_cpuset(cpuset) == count


def test_cpu_count_without_any_fact_is_unknown() -> None:
    assert cpu_count(Limits(), None) is None
