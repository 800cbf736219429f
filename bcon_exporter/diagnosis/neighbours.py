"""Finds the containers that a name, an address or a port in a log line stands for, as Docker itself would."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import re2

from bcon_exporter.diagnosis.removed import NOBODY, find_past_addresses, find_removed, new_name_of
from bcon_exporter.model.facts import ContainerFacts, HostSnapshot, NetworkAttachment
from bcon_exporter.model.holds import Remembered

_LOCAL = ("localhost", "127.", "::1", "[::1]", "0.0.0.0", "[::]")  # noqa: S104 - compared, not bound
_THIS_HOST = frozenset({"host.docker.internal", "gateway.docker.internal", "host.containers.internal", "host-gateway"})
_NO_DNS = frozenset({"bridge", "host", "none"})
"""Networks on which Docker resolves no names."""
_ADDRESS = re2.compile(r"\[?[0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*\]?")
_PORT_IN_WORDS = re2.compile(r"\bport[ =:]{1,3}([0-9]{1,5})\b")
_JOINED = "container:"
_SWARM_SERVICE, _SWARM_STACK = "com.docker.swarm.service.name", "com.docker.stack.namespace"


class Reach(StrEnum):
    """How the asking container can get to the one that is meant."""

    NETWORK = "network"
    NAMESPACE = "namespace"
    PUBLISHED = "published"
    NO_ALIAS = "no_alias"
    NO_DNS = "no_dns"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class Meant:
    """The containers that are meant; several are replicas of one service."""

    containers: tuple[ContainerFacts, ...]
    reach: Reach


class Neighbours:
    """The containers of one host by the names under which others reach them. Built once, and only when needed."""

    def __init__(self, host: HostSnapshot, remembered: Mapping[str, Remembered] = NOBODY) -> None:
        self._host = host
        self._remembered = remembered

    @cached_property
    def removed(self) -> tuple[ContainerFacts, ...]:
        """Those that were removed a short while ago, with nobody in their place; named, they are meant all the same."""
        return find_removed(self._host, self._remembered)

    def is_removed(self, container: ContainerFacts) -> bool:
        """Whether it is one of these."""
        return container.id in self._removed_ids

    @cached_property
    def _removed_ids(self) -> frozenset[str]:
        return frozenset(one.id for one in self.removed)

    @cached_property
    def _past_addresses(self) -> dict[tuple[str, str], ContainerFacts]:
        return find_past_addresses(self._host, self._remembered)

    def new_name_of(self, gone: ContainerFacts) -> ContainerFacts | None:
        """The container that seems to be a removed one under a new name."""
        return new_name_of(gone, self._host.containers)

    def by_id(self, container_id: str) -> ContainerFacts | None:
        """The container with this full id, short id or name."""
        return self._by_id.get(container_id)

    def meant(self, host: str, port: int | None, asking: ContainerFacts) -> Meant | None:
        """Whom `asking` reaches, or wants to reach, under `host`; None for itself and for what is no container here."""
        host = host.rstrip(".").lower()
        mapped = asking.wiring.extra_hosts.get(host) if asking.wiring is not None else None
        if mapped is not None:
            host = mapped.lower()
        if is_local(host):
            return self._meant_locally(port, asking)
        if host in _THIS_HOST or self._is_gateway(host, asking):
            return self._publishing(port, asking)
        if _ADDRESS.fullmatch(host):
            found = self._known_as(host.strip("[]"), self._nets(asking), asking)
            found = found or self._had(host.strip("[]"), asking)
            return Meant(tuple(found), Reach.NETWORK) if found else None
        return self._named(host, asking)

    def service(self, name: str, asking: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """The containers of a service of the asking container's own Compose project."""
        if asking.compose is None:
            return ()
        return tuple(self._by_service.get((asking.compose.project, name.lower()), ()))

    def project(self, asking: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """The other containers of its Compose project, one-off runs left out."""
        if asking.compose is None:
            return ()
        found = [
            one
            for (project, _), group in self._by_service.items()
            if project == asking.compose.project
            for one in group
        ]
        return tuple(one for one in found if one.id != asking.id and not self.is_removed(one))

    def inside(self, container: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """The other containers that share its network namespace."""
        owner = self._owner(container)
        return tuple(one for one in self._by_owner.get(owner.id, ()) if one.id != container.id)

    def named(self, name: str, asking: ContainerFacts) -> list[ContainerFacts]:
        """The other containers that have this name on one of its networks, or are a service of its project."""
        found = self._known_as(name, self._nets(asking) - _NO_DNS, asking)
        return found or [one for one in self.service(name, asking) if one.id != asking.id]

    def joined(self, container: ContainerFacts) -> ContainerFacts | None:
        """The container whose network namespace it has joined; None when it has its own."""
        owner = self._owner(container)
        return None if owner.id == container.id else owner

    def sharing_mount(self, source: str, asking: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """The other containers that may write to the same volume or host directory."""
        return tuple(one for one in self._by_source.get(source, ()) if one.id != asking.id)

    def offering(self, port: int, asking: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """The containers on its networks whose image or configuration names this port."""
        return tuple(one for one in self.sharing(asking) if port in ports_of(one) and one.is_running)

    def sharing(self, asking: ContainerFacts) -> list[ContainerFacts]:
        """The other containers on any of its networks, in the host's order; on none nobody is reached."""
        nets = sorted(self._nets(asking) - {"none"})
        found = {one.id: one for net in nets for one in self._by_network.get(net, ())}
        return [one for one in found.values() if one.id != asking.id]

    def publishing(self, port: int, protocol: str = "tcp") -> tuple[ContainerFacts, ...]:
        """The containers that publish this port of the host, or would if they ran; `host` networking left out."""
        return tuple(self._by_host_port.get((port, protocol), ()))

    def _meant_locally(self, port: int | None, asking: ContainerFacts) -> Meant | None:
        if _mode(asking) == "host":
            return self._publishing(port, asking)
        inside = self.inside(asking)
        return Meant(inside, Reach.NAMESPACE) if inside else None

    def _publishing(self, port: int | None, asking: ContainerFacts) -> Meant | None:
        found = [one for one in self.publishing(port) if one.id != asking.id] if port else []
        return Meant(tuple(found), Reach.PUBLISHED) if found else None

    def _named(self, host: str, asking: ContainerFacts) -> Meant | None:
        linked = self._linked(host, asking)
        if linked is not None:
            return Meant((linked,), Reach.NETWORK)
        nets = self._nets(asking)
        bare = _without_network(host, nets)
        resolved = self._known_as(bare, nets - _NO_DNS, asking)
        if resolved:
            return Meant(_own_first(resolved, asking), Reach.NETWORK)
        own = [one for one in self.service(bare, asking) if one.id != asking.id]
        named = self._by_id.get(bare)
        if not own and (named is None or named.id == asking.id or named.name.lower() != bare):
            return None
        found = tuple(own) if own else (named,) if named is not None else ()
        shared = frozenset().union(*(nets & self._nets(one) for one in found))
        if not shared:
            return Meant(found, Reach.APART)
        return Meant(found, Reach.NO_DNS if shared <= _NO_DNS else Reach.NO_ALIAS)

    def _linked(self, host: str, asking: ContainerFacts) -> ContainerFacts | None:
        name = asking.wiring.links.get(host) if asking.wiring is not None else None
        return self._by_id.get(name.lower()) if name else None

    def _known_as(self, name: str, nets: frozenset[str], asking: ContainerFacts) -> list[ContainerFacts]:
        """The other containers that have this name or address on one of these networks."""
        found = {one.id: one for net in sorted(nets) for one in self._by_known_name.get((net, name), ())}
        return [one for one in found.values() if one.id != asking.id]

    def _had(self, address: str, asking: ContainerFacts) -> list[ContainerFacts]:
        """The other container that had this address last on one of these networks."""
        nets = sorted(self._nets(asking))
        had = (self._past_addresses.get((net, address)) for net in nets)
        return [one for one in had if one is not None and one.id != asking.id][:1]

    def _nets(self, container: ContainerFacts) -> frozenset[str]:
        return frozenset(network.name for network in self._owner(container).networks)

    def _owner(self, container: ContainerFacts) -> ContainerFacts:
        """Whose network namespace it lives in: its own, or that of the container it has joined."""
        mode = _mode(container)
        joined = self._by_id.get(mode.removeprefix(_JOINED).lower()) if mode.startswith(_JOINED) else None
        return joined or container

    def _is_gateway(self, address: str, asking: ContainerFacts) -> bool:
        """Whether an address is the host's on one of its networks: Docker takes the first, and leases it to nobody."""
        if not _ADDRESS.fullmatch(address) or not address.endswith(".1"):
            return False
        subnet = address.rpartition(".")[0]
        own = (network.ip_address or "" for network in self._owner(asking).networks)
        return any(ip.rpartition(".")[0] == subnet and ip != address for ip in own if ip)

    @cached_property
    def _by_id(self) -> dict[str, ContainerFacts]:
        found = {one.name.lower(): one for one in reversed(self._host.containers)}
        found |= {one.short_id: one for one in self._host.containers}
        return found | {one.id: one for one in self._host.containers}

    @cached_property
    def _by_service(self) -> dict[tuple[str, str], list[ContainerFacts]]:
        found: dict[tuple[str, str], list[ContainerFacts]] = defaultdict(list)
        for one in (*self._host.containers, *self.removed):
            if one.compose is not None and not one.compose.oneoff:
                found[one.compose.project, one.compose.service.lower()].append(one)
        return found

    @cached_property
    def _by_network(self) -> dict[str, list[ContainerFacts]]:
        found: dict[str, list[ContainerFacts]] = defaultdict(list)
        for one in self._host.containers:
            for network in one.networks:
                found[network.name].append(one)
        return found

    @cached_property
    def _by_known_name(self) -> dict[tuple[str, str], list[ContainerFacts]]:
        """By network, and name or address on it."""
        found: dict[tuple[str, str], list[ContainerFacts]] = defaultdict(list)
        for one in (*self._host.containers, *self.removed):
            for network in one.networks:
                for name in {*_names_on(one, network), network.ip_address or ""}:
                    found[network.name, name].append(one)
        return found

    @cached_property
    def _by_owner(self) -> dict[str, list[ContainerFacts]]:
        found: dict[str, list[ContainerFacts]] = defaultdict(list)
        for one in self._host.containers:
            found[self._owner(one).id].append(one)
        return found

    @cached_property
    def _by_host_port(self) -> dict[tuple[int, str], list[ContainerFacts]]:
        found: dict[tuple[int, str], list[ContainerFacts]] = defaultdict(list)
        for one in self._host.containers:
            for binding in bindings_of(one):
                found[binding.port, binding.protocol].append(one)
        return found

    @cached_property
    def _by_source(self) -> dict[str, list[ContainerFacts]]:
        found: dict[str, list[ContainerFacts]] = defaultdict(list)
        for one in self._host.containers:
            for source in dict.fromkeys(mount.source for mount in one.mounts if mount.source and not mount.read_only):
                found[source].append(one)
        return found


@dataclass(frozen=True, slots=True)
class Binding:
    """One published port: host address ("" for all), host port, container port, protocol."""

    address: str
    port: int
    inner: int
    protocol: str


def bindings_of(container: ContainerFacts) -> tuple[Binding, ...]:
    """The ports it publishes, or would publish if it ran."""
    told: dict[str, str | None] = {**(container.wiring.published if container.wiring is not None else {})}
    told.update({inner: bound for inner, bound in container.ports.items() if bound})
    found = []
    for inner, bound in told.items():
        number, _, protocol = inner.partition("/")
        for text in (bound or "").split(", "):
            address, _, port = text.rpartition(":")
            if port.isascii() and port.isdigit() and number.isascii() and number.isdigit():
                found.append(Binding(address.strip("[]"), int(port), int(number), protocol or "tcp"))
    return tuple(found)


def ports_of(container: ContainerFacts) -> frozenset[int]:
    """The ports inside the container that its image or configuration names."""
    named = (*container.ports, *(container.wiring.published if container.wiring is not None else ()))
    numbers = (inner.partition("/")[0] for inner in named)
    return frozenset(int(number) for number in numbers if number.isascii() and number.isdigit())


def host_of(peer: str) -> str:
    """`db:5432` as "db"; brackets and scheme dropped."""
    bare = peer.rsplit("@", 1)[-1].rpartition("://")[2].removeprefix("[")
    if bare.count(":") > 1:
        return bare.split("]")[0]
    return bare.split("/")[0].split(":")[0].split("]")[0]


def port_of(peer: str, line: str = "") -> int | None:
    """The port of `db:5432` or `[::1]:80`; else the one that the line names in words."""
    bare = peer.rsplit("@", 1)[-1].rpartition("://")[2].split("/")[0]
    after = bare.rpartition("]:")[2] if "]" in bare else bare.rpartition(":")[2] if bare.count(":") == 1 else ""
    if not (after.isascii() and after.isdigit()):
        words = _PORT_IN_WORDS.search(line)
        after = words.group(1) if words else ""
    return int(after) if after and 0 < int(after[:6]) < 65_536 else None  # noqa: PLR2004 - ports are 16 bits wide


def is_local(host: str) -> bool:
    """Whether a host is the container itself."""
    return host.startswith(_LOCAL)


def is_address(host: str) -> bool:
    """Whether a host is given by number."""
    return _ADDRESS.fullmatch(host) is not None


def _mode(container: ContainerFacts) -> str:
    return container.wiring.network_mode if container.wiring is not None else ""


def _without_network(host: str, nets: frozenset[str]) -> str:
    """`db.shop_default` and `tasks.db` as "db"."""
    for net in nets:
        host = host.removesuffix(f".{net.lower()}")
    return host.removeprefix("tasks.")


def _names_on(container: ContainerFacts, network: NetworkAttachment) -> set[str]:
    """The names that Docker's DNS knows a container by on one of its networks."""
    names = {container.name.lower(), container.short_id}
    aliases = {alias.lower() for alias in network.aliases}
    if container.compose is not None and not aliases:
        names.add(container.compose.service.lower())  # the aliases were not read: Compose always gives this one
    service = container.labels.get(_SWARM_SERVICE, "").lower()
    if service:
        names |= {service, service.removeprefix(container.labels.get(_SWARM_STACK, "").lower() + "_")}
    return names | aliases


def _own_first(found: list[ContainerFacts], asking: ContainerFacts) -> tuple[ContainerFacts, ...]:
    """Those of its own project where there are some: of others' equal aliases nobody thinks."""
    project = asking.compose.project if asking.compose is not None else None
    own = [one for one in found if one.compose is not None and one.compose.project == project]
    return tuple(own) if project is not None and own else tuple(found)
