"""Compares a container with what the files and its image ask for, field by field. docs/drift.md lists the fields."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bcon_exporter.drift.container_references import (
    is_automatic_alias,
    refers_to_same_container,
    refers_to_same_containers,
)
from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.container_facts import ConfigFacts, ContainerFacts
from bcon_exporter.model.desired import DesiredService, FieldValue
from bcon_exporter.model.naming import normalise_name

_FROM_IMAGE = ("environment", "labels", "expose", "volumes", "command", "entrypoint", "user", "working_dir")
_FROM_IMAGE_TOO = ("healthcheck", "stop_signal")
_SET_BY_ENGINE = frozenset(
    ("logging", "ulimits", "runtime", "ipc", "cgroup", "shm_size", "hostname", "domainname", "memswap_limit", "init")
)
"""The engine's own defaults set these. Where the file does not declare them, a value alone is no drift."""
_OFTEN_UNSUPPORTED = frozenset(
    (
        *("mem_swappiness", "oom_kill_disable", "blkio_config", "cpu_rt_runtime", "cpu_rt_period"),
        *("cpu_count", "cpu_percent", "isolation", "annotations", "storage_opt"),
    )
)
"""A kernel or an older engine that lacks these drops them with a warning; `docker info` does not list all of them."""
_OFTEN_UNSUPPORTED_PARTS = (".start_interval", ".gw_priority", ".subpath", ".recursive", ".consistency")
_MOUNT_OPTIONS = (".propagation", ".recursive", ".nocopy", ".subpath", ".selinux", ".consistency")
_WEAK_FIELDS = frozenset(("first_network",))
_ENGINE_DEFAULTS: dict[str, frozenset[str]] = {
    "cgroup": frozenset(("host", "private")),
    "ipc": frozenset(("private", "shareable")),
    "logging": frozenset(("json-file",)),
    "runtime": frozenset(("runc", "io.containerd.runc.v2")),
    "ulimits": frozenset(),
    "shm_size": frozenset(),
}
_FEWEST_CONTAINERS_FOR_A_MAJORITY = 3
_PROXY_VARIABLES = frozenset(
    f"environment.{name}"
    for upper in ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY")
    for name in (upper, upper.lower())
)
"""Compose adds them from the user's Docker configuration."""
_NAMESPACES = ("network_mode", "ipc", "pid")
_SELINUX_LABEL = "security_opt.label="
"""The engine adds such options to privileged containers and to those in a foreign ipc or pid namespace."""
_FOREIGN_NAMESPACES = ("host", "container:")


@dataclass(frozen=True)
class FieldDifference:
    """One field of one container that differs.

    Attributes:
        expected: None where the path must be absent.
        actual: None where the path is absent.
        weak: The engine itself may have caused it. Reported only when nothing else explains a different config hash.
        dropped: The container lacks it because the engine does not support it.
    """

    path: str
    expected: FieldValue | None
    actual: FieldValue | None
    weak: bool = False
    dropped: bool = False


def compare_fields(
    service: DesiredService, container: ContainerFacts, config: ConfigFacts, pairing: ProjectPairing
) -> tuple[FieldDifference, ...]:
    """Return every difference between a service and one of its containers, sorted by path."""
    expected = _expected(service.fields, config.image_fields)
    aliases = _automatic_aliases(service, container, config, pairing.project.name)
    differences = [
        FieldDifference(path, value, config.fields.get(path), weak=path in _WEAK_FIELDS)
        for path, value in expected.items()
        if path != "container_name" and not _is_same_value(path, value, config.fields.get(path), pairing)
    ]
    differences = [_mark_unsupported(difference, pairing) for difference in differences]
    differences += [
        FieldDifference(path, None, value, weak=_may_be_set_by_engine(path, value, service))
        for path, value in config.fields.items()
        if path not in expected and not _is_tolerated(path, service, config, aliases, pairing)
    ]
    differences += _name_differences(service, container, pairing.project.name)
    kept = [
        difference
        for difference in _drop_consequences(differences)
        if not _is_cleared_by_entrypoint(difference, differences, service, config)
    ]
    return tuple(sorted(kept, key=lambda difference: difference.path))


def _mark_unsupported(difference: FieldDifference, pairing: ProjectPairing) -> FieldDifference:
    """Return the difference, marked `dropped` where the engine does not, or perhaps does not, support the field."""
    path, actual = difference.path, difference.actual
    if actual is not None and not (path == "memswap_limit" and actual.shown == "-1"):
        return difference
    engine = pairing.host.snapshot.engine
    if engine is not None and _root(path) in engine.cannot:
        return replace(difference, dropped=True)
    if actual is None and (_root(path) in _OFTEN_UNSUPPORTED or path.endswith(_OFTEN_UNSUPPORTED_PARTS)):
        return replace(difference, dropped=True, weak=True)
    return difference


def _expected(declared: Mapping[str, FieldValue], image: Mapping[str, FieldValue] | None) -> dict[str, FieldValue]:
    from_image = {
        path: value
        for path, value in (image or {}).items()
        if path not in declared and _is_image_volume_created(path, declared)
    }
    return {path: value for path, value in (from_image | dict(declared)).items() if value.fingerprint}


def _is_image_volume_created(path: str, declared: Mapping[str, FieldValue]) -> bool:
    """Return whether the engine creates this volume of the image: a tmpfs or another container's volume prevents it."""
    root, _, target = path.partition(".")
    return root != "volumes" or not (f"tmpfs.{target}" in declared or "volumes_from" in declared)


def _is_same_value(path: str, expected: FieldValue, actual: FieldValue | None, pairing: ProjectPairing) -> bool:
    if actual is None:
        return False
    if expected.fingerprint == actual.fingerprint:
        return True
    if path in _NAMESPACES and expected.shown.startswith(("service:", "container:")):
        return actual.shown.startswith("container:") and refers_to_same_container(
            expected.shown, actual.shown.removeprefix("container:"), pairing
        )
    if path == "volumes_from" or path.startswith("links."):
        return refers_to_same_containers(expected.shown, actual.shown, pairing)
    return False


def _may_be_set_by_engine(path: str, value: FieldValue, service: DesiredService) -> bool:
    """Return whether the engine may have set a value that neither file nor image asks for.

    The engine never shares a namespace by itself, and adds no options to a log driver that the file declares.
    """
    if path == "ipc" and value.shown.startswith(("container:", "host", "none")):
        return False
    if path.startswith("logging.options.") and "logging.driver" in service.fields:
        return False
    return _root(path) in _SET_BY_ENGINE


def find_engine_choices(service: DesiredService) -> list[str]:
    """Return the declared fields that the engine also sets by itself: the container does not show who set them."""
    return sorted({root for path in service.fields if (root := _root(path)) in _SET_BY_ENGINE})


def is_engine_default(difference: FieldDifference, service: DesiredService, pairing: ProjectPairing) -> bool:
    """Return whether an undeclared value is this engine's default: a known one, or that of most containers."""
    path, value = difference.path, difference.actual
    if difference.expected is not None or value is None:
        return False
    if path in ("hostname", "domainname"):
        return _shares_hostname(service)
    if _root(path) not in _ENGINE_DEFAULTS:
        return False
    if value.shown in _ENGINE_DEFAULTS[_root(path)]:
        return True
    host_values = [
        container.config.fields.get(path)
        for container in pairing.host.snapshot.containers
        if container.config is not None
    ]
    return len(host_values) >= _FEWEST_CONTAINERS_FOR_A_MAJORITY and 2 * sum(
        container == value for container in host_values
    ) > len(host_values)


def _shares_hostname(service: DesiredService) -> bool:
    """Return whether the container takes its host name, with its network, from the host or another container."""
    modes = [_shown(service.fields.get(path)) for path in ("network_mode", "uts")]
    return "host" in modes or modes[0].startswith(("service:", "container:"))


def _is_tolerated(
    path: str, service: DesiredService, config: ConfigFacts, aliases: frozenset[str], pairing: ProjectPairing
) -> bool:
    """Return whether an undeclared path is no difference."""
    if path in service.fields and not service.fields[path].fingerprint:
        return False
    root = _root(path)
    if service.takes_variables and root == "environment":
        return True
    if config.image_fields is None and root in (*_FROM_IMAGE, *_FROM_IMAGE_TOO):
        return True  # the image could not be read and may declare it
    if root == "volumes":
        return "volumes_from" in service.fields
    if root == "networks" and ".aliases." in path:
        return normalise_name(path.partition(".aliases.")[2]) in aliases
    if root == "links":
        return is_automatic_alias(path.partition(".")[2], service, pairing.project.name)
    if path.startswith(_SELINUX_LABEL):
        return _is_given_selinux_label(config)
    return path in _PROXY_VARIABLES or path in _WEAK_FIELDS


def _is_given_selinux_label(config: ConfigFacts) -> bool:
    """Return whether the engine itself chooses the container's SELinux label."""
    modes = (_shown(config.fields.get(path)) for path in ("ipc", "pid"))
    return "privileged" in config.fields or any(mode.startswith(_FOREIGN_NAMESPACES) for mode in modes)


def _automatic_aliases(
    service: DesiredService, container: ContainerFacts, config: ConfigFacts, project: str
) -> frozenset[str]:
    """Return the network aliases that every container gets: its names, current and as Compose gave them."""
    declared = {service.fields[key].shown for key in ("container_name", "hostname") if key in service.fields}
    if "hostname" in config.fields:
        declared.add(config.fields["hostname"].shown)
    number = container.compose.number if container.compose else 1
    generated = {f"{project}-{service.name}-{number}", f"{project}_{service.name}_{number}"}
    return frozenset(declared | generated | {container.name, container.short_id, service.name})


def _name_differences(service: DesiredService, container: ContainerFacts, project: str) -> list[FieldDifference]:
    declared = service.fields.get("container_name")
    name = normalise_name(container.name)
    number = container.compose.number if container.compose else 1
    wanted = declared.shown if declared else f"{project}-{service.name}-{number}"
    if name in (wanted, wanted if declared else f"{project}_{service.name}_{number}"):
        return []
    fingerprint = declared.fingerprint if declared else "-"
    return [
        FieldDifference(
            "container_name",
            FieldValue(shown=wanted, fingerprint=fingerprint),
            FieldValue(shown=container.name, fingerprint="+"),
        )
    ]


def _drop_consequences(differences: list[FieldDifference]) -> list[FieldDifference]:
    """Drop the differences that follow from another one.

    These are the aliases of a missing network, the `expose` of a port, the mounts that `volumes_from` brings.
    """
    paths = {difference.path for difference in differences}
    changed_attachments = {
        path for path in paths if path.startswith("networks.") and _is_network_attachment(path, differences)
    }
    return [
        difference
        for difference in differences
        if not any(difference.path.startswith(f"{network}.") for network in changed_attachments)
        and not (difference.path.endswith(_MOUNT_OPTIONS) and difference.path.rpartition(".")[0] in paths)
        and not (difference.path.startswith("volumes.") and difference.expected is None and "volumes_from" in paths)
        and not (difference.path.startswith("expose.") and f"ports.{difference.path.removeprefix('expose.')}" in paths)
    ]


def _is_cleared_by_entrypoint(
    difference: FieldDifference, differences: list[FieldDifference], service: DesiredService, config: ConfigFacts
) -> bool:
    """Return whether the image's command is gone or back only because the entrypoint differs too."""
    declared = service.fields.get("command")
    if difference.path != "command" or (declared is not None and declared.fingerprint):
        return False
    image_commands = (None, (config.image_fields or {}).get("command"))
    return difference.actual in image_commands and any(other.path == "entrypoint" for other in differences)


def _is_network_attachment(path: str, differences: list[FieldDifference]) -> bool:
    return any(
        difference.path == path and "attached" in (_shown(difference.expected), _shown(difference.actual))
        for difference in differences
    )


def _shown(value: FieldValue | None) -> str:
    return value.shown if value else ""


def _root(path: str) -> str:
    return path.partition(".")[0]
