"""What a symptom rule is, and the case that it judges."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from bcon_exporter.diagnosis import recovered_connections
from bcon_exporter.diagnosis.container_lookup import ContainerLookup
from bcon_exporter.diagnosis.host_outages import InferredShutdown
from bcon_exporter.diagnosis.last_exit import (
    KEEPS_RUNNING,
    Ending,
    EndKind,
    classify_ending,
    has_stabilised,
    has_used_up_restarts,
    is_looping,
    is_well,
    outlived_last_crash,
    was_fresh_at_first_sight,
)
from bcon_exporter.diagnosis.log_cache import LogReader
from bcon_exporter.diagnosis.log_events import LogEvent, template_of
from bcon_exporter.diagnosis.log_windows import counting_events, is_before_start
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus, HostSnapshot, Probe
from bcon_exporter.model.findings import NotEvaluated, Severity, Symptom, SymptomType
from bcon_exporter.model.signatures import Catalogue, Category, CauseText, Need, SuggestionText
from bcon_exporter.model.thresholds import Thresholds

_REASONS_KEPT = 256
PROBES_AT_LEAST = 3
"""What came with so many probes, and with nothing else, comes from them."""
_PROBE_SLACK = timedelta(seconds=0.5)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One container, its host, and the thresholds to judge it by.

    Attributes:
        use_logs: False leaves logs unread: log rules are then not evaluated.
        shutdowns: Times at which everything on the host ended together; see `find_shutdowns`.
        lookup: Finds the other containers of the host; None makes one when it is needed.
        log_reader: Keeps the events that earlier scans found in the logs.
    """

    container: ContainerFacts
    host: HostSnapshot
    thresholds: Thresholds
    catalogue: Catalogue
    use_logs: bool = True
    shutdowns: tuple[InferredShutdown, ...] = ()
    lookup: ContainerLookup | None = None
    log_reader: LogReader = field(default_factory=LogReader)

    @property
    def now(self) -> datetime:
        """When the facts were read."""
        return self.host.taken_at

    @property
    def is_running(self) -> bool:
        """True in state running; a paused container is judged by the paused rule."""
        return self.container.state is ContainerState.RUNNING

    @cached_property
    def ending(self) -> Ending:
        """How its last run ended."""
        return classify_ending(
            self.container, self.now, self.thresholds, self.shutdowns, engine_started_at=self.host.engine_started_at
        )

    @cached_property
    def down_for_good(self) -> Severity | None:
        """Severity of having used up the restarts of its policy (`on-failure:N`); None when it has not.

        It does not soften with time. One that was old when first seen is only a warning.
        """
        if not has_used_up_restarts(self.container, self.ending):
            return None
        fresh = was_fresh_at_first_sight(self.container, self.ending, self.now, self.thresholds)
        return Severity.CRITICAL if fresh else Severity.WARNING

    @property
    def may_be_oom(self) -> bool:
        """Whether a SIGKILL of unknown origin may be the OOM killer's: it has a limit, and was not restarted.

        After an OOM kill the engine restarts containers whose policy says so.
        """
        limits = self.container.limits
        limited = limits is not None and bool(limits.memory_bytes)
        return self.ending.kind is EndKind.UNKNOWN and limited and self.container.restart_policy not in KEEPS_RUNNING

    @cached_property
    def looping(self) -> bool:
        """Whether it keeps restarting."""
        return is_looping(self.container, self.now, self.thresholds) and not self.loop_is_over

    @cached_property
    def loop_is_over(self) -> bool:
        """Whether it looped because a peer was down that is back, and has run longer than ever since."""
        if not self._failed_connections or not has_stabilised(self.container, self.now):
            return False
        return recovered_connections.have_recovered(
            self._failed_connections, self.container, self._lookup, self.now, self.thresholds
        )

    @cached_property
    def well(self) -> bool:
        """Whether it runs, and has done so without a crash for long enough."""
        return self.loop_is_over or is_well(self.container, self.now, self.thresholds)

    @property
    def log_bytes_per_hour(self) -> float:
        """By how much all logs of the host grow together that nothing bounds."""
        return self._lookup.log_bytes_per_hour

    @property
    def hooks(self) -> tuple[ContainerFacts, ...]:
        """The hooks of its service that are there, in the order in which they run."""
        return self._lookup.hooks_of(self.container)

    def find_container(self, name_or_id: str) -> ContainerFacts | None:
        """Return the container of the host with this name or id; None when there is none."""
        return self._lookup.with_name_or_id(name_or_id)

    @cached_property
    def _lookup(self) -> ContainerLookup:
        return self.lookup or ContainerLookup(self.host)

    @cached_property
    def _failed_connections(self) -> tuple[LogEvent, ...]:
        return tuple(event for event in self._recent_events if any(hit.signature.transient for hit in event.hits))

    @cached_property
    def _read(self) -> tuple[LogEvent, ...]:
        """All events in its log, of whatever time, also those that recovered."""
        if not self.use_logs:
            return ()
        events = self._read_log(self.container)
        by_probes = self._templates_of_probes(events)
        return tuple(
            event
            for event in events
            if not (event.hits and self._is_by_own_check(event)) and template_of(event.text) not in by_probes
        )

    def _templates_of_probes(self, events: Sequence[LogEvent]) -> frozenset[str]:
        """Return the kinds of events that its own passing health check causes: they come with its probes, and only so.

        A check that asks without a user or a database succeeds, and the server logs what it asked for.
        """
        health = self.container.health
        if health is None or health.status is not HealthStatus.HEALTHY or len(health.probes) < PROBES_AT_LEAST:
            return frozenset()
        since, until = health.probes[0].started_at - _PROBE_SLACK, health.probes[-1].ended_at + _PROBE_SLACK
        times: dict[str, list[datetime]] = {}
        for event in events:
            if event.at is not None and since <= event.at <= until:
                times.setdefault(template_of(event.text), []).append(event.at)
        return frozenset(template for template, at in times.items() if _come_with_probes(at, health.probes))

    def _read_log(self, container: ContainerFacts) -> Sequence[LogEvent]:
        """Return all events in the log of this container or of a neighbour."""
        if container.logs is None:
            return ()
        return self.log_reader.read(container.id, container.logs.lines, self.catalogue)

    def _is_by_own_check(self, event: LogEvent) -> bool:
        """Whether its own passing health check causes the event: the check logs in without a valid password."""
        health = self.container.health
        if health is None or health.status is HealthStatus.UNHEALTHY:
            return False
        refused = all(hit.signature.category is Category.AUTH_FAILURE for hit in event.hits)
        return refused and any(where in event.text for where in ("@'localhost'", "@'127.0.0.1'", "@'::1'", "[local]"))

    @cached_property
    def _recent_events(self) -> tuple[LogEvent, ...]:
        """The unrecovered events in the time that counts now; see `log_windows`."""
        current = tuple(event for event in self._read if not event.recovered)
        return counting_events(current, self.container, self.ending, self.now, self.thresholds) if current else ()

    @cached_property
    def events(self) -> tuple[LogEvent, ...]:
        """The events that count now, without those that have recovered."""
        events = self._recent_events
        if not events:
            return events
        if self._failed_connections and recovered_connections.have_recovered(
            self._failed_connections, self.container, self._lookup, self.now, self.thresholds
        ):
            events = recovered_connections.drop_outage(events)
        events = recovered_connections.drop_past_slowness(events, self.container, self.now)
        events = recovered_connections.drop_past_full_disk(
            events, self.container, self._lookup, self._read_log, self.now
        )
        if outlived_last_crash(self.container, self.now):
            events = tuple(event for event in events if not is_before_start(event.at, self.container))
        return events

    @cached_property
    def only_rejects_logins(self) -> bool:
        """Whether its log shows no other failures than logins that it rejected."""
        hits = [hit for event in self.events if event.failed for hit in event.hits]
        failed = all(event.hits for event in self.events if event.failed)
        return bool(hits) and failed and all(hit.signature.category is Category.AUTH_FAILURE for hit in hits)

    @cached_property
    def disk_full_since(self) -> datetime | None:
        """When its log first said that no space is left; None where it does not."""
        times = (event.at for event in self.events if event.at is not None and event.shows(SymptomType.DISK_PRESSURE))
        return min(times, default=None)

    def is_over(self, symptom: SymptomType) -> bool:
        """Whether what showed `symptom` has recovered. That nothing shows it any more is not enough.

        It has if the log shows it only in events that were retried with success, or that a requested stop or restart
        made history. An exit has recovered after a start on request.
        """
        if symptom is SymptomType.EXIT_ERROR:
            lifecycle = self.container.lifecycle
            return self.is_running and lifecycle is not None and (not lifecycle.exits or lifecycle.exits[-1].requested)
        return any(event.shows(symptom) for event in self._read) and not any(
            event.shows(symptom) for event in self.events
        )

    @cached_property
    def has_advice_from_log(self) -> bool:
        """Whether a signature in its log has suggestions: "read the log" would then add nothing."""
        return any(hit.signature.suggestions for event in self.events for hit in event.hits)

    def symptom(self, rule_type: SymptomType, severity: Severity, description: str, *evidence: str) -> Symptom:
        """Make a symptom of confidence 1, detected now."""
        return Symptom(
            type=rule_type, severity=severity, description=description, evidence=evidence, detected_at=self.now
        )


def _come_with_probes(times: Sequence[datetime], probes: Sequence[Probe]) -> bool:
    """Whether something happened during each of the probes, and at no other time."""
    during = [{number for number, probe in enumerate(probes) if _is_during(at, probe)} for at in times]
    return all(during) and len(set().union(*during)) == len(probes)


def _is_during(at: datetime, probe: Probe) -> bool:
    return probe.started_at - _PROBE_SLACK <= at <= probe.ended_at + _PROBE_SLACK


PRESENT = frozenset(ContainerState) - {ContainerState.REMOVING}
RUNNING = frozenset({ContainerState.RUNNING})
PAUSED = frozenset({ContainerState.PAUSED})
STARTED_ONCE = PRESENT - {ContainerState.CREATED}

Verdict = Symptom | NotEvaluated | None
"""The symptom; None when the container does not show it; NotEvaluated when that cannot be decided."""


class Verdicts(NamedTuple):
    """What the rules say about one container.

    `rule_faults`: rule that raised → what, and where. `held`: symptoms that only hysteresis still shows.
    """

    symptoms: tuple[Symptom, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()
    rule_faults: Mapping[SymptomType, str] = MappingProxyType({})
    held: frozenset[SymptomType] = frozenset()

    @property
    def rule_errors(self) -> tuple[SymptomType, ...]:
        """The rules that raised."""
        return tuple(self.rule_faults)


@dataclass(frozen=True, slots=True)
class Advice:
    """Causes from the state, not from the log, and steps that are not those of its causes.

    Texts may have placeholders: `{memory_limit}`.
    """

    causes: tuple[CauseText, ...] = ()
    suggestions: tuple[SuggestionText, ...] = ()

    @property
    def steps(self) -> tuple[SuggestionText, ...]:
        """What to do: the steps of its causes, then its own."""
        return (*(step for cause in self.causes for step in cause.steps), *self.suggestions)

    def without_unknown(self, known: frozenset[Need]) -> "Advice":
        """Return the advice without causes that need a fact which is not known."""
        return replace(self, causes=tuple(cause for cause in self.causes if known.issuperset(cause.needs)))


def _no_advice(_case: Case) -> Advice:
    return Advice()


@dataclass(frozen=True, slots=True)
class Measured:
    """How a usage symptom is measured: a ratio, None where it is unknown."""

    ratio: Callable[[ContainerFacts], float | None]


class Hysteresis(Enum):
    """How long a symptom is shown after it was last seen.

    Attributes:
        NONE: As long as it is seen: it is a state that can be read again.
        EVENT: For some scans and seconds: it comes from something that happened.
    """

    NONE = "none"
    EVENT = "event"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SymptomRule:
    """One symptom: when it can occur, which facts it needs, how it is judged, and what follows.

    Attributes:
        states: Elsewhere the symptom cannot be there (a stopped container has no load): it is absent.
        applies: A further condition besides `states`; None where there is none.
        needs: Facts without which `judge` is not called; the symptom is then not evaluated.
        judge: Pure. If it raises, the report names the rule.
        description: The condition in one sentence, for the docs.
        conditions: When it is there, in few words, each with its severity; names of thresholds stand for their numbers.
        ages: How its severity softens with time; empty when it does not.
        unknown_when: When it cannot be judged.
        source: Where the condition comes from; after a semicolon, why.
        hysteresis: How long it is shown; a measured one until it is below its threshold for some scans, by a margin.
        threshold: The ratio from which on it is there; None for what no ratio decides.
        decides: While it cannot be evaluated, the container counts as not checked.
        from_log: Its causes come from the log; while the log cannot be read, the causes of the last scan stay.
        is_failure: A new image may have caused it.
    """

    type: SymptomType
    hysteresis: Hysteresis | Measured
    threshold: Callable[[Thresholds], float] | None = None
    decides: bool
    from_log: bool
    is_failure: bool
    states: frozenset[ContainerState] = PRESENT
    applies: Callable[[Case], bool] | None = None
    needs: tuple[str, ...] = ()
    judge: Callable[[Case], Verdict]
    advise: Callable[[Case], Advice] = field(default=_no_advice)
    description: str
    conditions: tuple[tuple[str, Severity], ...]
    ages: str = ""
    unknown_when: str
    source: str

    def __post_init__(self) -> None:
        if isinstance(self.hysteresis, Measured) and self.threshold is None:
            msg = f"the rule of {self.type.value} is measured and has no threshold"
            raise TypeError(msg)


_NONE_IS_A_VALUE = frozenset({"health", "limits", "started_at", "finished_at", "restart_policy"})
"""Facts that may be None although they were read; they are unread only where `unread` says so."""


def missing_facts(container: ContainerFacts, needs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in `needs` that were not read."""
    return tuple(name for name in needs if getattr(container, name) is None and _is_unread(container, name))


def _is_unread(container: ContainerFacts, name: str) -> bool:
    never_ended = name == "exit_code" and container.state is ContainerState.CREATED
    return not (never_ended or name in _NONE_IS_A_VALUE) or name in container.unread or "inspect" in container.unread


def unknown(case: Case, rule_type: SymptomType, missing: tuple[str, ...], reason: str = "") -> NotEvaluated:
    """Report that a rule cannot be evaluated, with the snapshot's own reason where it has one."""
    unread = case.container.unread
    reasons = dict.fromkeys(
        unread.get(name) or unread.get("inspect") or case.host.unread.get(name) or "" for name in missing
    )
    reason_text = reason or "; ".join(text for text in reasons if text) or "not read in this scan"
    return _not_evaluated(rule_type, missing, reason_text)


@lru_cache(maxsize=_REASONS_KEPT)
def _not_evaluated(rule_type: SymptomType, missing: tuple[str, ...], reason: str) -> NotEvaluated:
    """Return one value for all containers of which the same cannot be judged, for the same reason."""
    return NotEvaluated(symptom=rule_type, missing=missing, reason=reason)
