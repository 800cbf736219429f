"""Follows a failed connection to the other container: the one that is named is often the one that is ill."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bcon_exporter.diagnosis.finding import Finding, weakened
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
from bcon_exporter.diagnosis.peer_state import AT_SOME_TIME, READY_SECONDS, Around, Span, Trouble, trouble_of
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, SymptomType, Urgency
from bcon_exporter.model.signatures import Category, CauseText, Signature, SuggestionText

RELATED = (SymptomType.NETWORK_ERROR, SymptomType.LOG_ERROR)
UNNAMED_PENALTY = 0.25
"""A dependency that is down explains a failure that names nobody less surely."""
INSIDE_PENALTY = 0.12
_COMPLETED = "service_completed_successfully"


class Kind(StrEnum):
    """How a connection failed."""

    UNRESOLVED = "unresolved"
    REFUSED = "refused"
    SILENT = "silent"
    BROKEN = "broken"
    OTHER = "other"


_KINDS = (
    ("net_dns", Kind.UNRESOLVED),
    ("net_refused", Kind.REFUSED),
    ("net_unreachable", Kind.SILENT),
    ("net_timeout", Kind.SILENT),
    ("slow_upstream", Kind.SILENT),
    ("net_reset", Kind.BROKEN),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Failed connections to one peer. `peer` is None where the log names none."""

    kind: Kind
    peer: str | None
    line: str
    span: Span = AT_SOME_TIME


def kind_of(signature: Signature) -> Kind | None:
    """How a connection failed by the signature that found it; None when it is about no connection.

    What encryption refuses is no matter of who runs where.
    """
    known = next((kind for prefix, kind in _KINDS if signature.id.startswith(prefix)), None)
    if known is not None or signature.category is not Category.NETWORK or signature.id.startswith("tls"):
        return known
    return Kind.OTHER


def find_peer_causes(
    failures: Sequence[Failure], asking: ContainerFacts, neighbours: Neighbours, around: Around
) -> list[Finding]:
    """What the state of the named peers tells about failed connections; else that of declared dependencies."""
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
    finding = _finding(owner, trouble, None)
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
        return [_localhost(port, asking, neighbours, failure)] if is_local(host) else []
    if meant.reach is Reach.NAMESPACE:
        return _inside(meant, port, asking, around, failure)
    troubles = _of_troubles(meant.containers, asking, around, failure.span, failure.line)
    if meant.reach in (Reach.APART, Reach.NO_DNS, Reach.NO_ALIAS):
        unresolved = failure.kind in (Kind.UNRESOLVED, Kind.OTHER)
        return [*troubles, *([_unseen(meant, asking, failure)] if unresolved else [])]
    if troubles:
        return troubles
    return _of_port(meant, port, failure, neighbours, around)


def _of_troubles(
    others: Iterable[ContainerFacts], asking: ContainerFacts, around: Around, span: Span, line: str | None = None
) -> list[Finding]:
    """The trouble of the one that is meant; none as long as one replica of several is fine."""
    troubles = [(other, trouble_of(other, span, around)) for other in others if other.id != asking.id]
    told = [(other, trouble) for other, trouble in troubles if trouble is not None]
    if not told or len(told) < len(troubles):
        return []
    other, trouble = max(told, key=lambda pair: pair[1].confidence)
    return [_finding(other, trouble, line)]


def _finding(other: ContainerFacts, trouble: Trouble, line: str | None) -> Finding:
    cause = LikelyCause(
        id=trouble.id,
        description=f"{other.name}, which it connects to, {trouble.text}.",
        confidence=trouble.confidence,
        evidence=(*trouble.evidence, *((line[:240],) if line else ())),
        related_symptoms=RELATED,
        peer=other.name,
    )
    return Finding(cause, (_repair_first(other),), other.id)


def _repair_first(other: ContainerFacts) -> SuggestionText:
    name = safe_name(other)
    return SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action=f"Look at {name} first: this container cannot work without it.",
        rationale="Its own report says why; once it answers again, clients that retry recover by themselves.",
        check=f"docker logs --tail 50 {name}",
    )


def _inside(meant: Meant, port: int | None, asking: ContainerFacts, around: Around, failure: Failure) -> list[Finding]:
    """localhost, in a network namespace that several containers share: one of the others may be meant."""
    named = [one for one in meant.containers if port is not None and port in ports_of(one)]
    found: list[Finding] = []
    for other in named or meant.containers:
        found += _of_troubles((other,), asking, around, failure.span, failure.line)
    return [weakened(finding, 0.0 if named else INSIDE_PENALTY) for finding in found]


def _localhost(port: int | None, asking: ContainerFacts, neighbours: Neighbours, failure: Failure) -> Finding:
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
        evidence=(failure.line[:240],),
        related_symptoms=RELATED,
    )
    return Finding(cause, (_NOT_ITSELF,) if not own else ())


def _unseen(meant: Meant, asking: ContainerFacts, failure: Failure) -> Finding:
    """The container is there, but its name does not lead to it from here."""
    other = next((one for one in meant.containers if one.is_running), meant.containers[0])
    known = other.compose is not None and asking.compose is not None
    foreign = known and other.compose.project != asking.compose.project  # type: ignore[union-attr]
    why = _UNSEEN[meant.reach]
    cause = LikelyCause(
        id=why.id,
        description=f"{other.name} {'runs' if other.is_running else 'exists'}, but {why.text}.",
        confidence=(why.confidence - (0.13 if foreign else 0)) if other.is_running else 0.5,
        evidence=(failure.line[:240],),
        related_symptoms=RELATED,
        peer=other.name,
    )
    return Finding(cause, (_CONNECT_BOTH,))


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


def _of_port(meant: Meant, port: int | None, failure: Failure, neighbours: Neighbours, around: Around) -> list[Finding]:
    """The container runs well and refuses: the port may be wrong, or a neighbour in its namespace is meant."""
    other = meant.containers[0]
    if failure.kind is not Kind.REFUSED or port is None or meant.reach is not Reach.NETWORK:
        return []
    joined = [one for one in neighbours.inside(other) if port in ports_of(one) or not ports_of(one)]
    for one in joined:
        trouble = trouble_of(one, failure.span, around)
        if trouble is not None:
            return [_finding(one, replace(trouble, confidence=trouble.confidence - INSIDE_PENALTY), failure.line)]
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
        evidence=(failure.line[:240],),
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


_NOT_ITSELF = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Give it the other container's service name instead of localhost.",
    rationale="Each container has a localhost of its own; others are reached by name over a shared network.",
    check="docker inspect -f '{{range $n, $_ := .NetworkSettings.Networks}}{{$n}} {{end}}' {name}",
)
_CONNECT_BOTH = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Put both containers on one user-defined network, under the name that is asked for.",
    rationale="Docker resolves container names and aliases on user-defined networks only, each network for itself.",
    check="docker inspect -f '{{range $n, $_ := .NetworkSettings.Networks}}{{$n}} {{end}}' {name}",
)
