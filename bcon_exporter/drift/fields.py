"""Field by field: what a container has against what the files and its image ask for. docs/drift.md lists the fields."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bcon_exporter.drift.namesakes import is_given_alias, names_all, names_same
from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.desired import DesiredService, FieldValue
from bcon_exporter.model.facts import ConfigFacts, ContainerFacts
from bcon_exporter.model.naming import normalise_name

_IMAGE_GIVES = ("environment", "labels", "expose", "volumes", "command", "entrypoint", "user", "working_dir")
_IMAGE_GIVES_TOO = ("healthcheck", "stop_signal")
_ENGINE_FILLS = frozenset(
    ("logging", "ulimits", "runtime", "ipc", "cgroup", "shm_size", "hostname", "domainname", "memswap_limit", "init")
)
"""Set by the engine's own defaults where a file says nothing: undeclared, they mean nothing by themselves."""
_SELDOM_DONE = frozenset(
    (
        *("mem_swappiness", "oom_kill_disable", "blkio_config", "cpu_rt_runtime", "cpu_rt_period"),
        *("cpu_count", "cpu_percent", "isolation", "annotations", "storage_opt"),
    )
)
"""Left out, with a warning nobody reads, where the kernel or an older engine cannot do them; it does not tell."""
_SELDOM_DONE_PARTS = (".start_interval", ".gw_priority", ".subpath", ".recursive")
_MOUNT_OPTIONS = (".propagation", ".recursive", ".nocopy", ".subpath")
_ONLY_EXPLAINS = frozenset(("first_network",))
_ENGINE_DEFAULTS: dict[str, frozenset[str]] = {
    "cgroup": frozenset(("host", "private")),
    "ipc": frozenset(("private", "shareable")),
    "logging": frozenset(("json-file",)),
    "runtime": frozenset(("runc", "io.containerd.runc.v2")),
    "ulimits": frozenset(),
    "shm_size": frozenset(),
}
_ENOUGH_TO_TELL = 3
_PROXY_VARIABLES = frozenset(
    f"environment.{name}"
    for upper in ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY")
    for name in (upper, upper.lower())
)
"""Compose adds them from the user's Docker configuration."""
_NAMESPACES = ("network_mode", "ipc", "pid")
_SELINUX_OFF = "security_opt.label=disable"
"""The engine adds it to privileged containers and to those in the host's ipc or pid namespace."""


@dataclass(frozen=True)
class FieldDifference:
    """One field of one container that differs.

    Attributes:
        expected, actual: None where the path must be, or is, absent.
        dropped: The container lacks what this engine is unable to do.
        weak: The engine's own doing may explain it: reported only when nothing else explains an unequal hash.
    """

    path: str
    expected: FieldValue | None
    actual: FieldValue | None
    weak: bool = False
    dropped: bool = False


def compare_fields(
    service: DesiredService, container: ContainerFacts, config: ConfigFacts, pairing: ProjectPairing
) -> tuple[FieldDifference, ...]:
    """Return every difference between a service and one of its containers, by path."""
    expected = _expected(service.fields, config.image_fields)
    names = _own_names(service, container, config, pairing.project.name)
    found = [
        FieldDifference(path, value, config.fields.get(path), weak=path in _ONLY_EXPLAINS)
        for path, value in expected.items()
        if path != "container_name" and not _same(path, value, config.fields.get(path), pairing)
    ]
    found = [_judge_lack(one, pairing) for one in found]
    found += [
        FieldDifference(path, None, value, weak=_is_filled_in(path, value, service))
        for path, value in config.fields.items()
        if path not in expected and not _is_excused(path, service, config, names, pairing)
    ]
    found += _name_differences(service, container, pairing.project.name)
    kept = [one for one in _without_consequences(found) if not _is_taken_by_entrypoint(one, found, service, config)]
    return tuple(sorted(kept, key=lambda one: one.path))


def _judge_lack(difference: FieldDifference, pairing: ProjectPairing) -> FieldDifference:
    """Return the difference, marked when the engine may have, or has, left out what it cannot do."""
    path, actual = difference.path, difference.actual
    if actual is not None and not (path == "memswap_limit" and actual.shown == "-1"):
        return difference
    engine = pairing.host.snapshot.engine
    if engine is not None and _root(path) in engine.cannot:
        return replace(difference, dropped=True)
    if actual is None and (_root(path) in _SELDOM_DONE or path.endswith(_SELDOM_DONE_PARTS)):
        return replace(difference, dropped=True, weak=True)
    return difference


def _expected(declared: Mapping[str, FieldValue], image: Mapping[str, FieldValue] | None) -> dict[str, FieldValue]:
    given = {path: value for path, value in (image or {}).items() if path not in declared and _is_made(path, declared)}
    return {path: value for path, value in (given | dict(declared)).items() if value.fingerprint}


def _is_made(path: str, declared: Mapping[str, FieldValue]) -> bool:
    """Return whether the engine makes an image's volume: not where a tmpfs or another container's volume stands."""
    root, _, target = path.partition(".")
    return root != "volumes" or not (f"tmpfs.{target}" in declared or "volumes_from" in declared)


def _same(path: str, expected: FieldValue, actual: FieldValue | None, pairing: ProjectPairing) -> bool:
    if actual is None:
        return False
    if expected.fingerprint == actual.fingerprint:
        return True
    if path in _NAMESPACES and expected.shown.startswith(("service:", "container:")):
        return actual.shown.startswith("container:") and names_same(
            expected.shown, actual.shown.removeprefix("container:"), pairing
        )
    if path == "volumes_from" or path.startswith("links."):
        return names_all(expected.shown, actual.shown, pairing)
    return False


def _is_filled_in(path: str, value: FieldValue, service: DesiredService) -> bool:
    """Return whether the engine may have set by itself what neither file nor image asks for.

    It never shares a namespace by itself, and a declared log driver has no options but its own.
    """
    if path == "ipc" and value.shown.startswith(("container:", "host", "none")):
        return False
    if path.startswith("logging.options.") and "logging.driver" in service.fields:
        return False
    return _root(path) in _ENGINE_FILLS


def find_engine_choices(service: DesiredService) -> list[str]:
    """Return what a service declares and the engine sets anyway: where both agree no container tells who asked."""
    return sorted({root for path in service.fields if (root := _root(path)) in _ENGINE_FILLS})


def is_usual(difference: FieldDifference, service: DesiredService, pairing: ProjectPairing) -> bool:
    """Return whether a value that nothing asks for is what this engine gives every container."""
    path, value = difference.path, difference.actual
    if difference.expected is not None or value is None:
        return False
    if path in ("hostname", "domainname"):
        return _shares_hostname(service)
    if _root(path) not in _ENGINE_DEFAULTS:
        return False
    if value.shown in _ENGINE_DEFAULTS[_root(path)]:
        return True
    others = [one.config.fields.get(path) for one in pairing.host.snapshot.containers if one.config is not None]
    return len(others) >= _ENOUGH_TO_TELL and 2 * sum(one == value for one in others) > len(others)


def _shares_hostname(service: DesiredService) -> bool:
    """Return whether the container has the host name of another container or of the host, with its network."""
    modes = [_shown(service.fields.get(path)) for path in ("network_mode", "uts")]
    return "host" in modes or modes[0].startswith(("service:", "container:"))


def _is_excused(
    path: str, service: DesiredService, config: ConfigFacts, names: frozenset[str], pairing: ProjectPairing
) -> bool:
    """Return whether a path that nothing asks for is still no difference."""
    if path in service.fields and not service.fields[path].fingerprint:
        return False
    root = _root(path)
    if config.image_fields is None and root in (*_IMAGE_GIVES, *_IMAGE_GIVES_TOO):
        return True  # the unread image may well give it
    if root == "volumes":
        return "volumes_from" in service.fields
    if root == "networks" and ".aliases." in path:
        return normalise_name(path.partition(".aliases.")[2]) in names
    if root == "links":
        return is_given_alias(path.partition(".")[2], service, pairing.project.name)
    return path in _PROXY_VARIABLES or path in (_SELINUX_OFF, *_ONLY_EXPLAINS)


def _own_names(service: DesiredService, container: ContainerFacts, config: ConfigFacts, project: str) -> frozenset[str]:
    """Return the aliases that a container gets without asking: its names, as they are and as Compose gave them."""
    declared = {service.fields[key].shown for key in ("container_name", "hostname") if key in service.fields}
    if "hostname" in config.fields:
        declared.add(config.fields["hostname"].shown)
    number = container.compose.number if container.compose else 1
    given = {f"{project}-{service.name}-{number}", f"{project}_{service.name}_{number}"}
    return frozenset(declared | given | {container.name, container.short_id, service.name})


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


def _without_consequences(found: list[FieldDifference]) -> list[FieldDifference]:
    """Leave out what only follows from another difference.

    The aliases of a lost network, the expose of a port, the mounts that came with another container's volumes.
    """
    paths = {one.path for one in found}
    whole = {path for path in paths if path.startswith("networks.") and _is_whole_network(path, found)}
    return [
        one
        for one in found
        if not any(one.path.startswith(f"{network}.") for network in whole)
        and not (one.path.endswith(_MOUNT_OPTIONS) and one.path.rpartition(".")[0] in paths)
        and not (one.path.startswith("volumes.") and one.expected is None and "volumes_from" in paths)
        and not (one.path.startswith("expose.") and f"ports.{one.path.removeprefix('expose.')}" in paths)
    ]


def _is_taken_by_entrypoint(
    difference: FieldDifference, found: list[FieldDifference], service: DesiredService, config: ConfigFacts
) -> bool:
    """Return whether only the image's command came or went, with an entrypoint that takes it away."""
    declared = service.fields.get("command")
    if difference.path != "command" or (declared is not None and declared.fingerprint):
        return False
    own = (None, (config.image_fields or {}).get("command"))
    return difference.actual in own and any(one.path == "entrypoint" for one in found)


def _is_whole_network(path: str, found: list[FieldDifference]) -> bool:
    return any(one.path == path and "attached" in (_shown(one.expected), _shown(one.actual)) for one in found)


def _shown(value: FieldValue | None) -> str:
    return value.shown if value else ""


def _root(path: str) -> str:
    return path.partition(".")[0]
