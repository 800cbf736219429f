"""Follows a failed connection to the other container: the one that is named is often the one that is ill."""

import re  # noqa: TID251 - sees at most 1000 characters of a line
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from bcon_exporter.diagnosis.failure import HANGS_OR_BREAKS, Failure, Kind, blame, may_be_a_label
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
from bcon_exporter.diagnosis.numbers import in_seconds
from bcon_exporter.diagnosis.peer_changes import change_of
from bcon_exporter.diagnosis.peer_state import AT_SOME_TIME, Around, Span, Trouble, trouble_of
from bcon_exporter.diagnosis.ways import (
    INSIDE_PENALTY,
    STRANGERS,
    of_localhost,
    of_lost_name,
    of_name,
    of_new_name,
    of_no_network,
    of_port,
    of_stranger,
)
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.findings import SymptomType

INDIRECT_PENALTY = 0.15
"""What the one that is asked needs itself explains its silence less surely."""
ALONE_PENALTY = 0.03
"""Of several dependencies only one has a trouble at all, if none that keeps it from answering."""
UNNAMED_PENALTY = 0.25
"""A dependency that is down explains a failure that names nobody less surely."""
LIKELY = 0.6
"""From here on what is known of the named peer is enough."""
AWAY_CONFIDENCE = 0.85
"""So sure it is of a container that it does not run, is paused or loops."""
SURER_THAN_CHANGES = 0.7
MAX_HOPS = 3
_WORD = re.compile(r"(?<![\w./@-])[A-Za-z][\w.-]{1,62}")
MAX_LINE = 1000
SAME_START_SECONDS = 1
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
    if not failures or any(one.points_to and one.cause.confidence >= LIKELY for one in found):
        return found
    span = _whole([failure.span for failure in failures])
    reached = all(one.kind in HANGS_OR_BREAKS for one in failures)
    of_dependencies = find_dependency_causes(asking, neighbours, around, span, reached=reached)
    names_stranger = any(_names_stranger(one, asking, neighbours) for one in failures)
    away = any(one.cause.confidence >= AWAY_CONFIDENCE for one in of_dependencies)
    if names_stranger or not away:  # else the address that nobody has any more was that of the one that is away
        found += [
            stranger
            for failure in failures
            if failure.peer is not None
            and (stranger := of_stranger(failure, failure.peer, asking, neighbours)) is not None
        ]
    if names_stranger and any(finding.cause.id not in STRANGERS for finding in found):
        return found
    if reached and not of_dependencies:
        declared = [one for name, _ in dependencies_of(asking) for one in neighbours.service(name, asking)]
        of_dependencies = _of_needed(declared, asking, neighbours, around, failures[-1])
    names_nobody = all(one.peer is None for one in failures)
    if not of_dependencies and names_nobody and not dependencies_of(asking):
        of_dependencies = _of_network(asking, neighbours, around, span)
    if names_stranger:
        return [*found, *(weakened(finding, UNNAMED_PENALTY * 2) for finding in of_dependencies)]
    alone = len(of_dependencies) == 1
    penalty = ALONE_PENALTY if alone and of_dependencies[0].cause.confidence < AWAY_CONFIDENCE else UNNAMED_PENALTY
    return [*found, *(weakened(finding, penalty) for finding in of_dependencies)]


def _names_stranger(failure: Failure, asking: ContainerFacts, neighbours: Neighbours) -> bool:
    """Whether the line names somebody by a name that stands for itself, and no label of the program's own."""
    if failure.peer is None or is_address(host_of(failure.peer)):
        return False
    known = neighbours.meant(host_of(failure.peer), port_of(failure.peer, failure.line), asking) is not None
    return known or failure.kind is Kind.UNRESOLVED or not may_be_a_label(failure.peer)


def _of_network(asking: ContainerFacts, neighbours: Neighbours, around: Around, span: Span) -> list[Finding]:
    """The one container on its networks that is away, where it declares no dependencies and names nobody."""
    removed = [one for one in neighbours.removed if neighbours.meant(one.name, None, asking) is not None]
    found = [
        finding
        for other in (*neighbours.sharing(asking), *removed)
        for finding in _of_troubles((other,), asking, neighbours, around, span)
    ]
    away = [one for one in found if one.cause.confidence >= AWAY_CONFIDENCE]
    return away if len(away) == 1 else []


def _with_named(failure: Failure, asking: ContainerFacts, neighbours: Neighbours) -> Failure:
    """The failure with the one word of its line that names a container here, where it has no peer yet."""
    if failure.peer is not None and (
        not may_be_a_label(failure.peer)
        or failure.kind is Kind.UNRESOLVED
        or neighbours.meant(host_of(failure.peer), None, asking) is not None
    ):
        return failure
    words = dict.fromkeys(match.group(0).rstrip(".-") for match in _WORD.finditer(failure.line[:MAX_LINE]))
    if failure.peer is not None:
        words = dict.fromkeys(word for word in words if word in _declared(asking))
    words |= dict.fromkeys(part for word in words for part in word.split("_") if part in _declared(asking))
    own = {asking.name.lower(), asking.compose.service.lower() if asking.compose is not None else ""}
    known = {
        frozenset(one.id for one in found): word
        for word in words
        if word.lower() not in own and (found := neighbours.named(word.lower(), asking))
    }
    return replace(failure, peer=next(iter(known.values()))) if len(known) == 1 else failure


def _declared(container: ContainerFacts) -> frozenset[str]:
    return frozenset(name for name, _ in dependencies_of(container))


def find_dependency_causes(
    asking: ContainerFacts, neighbours: Neighbours, around: Around, span: Span = AT_SOME_TIME, *, reached: bool = False
) -> list[Finding]:
    """Troubles of the services that Compose says it depends on."""
    found = []
    for service, condition in dependencies_of(asking):
        others = neighbours.service(service, asking)
        if condition == _COMPLETED and any(_is_completed(other) for other in others):
            continue
        found += _of_troubles(others, asking, neighbours, around, span, reached=reached)
        if reached and not found:
            found += _of_lost_alias(service, asking, neighbours)
    return found


def _of_lost_alias(service: str, asking: ContainerFacts, neighbours: Neighbours) -> list[Finding]:
    """A dependency that shares a network, on which it does not have its own name: whoever asks for it waits in vain."""
    meant = neighbours.meant(service, None, asking)
    if meant is None or meant.reach is not Reach.NO_ALIAS:
        return []
    return [of_name(meant, asking, Failure(Kind.UNRESOLVED, service, f"depends_on: {service}"))]


def dependencies_of(container: ContainerFacts) -> tuple[tuple[str, str], ...]:
    """Service and condition of each dependency that its Compose label names: "db:service_healthy:true"."""
    if container.compose is None or not container.compose.depends_on:
        return ()
    parts = (part.strip().split(":") for part in container.compose.depends_on.split(","))
    return tuple((part[0], part[1] if len(part) > 1 else "") for part in parts if part[0])


def find_namespace_causes(container: ContainerFacts, neighbours: Neighbours, around: Around) -> list[Finding]:
    """The container whose network namespace it has joined, where that one is away or was started after it.

    A namespace ends with the start after its owner's end: who had joined the earlier one has no network any more.
    """
    owner = neighbours.joined(container)
    if owner is None:
        return []
    trouble = trouble_of(owner, AT_SOME_TIME, around)
    if trouble is not None and trouble.confidence >= AWAY_CONFIDENCE:
        return [_of_owner(owner, trouble)]
    if not container.is_running or container.started_at is None or owner.started_at is None:
        return []
    if owner.started_at <= container.started_at + timedelta(seconds=SAME_START_SECONDS):
        return []
    ago = in_seconds((around.now - owner.started_at).total_seconds())
    text = f"was started anew {ago} ago, after this one: it has no network until it is restarted too"
    return [_of_owner(owner, Trouble(id="namespace_gone", text=text, confidence=0.92))]


def _of_owner(owner: ContainerFacts, trouble: Trouble) -> Finding:
    finding = blame(owner, trouble, None)
    text = f"{owner.name}, whose network it shares, {trouble.text}."
    return replace(finding, cause=finding.cause.model_copy(update={"description": text}))


def find_joined(container: ContainerFacts, neighbours: Neighbours, around: Around) -> list[Finding]:
    """The container whose network it shares, when that one's trouble keeps it from starting."""
    owner = neighbours.joined(container)
    trouble = trouble_of(owner, AT_SOME_TIME, around) if owner is not None else None
    if owner is None or trouble is None:
        return []
    finding = _of_owner(owner, trouble)
    related = (SymptomType.START_FAILED,)
    cause = finding.cause.model_copy(update={"confidence": 0.95, "related_symptoms": related})
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
    if meant is None and not is_local(host) and (lost := of_lost_name(host, port, asking, neighbours, failure)):
        return [lost]
    if meant is None:
        return [of_localhost(port, asking, neighbours, failure)] if is_local(host) else of_no_network(asking, failure)
    if meant.reach is Reach.NAMESPACE:
        return _inside(meant, port, asking, neighbours, around, failure)
    troubles = _of_troubles(
        meant.containers,
        asking,
        neighbours,
        around,
        failure.span,
        failure.line,
        reached=failure.kind in HANGS_OR_BREAKS,
    )
    if not troubles and failure.kind in HANGS_OR_BREAKS:
        troubles = _of_needed(meant.containers, asking, neighbours, around, failure)
    if meant.reach is Reach.NETWORK and not any(one.cause.confidence >= SURER_THAN_CHANGES for one in troubles):
        troubles = [*_of_changes(meant.containers, asking, around, failure), *troubles]
    if meant.reach in (Reach.APART, Reach.NO_DNS, Reach.NO_ALIAS):
        unresolved = failure.kind in (Kind.UNRESOLVED, Kind.OTHER, Kind.SILENT)
        if unresolved:  # that it shares no network says it better
            troubles = [one for one in troubles if one.cause.id != "dependency_disconnected"]
        return [*troubles, *([of_name(meant, asking, failure)] if unresolved else [])]
    if troubles:
        return troubles
    return of_port(meant, port, failure, neighbours, around)


def _of_needed(
    others: Sequence[ContainerFacts], asking: ContainerFacts, neighbours: Neighbours, around: Around, failure: Failure
) -> list[Finding]:
    """What the one that is meant needs itself and lacks, although it says nothing of it: it hangs in a call to it."""
    seen, now = {asking.id}, list(others)
    for _ in range(MAX_HOPS):
        now = [one for one in now if one.id not in seen]
        seen.update(one.id for one in now)
        needed = [(one, name) for one in now for name, condition in dependencies_of(one) if condition != _COMPLETED]
        now = []
        for one, name in needed:
            for other in neighbours.service(name, one):
                trouble = trouble_of(other, failure.span, around, asking) if other.id not in seen else None
                if trouble is not None and trouble.confidence >= AWAY_CONFIDENCE:
                    return [_by_way_of(one, other, trouble, failure)]
                now.append(other)
    return []


def _by_way_of(one: ContainerFacts, other: ContainerFacts, trouble: Trouble, failure: Failure) -> Finding:
    finding = weakened(blame(other, trouble, failure.line), INDIRECT_PENALTY)
    text = f"{other.name}, which {one.name} needs, {trouble.text}."
    return replace(finding, cause=finding.cause.model_copy(update={"description": text}))


def _of_changes(
    others: Sequence[ContainerFacts], asking: ContainerFacts, around: Around, failure: Failure
) -> list[Finding]:
    """The change of the one that is meant, since which it does not answer as before."""
    changes = [(other, change_of(other, asking, failure.span, around)) for other in others if other.id != asking.id]
    return [blame(other, change, failure.line) for other, change in changes[:1] if change is not None]


def _of_troubles(  # noqa: PLR0913 -- who, for whom, when, and how it was missed
    others: Iterable[ContainerFacts],
    asking: ContainerFacts,
    neighbours: Neighbours,
    around: Around,
    span: Span,
    line: str | None = None,
    *,
    reached: bool = False,
) -> list[Finding]:
    """The trouble of the one that is meant; none as long as one replica of several is fine."""
    troubles = [
        (other, trouble_of(other, span, around, asking, reached=reached)) for other in others if other.id != asking.id
    ]
    told = [(other, trouble) for other, trouble in troubles if trouble is not None]
    if not told or len(told) < len(troubles):
        return []
    other, trouble = max(told, key=lambda pair: pair[1].confidence)
    renamed = neighbours.new_name_of(other) if neighbours.is_removed(other) else None
    return [of_new_name(other, renamed, trouble, line) if renamed is not None else blame(other, trouble, line)]


def _inside(
    meant: Meant, port: int | None, asking: ContainerFacts, neighbours: Neighbours, around: Around, failure: Failure
) -> list[Finding]:
    """localhost, in a network namespace that several containers share: one of the others may be meant."""
    named = [one for one in meant.containers if port is not None and port in ports_of(one)]
    found: list[Finding] = []
    for other in named or meant.containers:
        found += _of_troubles((other,), asking, neighbours, around, failure.span, failure.line)
    return [weakened(finding, 0.0 if named else INSIDE_PENALTY) for finding in found]


CAUSES = {
    "namespace_gone": "the container whose network namespace it shares was restarted after it",
}
"""What this module names, and when: for the docs."""
