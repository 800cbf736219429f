"""One-shot stats of the engine → a usage sample. Pure."""

from typing import Any

from bcon_exporter.engine.parse.json_fields import get_int, get_list, get_object, get_text, parse_time
from bcon_exporter.model.container_facts import NetworkCounters
from bcon_exporter.readings import UsageSample

_UNSIGNED_64 = 2**64
# cgroup v1 and v2; the engine's own command line subtracts the same (docker/cli, since 20.10).
_INACTIVE_KEYS = ("total_inactive_file", "inactive_file")
_PACKETS = ("rx_packets", "rx_errors", "rx_dropped", "tx_packets", "tx_errors", "tx_dropped")
_ACTIVE_KEYS = ("total_active_file", "active_file")


def parse_stats(raw: Any) -> UsageSample | None:
    """Make a sample of `/containers/ID/stats?stream=false&one-shot=true`.

    Returns:
        None for a container that does not run (the engine then answers zeros at the year 1), that is gone
        (an empty answer) or for nonsense.
    """
    if type(raw) is not dict:
        return None
    read_at = parse_time(get_text(raw, "read"))
    if read_at is None:
        return None
    cpu, memory = get_object(raw, "cpu_stats"), get_object(raw, "memory_stats")
    total = _counter(get_object(cpu, "cpu_usage"), "total_usage")
    memory_bytes = _working_set(memory)
    pids = _counter(get_object(raw, "pids_stats"), "current")
    if not total and memory_bytes is None and not pids:
        return None
    throttling = get_object(cpu, "throttling_data")
    received, sent, network = _network(get_object(raw, "networks"))
    read, written = _blocks(get_object(raw, "blkio_stats"))
    return UsageSample(
        read_at=read_at,
        source="stats",
        cpu_nanoseconds=total,
        throttled_nanoseconds=_counter(throttling, "throttled_time"),
        periods=_counter(throttling, "periods"),
        throttled_periods=_counter(throttling, "throttled_periods"),
        memory_bytes=memory_bytes,
        active_cache_bytes=_first(get_object(memory, "stats"), _ACTIVE_KEYS),
        pids=pids,
        network_rx_bytes=received,
        network_tx_bytes=sent,
        block_read_bytes=read,
        block_write_bytes=written,
        network=network,
    )


def _counter(raw: dict[str, Any], key: str) -> int | None:
    value = get_int(raw, key)
    return value if value is not None and 0 <= value < _UNSIGNED_64 else None


def _working_set(memory: dict[str, Any]) -> int | None:
    usage = _counter(memory, "usage")
    if usage is None:
        return None
    inactive = _first(get_object(memory, "stats"), _INACTIVE_KEYS) or 0
    return usage - inactive if inactive < usage else usage


def _first(raw: dict[str, Any], keys: tuple[str, ...]) -> int | None:
    return next((value for value in (_counter(raw, key) for key in keys) if value is not None), None)


def _network(networks: dict[str, Any]) -> tuple[int | None, int | None, NetworkCounters | None]:
    """Sum over the interfaces; None with the host's network, where the engine tells none."""
    interfaces = [item for item in networks.values() if type(item) is dict]
    if not interfaces:
        return None, None, None

    def add_up(key: str) -> int:
        return sum(_counter(item, key) or 0 for item in interfaces)

    return add_up("rx_bytes"), add_up("tx_bytes"), NetworkCounters(*map(add_up, _PACKETS))


def _blocks(blkio: dict[str, Any]) -> tuple[int | None, int | None]:
    items = blkio.get("io_service_bytes_recursive")
    if type(items) is not list:
        return None, None
    sums = {"read": 0, "write": 0}
    for item in get_list(blkio, "io_service_bytes_recursive"):
        if type(item) is dict:
            operation = (get_text(item, "op") or "").lower()
            if operation in sums:
                sums[operation] += _counter(item, "value") or 0
    return sums["read"], sums["write"]
