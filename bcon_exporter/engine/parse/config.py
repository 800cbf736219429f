"""A container's configuration in the normal form of drift, from `inspect` JSON (API 1.41 and newer). Pure.

The paths are those of bcon_exporter/compose/service_fields.py; docs/drift.md lists them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bcon_exporter.engine.parse.attachments import SHORT_ID, mount_fields, network_fields, short_container
from bcon_exporter.engine.parse.container import secrets_of
from bcon_exporter.engine.parse.json_fields import get_list, get_object
from bcon_exporter.model.container_facts import ConfigFacts
from bcon_exporter.model.desired import FieldValue
from bcon_exporter.secrets.hide_in_models import hide_in_fields
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.secrets.normal_form import (
    DEFAULT_SHM_BYTES,
    RawFields,
    bindings_of,
    bytes_of,
    capabilities_of,
    cpus_of,
    device_request_of,
    directory_of,
    flag_of,
    healthcheck_of,
    hosts_of,
    mapping_of,
    mount_of,
    number_of,
    ordered_of,
    put,
    restart_of,
    seal_fields,
    seal_image,
    security_options_of,
    sorted_of,
    text_of,
    words_of,
)

if TYPE_CHECKING:
    from bcon_exporter.secrets.masking import Sealer

_HEALTHCHECK_KEYS = {
    "test": "Test",
    "interval": "Interval",
    "timeout": "Timeout",
    "retries": "Retries",
    "start_period": "StartPeriod",
    "start_interval": "StartInterval",
}
_BLKIO_LISTS = {
    "weight_device": "BlkioWeightDevice",
    "device_read_bps": "BlkioDeviceReadBps",
    "device_write_bps": "BlkioDeviceWriteBps",
    "device_read_iops": "BlkioDeviceReadIOps",
    "device_write_iops": "BlkioDeviceWriteIOps",
}
_COMPOSE_LABELS = ("com.docker.compose.", "desktop.docker.io/")
_PODMAN_MARK = "container=podman"
_PODMAN_VARIABLES = ("container", "TERM", "HOME", "HOSTNAME")
_PODMAN_DEFAULTS = {
    "pid": "private",
    "uts": "private",
    "working_dir": "/",
    "stop_signal": "15",
    "healthcheck.timeout": "30s",
    "pids_limit": "2048",
    "init": "false",
}
_PODMAN_ANNOTATIONS = (
    *("annotations.io.container.manager", "annotations.io.podman.annotations."),
    "annotations.org.opencontainers.image.stopSignal",
    *("annotations.org.systemd.property.KillSignal", "annotations.org.systemd.property.TimeoutStopUSec"),
)
"""Paths, and a beginning of paths."""


def parse_config(
    inspected: Mapping[str, Any],
    image: dict[str, FieldValue] | None,
    sealer: "Sealer",
    secrets: KnownSecrets = NO_SECRETS,
) -> ConfigFacts:
    """Return the container's own fields and those that its image alone would give.

    Args:
        inspected: `GET /containers/{id}/json`.
        image: What `parse_image` made of the image it runs, shared by all its containers; None when it could not be
            read.
        sealer: The process's one sealer.
        secrets: Values that must not be shown of it.

    `image_id_of_tag` stays None: the caller knows what the tag points to (`model_copy(update=...)`).
    """
    raw = container_fields(inspected)
    fields = seal_fields(raw, sealer, secrets)
    if image is not None:
        image = hide_in_fields(image, secrets)
    if image is not None and (podman_paths := find_podman_defaults(inspected, raw)):
        image = {path: fields[path] for path in podman_paths} | image
    # our own values need no proof, which would copy the map that all containers of an image share
    return ConfigFacts.model_construct(
        fields=fields,
        image_fields=image,
        image_id_of_tag=None,
        image_fingerprint=seal_image(text_of(mapping_of(inspected.get("Config")).get("Image")) or "", sealer),
    )


def parse_image(image: Mapping[str, Any], sealer: "Sealer") -> dict[str, FieldValue]:
    """Return the fields that an image gives its containers, of `GET /images/{id}/json`."""
    return seal_fields(image_fields(image), sealer, KnownSecrets(secrets_of(image)))


def image_fields(image: Mapping[str, Any]) -> RawFields:
    """Return the fields of a container that declares nothing: the image's ENV, LABEL, EXPOSE, VOLUME, CMD, ..."""
    config = mapping_of(image.get("Config"))
    fields = _config_fields(config)
    put(fields, "hostname", None)
    for target in mapping_of(config.get("Volumes")):
        fields[f"volumes.{directory_of(target)}"] = mount_of("volume", "", read_only=False)
    return fields


def container_fields(inspected: Mapping[str, Any]) -> RawFields:
    """Return the fields that differ from the engine's defaults, normalised, not sealed."""
    config, host = mapping_of(inspected.get("Config")), mapping_of(inspected.get("HostConfig"))
    fields = _config_fields(config)
    hostname = config.get("Hostname")
    if hostname != str(inspected.get("Id", ""))[:SHORT_ID]:
        put(fields, "hostname", text_of(hostname))
    fields.update(_resource_fields(host))
    fields.update(_host_fields(host))
    fields.update(_namespace_fields(host))
    fields.update(mount_fields(inspected, host))
    fields.update(network_fields(inspected, host))
    return fields


def _config_fields(config: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    put(fields, "command", words_of(config.get("Cmd")))
    put(fields, "entrypoint", words_of(config.get("Entrypoint")))
    for entry in config.get("Env") or ():
        key, equals, value = str(entry).partition("=")
        if equals:  # an entry without "=" takes the variable away
            fields[f"environment.{key}"] = value
    for key, value in mapping_of(config.get("Labels")).items():
        if not key.startswith(_COMPOSE_LABELS):
            fields[f"labels.{key}"] = str(value)
    for port in mapping_of(config.get("ExposedPorts")):
        fields[f"expose.{port}"] = "exposed"
    put(fields, "user", text_of(config.get("User")))
    put(fields, "working_dir", directory_of(config.get("WorkingDir")))
    put(fields, "domainname", text_of(config.get("Domainname")))
    put(fields, "stop_signal", text_of(config.get("StopSignal")))
    timeout = config.get("StopTimeout")
    put(fields, "stop_grace_period", None if timeout is None else f"{timeout}s")
    put(fields, "tty", text_of(config.get("Tty")))
    put(fields, "stdin_open", text_of(config.get("OpenStdin")))
    fields.update(healthcheck_of(mapping_of(config.get("Healthcheck")), names=_HEALTHCHECK_KEYS))
    return fields


def _resource_fields(host: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    memory = host.get("Memory") or 0
    put(fields, "mem_limit", bytes_of(memory))
    # The engine itself sets memory+swap to twice the memory where the file says nothing.
    put(fields, "memswap_limit", bytes_of(host.get("MemorySwap"), default=2 * memory))
    put(fields, "mem_reservation", bytes_of(host.get("MemoryReservation")))
    put(fields, "mem_swappiness", number_of(host.get("MemorySwappiness"), default=-1))
    put(fields, "cpus", cpus_of(host.get("NanoCpus")))
    for path, key in (
        ("cpu_shares", "CpuShares"),
        ("cpu_quota", "CpuQuota"),
        ("cpu_period", "CpuPeriod"),
        ("cpu_rt_runtime", "CpuRealtimeRuntime"),
        ("cpu_rt_period", "CpuRealtimePeriod"),
        ("oom_score_adj", "OomScoreAdj"),
        ("blkio_config.weight", "BlkioWeight"),
        ("cpu_count", "CpuCount"),
        ("cpu_percent", "CpuPercent"),
    ):
        put(fields, path, number_of(host.get(key)))
    for path, key in _BLKIO_LISTS.items():
        for limit in host.get(key) or ():
            fields[f"blkio_config.{path}.{limit.get('Path')}"] = str(limit.get("Weight", limit.get("Rate")))
    put(fields, "cpuset", text_of(host.get("CpusetCpus")))
    put(fields, "pids_limit", number_of(host.get("PidsLimit"), default=-1))
    put(fields, "oom_kill_disable", text_of(host.get("OomKillDisable")))
    put(fields, "shm_size", bytes_of(host.get("ShmSize"), default=DEFAULT_SHM_BYTES))
    for limit in host.get("Ulimits") or ():
        fields[f"ulimits.{limit.get('Name')}"] = f"{limit.get('Soft')}:{limit.get('Hard')}"
    return fields


def _host_fields(host: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    policy = mapping_of(host.get("RestartPolicy"))
    put(fields, "restart", restart_of(policy.get("Name"), policy.get("MaximumRetryCount")))
    put(fields, "cap_add", capabilities_of(host.get("CapAdd")))
    put(fields, "cap_drop", capabilities_of(host.get("CapDrop")))
    for path, key in (("privileged", "Privileged"), ("read_only", "ReadonlyRootfs")):
        put(fields, path, text_of(host.get(key)))
    put(fields, "init", flag_of(host.get("Init")))
    fields.update({f"security_opt.{option}": "set" for option in security_options_of(host.get("SecurityOpt"))})
    for path, key in (("dns", "Dns"), ("dns_search", "DnsSearch"), ("dns_opt", "DnsOptions")):
        put(fields, path, ordered_of(host.get(key)))
    put(fields, "group_add", sorted_of(str(group) for group in host.get("GroupAdd") or ()))
    put(fields, "device_cgroup_rules", sorted_of(host.get("DeviceCgroupRules") or ()))
    put(fields, "runtime", text_of(host.get("Runtime")))
    put(fields, "cgroup_parent", text_of(host.get("CgroupParent")))
    for name, address in hosts_of(host.get("ExtraHosts")).items():
        fields[f"extra_hosts.{name}"] = address
    for device in host.get("Devices") or ():
        fields[f"devices.{device.get('PathInContainer')}"] = (
            f"{device.get('PathOnHost')} {device.get('CgroupPermissions')}"
        )
    fields.update(_device_request_fields(host))
    if host.get("MaskedPaths") == [] and host.get("ReadonlyPaths") == []:
        fields["security_opt.systempaths=unconfined"] = "set"
    put(fields, "isolation", None if host.get("Isolation") == "default" else text_of(host.get("Isolation")))
    for path, key in (("sysctls", "Sysctls"), ("storage_opt", "StorageOpt"), ("annotations", "Annotations")):
        fields.update({f"{path}.{name}": str(value) for name, value in mapping_of(host.get(key)).items()})
    log = mapping_of(host.get("LogConfig"))
    put(fields, "logging.driver", text_of(log.get("Type")))
    fields.update({f"logging.options.{name}": str(value) for name, value in mapping_of(log.get("Config")).items()})
    for port, bindings in mapping_of(host.get("PortBindings")).items():
        pairs = [(str(binding.get("HostIp") or ""), str(binding.get("HostPort") or "")) for binding in bindings or ()]
        fields[f"ports.{port}"] = bindings_of(pairs or [("", "")])
    return fields


def _device_request_fields(host: Mapping[str, Any]) -> RawFields:
    """Return requested devices: those named after the Container Device Interface, and GPUs."""
    fields: RawFields = {}
    requests: list[str] = []
    for request in host.get("DeviceRequests") or ():
        if request.get("Driver") == "cdi":
            fields.update({f"devices.{name}": "cdi" for name in request.get("DeviceIDs") or ()})
            continue
        capabilities = [str(name) for group in request.get("Capabilities") or () for name in group]
        requests.append(
            device_request_of(
                request.get("Driver"),
                request.get("Count"),
                request.get("DeviceIDs"),
                capabilities,
                request.get("Options"),
            )
        )
    put(fields, "gpus", "; ".join(sorted(requests)) or None)
    return fields


def _namespace_fields(host: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    for path, key in (
        ("ipc", "IpcMode"),
        ("pid", "PidMode"),
        ("userns_mode", "UsernsMode"),
        ("uts", "UTSMode"),
        ("cgroup", "CgroupnsMode"),
    ):
        put(fields, path, _namespace(host.get(key)))
    mode = _namespace(host.get("NetworkMode")) or "bridge"
    if mode in ("none", "host", "bridge", "default") or mode.startswith("container:"):
        fields["network_mode"] = "bridge" if mode == "default" else mode
    return fields


def _namespace(mode: object) -> str | None:
    """Return the mode; another container's id is cut to the 12 digits by which the comparison finds it."""
    text = text_of(mode)
    if text is not None and text.startswith("container:"):
        return f"container:{short_container(text.removeprefix('container:'))}"
    return text


def find_podman_defaults(inspected: Mapping[str, Any], fields: RawFields) -> tuple[str, ...]:
    """Return the paths of `fields` that Podman sets by itself; empty for Docker's containers.

    Args:
        inspected: `GET /containers/{id}/json`.
        fields: The container's fields, normalised, not sealed.
    """
    if _PODMAN_MARK not in get_list(get_object(inspected, "Config"), "Env"):
        return ()
    variables = (f"environment.{name}" for name in _PODMAN_VARIABLES)
    defaults = (path for path, value in _PODMAN_DEFAULTS.items() if fields.get(path) == value)
    annotations = (path for path in fields if path.startswith(_PODMAN_ANNOTATIONS))
    return tuple(path for path in (*variables, *defaults, *annotations) if path in fields)
