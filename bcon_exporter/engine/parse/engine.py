"""The engine, its networks and volumes in raw JSON → facts (see `container`)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from bcon_exporter.engine.parse.json_fields import (
    get_bool,
    get_int,
    get_list,
    get_name,
    get_object,
    get_text,
    parse_time,
)
from bcon_exporter.model.container_facts import AddressPool, EngineFacts, NetworkFacts, VolumeFacts
from bcon_exporter.model.deployment import ImageFacts
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.secrets.masking import safe_pair, safe_text
from bcon_exporter.secrets.normal_form import is_anonymous

_MOST_SUBNETS = 64
_LIMITS = (
    ("mem_limit", "MemoryLimit"),
    ("mem_reservation", "MemoryLimit"),
    ("memswap_limit", "SwapLimit"),
    ("oom_kill_disable", "OomKillDisable"),
    ("cpus", "CpuCfsQuota"),
    ("cpu_quota", "CpuCfsQuota"),
    ("cpu_period", "CpuCfsPeriod"),
    ("cpu_shares", "CPUShares"),
    ("cpuset", "CPUSet"),
    ("pids_limit", "PidsLimit"),
)


def parse_engine(info: Any, version: Any) -> EngineFacts:
    """Make the engine's facts from `/info` and `/version`; either may be missing."""
    about = info if type(info) is dict else {}
    versions = version if type(version) is dict else {}
    components = [get_text(item, "Name") or "" for item in get_list(versions, "Components") if type(item) is dict]
    cgroup_version = (get_text(about, "CgroupVersion") or "").removeprefix("v")
    return EngineFacts(
        name=clean_name(get_text(about, "Name") or ""),
        server_version=clean_name(get_text(versions, "Version") or get_text(about, "ServerVersion") or ""),
        api_version=clean_name(get_text(versions, "ApiVersion") or ""),
        storage_driver=get_name(about, "Driver"),
        cgroup_version=clean_name(cgroup_version) or None,
        cpu_count=_positive(about, "NCPU"),
        memory_bytes=_positive(about, "MemTotal"),
        is_podman=any("podman" in name.lower() for name in components),
        root_dir=get_name(about, "DockerRootDir"),
        cannot=tuple(name for name, key in _LIMITS if about.get(key) is False),
        has_cgroups=get_text(about, "CgroupDriver") != "none",
        id=get_name(about, "ID"),
        keeps_containers=get_bool(about, "LiveRestoreEnabled") is True,
        architecture=get_name(about, "Architecture"),
        operating_system=get_name(about, "OperatingSystem"),
        kernel=get_name(about, "KernelVersion"),
        runtimes=tuple(sorted(clean_name(name) for name in get_object(about, "Runtimes"))),
        log_driver=get_name(about, "LoggingDriver"),
        address_pools=tuple(_address_pools(about)),
    )


def _address_pools(about: dict[str, Any]) -> Iterator[AddressPool]:
    for pool in get_list(about, "DefaultAddressPools")[:_MOST_SUBNETS]:
        base, size = (get_name(pool, "Base"), get_int(pool, "Size")) if type(pool) is dict else (None, None)
        if base is not None and size is not None:
            yield AddressPool(base=base, size=size)


def parse_engine_start(bridge: Any) -> datetime | None:
    """Return when the engine came up, from its default network; None when that does not tell.

    Source: dockerd removes the network `bridge` and makes it anew at each start, after it has dealt with what the
    engine before it left behind (measured on 20.10: some 10 s later where that has to be killed).
    """
    network = bridge if type(bridge) is dict else {}
    is_default = get_text(get_object(network, "Options"), "com.docker.network.bridge.default_bridge") == "true"
    return parse_time(network.get("Created")) if is_default else None


def parse_network(raw: Any) -> NetworkFacts | None:
    """Make a network's facts; None without an id and a name."""
    entry = raw if type(raw) is dict else {}
    network_id, name = get_name(entry, "Id"), get_name(entry, "Name")
    if network_id is None or name is None:
        return None
    return NetworkFacts(
        id=network_id,
        name=safe_text(name),
        driver=get_name(entry, "Driver") or "",
        labels=_labels(entry),
        subnets=tuple(_subnets(entry)),
    )


def parse_image_facts(raw: Any) -> ImageFacts | None:
    """Make an image's facts, of `GET /images/{image}/json`; None without an id."""
    image = raw if type(raw) is dict else {}
    image_id = get_name(image, "Id")
    if image_id is None:
        return None
    config = get_object(image, "Config")
    test = [word for word in get_list(get_object(config, "Healthcheck"), "Test") if type(word) is str]
    return ImageFacts(
        id=image_id,
        os=get_name(image, "Os"),
        architecture=get_name(image, "Architecture"),
        has_health_check=bool(test) and test[0] != "NONE",
    )


def parse_volume(raw: Any) -> VolumeFacts | None:
    """Make a volume's facts; None without a name."""
    entry = raw if type(raw) is dict else {}
    name = get_name(entry, "Name")
    if name is None:
        return None
    name = name if is_anonymous(name) else safe_text(name)  # there may be thousands, and masking takes its time
    return VolumeFacts(name=name, driver=get_name(entry, "Driver") or "", labels=_labels(entry))


def _subnets(entry: dict[str, Any]) -> Iterator[str]:
    for pool in get_list(get_object(entry, "IPAM"), "Config")[:_MOST_SUBNETS]:
        subnet = get_text(pool, "Subnet") if type(pool) is dict else None
        if subnet:
            yield clean_name(subnet)


def _positive(raw: dict[str, Any], key: str) -> int | None:
    value = get_int(raw, key)
    return value if value and value > 0 else None


def _labels(raw: dict[str, Any]) -> dict[str, str]:
    return {
        clean_name(key): safe_pair(key, value)
        for key, value in get_object(raw, "Labels").items()
        if type(key) is str and type(value) is str
    }
