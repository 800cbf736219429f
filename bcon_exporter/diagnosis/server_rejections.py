"""Finds why a server rejected a request: wrong credentials, no such database, no space, no connection left.

The server is up and was reached. Its own state, or what changed there, may still be why.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import re2

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.container_lookup import ContainerLookup, Reach, host_of, is_address, port_of
from bcon_exporter.diagnosis.failed_connections import CERTIFICATE_EXPIRED, Failure, FailureKind, blame
from bcon_exporter.diagnosis.finding import Finding, finding_of, quote
from bcon_exporter.diagnosis.last_exit import was_recreated
from bcon_exporter.diagnosis.peer_changes import WORKED_SECONDS, find_change, has_worked
from bcon_exporter.diagnosis.peer_state import (
    HostContext,
    PeerTrouble,
    RejectedLogin,
    adjust_trouble,
    find_trouble,
)
from bcon_exporter.diagnosis.peers import dependencies_of
from bcon_exporter.diagnosis.server_kinds import candidates_for, find_server
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import SymptomType

_MADE_BY_JOBS = frozenset({"missing_table", "missing_in_service", "missing_in_service_topic"})
_JOB = re2.compile(r"migrat|seed|schema|init|setup|bootstrap|fixture")
"""Common names of jobs that fill a database."""
_ITS_OWN_STATE: Mapping[str, str] = {
    "peer_disk_full": "dependency_refuses_work.disk_full",
    "peer_out_of_memory": "dependency_refuses_work.out_of_memory",
    "peer_not_serving": "dependency_refuses_work.not_serving",
    "memory_own_limit": "dependency_refuses_work.memory_full",
    "redis_cannot_persist": "dependency_refuses_work.cannot_persist",
    "connections_exhausted": "dependency_refuses_work",
    "peer_starting": "dependency_refuses_work.not_up",
    "peer_read_only": "dependency_refuses_work.read_only",
}
"""Signatures of what a server says about itself → the cause."""


def find_rejection_causes(
    failures: Sequence[Failure], client: ContainerFacts, lookup: ContainerLookup, context: HostContext
) -> list[Finding]:
    """Find the servers that rejected requests, where their own state or a change there explains it."""
    findings = []
    for failure in failures:
        if failure.signature in _MADE_BY_JOBS:
            findings += _of_failed_jobs(failure, client, lookup, context)
        server = _server_of(failure, client, lookup)
        trouble = None if server is None else _find_server_trouble(server, failure, client, context)
        if server is not None and trouble is not None:
            finding = blame(server, trouble, failure.line)
            related = (SymptomType.LOG_ERROR, *finding.cause.related_symptoms)
            cause = finding.cause.model_copy(update={"related_symptoms": tuple(dict.fromkeys(related))})
            findings.append(replace(finding, cause=cause))
    return findings


def find_refused_client(
    server: ContainerFacts, rejected_logins: Mapping[str, Sequence[RejectedLogin]]
) -> Finding | None:
    """Find the one client whose logins the server has rejected since the client was recreated.

    The client's settings changed, not the server's: other clients may work well.
    """
    refused = rejected_logins.get(server.id, ())
    since_made = next((login for login in refused if _rejected_since_created(login, server)), None)
    if since_made is None or any(login.client.id != since_made.client.id for login in refused):
        return None
    client = since_made.client
    cause = known_cause("wrong_credentials.recreated_client", client=client.name)
    return finding_of(cause, (quote(since_made.line),), (SymptomType.LOG_ERROR,), client.name, client.id)


def _rejected_since_created(rejected_logins: RejectedLogin, server: ContainerFacts) -> bool:
    """Whether the client was recreated, after the server, and rejected soon after: it never worked."""
    made = rejected_logins.client.created_at
    soon = rejected_logins.first is not None and rejected_logins.first - made < timedelta(seconds=WORKED_SECONDS)
    return was_recreated(rejected_logins.client) and soon and made > server.created_at


def find_rejected_logins(
    failed_connections: Iterable[tuple[ContainerFacts, Sequence[Failure]]], lookup: ContainerLookup
) -> dict[str, list[RejectedLogin]]:
    """Find the clients whose logins each server rejects, by the server's full id.

    Args:
        failed_connections: Of each container that has symptoms.
        lookup: Who may be asked.
    """
    logins: dict[str, list[RejectedLogin]] = defaultdict(list)
    for client, failures in failed_connections:
        for failure in failures:
            server = _server_of(failure, client, lookup) if failure.kind is FailureKind.DENIED else None
            if server is not None:
                logins[server.id].append(RejectedLogin(client, failure.span.first, failure.line))
    return logins


def _of_failed_jobs(
    failure: Failure, client: ContainerFacts, lookup: ContainerLookup, context: HostContext
) -> list[Finding]:
    """Find failed jobs of its project that should have created what is missing."""
    declared = {service for service, _ in dependencies_of(client)}
    jobs = [
        container
        for container in lookup.in_project(client)
        if container.state is ContainerState.EXITED
        and container.exit_code
        and container.compose is not None
        and (container.compose.service in declared or _JOB.search(container.compose.service.lower()) is not None)
    ]
    troubles = [(job, find_trouble(job, failure.span, context)) for job in jobs]
    return [blame(job, trouble, failure.line) for job, trouble in troubles if trouble is not None]


def _server_of(failure: Failure, client: ContainerFacts, lookup: ContainerLookup) -> ContainerFacts | None:
    """Return the server that the line names, or else the only one of the right kind that the client may use.

    Where no kind can be told it is the client's only dependency.
    """
    if failure.peer is not None and not is_address(host_of(failure.peer)):
        target = lookup.resolve(host_of(failure.peer), port_of(failure.peer, failure.line), client)
        if target is not None and target.reach is Reach.NETWORK and len(target.containers) == 1:
            return target.containers[0]
    declared = [container for name, _ in dependencies_of(client) for container in lookup.of_service(name, client)]
    only = declared[0] if len(declared) == 1 and failure.peer is None else None
    if failure.signature == CERTIFICATE_EXPIRED:
        return only
    services = (service for service, _ in dependencies_of(client))
    return find_server(failure.line, client, candidates_for(client, services, lookup)) or only


def _find_server_trouble(
    server: ContainerFacts, failure: Failure, client: ContainerFacts, context: HostContext
) -> PeerTrouble | None:
    if failure.signature == CERTIFICATE_EXPIRED:
        return PeerTrouble.known(server, "certificate_expired.of_server")
    name = _ITS_OWN_STATE.get(failure.signature)
    if name is not None:
        trouble = PeerTrouble.known(server, name)
        own = find_trouble(server, failure.span, context, reached=True)
        known = own is not None and own.confidence > 0.6  # noqa: PLR2004 - surer than what it says itself
        return replace(trouble, text=f"{trouble.text}, and {own.text}") if own is not None and known else trouble
    changed = find_change(server, client, failure.span, context)
    if changed is not None:
        return adjust_trouble(changed, "changed_server_rejects")
    if not has_worked(client, failure.span):
        return None
    is_denied = failure.kind is FailureKind.DENIED
    return PeerTrouble.known(server, "dependency_changed.credentials" if is_denied else "dependency_changed")
