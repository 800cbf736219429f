"""Names the holder of a port that is in use: another container, the host, or the container itself."""

from collections.abc import Iterable

import re2

from bcon_exporter.diagnosis.finding import Finding, quote
from bcon_exporter.diagnosis.neighbours import Binding, Neighbours, bindings_of, ports_of
from bcon_exporter.diagnosis.numbers import safe_name
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, SymptomType, Urgency
from bcon_exporter.model.signatures import SuggestionText

_WANTED = re2.compile(r"(?:Bind for|listen (?:tcp|udp)[46]?|bind host port for|failed to bind (?:host )?port(?: for)?) "
                     r"(?:\[?([0-9a-fA-F.:]{0,45}?)\]?:)?([0-9]{1,5})(?:/(tcp|udp))?\b")  # fmt: skip
_PORT = re2.compile(r"(?:port |:)([0-9]{2,5})\b")
_ANY = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared, not bound


def find_port_holders(said: str, wanting: ContainerFacts, neighbours: Neighbours) -> list[Finding]:
    """Who holds the host port that the engine could not publish.

    Args:
        said: `State.Error`, about a port that is in use.
        wanting: The container that could not be started.
        neighbours: Of the same host.
    """
    wanted = _wanted(said, wanting)
    if wanted is None:
        return []
    holders = [
        one
        for one in neighbours.publishing(wanted.port, wanted.protocol)
        if one.id != wanting.id and one.is_running and any(_collide(wanted, other) for other in bindings_of(one))
    ]
    return [_held_by(holders[0], wanted)] if holders else [_held_by_host(wanted)]


def _wanted(said: str, wanting: ContainerFacts) -> Binding | None:
    match = _WANTED.search(said)
    if match is not None:
        protocol = match.group(3) or ("udp" if "udp" in match.group(0) else _protocol(int(match.group(2)), wanting))
        return Binding(match.group(1) or "", int(match.group(2)), 0, protocol)
    configured = bindings_of(wanting)
    return configured[0] if len(configured) == 1 else None


def _protocol(port: int, wanting: ContainerFacts) -> str:
    """What the container's own configuration says of the port that the engine's message names without protocol."""
    found = {binding.protocol for binding in bindings_of(wanting) if binding.port == port}
    return found.pop() if len(found) == 1 else "tcp"


def _collide(one: Binding, other: Binding) -> bool:
    """Whether both cannot be published together: the same port, on one address or on all."""
    if (one.port, one.protocol) != (other.port, other.protocol):
        return False
    return one.address == other.address or one.address in _ANY or other.address in _ANY


def _held_by(holder: ContainerFacts, wanted: Binding) -> Finding:
    cause = LikelyCause(
        id="port_held_by_container",
        description=f"Port {wanted.port}/{wanted.protocol} of the host is published by {holder.name} already.",
        confidence=0.95,
        evidence=(f"{holder.name} runs and publishes {_shown(wanted)}",),
        related_symptoms=(SymptomType.START_FAILED,),
        peer=holder.name,
    )
    name = safe_name(holder)
    suggestion = SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action=f"Publish another port of the host here, or take port {wanted.port} from {name}.",
        rationale="One address and port of the host can be published once; the engine does not try again by itself.",
        check=f"docker port {name}",
    )
    return Finding(cause, (suggestion,))


def _held_by_host(wanted: Binding) -> Finding:
    cause = LikelyCause(
        id="port_held_by_host",
        description=f"A program of the host holds port {wanted.port}/{wanted.protocol}; no container publishes it.",
        confidence=0.85,
        related_symptoms=(SymptomType.START_FAILED,),
    )
    suggestion = SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action=f"Find the program of the host that listens on port {wanted.port}, or publish another port.",
        rationale="No running container publishes this port, so that it is held outside Docker.",
        check=f"ss -lntup sport = :{wanted.port}",
    )
    return Finding(cause, (suggestion,))


def _shown(wanted: Binding) -> str:
    address = f"[{wanted.address}]:" if ":" in wanted.address else f"{wanted.address}:" if wanted.address else ""
    return f"{address}{wanted.port}/{wanted.protocol}"


def find_listeners(lines: Iterable[str], container: ContainerFacts, neighbours: Neighbours) -> list[Finding]:
    """Who holds the port on which the program itself could not listen.

    In its own network namespace that is another process of the same container. One that it shares with other
    containers, or with the host, has more candidates.
    """
    line = next(iter(lines), "")
    match = _PORT.search(line)
    port = int(match.group(1)) if match else None
    mode = container.wiring.network_mode if container.wiring is not None else ""
    joined = [one for one in neighbours.inside(container) if one.is_running]
    if mode == "host":
        joined = [one for one in neighbours.publishing(port) if one.is_running] if port else []
    named = [one for one in joined if port in ports_of(one)] or (joined if len(joined) == 1 else [])
    if named:
        return [_listener("port_held_by_container", f"{named[0].name}, with which it shares its network, listens on "
                          f"{_port_text(port)} already.", 0.85, line, named[0].name)]  # fmt: skip
    if mode == "host" or joined or not mode:
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
