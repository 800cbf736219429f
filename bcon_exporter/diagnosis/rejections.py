"""What a server answered with a no: wrong credentials, no such database, no space, no connection left.

The server is up and was reached. Its own state, or what changed there, may still be why.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import re2

from bcon_exporter.diagnosis.endings import was_made_anew
from bcon_exporter.diagnosis.failure import CERTIFICATE_EXPIRED, Failure, Kind, blame
from bcon_exporter.diagnosis.finding import Finding, quote
from bcon_exporter.diagnosis.neighbours import Neighbours, Reach, host_of, is_address, port_of
from bcon_exporter.diagnosis.peer_changes import WORKED_SECONDS, change_of, has_worked
from bcon_exporter.diagnosis.peer_state import Around, Denied, Trouble, trouble_of
from bcon_exporter.diagnosis.peers import dependencies_of
from bcon_exporter.diagnosis.servers import candidates_for, find_server
from bcon_exporter.model.facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import LikelyCause, SymptomType

_MADE_BY_JOBS = frozenset({"missing_table", "missing_in_service", "missing_in_service_topic"})
CHANGED_CONFIDENCE = 0.82
"""Surer than that both sides were given different credentials, or that a migration has not run."""
_JOB = re2.compile(r"migrat|seed|schema|init|setup|bootstrap|fixture")
"""What people call a job that fills a database."""
_ITS_OWN_STATE: Mapping[str, str] = {
    "peer_disk_full": "says that it has no space left",
    "memory_own_limit": "says that its memory is full",
    "redis_cannot_persist": "says that it cannot write its data",
    "connections_exhausted": "says that it takes no more connections",
    "peer_starting": "says that it is still starting or ending",
    "peer_read_only": "says that it takes no writes",
}
"""Signatures of what a server says about itself, as the rest of a sentence."""


def find_rejection_causes(
    failures: Sequence[Failure], asking: ContainerFacts, neighbours: Neighbours, around: Around
) -> list[Finding]:
    """The servers that said no, where their own state or a change there explains it."""
    found = []
    for failure in failures:
        if failure.signature in _MADE_BY_JOBS:
            found += _of_failed_jobs(failure, asking, neighbours, around)
        server = _server_of(failure, asking, neighbours)
        trouble = None if server is None else _trouble_of(server, failure, asking, around)
        if server is not None and trouble is not None:
            finding = blame(server, trouble, failure.line)
            related = (SymptomType.LOG_ERROR, *finding.cause.related_symptoms)
            cause = finding.cause.model_copy(update={"related_symptoms": tuple(dict.fromkeys(related))})
            found.append(replace(finding, cause=cause))
    return found


def find_refused_client(server: ContainerFacts, denied: Mapping[str, Sequence[Denied]]) -> Finding | None:
    """The one client whose logins a server refuses, where it was made anew and has been refused ever since.

    Its settings changed, not the server's: others may get on well with it.
    """
    refused = denied.get(server.id, ())
    since_made = next((one for one in refused if _refused_since_made(one, server)), None)
    if since_made is None or any(one.client.id != since_made.client.id for one in refused):
        return None
    client = since_made.client
    cause = LikelyCause(
        id="wrong_credentials",
        description=f"{client.name}, made anew shortly before, asks with credentials that it refuses.",
        confidence=0.85,
        evidence=(quote(since_made.line),),
        related_symptoms=(SymptomType.LOG_ERROR,),
        peer=client.name,
    )
    return Finding(cause, (), client.id)


def _refused_since_made(denied: Denied, server: ContainerFacts) -> bool:
    """Whether the client was made anew, after the server, and was refused soon after: it never worked."""
    made = denied.client.created_at
    soon = denied.first is not None and denied.first - made < timedelta(seconds=WORKED_SECONDS)
    return was_made_anew(denied.client) and soon and made > server.created_at


def find_denied(
    failed_connections: Iterable[tuple[ContainerFacts, Sequence[Failure]]], neighbours: Neighbours
) -> dict[str, list[Denied]]:
    """Whose logins each server refuses, by the server's full id.

    Args:
        failed_connections: Of each container that has symptoms.
        neighbours: Who may be asked.
    """
    found: dict[str, list[Denied]] = defaultdict(list)
    for client, failures in failed_connections:
        for failure in failures:
            server = _server_of(failure, client, neighbours) if failure.kind is Kind.DENIED else None
            if server is not None:
                found[server.id].append(Denied(client, failure.span.first, failure.line))
    return found


def _of_failed_jobs(failure: Failure, asking: ContainerFacts, neighbours: Neighbours, around: Around) -> list[Finding]:
    """The jobs of its project that should have made what is missing, and failed."""
    declared = {service for service, _ in dependencies_of(asking)}
    jobs = [
        one
        for one in neighbours.project(asking)
        if one.state is ContainerState.EXITED
        and one.exit_code
        and one.compose is not None
        and (one.compose.service in declared or _JOB.search(one.compose.service.lower()) is not None)
    ]
    troubles = [(one, trouble_of(one, failure.span, around)) for one in jobs]
    return [blame(one, trouble, failure.line) for one, trouble in troubles if trouble is not None]


def _server_of(failure: Failure, asking: ContainerFacts, neighbours: Neighbours) -> ContainerFacts | None:
    """The server that a line names, else the only one of its kind that it may have."""
    if failure.peer is not None and not is_address(host_of(failure.peer)):
        meant = neighbours.meant(host_of(failure.peer), port_of(failure.peer, failure.line), asking)
        if meant is not None and meant.reach is Reach.NETWORK and len(meant.containers) == 1:
            return meant.containers[0]
    if failure.signature == CERTIFICATE_EXPIRED:
        declared = [one for name, _ in dependencies_of(asking) for one in neighbours.service(name, asking)]
        return declared[0] if len(declared) == 1 and failure.peer is None else None
    services = (service for service, _ in dependencies_of(asking))
    return find_server(failure.line, asking, candidates_for(asking, services, neighbours))


def _trouble_of(server: ContainerFacts, failure: Failure, asking: ContainerFacts, around: Around) -> Trouble | None:
    if failure.signature == CERTIFICATE_EXPIRED:
        text = "presents a certificate that has expired, or is not valid yet"
        return Trouble(id="certificate_expired", text=text, confidence=0.9)
    said = _ITS_OWN_STATE.get(failure.signature)
    if said is not None:
        own = trouble_of(server, failure.span, around, reached=True)
        known = own is not None and own.confidence > 0.6  # noqa: PLR2004 - surer than what it says itself
        text = f"{said}, and {own.text}" if own is not None and known else said
        return Trouble(id="dependency_refuses_work", text=text, confidence=0.85)
    changed = change_of(server, asking, failure.span, around)
    if changed is not None:
        return replace(changed, confidence=CHANGED_CONFIDENCE)
    if not has_worked(asking, failure.span):
        return None
    what = "its credentials" if failure.kind is Kind.DENIED else "what it holds"
    text = f"answered well before; {what} probably changed there since"
    return Trouble(id="dependency_changed", text=text, confidence=CHANGED_CONFIDENCE)


CAUSES = {
    "dependency_refuses_work": "the server that it asks says that it is full, starting, or takes no more connections",
}
"""What this module names, and when: for the docs."""
