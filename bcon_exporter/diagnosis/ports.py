"""Names the holder of a port that is in use: another container, the host, or the container itself."""

from collections.abc import Iterable

import re2

from bcon_exporter.diagnosis.container_lookup import ContainerLookup, PortMapping, bindings_of, ports_of
from bcon_exporter.diagnosis.finding import Finding, quote
from bcon_exporter.diagnosis.usage_in_words import safe_name
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, SymptomType, Urgency
from bcon_exporter.model.signatures import SuggestionText

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
    cause = LikelyCause(
        id="port_held_by_container",
        description=f"Port {binding.port}/{binding.protocol} of the host is published by {holder.name} already.",
        confidence=0.95,
        evidence=(f"{holder.name} runs and publishes {_shown(binding)}",),
        related_symptoms=(SymptomType.START_FAILED,),
        peer=holder.name,
    )
    name = safe_name(holder)
    suggestion = SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action=f"Publish another port of the host here, or take port {binding.port} from {name}.",
        rationale="One address and port of the host can be published once; the engine does not try again by itself.",
        check=f"docker port {name}",
    )
    return Finding(cause, (suggestion,))


def _held_by_host(binding: PortMapping) -> Finding:
    cause = LikelyCause(
        id="port_held_by_host",
        description=f"A program of the host holds port {binding.port}/{binding.protocol}; no container publishes it.",
        confidence=0.85,
        related_symptoms=(SymptomType.START_FAILED,),
    )
    suggestion = SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action=f"Find the program of the host that listens on port {binding.port}, or publish another port.",
        rationale="No running container publishes this port, so that it is held outside Docker.",
        check=f"ss -lntup sport = :{binding.port}",
    )
    return Finding(cause, (suggestion,))


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
        text = f"{name}, with which it shares its network, listens on {_port_text(port)} already."
        return [_listener("port_held_by_container", text, 0.85, line, name)]
    if mode == "host" or neighbours or not mode:
        return []
    text = f"Another process of the same container listens on {_port_text(port)} already: its network is its own."
    return [_listener("port_taken_inside", text, 0.85, line, None)]


def _port_text(port: int | None) -> str:
    return "the port" if port is None else f"port {port}"


def _listener(name: str, text: str, confidence: float, line: str, peer: str | None) -> Finding:
    cause = LikelyCause(
        id=name,
        description=text,
        confidence=confidence,
        evidence=(quote(line),),
        related_symptoms=(SymptomType.LOG_ERROR,),
        peer=peer,
    )
    suggestion = SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action="Start the program once only, or let the second one listen on another port.",
        rationale="Two listeners cannot share one address and port of a network namespace.",
        check="docker inspect -f '{{.Path}} {{.Args}} {{.HostConfig.NetworkMode}}' {name}",
    )
    return Finding(cause, (suggestion,))


CAUSES = {
    "port_held_by_container": "the port is published by, or in a shared network listened on by, another container",
    "port_held_by_host": "no container publishes the port that is taken",
    "port_taken_inside": "another process of the same container listens on the port",
}
"""What this module names, and when: for the docs."""
