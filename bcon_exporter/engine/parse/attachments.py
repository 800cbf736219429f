"""Volumes, networks and links of a container, in drift's normal form. Pure.

The paths are those of bcon_exporter/compose/service_attachments.py; docs/drift.md lists them.
"""

from collections.abc import Iterable, Mapping
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

SHORT_ID = 12
_PROPAGATIONS = frozenset(("private", "rprivate", "shared", "rshared", "slave", "rslave"))
_NO_NETWORKS = ("default", "bridge", "host", "none")


def mount_fields(inspected: Mapping[str, Any], host: Mapping[str, Any]) -> RawFields:
    """Return volumes, binds and tmpfs mounts with their options, and the containers whose volumes are shared."""
    fields: RawFields = {}
    for mount in inspected.get("Mounts") or ():
        kind, target = str(mount.get("Type") or ""), directory_of(mount.get("Destination"))
        if kind == "tmpfs" or target is None:
            continue
        source = str((mount.get("Name") if kind == "volume" else mount.get("Source")) or "")
        fields[f"volumes.{target}"] = mount_of(kind, source, read_only=mount.get("RW") is False)
    for mount in host.get("Mounts") or ():
        fields.update(_requested_mount_fields(mount))
    for bind in host.get("Binds") or ():
        fields.update(_bind_options(str(bind)))
    for tmpfs, options in mapping_of(host.get("Tmpfs")).items():
        fields[f"tmpfs.{directory_of(tmpfs)}"] = options_of(options)
    put(
        fields,
        "volumes_from",
        sorted_of(short_container(str(reference).partition(":")[0]) for reference in host.get("VolumesFrom") or ()),
    )
    return fields


def _bind_options(bind: str) -> RawFields:
    """Return the options of an entry of HostConfig.Binds, "/source:/target:ro,z,rslave".

    What was asked for counts, not what Mounts tells: for sources below its own directory the engine takes rslave by
    itself.
    """
    fields: RawFields = {}
    _, _, target_and_options = bind.partition(":")
    target_text, _, options_text = target_and_options.partition(":")
    options = options_text.split(",")
    path = f"volumes.{directory_of(target_text)}"
    for option in options:
        if option in _PROPAGATIONS:
            put(fields, f"{path}.propagation", propagation_of(option))
        elif option in ("z", "Z"):
            fields[f"{path}.selinux"] = option
    put(fields, f"{path}.nocopy", text_of("nocopy" in options))
    return fields


def _requested_mount_fields(mount: Mapping[str, Any]) -> RawFields:
    """Return the options that stand only in the request for a mount (HostConfig.Mounts)."""
    fields: RawFields = {}
    target = directory_of(mount.get("Target"))
    if mount.get("Type") == "tmpfs":
        options = mapping_of(mount.get("TmpfsOptions"))
        is_read_only = bool(mount.get("ReadOnly"))
        fields[f"volumes.{target}"] = tmpfs_of(options.get("SizeBytes"), options.get("Mode"), read_only=is_read_only)
    volume, bind = mapping_of(mount.get("VolumeOptions")), mapping_of(mount.get("BindOptions"))
    put(fields, f"volumes.{target}.propagation", propagation_of(bind.get("Propagation")))
    put(fields, f"volumes.{target}.consistency", consistency_of(mount.get("Consistency")))
    put(fields, f"volumes.{target}.nocopy", text_of(volume.get("NoCopy")))
    put(fields, f"volumes.{target}.subpath", text_of(volume.get("Subpath")))
    for key, text in (
        ("NonRecursive", "disabled"),
        ("ReadOnlyNonRecursive", "writable"),
        ("ReadOnlyForceRecursive", "readonly"),
    ):
        put(fields, f"volumes.{target}.recursive", text if bind.get(key) else None)
    return fields


def short_container(name: str) -> str:
    """Return a container's name, or the first digits of its id."""
    return name[:SHORT_ID] if len(name) == 64 else name  # noqa: PLR2004 — hex digits of an id


def network_fields(inspected: Mapping[str, Any], host: Mapping[str, Any]) -> RawFields:
    """Return the networks with aliases, addresses and options, which of them is the first, and links."""
    fields: RawFields = {}
    hostname = mapping_of(inspected.get("Config")).get("Hostname")
    automatic_aliases = (str(inspected.get("Id", ""))[:SHORT_ID], hostname)
    mode = str(host.get("NetworkMode") or "default")
    links: set[str] = {str(link) for link in host.get("Links") or ()}
    networks = mapping_of(mapping_of(inspected.get("NetworkSettings")).get("Networks"))
    for name, value in networks.items():
        if name in ("none", "host") or (name == "bridge" and mode in ("bridge", "default")):
            continue
        endpoint = mapping_of(value)
        fields[f"networks.{name}"] = "attached"
        aliases: Iterable[str] = endpoint.get("Aliases") or ()
        fields.update(
            {f"networks.{name}.aliases.{alias}": "set" for alias in aliases if alias not in automatic_aliases}
        )
        addresses = mapping_of(endpoint.get("IPAMConfig"))
        put(fields, f"networks.{name}.ipv4_address", text_of(addresses.get("IPv4Address")))
        put(fields, f"networks.{name}.ipv6_address", text_of(addresses.get("IPv6Address")))
        put(fields, f"networks.{name}.link_local_ips", sorted_of(addresses.get("LinkLocalIPs") or ()))
        put(fields, f"networks.{name}.gw_priority", number_of(endpoint.get("GwPriority")))
        options = mapping_of(endpoint.get("DriverOpts"))
        fields.update({f"networks.{name}.driver_opts.{key}": str(value) for key, value in options.items()})
        links.update(str(link) for link in endpoint.get("Links") or ())
    if len(networks) > 1 and mode not in _NO_NETWORKS and not mode.startswith("container:"):
        fields["first_network"] = mode
    fields.update(_link_fields(links))
    return fields


def _link_fields(links: Iterable[str]) -> RawFields:
    """Return alias → linked containers, without the aliases that Compose adds to each link by itself."""
    targets_of: dict[str, set[str]] = {}
    for link in links:
        target, _, alias = link.partition(":")
        target, alias = target.strip("/"), alias.rpartition("/")[2]
        if alias and target != alias and not (target.endswith(f"-{alias}") and alias[-1].isdigit()):
            targets_of.setdefault(alias, set()).add(target)
    return {f"links.{alias}": ", ".join(sorted(targets)) for alias, targets in targets_of.items()}
