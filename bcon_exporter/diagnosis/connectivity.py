"""Finds why one running container cannot reach another: an unknown name, a wrong port, localhost, no network."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

import re2

from bcon_exporter.diagnosis.container_lookup import (
    ContainerLookup,
    Reach,
    TakenFromNetwork,
    Target,
    bindings_of,
    host_of,
    is_address,
    is_localhost,
    is_private_address,
    port_of,
    ports_of,
)
from bcon_exporter.diagnosis.failed_connections import RELATED, Failure, FailureKind, blame
from bcon_exporter.diagnosis.finding import Finding, quote
from bcon_exporter.diagnosis.peer_changes import JITTER_SECONDS, SOON_SECONDS, has_worked
from bcon_exporter.diagnosis.peer_state import READY_SECONDS, HostContext, PeerTrouble, find_trouble, lost_network
from bcon_exporter.diagnosis.server_kinds import has_kind, is_of_kind, kind_of_server
from bcon_exporter.diagnosis.usage_in_words import safe_name
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, Urgency
from bcon_exporter.model.quantities import show_duration
from bcon_exporter.model.signatures import CauseText, SuggestionText

SHARED_NAMESPACE_PENALTY = 0.12
"""Subtracted where several containers share the network namespace: any of them may be the right one."""


def find_no_network(client: ContainerFacts, failure: Failure) -> list[Finding]:
    """Report that the client has no network: it was given none, or it was disconnected from its last one."""
    mode = client.wiring.network_mode if client.wiring is not None else ""
    lost = not client.networks and lost_network(client) is not None
    if failure.kind is FailureKind.REFUSED or not (lost or mode == "none"):
        return []  # somebody must have sent the refusal
    if failure.kind in (FailureKind.BROKEN, FailureKind.ANSWERED) or (
        mode == "none" and _TIMED_OUT.search(failure.line)
    ):
        return []  # a reset came from somewhere too; and without a network nothing times out
    how = f"was disconnected from its network ({mode})" if lost else "has no network (network mode none)"
    cause = LikelyCause(
        id="no_network",
        description=f"It {how}, so that nothing outside can be reached.",
        confidence=0.9 if failure.kind is FailureKind.SILENT or lost else 0.65,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
    )
    return [Finding(cause, (_SHARE_A_NETWORK,))]


def find_taken_peer(
    host: str, client: ContainerFacts, lookup: ContainerLookup, failure: Failure, context: HostContext
) -> Finding | None:
    """Find the container that had this name or address until it was taken from a network that the client is on."""
    name = host.rstrip(".").strip("[]").lower()
    by_id = {taken.container.id: taken for taken in lookup.taken_from_shared_network(client) if name in taken.names}
    return _blame_taken(next(iter(by_id.values())), failure, 0.92, context) if len(by_id) == 1 else None


def find_unnamed_taken_peer(
    failures: Sequence[Failure],
    client: ContainerFacts,
    lookup: ContainerLookup,
    context: HostContext,
    declared: Collection[str],
) -> list[Finding]:
    """Find the one container that was taken from the client's network just before it failed to connect.

    For failures that name no peer. Lines that tell a kind of server must not tell another one than the container's; one
    that names an address that no container has must tell it, or the container is a declared dependency.

    Args:
        failures: All of the client.
        client: The container that could not connect.
        lookup: Who was taken from which network.
        context: Facts of the whole host.
        declared: Ids of the containers that the client depends on.
    """
    if any(failure.kind in (FailureKind.REFUSED, FailureKind.ANSWERED) for failure in failures):
        return []  # somebody must have sent that
    firsts = [failure.span.first for failure in failures if failure.span.first is not None]
    first = min(firsts, default=None)
    taken = {
        taken.container.id: taken
        for taken in lookup.taken_from_shared_network(client)
        if first is not None
        and _began_after(first, taken)
        and all(
            _may_be_about(failure, client, taken.container, is_declared=taken.container.id in declared)
            for failure in failures
        )
    }
    return [_blame_taken(only, failures[-1], 0.8, context) for only in taken.values()] if len(taken) == 1 else []


def _began_after(first: datetime, taken: TakenFromNetwork) -> bool:
    """Whether failures began after a container was taken from a network, and soon."""
    earliest = taken.lost.seen_at - timedelta(seconds=JITTER_SECONDS)
    return earliest <= first <= taken.lost.gone_at + timedelta(seconds=SOON_SECONDS)


def _may_be_about(failure: Failure, client: ContainerFacts, container: ContainerFacts, *, is_declared: bool) -> bool:
    """Whether a failure can be about a container; the client may declare that it depends on it."""
    kind = kind_of_server(failure.line)
    is_of_it = kind is not None and is_of_kind(container, kind) and not is_of_kind(client, kind)
    if kind is not None and not is_of_it and has_kind(container):
        return False
    host = host_of(failure.peer) if failure.peer is not None else ""
    if not is_address(host):
        return True
    return is_private_address(host) and not is_localhost(host) and (is_of_it or is_declared)


def _blame_taken(taken: TakenFromNetwork, failure: Failure, confidence: float, context: HostContext) -> Finding:
    ago = show_duration((context.now - taken.lost.gone_at).total_seconds())
    text = f"was disconnected from {taken.lost.network.name}, a network of this one, {ago} ago."
    cause = LikelyCause(
        id="dependency_disconnected",
        description=f"{taken.container.name} {text}",
        confidence=confidence,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
        peer=taken.container.name,
    )
    return Finding(cause, (_SHARE_A_NETWORK,), taken.container.id)


def explain_localhost(port: int | None, client: ContainerFacts, lookup: ContainerLookup, failure: Failure) -> Finding:
    """Explain a failed connection to localhost: another container is meant, or nothing listens on its own port."""
    if failure.kind in (FailureKind.SILENT, FailureKind.BROKEN):
        return _explain_hanging_localhost(port, failure)
    is_own_port = port is not None and port in ports_of(client)
    offering = lookup.with_port(port, client) if port is not None and not is_own_port else ()
    hint = f"; {offering[0].name} on its network offers port {port}" if offering else ""
    where = "localhost" if port is None else f"localhost:{port}"
    text = f"It connects to {where}, which inside a container is the container itself{hint}."
    if is_own_port:
        text = f"It connects to its own port {port}, on which nothing listens (yet)."
    cause = LikelyCause(
        id="nothing_listens" if is_own_port else "localhost_in_container",
        description=text,
        confidence=0.85 if offering else 0.75,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
    )
    return Finding(cause, (_CHECK_OWN_LISTENER,) if is_own_port else (_USE_SERVICE_NAME,))


def _explain_hanging_localhost(port: int | None, failure: Failure) -> Finding:
    """Explain a connection to localhost that hangs: packets do not get lost there, so a listener does not answer."""
    where = "localhost" if port is None else f"localhost:{port}"
    cause = LikelyCause(
        id="own_service_hangs",
        description=f"What listens on {where} in the container itself takes the connection and does not answer.",
        confidence=0.75,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
    )
    return Finding(cause, (_CHECK_OWN_LISTENER,))


def find_renamed_peer(
    host: str, port: int | None, client: ContainerFacts, lookup: ContainerLookup, failure: Failure
) -> Finding | None:
    """Find the one container on its networks that may have had the name, where nobody has it any more."""
    if failure.kind is not FailureKind.UNRESOLVED or "." in host or not has_worked(client, failure.span):
        return None
    similar = [
        container
        for container in lookup.on_shared_network(client)
        if container.is_running and _is_variant_of(host, container.name)
    ]
    offering = lookup.with_port(port, client) if port is not None else ()
    candidates = similar or list(offering)
    if len(candidates) != 1:
        return None
    renamed = candidates[0]
    cause = LikelyCause(
        id="name_lost",
        description=f"No container has this name any more; {renamed.name}, on its network, seems to have been renamed.",
        confidence=0.8 if similar else 0.65,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
        peer=renamed.name,
    )
    return Finding(cause, (_RESTORE_NAME,), renamed.id)


def explain_renamed_peer(gone: ContainerFacts, new: ContainerFacts, trouble: PeerTrouble, line: str | None) -> Finding:
    """Report that the removed container seems to run under another name."""
    cause = LikelyCause(
        id="name_lost",
        description=f"{gone.name} {trouble.text}; {new.name}, made at that time of the same image, has another name.",
        confidence=trouble.confidence,
        evidence=(quote(line),) if line else (),
        related_symptoms=RELATED,
        peer=new.name,
    )
    return Finding(cause, (_RESTORE_NAME,), new.id)


def _is_variant_of(wanted_name: str, name: str) -> bool:
    """Whether a name is the wanted one with a prefix or suffix: `db-old`, `old_db`, `db2` for `db`."""
    wanted_name, name = wanted_name.lower(), name.lower()
    parts = name.replace("_", "-").replace(".", "-").split("-")
    return wanted_name in parts or any(part.rstrip("0123456789") == wanted_name for part in parts)


def find_unknown_peer(failure: Failure, peer: str, client: ContainerFacts, lookup: ContainerLookup) -> Finding | None:
    """Find why the peer is no container here: nobody has the name or address, or it lies outside of Docker."""
    host = host_of(peer)
    mode = client.wiring.network_mode if client.wiring is not None else ""
    if mode in ("none", "host") or not client.networks:
        return None
    if is_localhost(host) or lookup.resolve(host, port_of(peer, failure.line), client) is not None:
        return None
    if failure.kind is FailureKind.UNRESOLVED and "." not in host:
        kind = _NO_SUCH_CONTAINER
    elif is_address(host):
        kind = _ADDRESS_GONE if _is_in_subnet_of(client, host) else _OUTSIDE
    elif "." in host:
        kind = _OUTSIDE_NAME if failure.kind is FailureKind.UNRESOLVED else _OUTSIDE
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


def _is_in_subnet_of(client: ContainerFacts, address: str) -> bool:
    """Whether an address seems to lie in the subnet of one of its networks: the first two numbers are compared."""
    subnet = address.split(".")[:2]
    return any((network.ip_address or "").split(".")[:2] == subnet for network in client.networks)


class _UnknownPeer(NamedTuple):
    """The cause and the advice for a peer that is no container here."""

    cause: CauseText
    advice: SuggestionText


_NO_SUCH_CONTAINER = _UnknownPeer(
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
_ADDRESS_GONE = _UnknownPeer(
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
_OUTSIDE = _UnknownPeer(
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
_OUTSIDE_NAME = _UnknownPeer(
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
UNKNOWN_PEER_CAUSES = frozenset(kind.cause.id for kind in (_NO_SUCH_CONTAINER, _ADDRESS_GONE, _OUTSIDE, _OUTSIDE_NAME))


def explain_unresolved_name(target: Target, client: ContainerFacts, failure: Failure) -> Finding:
    """Explain why the client cannot resolve the name of a container that exists."""
    peer = next((container for container in target.containers if container.is_running), target.containers[0])
    both_in_compose = peer.compose is not None and client.compose is not None
    other_project = both_in_compose and peer.compose.project != client.compose.project  # type: ignore[union-attr]
    why = _UNRESOLVED_CAUSES[target.reach]
    cause = LikelyCause(
        id=why.id,
        description=f"{peer.name} {'runs' if peer.is_running else 'exists'}, but {why.text}.",
        confidence=(why.confidence - (0.13 if other_project else 0)) if peer.is_running else 0.5,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
        peer=peer.name,
    )
    is_peers_fault = target.reach is Reach.NO_ALIAS or (lost_network(peer) and not lost_network(client))
    return Finding(cause, (_SHARE_A_NETWORK,), peer.id if is_peers_fault else None)


_UNRESOLVED_CAUSES = {
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


def find_wrong_port(
    target: Target, port: int | None, failure: Failure, lookup: ContainerLookup, context: HostContext
) -> list[Finding]:
    """Find why a healthy container refuses: the port is wrong, or a container in its namespace should listen."""
    peer = target.containers[0]
    if failure.kind is not FailureKind.REFUSED or port is None or target.reach is not Reach.NETWORK:
        return []
    neighbours = [
        neighbour
        for neighbour in lookup.in_same_namespace(peer)
        if port in ports_of(neighbour) or not ports_of(neighbour)
    ]
    for neighbour in neighbours:
        trouble = find_trouble(neighbour, failure.span, context)
        if trouble is not None:
            return [
                blame(
                    neighbour, replace(trouble, confidence=trouble.confidence - SHARED_NAMESPACE_PENALTY), failure.line
                )
            ]
    offered, inner = ports_of(peer), {binding.inner for binding in bindings_of(peer) if binding.port == port}
    if inner and port not in offered:
        text = f"{peer.name} is asked on port {port}, which it publishes on the host only; inside it is {min(inner)}."
        return [_port_cause("published_port_used_inside", text, 0.9, peer, failure)]
    if offered and port not in offered:
        ports = ", ".join(str(number) for number in sorted(offered)[:5])
        text = f"{peer.name} runs, but its configuration names port {ports} and not {port}."
        return [_port_cause("wrong_port", text, 0.65, peer, failure)]
    if peer.started_at is None or (context.now - peer.started_at).total_seconds() < READY_SECONDS:
        return []
    text = f"{peer.name} runs, but nothing in it listens on port {port} for others; perhaps on localhost only."
    return [_port_cause("peer_not_listening", text, 0.65, peer, failure)]


def _port_cause(name: str, text: str, confidence: float, peer: ContainerFacts, failure: Failure) -> Finding:
    cause = LikelyCause(
        id=name,
        description=text,
        confidence=confidence,
        evidence=(quote(failure.line),),
        related_symptoms=RELATED,
        peer=peer.name,
    )
    suggestion = SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action=f"Compare the port that it asks with those on which {safe_name(peer)} listens.",
        rationale="Containers reach each other on the inner port; a published one is for clients outside.",
        check=f"docker inspect -f '{{{{json .Config.ExposedPorts}}}}' {safe_name(peer)}",
    )
    return Finding(cause, (suggestion,))


_TIMED_OUT = re2.compile(r"(?i)timed? ?out|deadline")
_CHECK_OWN_LISTENER = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Look at the part of this container that should answer on that port.",
    rationale="The port is the container's own: no other container has a part in it.",
    check="docker logs --tail 100 {name}",
)
_USE_SERVICE_NAME = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Give it the other container's service name instead of localhost.",
    rationale="Each container has a localhost of its own; others are reached by name over a shared network.",
    check="docker inspect -f '{{range $n, $_ := .NetworkSettings.Networks}}{{$n}} {{end}}' {name}",
)
_RESTORE_NAME = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Give the container its earlier name again, or a network alias of that name.",
    rationale="Others ask for it by that name, and Docker resolves names and aliases of running containers only.",
    check="docker ps -a --format '{{.Names}} {{.Image}} {{.Status}}'",
)
_SHARE_A_NETWORK = SuggestionText(
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
