"""Finds what is wrong with the container at the other end of a failed connection, at the time of the failure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Self

from bcon_exporter.catalogue.causes import adjust, known_cause
from bcon_exporter.diagnosis.exit_codes import explain_exit
from bcon_exporter.diagnosis.finding import quote
from bcon_exporter.diagnosis.host_outages import InferredShutdown
from bcon_exporter.diagnosis.last_exit import (
    Ending,
    EndKind,
    classify_ending,
    is_looping,
    probably_oom,
    recent_restarts,
)
from bcon_exporter.diagnosis.usage_in_words import in_percent, safe_name
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.findings import Severity, Symptom, SymptomType
from bcon_exporter.model.lifecycle import ExitFacts
from bcon_exporter.model.quantities import show_duration
from bcon_exporter.model.signatures import SuggestionText
from bcon_exporter.model.thresholds import Thresholds

JITTER_SECONDS = 5
READY_SECONDS = 60
"""A service may not listen yet for so long after its start."""
BEFORE_SECONDS = 300
"""Up to this distance a time is told relative to the failure ("before"), then relative to now ("ago")."""
BUSY_RATIO = 0.9
_NAME_CHARS_BEFORE, _NAME_CHARS_AFTER = ("_", ".", "-"), ("_", "-")
_BLOCKING_SYMPTOMS = (
    SymptomType.OOM_KILLED,
    SymptomType.DISK_PRESSURE,
    SymptomType.PIDS_LIMIT,
    SymptomType.NETWORK_ERROR,
)
"""Symptoms in which a running container may not answer; NETWORK_ERROR, since it lacks what it needs itself."""
_BLOCKING_WHEN_REACHED = (*_BLOCKING_SYMPTOMS, SymptomType.LOG_ERROR)
"""The same for a peer that was reached and then hung, broke off or answered with a failure: any error may be why."""
_SLOW_SYMPTOMS = (SymptomType.SLOW_RESPONSE, SymptomType.CPU_THROTTLED)
"""Symptoms in which a peer may answer too late."""
_NOT_A_NETWORK = ("none", "host", "bridge", "default", "private", "container:", "ns:", "slirp4netns", "pasta")
"""Network modes (also Podman's) without a network of their own: a container without networks is healthy there."""


@dataclass(frozen=True, slots=True)
class RejectedLogin:
    """A client whose credentials a server refused; `first` is the first refusal, None where the log has no times."""

    client: ContainerFacts
    first: datetime | None
    line: str


@dataclass(frozen=True, slots=True)
class HostContext:
    """What all searches for causes share: facts of the whole host.

    Attributes:
        symptoms: Of each judged container, by full id.
        shutdowns: Times at which everything ended together.
        engine_started_at: When the engine came up last; None when unknown.
        removed: Ids of containers that were removed a short while ago and not replaced.
        rejecting_logins: Ids of servers whose log shows no other errors than rejected logins.
        rejected_logins: The clients whose logins a server rejects, by the server's full id.
        disk_full_since: When a container first logged that no space is left, by full id.
    """

    now: datetime
    thresholds: Thresholds
    symptoms: Mapping[str, Sequence[Symptom]]
    shutdowns: tuple[InferredShutdown, ...] = ()
    engine_started_at: datetime | None = None
    removed: frozenset[str] = frozenset()
    rejecting_logins: frozenset[str] = frozenset()
    rejected_logins: Mapping[str, Sequence[RejectedLogin]] = field(default_factory=dict)
    disk_full_since: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailureSpan:
    """The times of the first and the last failed connection in the log; None where its lines have no times."""

    first: datetime | None = None
    last: datetime | None = None


AT_SOME_TIME = FailureSpan()


@dataclass(frozen=True, slots=True)
class PeerTrouble:
    """What is wrong with a container. `text` goes on a sentence that begins with the container's name."""

    id: str
    text: str
    confidence: float
    evidence: tuple[str, ...] = ()
    steps: tuple[SuggestionText, ...] = ()

    @classmethod
    def known(cls, peer: ContainerFacts, name: str, evidence: tuple[str, ...] = (), **fields: object) -> Self:
        """Return the trouble of `peer` that the catalogue tells of by this name, with its fields filled in."""
        cause = known_cause(name, peer_name=safe_name(peer), **fields)
        return cls(cause.id, cause.text, cause.confidence, evidence, cause.steps)


def find_trouble(
    peer: ContainerFacts,
    span: FailureSpan,
    context: HostContext,
    client: ContainerFacts | None = None,
    *,
    reached: bool = False,
) -> PeerTrouble | None:
    """Find why `peer` did not answer `client` in the time of `span`; None when it seems fine.

    Args:
        peer: The container that was to answer.
        span: When the connections failed.
        context: Facts of the whole host.
        client: The container that wanted to connect; None where nobody did.
        reached: The peer was reached, and hung, broke off or answered with a failure.
    """
    match peer.state:
        case ContainerState.PAUSED:
            return PeerTrouble.known(peer, "dependency_paused", since=_since(_paused_at(peer), context))
        case ContainerState.RESTARTING:
            return _restarting(peer, context)
        case ContainerState.RUNNING:
            return _running(peer, span, context, client, reached=reached)
        case ContainerState.REMOVING if peer.id in context.removed and peer.finished_at is not None:
            return _removed(peer, peer.finished_at, span, context)
        case ContainerState.CREATED | ContainerState.EXITED | ContainerState.DEAD | ContainerState.REMOVING:
            return _stopped(peer, span, context)


def _removed(peer: ContainerFacts, at: datetime, span: FailureSpan, context: HostContext) -> PeerTrouble:
    """Report a removed container; a scan missed it first at `at`."""
    ago = show_duration((context.now - at).total_seconds())
    trouble = PeerTrouble.known(peer, "dependency_removed", ago=ago)
    too_early = span.last is not None and span.last < at - timedelta(seconds=READY_SECONDS)
    return adjust_trouble(trouble, "ended_after_failure") if too_early else trouble


def adjust_trouble(trouble: PeerTrouble, name: str) -> PeerTrouble:
    """Return the same trouble, as sure as the adjustment of this id makes it."""
    return replace(trouble, confidence=adjust(trouble.confidence, name))


def _paused_at(peer: ContainerFacts) -> datetime | None:
    return peer.lifecycle.paused_at if peer.lifecycle is not None else None


def _since(at: datetime | None, context: HostContext) -> str:
    return "" if at is None else f", for {show_duration((context.now - at).total_seconds())}"


def _restarting(peer: ContainerFacts, context: HostContext) -> PeerTrouble:
    count = len(recent_restarts(peer, context.now, context.thresholds)) or peer.restart_count
    times = f" ({count} restarts)" if count else ""
    code = f", the last time with code {explain_exit(peer.exit_code)}" if peer.exit_code is not None else ""
    return PeerTrouble.known(peer, "dependency_restarting", times=times, code=code)


def lost_network(container: ContainerFacts) -> str | None:
    """Return the network that it was created for and is disconnected from; None where it is connected or needs none."""
    mode = container.wiring.network_mode if container.wiring is not None else ""
    if not mode or mode.startswith(_NOT_A_NETWORK) or not container.is_running:
        return None
    return None if any(network.name == mode for network in container.networks) else mode


def _running(
    peer: ContainerFacts, span: FailureSpan, context: HostContext, client: ContainerFacts | None, *, reached: bool
) -> PeerTrouble | None:
    lost = lost_network(peer)
    if lost is not None and not peer.networks:
        return PeerTrouble.known(peer, "dependency_disconnected", network=lost)
    if is_looping(peer, context.now, context.thresholds):
        return _restarting(peer, context)
    if peer.health is not None and peer.health.status is HealthStatus.UNHEALTHY:
        outputs = tuple(quote(probe.output.strip()) for probe in peer.health.probes[-1:] if probe.output.strip())
        return PeerTrouble.known(peer, "dependency_unhealthy", outputs)
    troubles = (_not_ready(peer, span), _ailing(peer, context, client, reached=reached))
    likeliest = max(
        (trouble for trouble in troubles if trouble is not None), key=lambda trouble: trouble.confidence, default=None
    )
    return _came_back(peer, span, context, client) or likeliest


def _came_back(
    peer: ContainerFacts, span: FailureSpan, context: HostContext, client: ContainerFacts | None = None
) -> PeerTrouble | None:
    """Report a peer that was down when the connections failed, and runs again."""
    end, started = _last_end(peer), peer.started_at
    if end is None or started is None or span.last is None or end.at > started:
        return None
    if end.at < peer.created_at and not _may_explain_failure(end.at, peer, span, client):
        return None
    away_from = end.at - timedelta(seconds=JITTER_SECONDS)
    ready_by = started + timedelta(seconds=READY_SECONDS)
    if not (away_from <= span.last <= ready_by):
        return None
    again = show_duration((context.now - started).total_seconds())
    how = "was restarted on request" if end.requested else _how_it_ended(peer, end.exit_code, end)
    failed_only_while_away = span.first is None or span.first >= away_from
    name = "dependency_restarted.only_then" if failed_only_while_away else "dependency_restarted"
    return PeerTrouble.known(peer, name, how=how, at=_when(end.at, span, context), again=again)


def _may_explain_failure(
    ended_at: datetime, peer: ContainerFacts, span: FailureSpan, client: ContainerFacts | None
) -> bool:
    """Whether the end of the container that `peer` has replaced can be why connections failed.

    It cannot for a client that was created later, nor if the first failure came only after the new one ran.
    """
    if client is not None and client.created_at > ended_at:
        return False
    if span.first is None or peer.started_at is None:
        return True
    return span.first <= peer.started_at + timedelta(seconds=JITTER_SECONDS)


def _last_end(peer: ContainerFacts) -> ExitFacts | None:
    return peer.lifecycle.exits[-1] if peer.lifecycle is not None and peer.lifecycle.exits else None


def _not_ready(peer: ContainerFacts, span: FailureSpan) -> PeerTrouble | None:
    started = peer.started_at
    if peer.health is not None and peer.health.status is HealthStatus.STARTING:
        return PeerTrouble.known(peer, "dependency_starting")
    if started is None or span.last is None or span.last > started + timedelta(seconds=READY_SECONDS):
        return None
    if span.first is not None and span.first < started - timedelta(seconds=JITTER_SECONDS):
        delay = show_duration((started - span.first).total_seconds())
        return PeerTrouble.known(peer, "dependency_starting.after_failure", delay=delay)
    age = show_duration(max(0.0, (span.last - started).total_seconds()))
    return PeerTrouble.known(peer, "dependency_starting.before_failure", age=age)


def _ailing(
    peer: ContainerFacts, context: HostContext, client: ContainerFacts | None, *, reached: bool
) -> PeerTrouble | None:
    """Find a symptom or a load of a running peer because of which it may not answer, or only late."""
    grounds = _BLOCKING_WHEN_REACHED if reached else _BLOCKING_SYMPTOMS
    bad = [
        symptom
        for symptom in context.symptoms.get(peer.id, ())
        if symptom.type in grounds
        and symptom.severity.rank >= Severity.ERROR.rank
        and not _names_client(client, symptom)
        and not (symptom.type is SymptomType.LOG_ERROR and peer.id in context.rejecting_logins)
    ]
    if bad:
        return PeerTrouble.known(peer, "dependency_ailing", (bad[0].description,), symptom=bad[0].type.value)
    slow = [symptom for symptom in context.symptoms.get(peer.id, ()) if reached and symptom.type in _SLOW_SYMPTOMS]
    if slow:
        evidence = (slow[0].description,)
        return PeerTrouble.known(peer, "dependency_overloaded.late", evidence, symptom=slow[0].type.value)
    usage = peer.usage
    if usage is not None and usage.cpu_ratio is not None and usage.cpu_ratio > BUSY_RATIO:
        return PeerTrouble.known(peer, "dependency_overloaded", cpu=in_percent(usage.cpu_ratio))
    return None


def _names_client(client: ContainerFacts | None, symptom: Symptom) -> bool:
    """Whether the symptom's evidence names the client: then both see the same trouble from two sides."""
    if client is None:
        return False
    networks = client.networks or ()
    names = {client.name, *(network.ip_address or "" for network in networks)} - {""}
    names |= {client.compose.service} if client.compose is not None else set()
    return any(_contains_word(text, name) for name in names for text in symptom.evidence)


def _contains_word(text: str, name: str) -> bool:
    """Whether the text contains the name as a whole word."""
    start = text.find(name)
    while start >= 0:
        before, after = text[max(start - 1, 0) : start], text[start + len(name) : start + len(name) + 1]
        if not (before.isalnum() or before in _NAME_CHARS_BEFORE or after.isalnum() or after in _NAME_CHARS_AFTER):
            return True
        start = text.find(name, start + 1)
    return False


def _stopped(peer: ContainerFacts, span: FailureSpan, context: HostContext) -> PeerTrouble:
    ending = classify_ending(peer, context.now, context.thresholds, context.shutdowns, context.engine_started_at)
    trouble = _by_ending(peer, ending, span, context)
    late = span.last is not None and ending.at is not None
    if late and ending.at is not None and span.last is not None:
        late = ending.at > span.last + timedelta(seconds=JITTER_SECONDS)
    return adjust_trouble(trouble, "ended_after_failure") if late else trouble


def _by_ending(peer: ContainerFacts, ending: Ending, span: FailureSpan, context: HostContext) -> PeerTrouble:
    when = "" if ending.at is None else f" {_when(ending.at, span, context)}"
    if peer.state is ContainerState.CREATED and ending.kind is EndKind.NONE:
        return PeerTrouble.known(peer, "dependency_down.never_started")
    if peer.state is ContainerState.CREATED or (peer.error and ending.kind is EndKind.FAILED):
        error = (quote(peer.error),) if peer.error else ()
        return PeerTrouble.known(peer, "dependency_down.refused", error)
    match ending.kind:
        case EndKind.REQUESTED:
            how = "was stopped on request" if ending.certain else "was probably stopped by hand"
            return PeerTrouble.known(peer, "dependency_stopped", how=how, at=when)
        case EndKind.SHUTDOWN | EndKind.LEFT_DOWN:
            return PeerTrouble.known(peer, "dependency_stopped.with_engine", at=when)
        case EndKind.DONE:
            return PeerTrouble.known(peer, "dependency_down.done", at=when)
        case EndKind.FAILED | EndKind.UNKNOWN | EndKind.NONE:
            lines = ending.exit.last_lines[-1:] if ending.exit is not None else ()
            how = _how_it_ended(peer, ending.exit_code, ending.exit)
            return PeerTrouble.known(peer, "dependency_down", lines, how=how, at=when)


def _how_it_ended(peer: ContainerFacts, code: int | None, end: ExitFacts | None) -> str:
    if (end is not None and end.oom) or (end is None and peer.oom_killed):
        return "was OOM-killed"
    if end is not None and end.killed:
        return "was killed through the engine"
    if end is not None and probably_oom(peer, end):
        return "was probably OOM-killed"
    return "does not run" if code is None else f"exited with code {explain_exit(code)}"


def _when(at: datetime, span: FailureSpan, context: HostContext) -> str:
    if span.first is not None:
        lead = (span.first - at).total_seconds()
        if 0 <= lead <= BEFORE_SECONDS:
            return f"{show_duration(lead)} before"
    return f"{show_duration((context.now - at).total_seconds())} ago"
