"""Finds why one running container cannot reach another: an unknown name, a wrong port, localhost, no network."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import re2

from bcon_exporter.catalogue.causes import known_cause
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
from bcon_exporter.diagnosis.finding import Finding, adjusted, finding_of, quote
from bcon_exporter.diagnosis.peer_changes import JITTER_SECONDS, SOON_SECONDS, has_worked
from bcon_exporter.diagnosis.peer_state import READY_SECONDS, HostContext, PeerTrouble, find_trouble, lost_network
from bcon_exporter.diagnosis.server_kinds import has_kind, is_of_kind, kind_of_server
from bcon_exporter.diagnosis.usage_in_words import safe_name
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.quantities import show_duration
from bcon_exporter.model.signatures import CauseText


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
    if lost:
        return [_of_failure(known_cause("no_network.disconnected", network=mode), failure)]
    name = "no_network.certain" if failure.kind is FailureKind.SILENT else "no_network"
    return [_of_failure(known_cause(name), failure)]


def _of_failure(cause: CauseText, failure: Failure, peer: str | None = None, points_to: str | None = None) -> Finding:
    return finding_of(cause, (quote(failure.line),), RELATED, peer, points_to)


def find_taken_peer(
    host: str, client: ContainerFacts, lookup: ContainerLookup, failure: Failure, context: HostContext
) -> Finding | None:
    """Find the container that had this name or address until it was taken from a network that the client is on."""
    name = host.rstrip(".").strip("[]").lower()
    by_id = {taken.container.id: taken for taken in lookup.taken_from_shared_network(client) if name in taken.names}
    return _blame_taken(next(iter(by_id.values())), failure, context) if len(by_id) == 1 else None


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
    if len(taken) != 1:
        return []
    return [adjusted(_blame_taken(only, failures[-1], context), "taken_peer_not_named") for only in taken.values()]


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


def _blame_taken(taken: TakenFromNetwork, failure: Failure, context: HostContext) -> Finding:
    peer, ago = taken.container, show_duration((context.now - taken.lost.gone_at).total_seconds())
    network = taken.lost.network.name
    cause = known_cause("dependency_disconnected.from_shared", peer=peer.name, network=network, ago=ago)
    return _of_failure(cause, failure, peer.name, peer.id)


def explain_localhost(port: int | None, client: ContainerFacts, lookup: ContainerLookup, failure: Failure) -> Finding:
    """Explain a failed connection to localhost: another container is meant, or nothing listens on its own port."""
    if failure.kind in (FailureKind.SILENT, FailureKind.BROKEN):
        return _explain_hanging_localhost(port, failure)
    is_own_port = port is not None and port in ports_of(client)
    offering = lookup.with_port(port, client) if port is not None and not is_own_port else ()
    if is_own_port:
        return _of_failure(known_cause("nothing_listens.own_port", port=port), failure)
    if offering:
        name = offering[0].name
        cause = known_cause("localhost_in_container.offered", where=_localhost(port), offering=name, port=port)
        return _of_failure(cause, failure)
    return _of_failure(known_cause("localhost_in_container", where=_localhost(port)), failure)


def _localhost(port: int | None) -> str:
    return "localhost" if port is None else f"localhost:{port}"


def _explain_hanging_localhost(port: int | None, failure: Failure) -> Finding:
    """Explain a connection to localhost that hangs: packets do not get lost there, so a listener does not answer."""
    return _of_failure(known_cause("own_service_hangs", where=_localhost(port)), failure)


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
    cause = known_cause("name_lost.similar" if similar else "name_lost", renamed=renamed.name)
    return _of_failure(cause, failure, renamed.name, renamed.id)


def explain_renamed_peer(gone: ContainerFacts, new: ContainerFacts, trouble: PeerTrouble, line: str | None) -> Finding:
    """Report that the removed container seems to run under another name."""
    cause = known_cause("name_lost.replaced", gone=gone.name, trouble=trouble.text, renamed=new.name)
    cause = cause.model_copy(update={"confidence": trouble.confidence})
    return finding_of(cause, (quote(line),) if line else (), RELATED, new.name, new.id)


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
        name = "no_such_container"
    elif is_address(host):
        name = "address_gone" if _is_in_subnet_of(client, host) else "outside_peer"
    elif "." in host:
        name = "outside_name" if failure.kind is FailureKind.UNRESOLVED else "outside_peer"
    else:
        return None
    return _of_failure(known_cause(name), failure, host)


def _is_in_subnet_of(client: ContainerFacts, address: str) -> bool:
    """Whether an address seems to lie in the subnet of one of its networks: the first two numbers are compared."""
    subnet = address.split(".")[:2]
    return any((network.ip_address or "").split(".")[:2] == subnet for network in client.networks)


UNKNOWN_PEER_CAUSES = frozenset({"no_such_container", "address_gone", "outside_peer", "outside_name"})


def explain_unresolved_name(target: Target, client: ContainerFacts, failure: Failure) -> Finding:
    """Explain why the client cannot resolve the name of a container that exists."""
    peer = next((container for container in target.containers if container.is_running), target.containers[0])
    both_in_compose = peer.compose is not None and client.compose is not None
    other_project = both_in_compose and peer.compose.project != client.compose.project  # type: ignore[union-attr]
    state = "runs" if peer.is_running else "exists"
    cause = known_cause(_UNRESOLVED_CAUSES[target.reach], peer=peer.name, state=state)
    is_peers_fault = target.reach is Reach.NO_ALIAS or (lost_network(peer) and not lost_network(client))
    finding = _of_failure(cause, failure, peer.name, peer.id if is_peers_fault else None)
    if not peer.is_running:
        return adjusted(finding, "name_of_stopped_peer")
    return adjusted(finding, "another_project") if other_project else finding


_UNRESOLVED_CAUSES = {
    Reach.NO_DNS: "default_bridge_without_dns",
    Reach.NO_ALIAS: "alias_missing",
    Reach.APART: "no_shared_network",
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
            return [adjusted(blame(neighbour, trouble, failure.line), "shared_namespace")]
    names = {"peer": peer.name, "peer_name": safe_name(peer)}
    offered, inner = ports_of(peer), {binding.inner for binding in bindings_of(peer) if binding.port == port}
    if inner and port not in offered:
        cause = known_cause("published_port_used_inside", **names, port=port, inner=min(inner))
        return [_of_failure(cause, failure, peer.name)]
    if offered and port not in offered:
        ports = ", ".join(str(number) for number in sorted(offered)[:5])
        return [_of_failure(known_cause("wrong_port.configured", **names, ports=ports, port=port), failure, peer.name)]
    if peer.started_at is None or (context.now - peer.started_at).total_seconds() < READY_SECONDS:
        return []
    return [_of_failure(known_cause("peer_not_listening.for_others", **names, port=port), failure, peer.name)]


_TIMED_OUT = re2.compile(r"(?i)timed? ?out|deadline")
