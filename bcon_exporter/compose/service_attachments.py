"""Volumes, secret and config files, and networks of a resolved service, in drift's normal form. Pure."""

from collections.abc import Mapping
from typing import Any

from bcon_exporter.secrets.normal_form import (
    RawFields,
    consistency_of,
    directory_of,
    mapping_of,
    mount_of,
    number_of,
    options_of,
    propagation_of,
    put,
    sorted_of,
    text_of,
    tmpfs_of,
)

API_SOCKET = "/var/run/docker.sock"
"""Compose mounts it into a service with `use_api_socket`."""


def mount_fields(service: Mapping[str, Any], project: Mapping[str, Any]) -> RawFields:
    """Return volumes, tmpfs mounts, and the files that secrets and configs are bound from.

    A secret or config without a file is copied into the container when it is made: no mount shows it.
    """
    fields: RawFields = {}
    for volume in service.get("volumes") or ():
        kind, target = str(volume.get("type") or "volume"), directory_of(volume.get("target"))
        if kind == "tmpfs":
            options = mapping_of(volume.get("tmpfs"))
            is_read_only = bool(volume.get("read_only"))
            fields[f"volumes.{target}"] = tmpfs_of(options.get("size"), options.get("mode"), read_only=is_read_only)
            put(fields, f"volumes.{target}.consistency", consistency_of(volume.get("consistency")))
            continue
        source = str(volume.get("source") or "")
        if kind == "volume" and source:
            source = real_name("volumes", source, project)
        fields[f"volumes.{target}"] = mount_of(kind, source, read_only=bool(volume.get("read_only")))
        fields.update(_mount_options(f"volumes.{target}", volume))
    for entry in service.get("tmpfs") or ():
        target_text, _, options_text = str(entry).partition(":")
        fields[f"tmpfs.{directory_of(target_text)}"] = options_of(options_text)
    fields.update(file_fields(service, project))
    if service.get("use_api_socket"):
        fields[f"volumes.{API_SOCKET}"] = mount_of("bind", API_SOCKET, read_only=False)
    put(fields, "volumes_from", sorted_of(_shared(str(entry)) for entry in service.get("volumes_from") or ()))
    return fields


def _shared(entry: str) -> str:
    """Return "service:db" or "container:name"; Compose 5 drops the mode when it makes the container."""
    entry = entry.removesuffix(":rw").removesuffix(":ro")
    return entry if entry.startswith("container:") else f"service:{entry}"


def _is_asked_as_mount(bind: Mapping[str, Any]) -> bool:
    """Return whether Compose asks for it under Mounts, which knows no SELinux label; Binds knows no consistency."""
    return any(bind.get(option) for option in ("propagation", "recursive")) or bind.get("create_host_path") is False


def has_unseen_options(volume: Mapping[str, Any]) -> bool:
    """Return whether a volume has options that no container shows: a Bind has no consistency, a Mount no label."""
    bind = mapping_of(volume.get("bind"))
    is_bind, as_mount = volume.get("type") == "bind", _is_asked_as_mount(bind)
    lost = volume.get("consistency") if not (is_bind and as_mount) and volume.get("type") != "tmpfs" else None
    return bool(lost or (as_mount and bind.get("selinux")) or bind.get("create_host_path") is False)


def _mount_options(path: str, volume: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    bind, volume_options = mapping_of(volume.get("bind")), mapping_of(volume.get("volume"))
    recursive = text_of(bind.get("recursive"))
    put(fields, f"{path}.propagation", propagation_of(bind.get("propagation")))
    if not _is_asked_as_mount(bind):
        put(fields, f"{path}.selinux", text_of(bind.get("selinux")))
    elif volume.get("type") == "bind":
        put(fields, f"{path}.consistency", consistency_of(volume.get("consistency")))
    put(fields, f"{path}.recursive", None if recursive == "enabled" else recursive)
    put(fields, f"{path}.nocopy", text_of(volume_options.get("nocopy")))
    put(fields, f"{path}.subpath", text_of(volume_options.get("subpath")))
    return fields


def file_fields(service: Mapping[str, Any], project: Mapping[str, Any]) -> RawFields:
    """Return the mounts of the files that secrets and configs refer to."""
    return _file_fields(service, "secrets", project) | _file_fields(service, "configs", project)


def _file_fields(service: Mapping[str, Any], section: str, project: Mapping[str, Any]) -> RawFields:
    fields: RawFields = {}
    for use in service.get(section) or ():
        source = str(use.get("source"))
        file = mapping_of(mapping_of(project.get(section)).get(source)).get("file")
        if file:
            home = "/run/secrets/" if section == "secrets" else "/"
            target = str(use.get("target") or source)
            path = directory_of(target if target.startswith("/") else home + target)
            fields[f"volumes.{path}"] = mount_of("bind", str(file), read_only=True)
    return fields


def network_fields(service: Mapping[str, Any], name: str, project: Mapping[str, Any]) -> RawFields:
    """Return the networks with aliases and fixed addresses, or the network mode that replaces them."""
    fields: RawFields = {}
    put(fields, "network_mode", text_of(service.get("network_mode")))
    if "network_mode" in fields:
        return fields
    networks = mapping_of(service.get("networks")) or {"default": None}
    for key, value in networks.items():
        network, endpoint = real_name("networks", key, project), mapping_of(value)
        fields[f"networks.{network}"] = "attached"
        for alias in {name, *(endpoint.get("aliases") or ())} - {service.get("hostname")}:  # the engine gives that one
            fields[f"networks.{network}.aliases.{alias}"] = "set"
        put(fields, f"networks.{network}.ipv4_address", text_of(endpoint.get("ipv4_address")))
        put(fields, f"networks.{network}.ipv6_address", text_of(endpoint.get("ipv6_address")))
        put(fields, f"networks.{network}.link_local_ips", sorted_of(endpoint.get("link_local_ips") or ()))
        put(fields, f"networks.{network}.gw_priority", number_of(endpoint.get("gw_priority")))
        options = {**mapping_of(endpoint.get("driver_opts"))}
        if endpoint.get("interface_name"):
            options["com.docker.network.endpoint.ifname"] = endpoint["interface_name"]
        fields.update({f"networks.{network}.driver_opts.{option}": str(value) for option, value in options.items()})
    if len(networks) > 1:
        first = min(networks, key=lambda key: (-int(mapping_of(networks[key]).get("priority") or 0), key))
        fields["first_network"] = real_name("networks", first, project)
    fields.update(_link_fields(service))
    return fields


def _link_fields(service: Mapping[str, Any]) -> RawFields:
    """Return alias → "service:db" or "container:name", without the aliases that Compose adds to every link."""
    fields: RawFields = {}
    for kind, key in (("service", "links"), ("container", "external_links")):
        for entry in service.get(key) or ():
            target, _, alias = str(entry).partition(":")
            alias = alias or target
            is_automatic = alias.startswith(f"{target}-") and alias.removeprefix(f"{target}-").isdigit()
            if not (is_automatic if kind == "service" else alias == target):
                fields[f"links.{alias}"] = f"{kind}:{target}"
    return fields


def real_name(section: str, key: str, project: Mapping[str, Any]) -> str:
    """Return the engine's name of a network or volume of the file."""
    return str(mapping_of(mapping_of(project.get(section)).get(key)).get("name") or f"{project.get('name')}_{key}")
