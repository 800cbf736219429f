"""Turns a resolved service into drift's normal form: what `docker compose up` would ask the engine for. Pure.

The input is one entry of `services` in the output of `config --format json`, with `$$` already read as `$`. The paths
are those of bcon_exporter/engine/parse/config.py; docs/drift.md lists them.
"""

from collections.abc import Mapping
from typing import Any

from bcon_exporter.compose.service_attachments import has_unseen_options, mount_fields, network_fields
from bcon_exporter.secrets.normal_form import (
    ABSENT_TEXT,
    DEFAULT_SHM_BYTES,
    NANOSECONDS,
    RawFields,
    bindings_of,
    bytes_of,
    capabilities_of,
    cpus_of,
    device_request_of,
    directory_of,
    duration_nanoseconds,
    flag_of,
    healthcheck_of,
    hosts_of,
    mapping_of,
    number_of,
    ordered_of,
    put,
    restart_of,
    security_options_of,
    sorted_of,
    text_of,
    words_of,
)

_MAX_PORT = 65535
_DOCKER_CONFIG = "/run/secrets/docker"
"""Where Compose puts the user's credentials for a service with `use_api_socket`, whether there are any or not."""
_UNSEEN = (
    *("attach", "configs", "credential_spec", "develop", "mac_address", "models", "platform", "post_start"),
    *("pre_start", "pre_stop", "secrets", "use_api_socket"),
)
_UNSEEN_OF_DEPLOY = ("endpoint_mode", "labels", "mode", "placement", "update_config", "rollback_config")
_BLKIO_LISTS = ("weight_device", "device_read_bps", "device_write_bps", "device_read_iops", "device_write_iops")
_HEALTHCHECK_KEYS = {
    name: name for name in ("test", "interval", "timeout", "retries", "start_period", "start_interval")
}


def service_fields(service: Mapping[str, Any], name: str, project: Mapping[str, Any]) -> RawFields:
    """Return all declared fields that differ from the engine's defaults.

    Args:
        service: The resolved service.
        name: Its name, also its alias in every network.
        project: The whole resolved model, for the names of networks, volumes, secrets and configs.

    Raises:
        ValueError, TypeError, AttributeError: A value is not what it must be; Compose checks most, not all.
    """
    fields = _process_fields(service)
    fields.update(_identity_fields(service))
    fields.update(_port_fields(service))
    fields.update(_resource_fields(service))
    fields.update(_security_fields(service))
    fields.update(_host_fields(service))
    fields.update(mount_fields(service, project))
    fields.update(network_fields(service, name, project))
    return fields


def image_of(service: Mapping[str, Any], name: str, project_name: str) -> str:
    """Return the image reference; a service that is only built is named after project and service."""
    return str(service.get("image") or f"{project_name}-{name}")


def replicas_of(service: Mapping[str, Any]) -> int:
    """Return `scale`, else `deploy.replicas`, else 1; 0 for a job of a provider, which has no containers."""
    if service.get("provider"):
        return 0
    for value in (service.get("scale"), mapping_of(service.get("deploy")).get("replicas")):
        if value is not None:
            return int(value)
    return 1


def find_unseen(service: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the declared keys that are part of the config hash, but not visible on a container."""
    deploy = mapping_of(service.get("deploy"))
    unseen = [key for key in _UNSEEN if service.get(key) not in (None, "", {}, [])]
    unseen += [f"deploy.{key}" for key in _UNSEEN_OF_DEPLOY if deploy.get(key) not in (None, "", {}, [])]
    volumes = [mapping_of(volume) for volume in service.get("volumes") or ()]
    if any(has_unseen_options(volume) for volume in volumes):
        unseen.append("volumes (options)")
    if any(port.get("name") or port.get("app_protocol") for port in service.get("ports") or ()):
        unseen.append("ports (names)")
    if any(mapping_of(endpoint).get("mac_address") for endpoint in mapping_of(service.get("networks")).values()):
        unseen.append("networks (mac_address)")
    return tuple(unseen)


def _process_fields(service: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    entrypoint = service.get("entrypoint")
    command = words_of(service.get("command"))
    put(fields, "command", command)
    if entrypoint is not None:
        fields["entrypoint"] = words_of(entrypoint) or ABSENT_TEXT
        if words_of(entrypoint) and command is None:
            fields["command"] = ABSENT_TEXT  # a set entrypoint takes the image's command away
    for key, value in mapping_of(service.get("environment")).items():
        fields[f"environment.{key}"] = ABSENT_TEXT if value is None else str(value)
    if service.get("use_api_socket"):
        fields["environment.DOCKER_CONFIG"] = _DOCKER_CONFIG
    put(fields, "user", text_of(service.get("user")))
    put(fields, "working_dir", directory_of(service.get("working_dir")))
    put(fields, "stop_signal", text_of(service.get("stop_signal")))
    grace = service.get("stop_grace_period")
    if grace is not None:
        fields["stop_grace_period"] = f"{(duration_nanoseconds(grace) or 0) // NANOSECONDS}s"
    put(fields, "tty", text_of(service.get("tty")))
    put(fields, "stdin_open", text_of(service.get("stdin_open")))
    put(fields, "init", flag_of(service.get("init")))
    check = mapping_of(service.get("healthcheck"))
    fields.update(healthcheck_of(check, names=_HEALTHCHECK_KEYS))
    if check.get("disable"):
        put(fields, "healthcheck.test", words_of(["NONE"]))
    return fields


def _identity_fields(service: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    for key, value in mapping_of(service.get("labels")).items():
        if not key.startswith("com.docker.compose."):
            fields[f"labels.{key}"] = str(value or "")
    for key in ("container_name", "hostname", "domainname"):
        put(fields, key, text_of(service.get(key)))
    return fields


def _port_fields(service: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    bindings: dict[str, list[tuple[str, str]]] = {}
    for port in service.get("ports") or ():
        key = f"{port.get('target')}/{port.get('protocol') or 'tcp'}"
        bindings.setdefault(key, []).append((str(port.get("host_ip") or ""), str(port.get("published") or "")))
        fields[f"expose.{key}"] = "exposed"
    fields.update({f"ports.{key}": bindings_of(pairs) for key, pairs in bindings.items()})
    for entry in service.get("expose") or ():
        numbers, _, protocol = str(entry).partition("/")
        for port_number in _ports_of(numbers):
            fields[f"expose.{port_number}/{protocol or 'tcp'}"] = "exposed"
    return fields


def _ports_of(numbers: str) -> range:
    """Parse "80" or "8000-8010"; Compose does not check it.

    Raises:
        ValueError: It is no range of ports.
    """
    first, _, last = numbers.partition("-")
    ports = range(int(first[:6]), int((last or first)[:6]) + 1)
    if ports and not 0 <= ports[0] <= ports[-1] <= _MAX_PORT:
        msg = "no port range"
        raise ValueError(msg)
    return ports


def _resource_fields(service: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    resources = mapping_of(mapping_of(service.get("deploy")).get("resources"))
    limits, reservations = mapping_of(resources.get("limits")), mapping_of(resources.get("reservations"))
    memory = int(limits.get("memory") or service.get("mem_limit") or 0)
    put(fields, "mem_limit", bytes_of(memory))
    # The engine's default is twice the memory limit: declaring that changes nothing.
    put(fields, "memswap_limit", bytes_of(service.get("memswap_limit"), default=2 * memory))
    put(fields, "mem_reservation", bytes_of(reservations.get("memory") or service.get("mem_reservation")))
    put(fields, "mem_swappiness", number_of(service.get("mem_swappiness"), default=-1))
    put(fields, "cpus", _nano_cpus(limits.get("cpus")) or _nano_cpus(service.get("cpus")))
    put(fields, "pids_limit", number_of(limits.get("pids")) or number_of(service.get("pids_limit"), default=-1))
    for key in ("cpu_shares", "cpu_quota", "cpu_period", "cpu_rt_runtime", "cpu_rt_period", "oom_score_adj"):
        put(fields, key, _microseconds(service.get(key)))
    for key in ("cpu_count", "cpu_percent"):
        put(fields, key, number_of(service.get(key)))
    blkio = mapping_of(service.get("blkio_config"))
    put(fields, "blkio_config.weight", number_of(blkio.get("weight")))
    for key in _BLKIO_LISTS:
        for limit_of_device in blkio.get(key) or ():
            device = {name.lower(): value for name, value in limit_of_device.items()}
            fields[f"blkio_config.{key}.{device.get('path')}"] = str(device.get("weight", device.get("rate")))
    put(fields, "cpuset", text_of(service.get("cpuset")))
    put(fields, "oom_kill_disable", text_of(service.get("oom_kill_disable")))
    put(fields, "shm_size", bytes_of(service.get("shm_size"), default=DEFAULT_SHM_BYTES))
    for name, limit in mapping_of(service.get("ulimits")).items():
        pair = limit if isinstance(limit, Mapping) else {"soft": limit, "hard": limit}
        single = pair.get("single", 0)  # Compose leaves a limit of 0 out
        fields[f"ulimits.{name}"] = f"{pair.get('soft', single)}:{pair.get('hard', single)}"
    return fields


def _nano_cpus(value: object) -> str | None:
    return cpus_of(round(float(str(value)) * NANOSECONDS)) if value else None


def _microseconds(value: object) -> str | None:
    """Return a plain number, or a duration ("50ms") as the microseconds the engine counts in."""
    if isinstance(value, str) and not value.lstrip("-").isdigit():
        return number_of((duration_nanoseconds(value) or 0) // 1000)
    return number_of(value)


def _security_fields(service: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    put(fields, "cap_add", capabilities_of(service.get("cap_add")))
    put(fields, "cap_drop", capabilities_of(service.get("cap_drop")))
    put(fields, "privileged", text_of(service.get("privileged")))
    put(fields, "read_only", text_of(service.get("read_only")))
    fields.update({f"security_opt.{option}": "set" for option in security_options_of(service.get("security_opt"))})
    put(fields, "group_add", sorted_of(str(group) for group in service.get("group_add") or ()))
    put(fields, "device_cgroup_rules", sorted_of(service.get("device_cgroup_rules") or ()))
    for device in service.get("devices") or ():
        source, target = str(device.get("source", "")), str(device.get("target") or device.get("source"))
        is_cdi = not source.startswith("/") and source == target and "=" in source
        fields[f"devices.{target}"] = "cdi" if is_cdi else f"{source} {device.get('permissions') or 'rwm'}"
    put(fields, "gpus", _gpus(service))
    return fields


def _gpus(service: Mapping[str, Any]) -> str | None:
    """Return the requests for GPUs: `gpus`, and devices among the reservations."""
    reservations = mapping_of(mapping_of(mapping_of(service.get("deploy")).get("resources")).get("reservations"))
    requests: list[tuple[Mapping[str, Any], list[str]]] = [
        (request, []) for request in reservations.get("devices") or ()
    ]
    requests += [(request, ["gpu"]) for request in service.get("gpus") or ()]
    texts = [
        device_request_of(
            request.get("driver"),
            request.get("count"),
            request.get("device_ids"),
            [*(request.get("capabilities") or ()), *implied],
            request.get("options"),
        )
        for request, implied in requests
    ]
    return "; ".join(sorted(texts)) or None


def _host_fields(service: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    policy = mapping_of(service.get("deploy")).get("restart_policy")
    name, _, attempts = str(service.get("restart") or "").partition(":")
    if isinstance(policy, Mapping):  # also an empty one takes `restart` away
        name, attempts = str(policy.get("condition") or ""), str(policy.get("max_attempts") or "")
    put(fields, "restart", restart_of(name, attempts))
    for key in ("dns", "dns_search", "dns_opt"):
        put(fields, key, ordered_of(service.get(key)))
    for host, address in hosts_of(service.get("extra_hosts")).items():
        fields[f"extra_hosts.{host}"] = address
    for key in ("sysctls", "storage_opt", "annotations"):
        fields.update({f"{key}.{option}": str(value) for option, value in mapping_of(service.get(key)).items()})
    log = mapping_of(service.get("logging"))
    put(fields, "logging.driver", text_of(log.get("driver")))
    fields.update({f"logging.options.{option}": str(value) for option, value in mapping_of(log.get("options")).items()})
    put(fields, "runtime", text_of(service.get("runtime")))
    put(fields, "isolation", None if service.get("isolation") == "default" else text_of(service.get("isolation")))
    put(fields, "cgroup_parent", text_of(service.get("cgroup_parent")))
    for key in ("ipc", "pid", "userns_mode", "uts", "cgroup"):
        put(fields, key, text_of(service.get(key)))
    return fields
