"""Finds the containers that a name, an address or a port in a log line stands for, as Docker itself would."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from ipaddress import ip_address

import re2

from bcon_exporter.diagnosis.removed_containers import (
    NOTHING_REMEMBERED,
    find_past_addresses,
    find_removed,
    find_renamed,
)
from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot, NetworkAttachment
from bcon_exporter.model.hooks import Hooks, group_hooks
from bcon_exporter.model.hysteresis import LostNetwork, Remembered

_LOCAL = ("localhost", "127.", "::1", "[::1]", "0.0.0.0", "[::]")  # noqa: S104 - compared, not bound
_THIS_HOST = frozenset({"host.docker.internal", "gateway.docker.internal", "host.containers.internal", "host-gateway"})
_NO_DNS = frozenset({"bridge", "host", "none"})
"""Networks on which Docker resolves no names."""
_ADDRESS = re2.compile(r"\[?[0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*\]?")
_PORT_IN_WORDS = re2.compile(r"\bport[ =:]{1,3}([0-9]{1,5})\b")
_JOINED = "container:"
_SWARM_SERVICE, _SWARM_STACK = "com.docker.swarm.service.name", "com.docker.stack.namespace"


class Reach(StrEnum):
    """How the client can reach the target."""

    NETWORK = "network"
    NAMESPACE = "namespace"
    PUBLISHED = "published"
    NO_ALIAS = "no_alias"
    NO_DNS = "no_dns"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class Target:
    """The containers that a name or address stands for; several are replicas of one service."""

    containers: tuple[ContainerFacts, ...]
    reach: Reach


@dataclass(frozen=True, slots=True)
class TakenFromNetwork:
    """A container that was taken from a network; `names` are those that it had there, and its address."""

    container: ContainerFacts
    lost: LostNetwork
    names: frozenset[str]


class ContainerLookup:
    """Finds the containers of one host by the names under which others reach them. Indexes are built on first use."""

    def __init__(self, host: HostSnapshot, remembered: Mapping[str, Remembered] = NOTHING_REMEMBERED) -> None:
        self._host = host
        self._remembered = remembered

    @cached_property
    def log_bytes_per_hour(self) -> float:
        """By how much all logs of the host grow together that nothing bounds."""
        rates = (container.log_growth.bytes_per_hour for container in self._host.containers if container.log_growth)
        return sum(rate for rate in rates if rate > 0)

    @cached_property
    def removed(self) -> tuple[ContainerFacts, ...]:
        """Containers that were removed a short while ago and not replaced. They are found by name all the same."""
        return find_removed(self._host, self._remembered)

    def is_removed(self, container: ContainerFacts) -> bool:
        """Whether the container was removed a short while ago."""
        return container.id in self._removed_ids

    @cached_property
    def _removed_ids(self) -> frozenset[str]:
        return frozenset(container.id for container in self.removed)

    @cached_property
    def _past_addresses(self) -> dict[tuple[str, str], ContainerFacts]:
        return find_past_addresses(self._host, self._remembered)

    def find_renamed(self, gone: ContainerFacts) -> ContainerFacts | None:
        """Return the container that seems to be the removed one under a new name."""
        return find_renamed(gone, self._host.containers)

    def taken_from_shared_network(self, client: ContainerFacts) -> list[TakenFromNetwork]:
        """Return the containers that were taken from a network that the client is on."""
        nets = self._nets(client) - {"none", "host"}
        return [taken for net in sorted(nets) for taken in self._taken.get(net, ()) if taken.container.id != client.id]

    @cached_property
    def _taken(self) -> dict[str, list[TakenFromNetwork]]:
        """Network → containers that were taken from it."""
        taken: dict[str, list[TakenFromNetwork]] = defaultdict(list)
        for container in self._host.containers:
            record = self._remembered.get(container.id)
            for lost in record.lost if record is not None else ():
                names = frozenset({*_dns_names(container, lost.network), lost.network.ip_address or ""} - {""})
                taken[lost.network.name].append(TakenFromNetwork(container, lost, names))
        return taken

    def by_id(self, container_id: str) -> ContainerFacts | None:
        """Return the container with this full id, short id or name."""
        return self._by_id.get(container_id)

    def resolve(self, host: str, port: int | None, client: ContainerFacts) -> Target | None:
        """Resolve `host` as `client` sees it; None for the client itself and for what is no container here."""
        host = host.rstrip(".").lower()
        mapped = client.wiring.extra_hosts.get(host) if client.wiring is not None else None
        if mapped is not None:
            host = mapped.lower()
        if is_localhost(host):
            return self._resolve_localhost(port, client)
        if host in _THIS_HOST or self._is_gateway(host, client):
            return self._resolve_published(port, client)
        if _ADDRESS.fullmatch(host):
            containers = self._with_network_name(host.strip("[]"), self._nets(client), client)
            containers = containers or self._last_with_address(host.strip("[]"), client)
            return Target(tuple(containers), Reach.NETWORK) if containers else None
        return self._resolve_name(host, client)

    def of_service(self, name: str, client: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """Return the containers of a service in the client's own Compose project."""
        if client.compose is None:
            return ()
        return tuple(self._by_service.get((client.compose.project, name.lower()), ()))

    def hooks_of(self, container: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """Return the hooks of its Compose service that are there, in the order in which they run."""
        claim = container.compose
        return () if claim is None else self._hooks.get((claim.project, claim.service), ())

    @cached_property
    def _hooks(self) -> Hooks:
        return group_hooks(self._host.containers)

    def in_project(self, client: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """Return the other containers of its Compose project, without one-off runs."""
        if client.compose is None:
            return ()
        containers = [
            container
            for (project, _), group in self._by_service.items()
            if project == client.compose.project
            for container in group
        ]
        return tuple(
            container for container in containers if container.id != client.id and not self.is_removed(container)
        )

    def in_same_namespace(self, container: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """Return the other containers that share its network namespace."""
        owner = self._namespace_owner(container)
        return tuple(
            neighbour for neighbour in self._by_namespace_owner.get(owner.id, ()) if neighbour.id != container.id
        )

    def with_name(self, name: str, client: ContainerFacts) -> list[ContainerFacts]:
        """Return the other containers with this name on its networks, else those of this service in its project."""
        containers = self._with_network_name(name, self._nets(client) - _NO_DNS, client)
        return containers or [container for container in self.of_service(name, client) if container.id != client.id]

    def namespace_owner(self, container: ContainerFacts) -> ContainerFacts | None:
        """Return the container whose network namespace it has joined; None when it has its own."""
        owner = self._namespace_owner(container)
        return None if owner.id == container.id else owner

    def has_lost_namespace_owner(self, container: ContainerFacts) -> bool:
        """Return whether it has joined the namespace of a container that is not there any more."""
        mode = _network_mode(container)
        return mode.startswith(_JOINED) and self.with_name_or_id(mode.removeprefix(_JOINED)) is None

    def with_name_or_id(self, name_or_id: str) -> ContainerFacts | None:
        """Return the container of the host with this name or id, full or short; None when there is none."""
        return self._by_id.get(name_or_id.lower())

    def sharing_mount(self, source: str, client: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """Return the other containers that can write to the same volume or host directory."""
        return tuple(container for container in self._by_mount_source.get(source, ()) if container.id != client.id)

    def with_port(self, port: int, client: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """Return the running containers on its networks whose image or configuration names this port."""
        return tuple(
            container
            for container in self.on_shared_network(client)
            if port in ports_of(container) and container.is_running
        )

    def on_shared_network(self, client: ContainerFacts) -> list[ContainerFacts]:
        """Return the other containers on its networks, in the host's order; on network `none` nobody can be reached."""
        nets = sorted(self._nets(client) - {"none"})
        by_id = {container.id: container for net in nets for container in self._by_network.get(net, ())}
        return [container for container in by_id.values() if container.id != client.id]

    def publishing_port(self, port: int, protocol: str = "tcp") -> tuple[ContainerFacts, ...]:
        """Return the containers that publish this port of the host, running or not; none with `host` networking."""
        return tuple(self._by_host_port.get((port, protocol), ()))

    def _resolve_localhost(self, port: int | None, client: ContainerFacts) -> Target | None:
        if _network_mode(client) == "host":
            return self._resolve_published(port, client)
        inside = self.in_same_namespace(client)
        return Target(inside, Reach.NAMESPACE) if inside else None

    def _resolve_published(self, port: int | None, client: ContainerFacts) -> Target | None:
        publishers = (
            [container for container in self.publishing_port(port) if container.id != client.id] if port else []
        )
        return Target(tuple(publishers), Reach.PUBLISHED) if publishers else None

    def _resolve_name(self, host: str, client: ContainerFacts) -> Target | None:
        linked = self._linked(host, client)
        if linked is not None:
            return Target((linked,), Reach.NETWORK)
        nets = self._nets(client)
        bare = _without_network(host, nets)
        resolved = self._with_network_name(bare, nets - _NO_DNS, client)
        if resolved:
            return Target(_own_project_first(resolved, client), Reach.NETWORK)
        of_own_project = [container for container in self.of_service(bare, client) if container.id != client.id]
        with_this_name = self._by_id.get(bare)
        if not of_own_project and (
            with_this_name is None or with_this_name.id == client.id or with_this_name.name.lower() != bare
        ):
            return None
        containers = (
            tuple(of_own_project) if of_own_project else (with_this_name,) if with_this_name is not None else ()
        )
        shared = frozenset().union(*(nets & self._nets(container) for container in containers))
        if not shared:
            return Target(containers, Reach.APART)
        return Target(containers, Reach.NO_DNS if shared <= _NO_DNS else Reach.NO_ALIAS)

    def _linked(self, host: str, client: ContainerFacts) -> ContainerFacts | None:
        name = client.wiring.links.get(host) if client.wiring is not None else None
        return self._by_id.get(name.lower()) if name else None

    def _with_network_name(self, name: str, nets: frozenset[str], client: ContainerFacts) -> list[ContainerFacts]:
        """Return the other containers that have this name or address on one of these networks."""
        by_id = {
            container.id: container for net in sorted(nets) for container in self._by_network_name.get((net, name), ())
        }
        return [container for container in by_id.values() if container.id != client.id]

    def _last_with_address(self, address: str, client: ContainerFacts) -> list[ContainerFacts]:
        """Return the container that had this address last on one of these networks, as a list of at most one."""
        nets = sorted(self._nets(client))
        had = (self._past_addresses.get((net, address)) for net in nets)
        return [container for container in had if container is not None and container.id != client.id][:1]

    def _nets(self, container: ContainerFacts) -> frozenset[str]:
        return frozenset(network.name for network in self._namespace_owner(container).networks)

    def _namespace_owner(self, container: ContainerFacts) -> ContainerFacts:
        """Return the container whose network namespace it lives in: itself, or the one that it has joined."""
        mode = _network_mode(container)
        joined = self.with_name_or_id(mode.removeprefix(_JOINED)) if mode.startswith(_JOINED) else None
        return joined or container

    def _is_gateway(self, address: str, client: ContainerFacts) -> bool:
        """Whether an address is the host's on one of its networks: Docker gives the gateway the first address."""
        if not _ADDRESS.fullmatch(address) or not address.endswith(".1"):
            return False
        subnet = address.rpartition(".")[0]
        own_addresses = (network.ip_address or "" for network in self._namespace_owner(client).networks)
        return any(ip.rpartition(".")[0] == subnet and ip != address for ip in own_addresses if ip)

    @cached_property
    def _by_id(self) -> dict[str, ContainerFacts]:
        by_name_or_id = {container.name.lower(): container for container in reversed(self._host.containers)}
        by_name_or_id |= {container.short_id: container for container in self._host.containers}
        return by_name_or_id | {container.id: container for container in self._host.containers}

    @cached_property
    def _by_service(self) -> dict[tuple[str, str], list[ContainerFacts]]:
        by_service: dict[tuple[str, str], list[ContainerFacts]] = defaultdict(list)
        for container in (*self._host.containers, *self.removed):
            if container.compose is not None and container.compose.is_replica:
                by_service[container.compose.project, container.compose.service.lower()].append(container)
        return by_service

    @cached_property
    def _by_network(self) -> dict[str, list[ContainerFacts]]:
        by_network: dict[str, list[ContainerFacts]] = defaultdict(list)
        for container in self._host.containers:
            for network in container.networks:
                by_network[network.name].append(container)
        return by_network

    @cached_property
    def _by_network_name(self) -> dict[tuple[str, str], list[ContainerFacts]]:
        """(Network, name or address on it) → containers."""
        by_network_name: dict[tuple[str, str], list[ContainerFacts]] = defaultdict(list)
        for container in (*self._host.containers, *self.removed):
            for network in container.networks:
                for name in {*_dns_names(container, network), network.ip_address or ""}:
                    by_network_name[network.name, name].append(container)
        return by_network_name

    @cached_property
    def _by_namespace_owner(self) -> dict[str, list[ContainerFacts]]:
        by_owner: dict[str, list[ContainerFacts]] = defaultdict(list)
        for container in self._host.containers:
            by_owner[self._namespace_owner(container).id].append(container)
        return by_owner

    @cached_property
    def _by_host_port(self) -> dict[tuple[int, str], list[ContainerFacts]]:
        by_host_port: dict[tuple[int, str], list[ContainerFacts]] = defaultdict(list)
        for container in self._host.containers:
            for binding in bindings_of(container):
                by_host_port[binding.port, binding.protocol].append(container)
        return by_host_port

    @cached_property
    def _by_mount_source(self) -> dict[str, list[ContainerFacts]]:
        by_source: dict[str, list[ContainerFacts]] = defaultdict(list)
        for container in self._host.containers:
            for source in dict.fromkeys(
                mount.source for mount in container.mounts if mount.source and not mount.read_only
            ):
                by_source[source].append(container)
        return by_source


@dataclass(frozen=True, slots=True)
class PortMapping:
    """One published port: host address ("" for all), host port, container port, protocol."""

    address: str
    port: int
    inner: int
    protocol: str


def bindings_of(container: ContainerFacts) -> tuple[PortMapping, ...]:
    """Return the ports that it publishes, or would publish if it ran."""
    published: dict[str, str | None] = {**(container.wiring.published if container.wiring is not None else {})}
    published.update({inner: bound for inner, bound in container.ports.items() if bound})
    bindings = []
    for inner, bound in published.items():
        number, _, protocol = inner.partition("/")
        for text in (bound or "").split(", "):
            address, _, port = text.rpartition(":")
            if port.isascii() and port.isdigit() and number.isascii() and number.isdigit():
                bindings.append(PortMapping(address.strip("[]"), int(port), int(number), protocol or "tcp"))
    return tuple(bindings)


def ports_of(container: ContainerFacts) -> frozenset[int]:
    """Return the ports inside the container that its image or configuration names."""
    configured = (*container.ports, *(container.wiring.published if container.wiring is not None else ()))
    numbers = (inner.partition("/")[0] for inner in configured)
    return frozenset(int(number) for number in numbers if number.isascii() and number.isdigit())


def host_of(peer: str) -> str:
    """Return the host of a peer: "db" for `db:5432`, `http://db/` and `user@db`."""
    bare = peer.rsplit("@", 1)[-1].rpartition("://")[2].removeprefix("[")
    if bare.count(":") > 1:
        return bare.split("]")[0]
    return bare.split("/")[0].split(":")[0].split("]")[0]


def port_of(peer: str, line: str = "") -> int | None:
    """Return the port of `db:5432` or `[::1]:80`, or else the one that the line names ("port 5432")."""
    bare = peer.rsplit("@", 1)[-1].rpartition("://")[2].split("/")[0]
    digits = bare.rpartition("]:")[2] if "]" in bare else bare.rpartition(":")[2] if bare.count(":") == 1 else ""
    if not (digits.isascii() and digits.isdigit()):
        words = _PORT_IN_WORDS.search(line)
        digits = words.group(1) if words else ""
    port = int(digits[:6] or 0)
    return port if 0 < port < 65_536 else None  # noqa: PLR2004 - ports are 16 bits wide


def is_localhost(host: str) -> bool:
    """Whether the host is the container itself."""
    return host.startswith(_LOCAL)


def is_address(host: str) -> bool:
    """Whether the host is an IP address."""
    return _ADDRESS.fullmatch(host) is not None


def is_private_address(host: str) -> bool:
    """Whether the host is an address of a private network, as Docker's are."""
    try:
        return ip_address(host.strip("[]")).is_private
    except ValueError:
        return False


def _network_mode(container: ContainerFacts) -> str:
    return container.wiring.network_mode if container.wiring is not None else ""


def _without_network(host: str, nets: frozenset[str]) -> str:
    """Return the bare name: "db" for `db.shop_default` and `tasks.db`."""
    for net in nets:
        host = host.removesuffix(f".{net.lower()}")
    return host.removeprefix("tasks.")


def _dns_names(container: ContainerFacts, network: NetworkAttachment) -> set[str]:
    """Return the names by which Docker's DNS knows the container on one of its networks."""
    names = {container.name.lower(), container.short_id}
    aliases = {alias.lower() for alias in network.aliases}
    if container.compose is not None and not aliases:
        names.add(container.compose.service.lower())  # aliases were not read; Compose always sets this one
    service = container.labels.get(_SWARM_SERVICE, "").lower()
    if service:
        names |= {service, service.removeprefix(container.labels.get(_SWARM_STACK, "").lower() + "_")}
    return names | aliases


def _own_project_first(containers: list[ContainerFacts], client: ContainerFacts) -> tuple[ContainerFacts, ...]:
    """Return only those of the client's own project, if any: equal aliases in other projects are accidents."""
    project = client.compose.project if client.compose is not None else None
    of_own_project = [
        container for container in containers if container.compose is not None and container.compose.project == project
    ]
    return tuple(of_own_project) if project is not None and of_own_project else tuple(containers)
