"""Promise: the engine's stats become a sample as `docker stats` counts, and a container that does not run has none."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.engine.parse import parse_stats


def make_stats(**changes: Any) -> dict[str, Any]:
    return {
        "read": "2026-11-21T22:47:18.117890405Z",
        "preread": "0001-01-01T00:00:00Z",
        "pids_stats": {"current": 2},
        "blkio_stats": {
            "io_service_bytes_recursive": [
                {"major": 8, "minor": 0, "op": "Read", "value": 4096},
                {"major": 8, "minor": 0, "op": "Write", "value": 10},
                {"major": 8, "minor": 16, "op": "read", "value": 1},
                {"major": 8, "minor": 0, "op": "Total", "value": 4107},
            ]
        },
        "cpu_stats": {
            "cpu_usage": {"total_usage": 17_137_201_997},
            "throttling_data": {"periods": 3368, "throttled_periods": 7, "throttled_time": 99},
        },
        "memory_stats": {"usage": 1000, "stats": {"total_inactive_file": 400, "inactive_file": 1, "active_file": 50}},
        "networks": {"eth0": {"rx_bytes": 1602, "tx_bytes": 3}, "eth1": {"rx_bytes": 1, "tx_bytes": 1}},
    } | changes


def test_a_running_container_has_all_counters() -> None:
    sample = parse_stats(make_stats())
    assert sample is not None
    assert sample.source == "stats"
    assert sample.read_at.microsecond == 117890
    assert (sample.cpu_nanoseconds, sample.throttled_nanoseconds) == (17_137_201_997, 99)
    assert (sample.periods, sample.throttled_periods, sample.pids) == (3368, 7, 2)
    assert sample.active_cache_bytes == 50
    assert (sample.network_rx_bytes, sample.network_tx_bytes) == (1603, 4)
    assert (sample.block_read_bytes, sample.block_write_bytes) == (4097, 10)


@pytest.mark.parametrize(
    ("memory", "working_set"),
    [
        ({"usage": 1000, "stats": {"total_inactive_file": 400}}, 600),
        ({"usage": 1000, "stats": {"inactive_file": 300}}, 700),
        ({"usage": 1000, "stats": {"inactive_file": 1000}}, 1000),
        ({"usage": 1000, "stats": {"inactive_file": 1001}}, 1000),
        ({"usage": 1000}, 1000),
        ({"usage": 1000, "stats": None}, 1000),
        ({}, None),
    ],
)
def test_memory_is_without_inactive_page_cache(memory: dict[str, Any], working_set: int | None) -> None:
    sample = parse_stats(make_stats(memory_stats=memory))
    assert sample is not None
    assert sample.memory_bytes == working_set


def test_the_zeros_of_an_exited_container_are_no_usage() -> None:
    zeros = {"cpu_usage": {"total_usage": 0}}
    assert parse_stats(make_stats(read="0001-01-01T00:00:00Z")) is None
    assert parse_stats(make_stats(cpu_stats=zeros, memory_stats={}, pids_stats={})) is None


def test_a_container_of_the_hosts_network_has_no_network_counters() -> None:
    stats = make_stats()
    del stats["networks"]
    sample = parse_stats(stats)
    assert sample is not None
    assert (sample.network_rx_bytes, sample.network_tx_bytes) == (None, None)


def test_podman_writes_null_for_empty_lists() -> None:
    sample = parse_stats(make_stats(blkio_stats={"io_service_bytes_recursive": None}))
    assert sample is not None
    assert sample.block_read_bytes is None


WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(list(make_stats())), WILD))
def test_any_field_of_any_type_never_raises(changes: dict[str, Any]) -> None:
    parse_stats(make_stats(**changes))


@pytest.mark.parametrize("raw", [None, {}, [], "", 0, {"read": 1}])
def test_nonsense_is_no_sample(raw: Any) -> None:
    assert parse_stats(raw) is None
