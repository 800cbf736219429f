"""Names the holder of a port that is in use: another container, the host, or the container itself."""

from collections.abc import Iterable

import re2

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.container_lookup import ContainerLookup, PortMapping, bindings_of, ports_of
from bcon_exporter.diagnosis.finding import Finding, finding_of, quote
from bcon_exporter.diagnosis.usage_in_words import safe_name
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import SymptomType

_WANTED = re2.compile(r"(?:Bind for|listen (?:tcp|udp)[46]?|bind host port for|failed to bind (?:host )?port(?: for)?) "
                     r"(?:\[?([0-9a-fA-F.:]{0,45}?)\]?:)?([0-9]{1,5})(?:/(tcp|udp))?\b")  # fmt: skip
_PORT = re2.compile(r"(?:port |:)([0-9]{2,5})\b")
_ANY = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared, not bound


def find_port_holders(error: str, container: ContainerFacts, lookup: ContainerLookup) -> list[Finding]:
    """Find who holds the host port that the engine could not publish.

    Args:
        error: `State.Error` of the container; it says that a port is in use.
        container: The container that could not be started.
        lookup: The containers of the same host.
    """
    wanted = _wanted_binding(error, container)
    if wanted is None:
        return []
    holders = [
        other
        for other in lookup.publishing_port(wanted.port, wanted.protocol)
        if other.id != container.id
        and other.is_running
        and any(_collide(wanted, binding) for binding in bindings_of(other))
    ]
    return [_held_by(holders[0], wanted)] if holders else [_held_by_host(wanted)]


def _wanted_binding(error: str, container: ContainerFacts) -> PortMapping | None:
    match = _WANTED.search(error)
    if match is not None:
        protocol = match.group(3) or ("udp" if "udp" in match.group(0) else _protocol(int(match.group(2)), container))
        return PortMapping(match.group(1) or "", int(match.group(2)), 0, protocol)
    configured = bindings_of(container)
    return configured[0] if len(configured) == 1 else None


def _protocol(port: int, container: ContainerFacts) -> str:
    """The protocol that the container's own configuration gives to this port; "tcp" where it gives none or both."""
    protocols = {binding.protocol for binding in bindings_of(container) if binding.port == port}
    return protocols.pop() if len(protocols) == 1 else "tcp"


def _collide(first: PortMapping, second: PortMapping) -> bool:
    """Whether the engine cannot publish both: they have the same port, on one address or on all."""
    if (first.port, first.protocol) != (second.port, second.protocol):
        return False
    return first.address == second.address or first.address in _ANY or second.address in _ANY


def _held_by(holder: ContainerFacts, binding: PortMapping) -> Finding:
    cause = known_cause(
        "port_held_by_container",
        port=f"{binding.port}/{binding.protocol}",
        holder=holder.name,
        number=binding.port,
        holder_name=safe_name(holder),
    )
    evidence = (f"{holder.name} runs and publishes {_shown(binding)}",)
    return finding_of(cause, evidence, (SymptomType.START_FAILED,), holder.name)


def _held_by_host(binding: PortMapping) -> Finding:
    cause = known_cause("port_held_by_host", port=f"{binding.port}/{binding.protocol}", number=binding.port)
    return finding_of(cause, (), (SymptomType.START_FAILED,))


def _shown(binding: PortMapping) -> str:
    address = f"[{binding.address}]:" if ":" in binding.address else f"{binding.address}:" if binding.address else ""
    return f"{address}{binding.port}/{binding.protocol}"


def find_listeners(lines: Iterable[str], container: ContainerFacts, lookup: ContainerLookup) -> list[Finding]:
    """Find who holds the port on which the program itself could not listen.

    If the container has a network namespace of its own, another process of the same container holds it. If it shares
    its namespace, one of the other containers there, or a program of the host, may hold it.
    """
    line = next(iter(lines), "")
    match = _PORT.search(line)
    port = int(match.group(1)) if match else None
    mode = container.wiring.network_mode if container.wiring is not None else ""
    neighbours = [neighbour for neighbour in lookup.in_same_namespace(container) if neighbour.is_running]
    if mode == "host":
        neighbours = [neighbour for neighbour in lookup.publishing_port(port) if neighbour.is_running] if port else []
    holders = [neighbour for neighbour in neighbours if port in ports_of(neighbour)]
    if not holders and len(neighbours) == 1:
        holders = neighbours
    if holders:
        name = holders[0].name
        cause = known_cause("port_held_by_container.shared", holder=name, port=_port_text(port))
        return [finding_of(cause, (quote(line),), (SymptomType.LOG_ERROR,), name)]
    if mode == "host" or neighbours or not mode:
        return []
    cause = known_cause("port_taken_inside", port=_port_text(port))
    return [finding_of(cause, (quote(line),), (SymptomType.LOG_ERROR,))]


def _port_text(port: int | None) -> str:
    return "the port" if port is None else f"port {port}"
