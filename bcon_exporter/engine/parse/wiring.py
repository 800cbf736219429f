"""Ports, networks, mounts and wiring in raw Engine JSON → facts (see `container`)."""

from functools import lru_cache
from typing import Any

from bcon_exporter.engine.parse.json_fields import get_bool, get_int, get_list, get_object, get_text
from bcon_exporter.model.container_facts import Mount, NetworkAttachment
from bcon_exporter.model.wiring import Wiring
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.secrets.masking import safe_name, safe_text

MAX_ITEMS = 1024
"""More ports, networks or mounts of one container are left out."""

_WIRINGS_KEPT = 256
_ANY_IPV4 = ("0.0.0.0", "")  # noqa: S104 - compared, never bound


def parse_ports(entry: dict[str, Any], detail: dict[str, Any]) -> dict[str, str | None]:
    """Return container port → host port: "8080" on all addresses, else "127.0.0.1:8080"; None when only exposed."""
    bindings_of_ports: dict[str, list[str]] = {}
    for port in get_object(get_object(detail, "Config"), "ExposedPorts"):
        if len(bindings_of_ports) < MAX_ITEMS:
            bindings_of_ports[clean_name(port)] = []
    if get_list(entry, "Ports"):
        _add_listed(bindings_of_ports, get_list(entry, "Ports"))
    else:
        _add_inspected(bindings_of_ports, get_object(get_object(detail, "NetworkSettings"), "Ports"))
    return {port: ", ".join(bindings) or None for port, bindings in bindings_of_ports.items()}


def _add_listed(bindings_of_ports: dict[str, list[str]], ports: list[Any]) -> None:
    for port in ports[:MAX_ITEMS]:
        if type(port) is not dict or get_int(port, "PrivatePort") is None:
            continue
        bindings = bindings_of_ports.setdefault(
            f"{get_int(port, 'PrivatePort')}/{clean_name(get_text(port, 'Type') or 'tcp')}", []
        )
        public = get_int(port, "PublicPort")
        if public:
            _add_binding(bindings, get_text(port, "IP") or "", str(public))


def _add_inspected(bindings_of_ports: dict[str, list[str]], ports: dict[str, Any]) -> None:
    for port in list(ports)[:MAX_ITEMS]:
        bindings = bindings_of_ports.setdefault(clean_name(port), [])
        for binding in get_list(ports, port)[:MAX_ITEMS]:
            if type(binding) is dict and get_text(binding, "HostPort"):
                _add_binding(
                    bindings, get_text(binding, "HostIp") or "", clean_name(get_text(binding, "HostPort") or "")
                )


def _add_binding(bindings: list[str], address: str, public: str) -> None:
    """Add one binding; the IPv6 twin of an IPv4 one on all addresses is the same to a reader."""
    if address in _ANY_IPV4:
        text = public
    elif address == "::" and public in bindings:
        return
    else:
        address = clean_name(address)
        text = f"[{address}]:{public}" if ":" in address else f"{address}:{public}"
    if text not in bindings:
        bindings.append(text)


def parse_networks(
    listed: dict[str, Any], inspected: dict[str, Any], secrets: KnownSecrets = NO_SECRETS
) -> tuple[NetworkAttachment, ...]:
    """Return the attachments, by name; inspect's, which have the aliases, where it was read."""
    raw = get_object(inspected, "Networks") or get_object(listed, "Networks")
    attachments = []
    for name, settings in sorted(raw.items())[:MAX_ITEMS]:
        attached = settings if type(settings) is dict else {}
        aliases = [safe_name(alias, secrets=secrets) for alias in get_list(attached, "Aliases") if type(alias) is str]
        fixed = get_object(attached, "IPAMConfig")  # all that a stopped container still says
        address = (
            get_text(attached, "IPAddress")
            or get_text(attached, "GlobalIPv6Address")
            or get_text(fixed, "IPv4Address")
            or get_text(fixed, "IPv6Address")
        )
        attachments.append(
            NetworkAttachment(
                name=safe_name(name),
                aliases=tuple(aliases),
                ip_address=clean_name(address) if address else None,
            )
        )
    return tuple(attachments)


def parse_mounts(
    entry: dict[str, Any], detail: dict[str, Any], secrets: KnownSecrets = NO_SECRETS
) -> tuple[Mount, ...]:
    """Return the mounts by target; `--tmpfs` ones stand in the host configuration only."""
    mounts: dict[str, Mount] = {}
    for path, options in list(get_object(get_object(detail, "HostConfig"), "Tmpfs").items())[:MAX_ITEMS]:
        may_run = type(options) is str and "exec" in options.split(",")
        mounts[path] = Mount(type="tmpfs", source="", target=safe_text(path, secrets=secrets), allows_exec=may_run)
    for mount in (get_list(detail, "Mounts") or get_list(entry, "Mounts"))[:MAX_ITEMS]:
        target = get_text(mount, "Destination") if type(mount) is dict else None
        if target is None:
            continue
        kind = get_text(mount, "Type") or "bind"
        source = (get_text(mount, "Name") if kind == "volume" else None) or get_text(mount, "Source") or ""
        mounts[target] = Mount(
            type=clean_name(kind),
            source=safe_text(source, secrets=NO_SECRETS if kind == "volume" else secrets),
            target=safe_text(target, secrets=secrets),
            read_only=get_bool(mount, "RW") is False,
        )
    return tuple(mounts[target] for target in sorted(mounts))


def parse_wiring(detail: dict[str, Any], secrets: KnownSecrets = NO_SECRETS) -> Wiring | None:
    """Return how the container is connected; None when inspect was not read."""
    host = get_object(detail, "HostConfig")
    if not host:
        return None
    network_mode = safe_name(get_text(host, "NetworkMode") or "")
    user = safe_name(get_text(get_object(detail, "Config"), "User") or "", secrets=secrets)
    read_only_root = get_bool(host, "ReadonlyRootfs") is True
    bindings_of_ports = get_object(host, "PortBindings")
    hosts, links = get_list(host, "ExtraHosts"), get_list(host, "Links")
    ipc_mode, pid_mode = _shared_mode(host, "IpcMode"), _shared_mode(host, "PidMode")
    if not (bindings_of_ports or hosts or links or ipc_mode or pid_mode):
        return _make_plain_wiring(network_mode, user, read_only_root=read_only_root)
    published: dict[str, list[str]] = {}
    _add_inspected(published, bindings_of_ports)
    return Wiring(
        network_mode=network_mode,
        ipc_mode=ipc_mode,
        pid_mode=pid_mode,
        published={port: ", ".join(bindings) for port, bindings in published.items() if bindings},
        extra_hosts=dict(_pairs(hosts, last=False, secrets=secrets)),
        # "/shop-db-1:/shop-app-1/db": the container, and the name by which the other knows it
        links={alias.rpartition("/")[2]: name.strip("/") for name, alias in _pairs(links, last=True)},
        user=user,
        read_only_root=read_only_root,
    )


def _shared_mode(host: dict[str, Any], key: str) -> str:
    """Return "container:..." where a container shares the namespace of another one; else ""."""
    mode = safe_name(get_text(host, key) or "")
    return mode if mode.startswith("container:") else ""


@lru_cache(maxsize=_WIRINGS_KEPT)
def _make_plain_wiring(network_mode: str, user: str, *, read_only_root: bool) -> Wiring:
    """Return one value for all containers of a project that nothing else connects: that is most of them."""
    return Wiring(network_mode=network_mode, user=user, read_only_root=read_only_root)


def _pairs(items: list[Any], *, last: bool, secrets: KnownSecrets = NO_SECRETS) -> list[tuple[str, str]]:
    """Return "a:b" entries as pairs, split at the first or the last colon; others are left out."""
    texts = [safe_name(item, secrets=secrets) for item in items[:MAX_ITEMS] if type(item) is str]
    parted = [text.rpartition(":") if last else text.partition(":") for text in texts]
    return [(before, after) for before, colon, after in parted if before and colon and after]
