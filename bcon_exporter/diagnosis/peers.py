"""Follows a failed connection to the other container: the one that is named is often the one that is ill."""

import re  # noqa: TID251 - sees at most 1000 characters of a line
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bcon_exporter.diagnosis.failure import Failure, Kind, blame
from bcon_exporter.diagnosis.finding import Finding, weakened
from bcon_exporter.diagnosis.neighbours import (
    Meant,
    Neighbours,
    Reach,
    host_of,
    is_address,
    is_local,
    port_of,
    ports_of,
)
from bcon_exporter.diagnosis.peer_state import AT_SOME_TIME, Around, Span, trouble_of
from bcon_exporter.diagnosis.ways import INSIDE_PENALTY, of_localhost, of_name, of_no_network, of_port
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.findings import SymptomType

UNNAMED_PENALTY = 0.25
"""A dependency that is down explains a failure that names nobody less surely."""
_NAMED = re.compile(r"(?<![\w./:@-])[A-Za-z][\w.-]{0,62}:[0-9]{2,5}(?![\w.:-])")
MAX_LINE = 1000
_COMPLETED = "service_completed_successfully"


def find_peer_causes(
    failures: Sequence[Failure], asking: ContainerFacts, neighbours: Neighbours, around: Around
) -> list[Finding]:
    """What the state of the named peers tells about failed connections; else that of declared dependencies."""
    failures = [_with_named(failure, asking, neighbours) for failure in failures]
    found = [
        finding
        for failure in failures
        if failure.peer is not None
        for finding in _of_failure(failure, failure.peer, asking, neighbours, around)
    ]
    if not failures or any(finding.points_to for finding in found):
        return found
    names_stranger = any(one.peer is not None and not is_address(host_of(one.peer)) for one in failures)
    if names_stranger and found:
        return found
    span = _whole([failure.span for failure in failures])
    of_dependencies = find_dependency_causes(asking, neighbours, around, span)
    penalty = UNNAMED_PENALTY if not names_stranger else UNNAMED_PENALTY * 2
    return [*found, *(weakened(finding, penalty) for finding in of_dependencies)]


def _with_named(failure: Failure, asking: ContainerFacts, neighbours: Neighbours) -> Failure:
    """The failure with the one name and port in its line that stand for a container here, where it has no peer yet."""
    if failure.peer is not None:
        return failure
    named = dict.fromkeys(match.group(0) for match in _NAMED.finditer(failure.line[:MAX_LINE]))
    known = [one for one in named if neighbours.meant(host_of(one), port_of(one, failure.line), asking) is not None]
    return replace(failure, peer=known[0]) if len(known) == 1 else failure


def find_dependency_causes(
    asking: ContainerFacts, neighbours: Neighbours, around: Around, span: Span = AT_SOME_TIME
) -> list[Finding]:
    """Troubles of the services that Compose says it depends on."""
    found = []
    for service, condition in dependencies_of(asking):
        others = neighbours.service(service, asking)
        if condition == _COMPLETED and any(_is_completed(other) for other in others):
            continue
        found += _of_troubles(others, asking, around, span)
    return found


def dependencies_of(container: ContainerFacts) -> tuple[tuple[str, str], ...]:
    """Service and condition of each dependency that its Compose label names: "db:service_healthy:true"."""
    if container.compose is None or not container.compose.depends_on:
        return ()
    parts = (part.strip().split(":") for part in container.compose.depends_on.split(","))
    return tuple((part[0], part[1] if len(part) > 1 else "") for part in parts if part[0])


def find_joined(container: ContainerFacts, neighbours: Neighbours, around: Around) -> list[Finding]:
    """The container whose network it shares, when that one's trouble keeps it from starting."""
    owner = neighbours.joined(container)
    trouble = trouble_of(owner, AT_SOME_TIME, around) if owner is not None else None
    if owner is None or trouble is None:
        return []
    text = f"{owner.name}, whose network it shares, {trouble.text}."
    finding = blame(owner, trouble, None)
    related = (SymptomType.START_FAILED,)
    cause = finding.cause.model_copy(update={"description": text, "confidence": 0.95, "related_symptoms": related})
    return [replace(finding, cause=cause)]


def _is_completed(other: ContainerFacts) -> bool:
    return not other.is_running and other.exit_code == 0 and other.started_at is not None


def _whole(spans: Sequence[Span]) -> Span:
    firsts = [span.first for span in spans if span.first is not None]
    lasts = [span.last for span in spans if span.last is not None]
    return Span(min(firsts, default=None), max(lasts, default=None))


def _of_failure(
    failure: Failure, peer: str, asking: ContainerFacts, neighbours: Neighbours, around: Around
) -> list[Finding]:
    host, port = host_of(peer), port_of(peer, failure.line)
    meant = neighbours.meant(host, port, asking)
    if meant is None:
        return [of_localhost(port, asking, neighbours, failure)] if is_local(host) else of_no_network(asking, failure)
    if meant.reach is Reach.NAMESPACE:
        return _inside(meant, port, asking, around, failure)
    troubles = _of_troubles(meant.containers, asking, around, failure.span, failure.line)
    if meant.reach in (Reach.APART, Reach.NO_DNS, Reach.NO_ALIAS):
        unresolved = failure.kind in (Kind.UNRESOLVED, Kind.OTHER)
        return [*troubles, *([of_name(meant, asking, failure)] if unresolved else [])]
    if troubles:
        return troubles
    return of_port(meant, port, failure, neighbours, around)


def _of_troubles(
    others: Iterable[ContainerFacts], asking: ContainerFacts, around: Around, span: Span, line: str | None = None
) -> list[Finding]:
    """The trouble of the one that is meant; none as long as one replica of several is fine."""
    troubles = [(other, trouble_of(other, span, around, asking)) for other in others if other.id != asking.id]
    told = [(other, trouble) for other, trouble in troubles if trouble is not None]
    if not told or len(told) < len(troubles):
        return []
    other, trouble = max(told, key=lambda pair: pair[1].confidence)
    return [blame(other, trouble, line)]


def _inside(meant: Meant, port: int | None, asking: ContainerFacts, around: Around, failure: Failure) -> list[Finding]:
    """localhost, in a network namespace that several containers share: one of the others may be meant."""
    named = [one for one in meant.containers if port is not None and port in ports_of(one)]
    found: list[Finding] = []
    for other in named or meant.containers:
        found += _of_troubles((other,), asking, around, failure.span, failure.line)
    return [weakened(finding, 0.0 if named else INSIDE_PENALTY) for finding in found]
