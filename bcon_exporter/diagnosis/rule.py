"""The shape of a symptom rule, and what it looks at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from bcon_exporter.diagnosis import back_again
from bcon_exporter.diagnosis.endings import (
    KEEPS_RUNNING,
    Ending,
    EndKind,
    ending_of,
    has_come_up,
    has_outlived,
    has_used_up_restarts,
    is_looping,
    is_well,
    was_fresh_at_first_sight,
)
from bcon_exporter.diagnosis.log_reader import LogReader
from bcon_exporter.diagnosis.logs import LogEvent
from bcon_exporter.diagnosis.neighbours import Neighbours
from bcon_exporter.diagnosis.shutdowns import Moment
from bcon_exporter.diagnosis.windows import counting_events, is_before_start
from bcon_exporter.model.facts import ContainerFacts, ContainerState, HealthStatus, HostSnapshot
from bcon_exporter.model.findings import NotEvaluated, Severity, Symptom, SymptomType
from bcon_exporter.model.signatures import Catalogue, Category, CauseText, SuggestionText
from bcon_exporter.model.thresholds import Thresholds


@dataclass(frozen=True, kw_only=True)
class Case:
    """One container, the host around it, and the numbers to judge it by.

    Attributes:
        use_logs: False leaves logs unread: log rules are then not evaluated.
        shutdowns: Moments at which everything on the host ended together; see `find_shutdowns`.
        neighbours: The containers of the host by name, where they have been looked up already.
        log_reader: Knows what was found in the logs before.
    """

    container: ContainerFacts
    host: HostSnapshot
    thresholds: Thresholds
    catalogue: Catalogue
    use_logs: bool = True
    shutdowns: tuple[Moment, ...] = ()
    neighbours: Neighbours | None = None
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
        return ending_of(
            self.container, self.now, self.thresholds, self.shutdowns, engine_started_at=self.host.engine_started_at
        )

    @cached_property
    def down_for_good(self) -> Severity | None:
        """How bad it is that it has used up the restarts of its policy (`on-failure:N`); None when it has not.

        No time makes it better. One that was old when it was first looked at is nobody's news.
        """
        if not has_used_up_restarts(self.container, self.ending):
            return None
        fresh = was_fresh_at_first_sight(self.container, self.ending, self.now, self.thresholds)
        return Severity.CRITICAL if fresh else Severity.WARNING

    @property
    def may_be_oom(self) -> bool:
        """Whether SIGKILL of an unknown sender may be the kernel's: below a limit, and the engine let it lie.

        After an OOM kill the engine starts again what its policy wants running.
        """
        limits = self.container.limits
        limited = limits is not None and bool(limits.memory_bytes)
        return self.ending.kind is EndKind.UNKNOWN and limited and self.container.restart_policy not in KEEPS_RUNNING

    @cached_property
    def looping(self) -> bool:
        """True while it keeps restarting."""
        return is_looping(self.container, self.now, self.thresholds) and not self.loop_is_over

    @cached_property
    def loop_is_over(self) -> bool:
        """Whether it looped for want of another container that is back, and has run longer than ever since."""
        if not self._failed_connections or not has_come_up(self.container, self.now):
            return False
        return back_again.is_over(self._failed_connections, self.container, self._neighbours, self.now, self.thresholds)

    @cached_property
    def well(self) -> bool:
        """True when it runs, and has done so without a crash for long enough to say so."""
        return self.loop_is_over or is_well(self.container, self.now, self.thresholds)

    @cached_property
    def _neighbours(self) -> Neighbours:
        return self.neighbours or Neighbours(self.host)

    @cached_property
    def _failed_connections(self) -> tuple[LogEvent, ...]:
        return tuple(one for one in self._counting if any(hit.signature.transient for hit in one.hits))

    @cached_property
    def _read(self) -> tuple[LogEvent, ...]:
        """The log events that were read, whenever they happened, also those that recovered."""
        if not self.use_logs:
            return ()
        events = self._read_log(self.container)
        return tuple(event for event in events if not (event.hits and self._is_by_own_check(event)))

    def _read_log(self, container: ContainerFacts) -> Sequence[LogEvent]:
        """All events in the log of a container, this one or a neighbour."""
        if container.logs is None:
            return ()
        return self.log_reader.read(container.id, container.logs.lines, self.catalogue)

    def _is_by_own_check(self, event: LogEvent) -> bool:
        """Whether its health check provokes it: one that passes, and logs in from within without a valid password."""
        health = self.container.health
        if health is None or health.status is HealthStatus.UNHEALTHY:
            return False
        refused = all(hit.signature.category is Category.AUTH_FAILURE for hit in event.hits)
        return refused and any(where in event.text for where in ("@'localhost'", "@'127.0.0.1'", "@'::1'", "[local]"))

    @cached_property
    def _counting(self) -> tuple[LogEvent, ...]:
        """The log events that may count now; see `windows`."""
        found = tuple(event for event in self._read if not event.recovered)
        return counting_events(found, self.container, self.ending, self.now, self.thresholds) if found else ()

    @cached_property
    def events(self) -> tuple[LogEvent, ...]:
        """The log events that count now: without what is over."""
        found = self._counting
        if not found:
            return found
        if self._failed_connections and back_again.is_over(
            self._failed_connections, self.container, self._neighbours, self.now, self.thresholds
        ):
            found = back_again.without_outage(found)
        found = back_again.without_slowness(found, self.container, self.now)
        found = back_again.without_full_disk(found, self.container, self._neighbours, self._read_log, self.now)
        if has_outlived(self.container, self.now):
            found = tuple(event for event in found if not is_before_start(event.at, self.container))
        return found

    @cached_property
    def only_denies(self) -> bool:
        """Whether all that its log tells are logins that it refused."""
        hits = [hit for event in self.events if event.failed for hit in event.hits]
        failed = all(event.hits for event in self.events if event.failed)
        return bool(hits) and failed and all(hit.signature.category is Category.AUTH_FAILURE for hit in hits)

    @cached_property
    def full_since(self) -> datetime | None:
        """When its log first told that there is no space left; None where it does not."""
        times = (event.at for event in self.events if event.at is not None and event.shows(SymptomType.DISK_PRESSURE))
        return min(times, default=None)

    def is_over(self, symptom: SymptomType) -> bool:
        """Whether it is known that what showed `symptom` is over, rather than that nothing shows it any more.

        The log shows it only in what was retried with success, or in what counts no more, for somebody has stopped or
        restarted the container since. So has an exit been seen to after which the container was started by hand.
        """
        if symptom is SymptomType.EXIT_ERROR:
            past = self.container.lifecycle
            return self.is_running and past is not None and (not past.exits or past.exits[-1].requested)
        return any(event.shows(symptom) for event in self._read) and not any(
            event.shows(symptom) for event in self.events
        )

    @cached_property
    def has_advice_from_log(self) -> bool:
        """Whether what the log shows comes with advice of its own: to read the log is then no news."""
        return any(hit.signature.suggestions for event in self.events for hit in event.hits)

    def symptom(self, rule_type: SymptomType, severity: Severity, description: str, *evidence: str) -> Symptom:
        """Make a symptom of certain evidence, seen now."""
        return Symptom(
            type=rule_type, severity=severity, description=description, evidence=evidence, detected_at=self.now
        )


PRESENT = frozenset(ContainerState) - {ContainerState.REMOVING}
RUNNING = frozenset({ContainerState.RUNNING})
PAUSED = frozenset({ContainerState.PAUSED})
STARTED_ONCE = PRESENT - {ContainerState.CREATED}

Verdict = Symptom | NotEvaluated | None
"""The symptom, None when the container does not show it, or why that cannot be said."""


class Verdicts(NamedTuple):
    """What the rules say about one container. `held`: symptoms shown although they are not seen now."""

    symptoms: tuple[Symptom, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()
    rule_errors: tuple[SymptomType, ...] = ()
    held: frozenset[SymptomType] = frozenset()


@dataclass(frozen=True, slots=True)
class Advice:
    """Causes and suggestions that come from the state, not from the log. Texts may name numbers: `{memory_limit}`."""

    causes: tuple[CauseText, ...] = ()
    suggestions: tuple[SuggestionText, ...] = ()


def _no_advice(_case: Case) -> Advice:
    return Advice()


@dataclass(frozen=True, slots=True)
class Measured:
    """What a symptom of usage is judged by: the measured ratio (None where it is not known) and its threshold."""

    ratio: Callable[[ContainerFacts], float | None]
    threshold: Callable[[Thresholds], float]


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
    """One symptom: when it can be there, which facts it needs, how it is seen, and what follows.

    Attributes:
        states: Elsewhere the symptom cannot be there (a stopped container has no load): it is absent.
        applies: A closer look than `states`; None where there is nothing more to ask.
        needs: Facts without which `judge` is not called; the engine then says not evaluated.
        judge: Pure. Raises nothing on purpose; if it does, the report names the rule.
        description: The condition in one sentence, for the docs.
        conditions: In few words when it is there, and how bad each is; names of thresholds stand for their numbers.
        ages: How its severity softens with time; empty when it does not.
        unknown_when: When it cannot be judged.
        causes: Ids of the causes that `advise` may name, besides those of exit codes and refused starts.
        source: Where the condition comes from; after a semicolon, why.
        hysteresis: How long it is shown; a measured one until it is below its threshold for some scans, by a margin.
        decides: A container of which it could not be judged is not known to be healthy.
        from_log: The log tells its causes: while that cannot be read, those told before stay.
        is_failure: A new image may have brought it.
    """

    type: SymptomType
    hysteresis: Hysteresis | Measured
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
    causes: tuple[str, ...] = ()
    source: str


_NONE_IS_A_VALUE = frozenset({"health", "limits", "started_at", "finished_at", "restart_policy"})
"""Facts that a container may truly lack; they are unread only where `unread` says so."""


def missing_facts(container: ContainerFacts, needs: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `needs` that were not read."""
    return tuple(name for name in needs if getattr(container, name) is None and _is_unread(container, name))


def _is_unread(container: ContainerFacts, name: str) -> bool:
    never_ended = name == "exit_code" and container.state is ContainerState.CREATED
    return not (never_ended or name in _NONE_IS_A_VALUE) or name in container.unread or "inspect" in container.unread


def unknown(case: Case, rule_type: SymptomType, missing: tuple[str, ...], reason: str = "") -> NotEvaluated:
    """Say that a rule cannot be judged, with the snapshot's own reason where it has one."""
    unread = case.container.unread
    reasons = dict.fromkeys(
        unread.get(name) or unread.get("inspect") or case.host.unread.get(name) or "" for name in missing
    )
    told = reason or "; ".join(text for text in reasons if text) or "not read in this scan"
    return NotEvaluated(symptom=rule_type, missing=missing, reason=told)
