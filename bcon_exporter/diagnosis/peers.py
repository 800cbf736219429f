"""Finds the causes of failed connections in the containers at the other end: the named peer is often the faulty one."""

import re  # noqa: TID251 - sees at most 1000 characters of a line
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from bcon_exporter.diagnosis.connectivity import (
    UNKNOWN_PEER_CAUSES,
    explain_localhost,
    explain_renamed_peer,
    explain_unresolved_name,
    find_no_network,
    find_renamed_peer,
    find_taken_peer,
    find_unknown_peer,
    find_unnamed_taken_peer,
    find_wrong_port,
)
from bcon_exporter.diagnosis.container_lookup import (
    ContainerLookup,
    Reach,
    Target,
    host_of,
    is_address,
    is_localhost,
    is_private_address,
    port_of,
    ports_of,
)
from bcon_exporter.diagnosis.failed_connections import HANGS_OR_BREAKS, Failure, FailureKind, blame, may_be_a_label
from bcon_exporter.diagnosis.finding import Finding, adjusted
from bcon_exporter.diagnosis.peer_changes import find_change, find_restart
from bcon_exporter.diagnosis.peer_state import (
    AT_SOME_TIME,
    FailureSpan,
    HostContext,
    PeerTrouble,
    find_trouble,
    lost_network,
)
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.quantities import show_duration

LIKELY = 0.6
"""From this confidence on, findings about the named peer are enough: dependencies are not searched."""
AWAY_CONFIDENCE = 0.85
"""Lowest confidence for a peer that cannot answer: it does not run, is paused or keeps restarting."""
SURER_THAN_CHANGES = 0.7
MAX_HOPS = 3
_WORD = re.compile(r"(?<![\w./@-])[A-Za-z][\w.-]{1,62}")
MAX_LINE = 1000
SAME_START_SECONDS = 0.1
"""An owner runs before its namespace can be joined: one that began later, by more than a slewed clock, is new."""
_COMPLETED = "service_completed_successfully"


def find_peer_causes(
    failures: Sequence[Failure], client: ContainerFacts, lookup: ContainerLookup, context: HostContext
) -> list[Finding]:
    """Find causes of failed connections in the state of the named peers, or else of the declared dependencies."""
    failures = [_with_peer_from_words(failure, client, lookup) for failure in failures]
    findings = [
        finding
        for failure in failures
        if failure.peer is not None
        for finding in _find_causes_of_failure(failure, failure.peer, client, lookup, context)
    ]
    if not failures or any(finding.points_to and finding.cause.confidence >= LIKELY for finding in findings):
        return findings
    span = _union_of_spans([failure.span for failure in failures])
    reached = all(failure.kind in HANGS_OR_BREAKS for failure in failures)
    of_dependencies = find_dependency_causes(client, lookup, context, span, reached=reached)
    names_host = any(_names_host(failure, client, lookup) for failure in failures)
    is_dependency_away = any(finding.cause.confidence >= AWAY_CONFIDENCE for finding in of_dependencies)
    is_dependencys = is_dependency_away or (len(of_dependencies) == 1 and all(map(_answered_from_inside, failures)))
    if names_host or not is_dependencys:  # else the unknown address was that of the dependency
        findings += [
            unknown_peer
            for failure in failures
            if failure.peer is not None
            and (unknown_peer := find_unknown_peer(failure, failure.peer, client, lookup)) is not None
        ]
    if not names_host and not of_dependencies:
        declared_ids = {peer.id for name, _ in dependencies_of(client) for peer in lookup.of_service(name, client)}
        taken = find_unnamed_taken_peer(failures, client, lookup, context, declared_ids)
        findings = [
            *taken,
            *(finding for finding in findings if not taken or finding.cause.id not in UNKNOWN_PEER_CAUSES),
        ]
    if names_host and any(finding.cause.id not in UNKNOWN_PEER_CAUSES for finding in findings):
        return findings
    if reached and not of_dependencies:
        declared = [container for name, _ in dependencies_of(client) for container in lookup.of_service(name, client)]
        of_dependencies = _find_transitive_dependency(declared, client, lookup, context, failures[-1])
    no_peer_named = all(failure.peer is None for failure in failures)
    if not of_dependencies and no_peer_named and not dependencies_of(client):
        of_dependencies = _find_stopped_on_network(client, lookup, context, span)
    if names_host:
        return [*findings, *(adjusted(finding, "another_host_named") for finding in of_dependencies)]
    is_only = len(of_dependencies) == 1 and of_dependencies[0].cause.confidence < AWAY_CONFIDENCE
    adjustment = "only_dependency_in_trouble" if is_only else "peer_not_named"
    return [*findings, *(adjusted(finding, adjustment) for finding in of_dependencies)]


def _names_host(failure: Failure, client: ContainerFacts, lookup: ContainerLookup) -> bool:
    """Whether the line names a real host, and not a label that the program gives its peers itself."""
    if failure.peer is None or is_address(host_of(failure.peer)):
        return False
    is_container = lookup.resolve(host_of(failure.peer), port_of(failure.peer, failure.line), client) is not None
    return is_container or failure.kind is FailureKind.UNRESOLVED or not may_be_a_label(failure.peer)


def _answered_from_inside(failure: Failure) -> bool:
    """Whether somebody at a private address answered that he cannot serve: addresses of containers change."""
    if failure.peer is None or failure.kind is not FailureKind.ANSWERED:
        return False
    return is_private_address(host_of(failure.peer))


def _find_stopped_on_network(
    client: ContainerFacts, lookup: ContainerLookup, context: HostContext, span: FailureSpan
) -> list[Finding]:
    """Find the one stopped container on its networks, for a client that declares no dependencies and names no peer."""
    removed = [container for container in lookup.removed if lookup.resolve(container.name, None, client) is not None]
    findings = [
        finding
        for peer in (*lookup.on_shared_network(client), *removed)
        for finding in _find_peer_trouble((peer,), client, lookup, context, span)
    ]
    findings_away = [finding for finding in findings if finding.cause.confidence >= AWAY_CONFIDENCE]
    return findings_away if len(findings_away) == 1 else []


def _with_peer_from_words(failure: Failure, client: ContainerFacts, lookup: ContainerLookup) -> Failure:
    """Add a peer to a failure that has none, if exactly one word of its line names a container here."""
    if failure.peer is not None and (
        not may_be_a_label(failure.peer)
        or failure.kind is FailureKind.UNRESOLVED
        or lookup.resolve(host_of(failure.peer), None, client) is not None
    ):
        return failure
    words = dict.fromkeys(match.group(0).rstrip(".-") for match in _WORD.finditer(failure.line[:MAX_LINE]))
    if failure.peer is not None:
        words = dict.fromkeys(word for word in words if word in _declared_services(client))
    words |= dict.fromkeys(part for word in words for part in word.split("_") if part in _declared_services(client))
    own_names = {client.name.lower(), client.compose.service.lower() if client.compose is not None else ""}
    word_by_containers = {
        frozenset(container.id for container in containers): word
        for word in words
        if word.lower() not in own_names and (containers := lookup.with_name(word.lower(), client))
    }
    return replace(failure, peer=next(iter(word_by_containers.values()))) if len(word_by_containers) == 1 else failure


def _declared_services(container: ContainerFacts) -> frozenset[str]:
    return frozenset(name for name, _ in dependencies_of(container))


def find_dependency_causes(
    client: ContainerFacts,
    lookup: ContainerLookup,
    context: HostContext,
    span: FailureSpan = AT_SOME_TIME,
    *,
    reached: bool = False,
) -> list[Finding]:
    """Find troubles of the services that the Compose file declares as its dependencies."""
    findings = []
    for service, condition in dependencies_of(client):
        peers = lookup.of_service(service, client)
        if condition == _COMPLETED and any(_is_completed(peer) for peer in peers):
            continue
        findings += _find_peer_trouble(peers, client, lookup, context, span, reached=reached)
        if reached and not findings:
            findings += _find_missing_alias(service, client, lookup)
    return findings


def _find_missing_alias(service: str, client: ContainerFacts, lookup: ContainerLookup) -> list[Finding]:
    """Find out whether a dependency lacks its own name as an alias on the network that both share."""
    target = lookup.resolve(service, None, client)
    if target is None or target.reach is not Reach.NO_ALIAS:
        return []
    return [explain_unresolved_name(target, client, Failure(FailureKind.UNRESOLVED, service, f"depends_on: {service}"))]


def dependencies_of(container: ContainerFacts) -> tuple[tuple[str, str], ...]:
    """Return service and condition of each dependency in its Compose label: "db:service_healthy:true"."""
    if container.compose is None or not container.compose.depends_on:
        return ()
    parts = (part.strip().split(":") for part in container.compose.depends_on.split(","))
    return tuple((part[0], part[1] if len(part) > 1 else "") for part in parts if part[0])


def find_namespace_causes(container: ContainerFacts, lookup: ContainerLookup, context: HostContext) -> list[Finding]:
    """Find out whether the owner of the network namespace that it has joined is down or was started after it.

    A restart of the owner makes a new namespace: whoever had joined the old one has no network any more. An owner that
    was made anew is told by what the container depends on.
    """
    if lookup.has_lost_namespace_owner(container):
        return _find_new_owner(container, lookup)
    owner = lookup.namespace_owner(container)
    if owner is None:
        return []
    trouble = find_trouble(owner, AT_SOME_TIME, context)
    if trouble is not None and trouble.confidence >= AWAY_CONFIDENCE:
        return [_blame_namespace_owner(owner, trouble)]
    if not container.is_running or container.started_at is None or owner.started_at is None:
        return []
    if owner.started_at <= container.started_at + timedelta(seconds=SAME_START_SECONDS):
        return []
    ago = show_duration((context.now - owner.started_at).total_seconds())
    return [_blame_namespace_owner(owner, PeerTrouble.known(owner, "namespace_gone.restarted", ago=ago))]


def _find_new_owner(container: ContainerFacts, lookup: ContainerLookup) -> list[Finding]:
    """Find the one dependency that was made after it: the container whose namespace it had joined is gone."""
    services = [lookup.of_service(name, container) for name, _ in dependencies_of(container)]
    newer = [one for others in services for one in others if _is_made_after(one, container)]
    if len(newer) != 1:
        return []
    return [_blame_namespace_owner(newer[0], PeerTrouble.known(newer[0], "namespace_gone.recreated"))]


def _is_made_after(other: ContainerFacts, container: ContainerFacts) -> bool:
    return other.created_at > container.created_at


def _blame_namespace_owner(owner: ContainerFacts, trouble: PeerTrouble) -> Finding:
    finding = blame(owner, trouble, None)
    text = f"{owner.name}, whose network it shares, {trouble.text}."
    return replace(finding, cause=finding.cause.model_copy(update={"description": text}))


def find_namespace_owner_trouble(
    container: ContainerFacts, lookup: ContainerLookup, context: HostContext
) -> list[Finding]:
    """Find the trouble of the container whose network namespace it joins, for a container that cannot be started."""
    owner = lookup.namespace_owner(container)
    trouble = find_trouble(owner, AT_SOME_TIME, context) if owner is not None else None
    if owner is None or trouble is None:
        return []
    finding = adjusted(_blame_namespace_owner(owner, trouble), "named_by_engine")
    cause = finding.cause.model_copy(update={"related_symptoms": (SymptomType.START_FAILED,)})
    return [replace(finding, cause=cause)]


def _is_completed(container: ContainerFacts) -> bool:
    return not container.is_running and container.exit_code == 0 and container.started_at is not None


def _union_of_spans(spans: Sequence[FailureSpan]) -> FailureSpan:
    firsts = [span.first for span in spans if span.first is not None]
    lasts = [span.last for span in spans if span.last is not None]
    return FailureSpan(min(firsts, default=None), max(lasts, default=None))


def _find_causes_of_failure(
    failure: Failure, peer: str, client: ContainerFacts, lookup: ContainerLookup, context: HostContext
) -> list[Finding]:
    host, port = host_of(peer), port_of(peer, failure.line)
    target = lookup.resolve(host, port, client)
    taken = None if is_localhost(host) else find_taken_peer(host, client, lookup, failure, context)
    if taken is not None and (target is None or _is_out_of_reach(target)):
        return [taken]
    if target is None and not is_localhost(host) and (lost := find_renamed_peer(host, port, client, lookup, failure)):
        return [lost]
    if target is None:
        return (
            [explain_localhost(port, client, lookup, failure)]
            if is_localhost(host)
            else find_no_network(client, failure)
        )
    if target.reach is Reach.NAMESPACE:
        return _find_in_namespace(target, port, client, lookup, context, failure)
    troubles = _find_peer_trouble(
        target.containers,
        client,
        lookup,
        context,
        failure.span,
        failure.line,
        reached=failure.kind in HANGS_OR_BREAKS,
    )
    if not troubles and failure.kind in HANGS_OR_BREAKS:
        troubles = _find_transitive_dependency(target.containers, client, lookup, context, failure)
    if target.reach is Reach.NETWORK and not any(
        finding.cause.confidence >= SURER_THAN_CHANGES for finding in troubles
    ):
        troubles = [*_find_changes(target.containers, client, context, failure), *troubles]
    if target.reach in (Reach.APART, Reach.NO_DNS, Reach.NO_ALIAS):
        unresolved = failure.kind in (FailureKind.UNRESOLVED, FailureKind.OTHER, FailureKind.SILENT)
        if unresolved:  # "shares no network" says it better
            troubles = [finding for finding in troubles if finding.cause.id != "dependency_disconnected"]
        return [*troubles, *([explain_unresolved_name(target, client, failure)] if unresolved else [])]
    if troubles:
        return troubles
    return find_wrong_port(target, port, failure, lookup, context)


def _is_out_of_reach(target: Target) -> bool:
    """Whether the peer shares no network with the client, and still is on the one that it was made for."""
    return target.reach is Reach.APART and all(lost_network(container) is None for container in target.containers)


def _find_transitive_dependency(
    peers: Sequence[ContainerFacts],
    client: ContainerFacts,
    lookup: ContainerLookup,
    context: HostContext,
    failure: Failure,
) -> list[Finding]:
    """Find a dependency of the peers that is down, up to `MAX_HOPS` away: the peer may hang in a call to it."""
    seen, level = {client.id}, list(peers)
    for _ in range(MAX_HOPS):
        level = [container for container in level if container.id not in seen]
        seen.update(container.id for container in level)
        needed = [
            (container, name)
            for container in level
            for name, condition in dependencies_of(container)
            if condition != _COMPLETED
        ]
        level = []
        for container, name in needed:
            for dependency in lookup.of_service(name, container):
                trouble = find_trouble(dependency, failure.span, context, client) if dependency.id not in seen else None
                if trouble is not None and trouble.confidence >= AWAY_CONFIDENCE:
                    return [_blame_transitive(container, dependency, trouble, failure)]
                level.append(dependency)
    return []


def _blame_transitive(
    direct: ContainerFacts, dependency: ContainerFacts, trouble: PeerTrouble, failure: Failure
) -> Finding:
    finding = adjusted(blame(dependency, trouble, failure.line), "indirect_dependency")
    text = f"{dependency.name}, which {direct.name} needs, {trouble.text}."
    return replace(finding, cause=finding.cause.model_copy(update={"description": text}))


def _find_changes(
    peers: Sequence[ContainerFacts], client: ContainerFacts, context: HostContext, failure: Failure
) -> list[Finding]:
    """Find the change of the first peer since which it does not answer as before."""
    is_reached = failure.kind in HANGS_OR_BREAKS
    changes = [
        (
            peer,
            find_change(peer, client, failure.span, context)
            or (find_restart(peer, client, failure.span, context) if is_reached else None),
        )
        for peer in peers
        if peer.id != client.id
    ]
    return [blame(peer, change, failure.line) for peer, change in changes[:1] if change is not None]


def _find_peer_trouble(  # noqa: PLR0913 -- peers, client, time and kind of the failure
    peers: Iterable[ContainerFacts],
    client: ContainerFacts,
    lookup: ContainerLookup,
    context: HostContext,
    span: FailureSpan,
    line: str | None = None,
    *,
    reached: bool = False,
) -> list[Finding]:
    """Find the trouble of the peers, which are replicas of one service; none as long as one replica is fine."""
    troubles = [
        (peer, find_trouble(peer, span, context, client, reached=reached)) for peer in peers if peer.id != client.id
    ]
    in_trouble = [(peer, trouble) for peer, trouble in troubles if trouble is not None]
    if not in_trouble or len(in_trouble) < len(troubles):
        return []
    peer, trouble = max(in_trouble, key=lambda pair: pair[1].confidence)
    renamed = lookup.find_renamed(peer) if lookup.is_removed(peer) else None
    return [explain_renamed_peer(peer, renamed, trouble, line) if renamed is not None else blame(peer, trouble, line)]


def find_changed_peers(
    failures: Sequence[Failure], client: ContainerFacts, lookup: ContainerLookup, context: HostContext
) -> list[Finding]:
    """Find the named servers that were changed or started just before errors that no signature knows."""
    findings = []
    for failure in failures:
        if failure.peer is not None:
            target = lookup.resolve(host_of(failure.peer), port_of(failure.peer), client)
            if target is not None and target.reach is Reach.NETWORK:
                findings += _find_changes(target.containers, client, context, failure)
    return findings


def _find_in_namespace(
    target: Target,
    port: int | None,
    client: ContainerFacts,
    lookup: ContainerLookup,
    context: HostContext,
    failure: Failure,
) -> list[Finding]:
    """Find the neighbour in its network namespace that a connection to localhost was meant for."""
    with_port = [container for container in target.containers if port is not None and port in ports_of(container)]
    findings: list[Finding] = []
    for peer in with_port or target.containers:
        findings += _find_peer_trouble((peer,), client, lookup, context, failure.span, failure.line)
    return findings if with_port else [adjusted(finding, "shared_namespace") for finding in findings]
