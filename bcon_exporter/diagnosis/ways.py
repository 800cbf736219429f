"""The way from one running container to another: names that lead nowhere, ports on which nobody listens, localhost."""

from dataclasses import replace
from typing import NamedTuple

import re2

from bcon_exporter.diagnosis.failure import RELATED, Failure, Kind, blame
from bcon_exporter.diagnosis.finding import Finding, quote
from bcon_exporter.diagnosis.neighbours import (
    Meant,
    Neighbours,
    Reach,
    bindings_of,
    host_of,
    is_address,
    is_local,
    port_of,
    ports_of,
)
from bcon_exporter.diagnosis.numbers import safe_name
from bcon_exporter.diagnosis.peer_changes import has_worked
from bcon_exporter.diagnosis.peer_state import READY_SECONDS, Around, Trouble, lost_network, trouble_of
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, Urgency
from bcon_exporter.model.signatures import CauseText, SuggestionText

INSIDE_PENALTY = 0.12
"""Of several containers in one network namespace any may be meant."""


def of_no_network(asking: ContainerFacts, failure: Failure) -> list[Finding]:
    """It was given no network at all, or was taken from its last one: nothing can be reached, whoever is meant."""
    mode = asking.wiring.network_mode if asking.wiring is not None else ""
    lost = not asking.networks and lost_network(asking) is not None
    if failure.kind is Kind.REFUSED or not (lost or mode == "none"):
        return []  # a refusal came from somewhere
    if failure.kind in (Kind.BROKEN, Kind.ANSWERED) or (mode == "none" and _TIMED_OUT.search(failure.line)):
        return []  # so did a reset, and who has no network waits for no answer
    how = f"was disconnected from its network ({mode})" if lost else "has no network (network mode none)"
    cause = LikelyCause(
        id="no_network",
        description=f"It {how}, so that nothing outside can be reached.",
        confidence=0.9 if failure.kind is Kind.SILENT or lost else 0.65,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
    )
    return [Finding(cause, (_CONNECT_BOTH,))]


def of_localhost(port: int | None, asking: ContainerFacts, neighbours: Neighbours, failure: Failure) -> Finding:
    """It connects to itself: seldom what is meant, unless the port is its own."""
    if failure.kind in (Kind.SILENT, Kind.BROKEN):
        return _hangs_itself(port, failure)
    own = port is not None and port in ports_of(asking)
    offering = neighbours.offering(port, asking) if port is not None and not own else ()
    hint = f"; {offering[0].name} on its network offers port {port}" if offering else ""
    where = "localhost" if port is None else f"localhost:{port}"
    text = f"It connects to {where}, which inside a container is the container itself{hint}."
    if own:
        text = f"It connects to its own port {port}, on which nothing listens (yet)."
    cause = LikelyCause(
        id="nothing_listens" if own else "localhost_in_container",
        description=text,
        confidence=0.85 if offering else 0.75,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
    )
    return Finding(cause, (_ITS_OWN_PART,) if own else (_NOT_ITSELF,))


def _hangs_itself(port: int | None, failure: Failure) -> Finding:
    """Nothing gets lost on the way to localhost: where no answer comes, somebody listens and does not answer."""
    where = "localhost" if port is None else f"localhost:{port}"
    cause = LikelyCause(
        id="own_service_hangs",
        description=f"What listens on {where} in the container itself takes the connection and does not answer.",
        confidence=0.75,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
    )
    return Finding(cause, (_ITS_OWN_PART,))


def of_lost_name(
    host: str, port: int | None, asking: ContainerFacts, neighbours: Neighbours, failure: Failure
) -> Finding | None:
    """Nobody has the name any more, but the one container that may have had it is there under another."""
    if failure.kind is not Kind.UNRESOLVED or "." in host or not has_worked(asking, failure.span):
        return None
    like = [one for one in neighbours.sharing(asking) if one.is_running and _is_like(host, one.name)]
    offering = neighbours.offering(port, asking) if port is not None else ()
    found = like or list(offering)
    if len(found) != 1:
        return None
    other = found[0]
    cause = LikelyCause(
        id="name_lost",
        description=f"No container has this name any more; {other.name}, on its network, seems to have been renamed.",
        confidence=0.8 if like else 0.65,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
        peer=other.name,
    )
    return Finding(cause, (_NAME_AGAIN,), other.id)


def of_new_name(gone: ContainerFacts, other: ContainerFacts, trouble: Trouble, line: str | None) -> Finding:
    """It asks for a container that is gone, and seems to be there under another name."""
    cause = LikelyCause(
        id="name_lost",
        description=f"{gone.name} {trouble.text}; {other.name}, made at that time of the same image, has another name.",
        confidence=trouble.confidence,
        evidence=(quote(line),) if line else (),
        related_symptoms=RELATED,
        peer=other.name,
    )
    return Finding(cause, (_NAME_AGAIN,), other.id)


def _is_like(asked: str, name: str) -> bool:
    """Whether a name is the asked one with something before or behind it: `db-old`, `old_db`, `db2`."""
    asked, name = asked.lower(), name.lower()
    parts = name.replace("_", "-").replace(".", "-").split("-")
    return asked in parts or any(part.rstrip("0123456789") == asked for part in parts)


def of_stranger(failure: Failure, peer: str, asking: ContainerFacts, neighbours: Neighbours) -> Finding | None:
    """Who is asked is no container here: a name that nobody has, or what lies outside of Docker."""
    host = host_of(peer)
    mode = asking.wiring.network_mode if asking.wiring is not None else ""
    if mode in ("none", "host") or not asking.networks:
        return None
    if is_local(host) or neighbours.meant(host, port_of(peer, failure.line), asking) is not None:
        return None
    if failure.kind is Kind.UNRESOLVED and "." not in host:
        kind = _NO_SUCH_CONTAINER
    elif is_address(host):
        kind = _ADDRESS_GONE if _is_of_a_network_of(asking, host) else _OUTSIDE
    elif "." in host:
        kind = _OUTSIDE_NAME if failure.kind is Kind.UNRESOLVED else _OUTSIDE
    else:
        return None
    cause = LikelyCause(
        id=kind.cause.id,
        description=kind.cause.text,
        confidence=kind.cause.confidence,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
        peer=host,
    )
    return Finding(cause, (kind.advice,))


def _is_of_a_network_of(asking: ContainerFacts, address: str) -> bool:
    """Whether an address lies in the subnet of one of its networks, as far as their first two numbers tell."""
    subnet = address.split(".")[:2]
    return any((network.ip_address or "").split(".")[:2] == subnet for network in asking.networks)


class _Stranger(NamedTuple):
    """What is known of one who is no container here, and what to do about it."""

    cause: CauseText
    advice: SuggestionText


_NO_SUCH_CONTAINER = _Stranger(
    CauseText(
        id="no_such_container",
        text="There is no such container: nothing on its networks has the name that it asks for.",
        confidence=0.75,
    ),
    SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action="Correct the name in its settings, or start the container that should have it on one of its networks.",
        rationale="Docker resolves names and aliases of running containers on the same networks; nobody has this one.",
        check="docker ps -a --format '{{.Names}} {{.Networks}} {{.Status}}'",
    ),
)
_ADDRESS_GONE = _Stranger(
    CauseText(
        id="address_gone",
        text="No container has the address that it asks: the one that had it was recreated, or is gone.",
        confidence=0.7,
    ),
    SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action="Let it ask by name instead of by address, and restart it if it keeps an old one.",
        rationale="A container gets another address when it is made anew; its name follows it.",
        check="docker ps -a --format '{{.Names}} {{.Status}}'",
    ),
)
_OUTSIDE = _Stranger(
    CauseText(
        id="outside_peer",
        text="Who it asks is outside of Docker: no container on its networks has this name or address.",
        confidence=0.65,
    ),
    SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action="Ask the same address from this host: where that fails too, the trouble is there or on the way to it.",
        rationale="No container here has a part in it, save a firewall or a route of this host.",
        check="ip route",
    ),
)
_OUTSIDE_NAME = _Stranger(
    CauseText(
        id="outside_name",
        text="The name is one outside of Docker that cannot be resolved: mistyped, gone, or the DNS does not answer.",
        confidence=0.72,
    ),
    SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action="Resolve the same name on this host: where that fails too, correct the name or repair the host's DNS.",
        rationale="Docker forwards names that are no container's to the DNS servers of the host.",
        check="docker inspect -f '{{.HostConfig.Dns}} {{.ResolvConfPath}}' {name}",
    ),
)
STRANGERS = frozenset(one.cause.id for one in (_NO_SUCH_CONTAINER, _ADDRESS_GONE, _OUTSIDE, _OUTSIDE_NAME))


def of_name(meant: Meant, asking: ContainerFacts, failure: Failure) -> Finding:
    """The container is there, but its name does not lead to it from here."""
    other = next((one for one in meant.containers if one.is_running), meant.containers[0])
    known = other.compose is not None and asking.compose is not None
    foreign = known and other.compose.project != asking.compose.project  # type: ignore[union-attr]
    why = _UNSEEN[meant.reach]
    cause = LikelyCause(
        id=why.id,
        description=f"{other.name} {'runs' if other.is_running else 'exists'}, but {why.text}.",
        confidence=(why.confidence - (0.13 if foreign else 0)) if other.is_running else 0.5,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
        peer=other.name,
    )
    theirs = meant.reach is Reach.NO_ALIAS or (lost_network(other) and not lost_network(asking))
    return Finding(cause, (_CONNECT_BOTH,), other.id if theirs else None)


_UNSEEN = {
    Reach.NO_DNS: CauseText(
        id="default_bridge_without_dns",
        text="on the default bridge network Docker resolves no names",
        confidence=0.88,
    ),
    Reach.NO_ALIAS: CauseText(
        id="alias_missing", text="on the network that both share it does not have this name", confidence=0.88
    ),
    Reach.APART: CauseText(
        id="no_shared_network", text="shares no network with it, so its name cannot be resolved", confidence=0.88
    ),
}


def of_port(meant: Meant, port: int | None, failure: Failure, neighbours: Neighbours, around: Around) -> list[Finding]:
    """The container runs well and refuses: the port may be wrong, or a neighbour in its namespace is meant."""
    other = meant.containers[0]
    if failure.kind is not Kind.REFUSED or port is None or meant.reach is not Reach.NETWORK:
        return []
    joined = [one for one in neighbours.inside(other) if port in ports_of(one) or not ports_of(one)]
    for one in joined:
        trouble = trouble_of(one, failure.span, around)
        if trouble is not None:
            return [blame(one, replace(trouble, confidence=trouble.confidence - INSIDE_PENALTY), failure.line)]
    offered, inner = ports_of(other), {binding.inner for binding in bindings_of(other) if binding.port == port}
    if inner and port not in offered:
        text = f"{other.name} is asked on port {port}, which it publishes on the host only; inside it is {min(inner)}."
        return [_port_cause("published_port_used_inside", text, 0.9, other, failure)]
    if offered and port not in offered:
        ports = ", ".join(str(number) for number in sorted(offered)[:5])
        text = f"{other.name} runs, but its configuration names port {ports} and not {port}."
        return [_port_cause("wrong_port", text, 0.65, other, failure)]
    if other.started_at is None or (around.now - other.started_at).total_seconds() < READY_SECONDS:
        return []
    text = f"{other.name} runs, but nothing in it listens on port {port} for others; perhaps on localhost only."
    return [_port_cause("peer_not_listening", text, 0.65, other, failure)]


def _port_cause(name: str, text: str, confidence: float, other: ContainerFacts, failure: Failure) -> Finding:
    cause = LikelyCause(
        id=name,
        description=text,
        confidence=confidence,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
        peer=other.name,
    )
    suggestion = SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action=f"Compare the port that it asks with those on which {safe_name(other)} listens.",
        rationale="Containers reach each other on the inner port; a published one is for clients outside.",
        check=f"docker inspect -f '{{{{json .Config.ExposedPorts}}}}' {safe_name(other)}",
    )
    return Finding(cause, (suggestion,))


_TIMED_OUT = re2.compile(r"(?i)timed? ?out|deadline")
_ITS_OWN_PART = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Look at the part of this container that should answer on that port.",
    rationale="The port is the container's own: no other container has a part in it.",
    check="docker logs --tail 100 {name}",
)
_NOT_ITSELF = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Give it the other container's service name instead of localhost.",
    rationale="Each container has a localhost of its own; others are reached by name over a shared network.",
    check="docker inspect -f '{{range $n, $_ := .NetworkSettings.Networks}}{{$n}} {{end}}' {name}",
)
_NAME_AGAIN = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Give the container its earlier name again, or a network alias of that name.",
    rationale="Others ask for it by that name, and Docker resolves names and aliases of running containers only.",
    check="docker ps -a --format '{{.Names}} {{.Image}} {{.Status}}'",
)
_CONNECT_BOTH = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Put both containers on one user-defined network, under the name that is asked for.",
    rationale="Docker resolves container names and aliases on user-defined networks only, each network for itself.",
    check="docker inspect -f '{{range $n, $_ := .NetworkSettings.Networks}}{{$n}} {{end}}' {name}",
)


CAUSES = {
    "localhost_in_container": "it connects to localhost, which is itself",
    "no_network": "it has network mode none, or was disconnected from its last network, and wants to connect",
    "own_service_hangs": "a time-out or a reset on localhost",
    "no_such_container": "an unknown name without a dot that no container on its networks has",
    "address_gone": "an address of its own subnets that no container has",
    "outside_peer": "a name or address outside of Docker",
    "outside_name": "a name outside of Docker that could not be resolved",
    "name_lost": "the asked name is nobody's, and one container on its network seems to have been renamed",
    "no_shared_network": "the named peer runs on other networks",
    "default_bridge_without_dns": "both are on the default bridge network, where Docker resolves no names",
    "alias_missing": "both share a network, on which the peer does not have this name",
    "wrong_port": "the named peer runs, and its configuration names other ports",
    "published_port_used_inside": "the port asked for is the one published on the host, not the one inside",
}
"""What this module names, and when: for the docs."""
