"""Says what is wrong with the container at the other end of a failed connection, as seen from the failure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bcon_exporter.diagnosis.endings import (
    Ending,
    EndKind,
    ending_of,
    is_looping,
    probably_oom,
    recent_restarts,
)
from bcon_exporter.diagnosis.exit_codes import explain_exit
from bcon_exporter.diagnosis.finding import quote
from bcon_exporter.diagnosis.numbers import in_percent, in_seconds
from bcon_exporter.diagnosis.shutdowns import Moment
from bcon_exporter.model.facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.findings import Severity, Symptom, SymptomType
from bcon_exporter.model.lifecycle import ExitFacts
from bcon_exporter.model.thresholds import Thresholds

JITTER_SECONDS = 5
READY_SECONDS = 60
"""A service that has just started may not listen yet."""
BEFORE_SECONDS = 300
"""Up to here "so long before" says more than "so long ago"."""
BUSY_RATIO = 0.9
_OF_NAMES, _BEHIND_NAMES = ("_", ".", "-"), ("_", "-")
_GROUNDS = (SymptomType.OOM_KILLED, SymptomType.DISK_PRESSURE, SymptomType.PIDS_LIMIT, SymptomType.NETWORK_ERROR)
"""Symptoms of a container that runs, in which it may not answer: the last, when it lacks what it needs itself."""
_WIDE_GROUNDS = (*_GROUNDS, SymptomType.LOG_ERROR)
"""Where it was reached and hung, broke off or answered with a failure, any error of its own may be why."""
_SLOW = (SymptomType.SLOW_RESPONSE, SymptomType.CPU_THROTTLED)
"""And warnings in which it may answer too late."""
_NOT_A_NETWORK = ("none", "host", "bridge", "default", "private", "container:", "ns:", "slirp4netns", "pasta")
"""Network modes, Podman's too, that are no network of somebody's own: such a container may have none and be well."""


@dataclass(frozen=True, slots=True)
class Denied:
    """A client whose credentials a server refused: since when (None where no time stands there), and what it said."""

    client: ContainerFacts
    first: datetime | None
    line: str


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of the whole host when one container is looked at.

    Attributes:
        symptoms: Of each judged container, by full id.
        shutdowns: Moments at which everything ended together.
        engine_started_at: When the engine came up last; None when unknown.
        removed: Ids of those that were removed a short while ago, with nobody in their place.
        denying: Ids of those whose log errors are but refused logins of their clients.
        denied: Whose logins each server refuses, by its full id.
        first_full: When each container that cannot write for want of space said so first, by full id.
    """

    now: datetime
    thresholds: Thresholds
    symptoms: Mapping[str, Sequence[Symptom]]
    shutdowns: tuple[Moment, ...] = ()
    engine_started_at: datetime | None = None
    removed: frozenset[str] = frozenset()
    denying: frozenset[str] = frozenset()
    denied: Mapping[str, Sequence[Denied]] = field(default_factory=dict)
    first_full: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """When connections failed: the first and the last time that the log still shows; None where it has no times."""

    first: datetime | None = None
    last: datetime | None = None


AT_SOME_TIME = Span()


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with a container: cause id, the rest of a sentence that begins with its name, how sure."""

    id: str
    text: str
    confidence: float
    evidence: tuple[str, ...] = ()


def trouble_of(
    other: ContainerFacts, span: Span, around: Around, asking: ContainerFacts | None = None, *, reached: bool = False
) -> Trouble | None:
    """Why `other` did not answer `asking` at the time of `span`; None when it seems fine.

    `reached` says that it was reached, and hung, broke off or answered with a failure.
    """
    match other.state:
        case ContainerState.PAUSED:
            return Trouble(id="dependency_paused", text=f"is paused{_since(_paused_at(other), around)}", confidence=0.9)
        case ContainerState.RESTARTING:
            return _restarting(other, around)
        case ContainerState.RUNNING:
            return _running(other, span, around, asking, reached=reached)
        case ContainerState.REMOVING if other.id in around.removed and other.finished_at is not None:
            return _removed(other.finished_at, span, around)
        case ContainerState.CREATED | ContainerState.EXITED | ContainerState.DEAD | ContainerState.REMOVING:
            return _stopped(other, span, around)


def _removed(at: datetime, span: Span, around: Around) -> Trouble:
    """It was there until shortly before `at`, when a scan missed it first."""
    too_early = span.last is not None and span.last < at - timedelta(seconds=READY_SECONDS)
    ago = in_seconds((around.now - at).total_seconds())
    return Trouble(id="dependency_removed", text=f"was removed {ago} ago", confidence=0.4 if too_early else 0.93)


def _paused_at(other: ContainerFacts) -> datetime | None:
    return other.lifecycle.paused_at if other.lifecycle is not None else None


def _since(at: datetime | None, around: Around) -> str:
    return "" if at is None else f", for {in_seconds((around.now - at).total_seconds())}"


def _restarting(other: ContainerFacts, around: Around) -> Trouble:
    count = len(recent_restarts(other, around.now, around.thresholds)) or other.restart_count
    times = f" ({count} restarts)" if count else ""
    code = f", the last time with code {explain_exit(other.exit_code)}" if other.exit_code is not None else ""
    return Trouble(id="dependency_restarting", text=f"keeps failing and restarting{times}{code}", confidence=0.9)


def lost_network(container: ContainerFacts) -> str | None:
    """The network that it was made for and is not connected to any more; None where it has it, or none of its own."""
    mode = container.wiring.network_mode if container.wiring is not None else ""
    if not mode or mode.startswith(_NOT_A_NETWORK) or not container.is_running:
        return None
    return None if any(network.name == mode for network in container.networks) else mode


def _running(
    other: ContainerFacts, span: Span, around: Around, asking: ContainerFacts | None, *, reached: bool
) -> Trouble | None:
    lost = lost_network(other)
    if lost is not None and not other.networks:
        text = f"was disconnected from its network ({lost}) and can be reached by nobody"
        return Trouble(id="dependency_disconnected", text=text, confidence=0.92)
    if is_looping(other, around.now, around.thresholds):
        return _restarting(other, around)
    if other.health is not None and other.health.status is HealthStatus.UNHEALTHY:
        outputs = tuple(quote(probe.output.strip()) for probe in other.health.probes[-1:] if probe.output.strip())
        return Trouble(
            id="dependency_unhealthy", text="is unhealthy: its own health check fails", confidence=0.8, evidence=outputs
        )
    told = (_not_ready(other, span), _ailing(other, around, asking, reached=reached))
    likeliest = max((one for one in told if one is not None), key=lambda one: one.confidence, default=None)
    return _came_back(other, span, around, asking) or likeliest


def _came_back(
    other: ContainerFacts, span: Span, around: Around, asking: ContainerFacts | None = None
) -> Trouble | None:
    """It was away when the connections failed, and runs again."""
    end, started = _last_end(other), other.started_at
    if end is None or started is None or span.last is None or end.at > started:
        return None
    if end.at < other.created_at and not _was_missed(end.at, other, span, asking):
        return None
    away_from = end.at - timedelta(seconds=JITTER_SECONDS)
    ready_by = started + timedelta(seconds=READY_SECONDS)
    if not (away_from <= span.last <= ready_by):
        return None
    again = in_seconds((around.now - started).total_seconds())
    how = "was restarted on request" if end.requested else _how_it_ended(other, end.exit_code, end)
    text = f"{how} {_when(end.at, span, around)}, and runs again since {again}"
    sure = span.first is None or span.first >= away_from
    return Trouble(id="dependency_restarted", text=text, confidence=0.8 if sure else 0.5)


def _was_missed(ended_at: datetime, other: ContainerFacts, span: Span, asking: ContainerFacts | None) -> bool:
    """Whether the end of the container in whose place it was put can be why connections failed.

    Not for one who asks that was made later, nor where the first failure came only after the new one ran.
    """
    if asking is not None and asking.created_at > ended_at:
        return False
    if span.first is None or other.started_at is None:
        return True
    return span.first <= other.started_at + timedelta(seconds=JITTER_SECONDS)


def _last_end(other: ContainerFacts) -> ExitFacts | None:
    return other.lifecycle.exits[-1] if other.lifecycle is not None and other.lifecycle.exits else None


def _not_ready(other: ContainerFacts, span: Span) -> Trouble | None:
    started = other.started_at
    if other.health is not None and other.health.status is HealthStatus.STARTING:
        return Trouble(
            id="dependency_starting", text="has not passed its health check yet since it started", confidence=0.6
        )
    if started is None or span.last is None or span.last > started + timedelta(seconds=READY_SECONDS):
        return None
    if span.first is not None and span.first < started - timedelta(seconds=JITTER_SECONDS):
        after = in_seconds((started - span.first).total_seconds())
        return Trouble(
            id="dependency_starting", text=f"was started only {after} after the first failure", confidence=0.7
        )
    age = in_seconds(max(0.0, (span.last - started).total_seconds()))
    return Trouble(
        id="dependency_starting", text=f"had been started only {age} before the last failure", confidence=0.5
    )


def _ailing(other: ContainerFacts, around: Around, asking: ContainerFacts | None, *, reached: bool) -> Trouble | None:
    """It runs, but has a trouble of its own in which it may not answer."""
    grounds = _WIDE_GROUNDS if reached else _GROUNDS
    bad = [
        one
        for one in around.symptoms.get(other.id, ())
        if one.type in grounds
        and one.severity.rank >= Severity.ERROR.rank
        and not _is_about(asking, one)
        and not (one.type is SymptomType.LOG_ERROR and other.id in around.denying)
    ]
    if bad:
        return Trouble(
            id="dependency_ailing",
            text=f"runs, but shows {bad[0].type.value}",
            confidence=0.65,
            evidence=(bad[0].description,),
        )
    slow = [one for one in around.symptoms.get(other.id, ()) if reached and one.type in _SLOW]
    if slow:
        return Trouble(
            id="dependency_overloaded",
            text=f"answers late: it shows {slow[0].type.value}",
            confidence=0.65,
            evidence=(slow[0].description,),
        )
    usage = other.usage
    if usage is not None and usage.cpu_ratio is not None and usage.cpu_ratio > BUSY_RATIO:
        return Trouble(
            id="dependency_overloaded", text=f"uses {in_percent(usage.cpu_ratio)} of its CPUs", confidence=0.6
        )
    return None


def _is_about(asking: ContainerFacts | None, symptom: Symptom) -> bool:
    """Whether it is the one who asks that a symptom's evidence names: then it is the same trouble, from its far end."""
    if asking is None:
        return False
    networks = asking.networks or ()
    names = {asking.name, *(network.ip_address or "" for network in networks)} - {""}
    names |= {asking.compose.service} if asking.compose is not None else set()
    return any(_names(text, name) for name in names for text in symptom.evidence)


def _names(text: str, name: str) -> bool:
    """Whether a name stands in a text as a whole word."""
    start = text.find(name)
    while start >= 0:
        before, after = text[max(start - 1, 0) : start], text[start + len(name) : start + len(name) + 1]
        if not (before.isalnum() or before in _OF_NAMES or after.isalnum() or after in _BEHIND_NAMES):
            return True
        start = text.find(name, start + 1)
    return False


def _stopped(other: ContainerFacts, span: Span, around: Around) -> Trouble:
    ending = ending_of(other, around.now, around.thresholds, around.shutdowns, around.engine_started_at)
    trouble = _by_ending(other, ending, span, around)
    late = span.last is not None and ending.at is not None
    if late and ending.at is not None and span.last is not None:
        late = ending.at > span.last + timedelta(seconds=JITTER_SECONDS)
    if not late:
        return trouble
    # It still ran when the connections failed: its end is at most a part of the story.
    return replace(trouble, confidence=0.4)


def _by_ending(other: ContainerFacts, ending: Ending, span: Span, around: Around) -> Trouble:
    when = "" if ending.at is None else f" {_when(ending.at, span, around)}"
    if other.state is ContainerState.CREATED and ending.kind is EndKind.NONE:
        return Trouble(id="dependency_down", text="was created but never started", confidence=0.88)
    if other.state is ContainerState.CREATED or (other.error and ending.kind is EndKind.FAILED):
        error = (quote(other.error),) if other.error else ()
        return Trouble(id="dependency_down", text="could not be started by the engine", confidence=0.92, evidence=error)
    match ending.kind:
        case EndKind.REQUESTED:
            asked = "was stopped on request" if ending.certain else "was probably stopped by hand"
            return Trouble(id="dependency_stopped", text=f"{asked}{when}", confidence=0.9)
        case EndKind.SHUTDOWN | EndKind.FELL:
            return Trouble(
                id="dependency_stopped",
                text=f"ended with the engine or its host{when} and was not started",
                confidence=0.9,
            )
        case EndKind.DONE:
            return Trouble(id="dependency_down", text=f"ended with code 0{when} and does not run", confidence=0.88)
        case EndKind.FAILED | EndKind.UNKNOWN | EndKind.NONE:
            lines = ending.exit.last_lines[-1:] if ending.exit is not None else ()
            return Trouble(
                id="dependency_down",
                text=_how_it_ended(other, ending.exit_code, ending.exit) + when,
                confidence=0.92,
                evidence=lines,
            )


def _how_it_ended(other: ContainerFacts, code: int | None, end: ExitFacts | None) -> str:
    if (end is not None and end.oom) or (end is None and other.oom_killed):
        return "was OOM-killed"
    if end is not None and end.killed:
        return "was killed through the engine"
    if end is not None and probably_oom(other, end):
        return "was probably OOM-killed"
    return "does not run" if code is None else f"exited with code {explain_exit(code)}"


def _when(at: datetime, span: Span, around: Around) -> str:
    if span.first is not None:
        lead = (span.first - at).total_seconds()
        if 0 <= lead <= BEFORE_SECONDS:
            return f"{in_seconds(lead)} before"
    return f"{in_seconds((around.now - at).total_seconds())} ago"


CAUSES = {
    "dependency_down": "the named peer, or a service it depends on, has crashed, was OOM-killed, could not be started "
    "or never was",
    "dependency_stopped": "it was stopped on request, or fell with the engine or host",
    "dependency_removed": "it was removed a short while ago, and no other container was put in its place",
    "dependency_restarting": "it keeps failing and restarting",
    "dependency_restarted": "it was away when the connections failed, and runs again",
    "dependency_starting": "it was started only after the first failure, or is not healthy yet",
    "dependency_unhealthy": "the named peer is unhealthy",
    "dependency_paused": "it is paused",
    "dependency_disconnected": "it was disconnected from its network",
    "dependency_ailing": "it runs, but shows a trouble of its own: memory, disk, pids, or it cannot reach what it "
    "needs itself",
    "dependency_overloaded": "it uses all of its CPU, or shows that it answers late",
}
"""What this module names, and when: for the docs."""
