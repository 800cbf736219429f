"""One service of a deployment with all that was seen of it, and the shape of a rule about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from bcon_exporter.diagnosis.last_exit import ended_by_oom
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.desired import DesiredService
from bcon_exporter.model.findings import DriftType, ServiceDrift, Severity, Symptom, SymptomType
from bcon_exporter.model.hooks import find_failed
from bcon_exporter.model.lifecycle import ExitFacts
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.verify_report import VerifyCode

CLOCK_SLACK = timedelta(seconds=1)
"""Without its inspect, the second in which a container was made is all that is known."""
JUST_CREATED = timedelta(seconds=3)
"""Compose creates first and starts after."""


@dataclass(frozen=True, slots=True)
class MissingDependency:
    """What a container that never started waits for.

    Attributes:
        service: The dependency.
        root: Where the trouble begins: the dependency, or what the dependency itself waits for.
        lacks: What is missing of it, in words.
        is_final: It will not come any more.
    """

    service: str
    root: str
    lacks: str
    is_final: bool = False


@dataclass(frozen=True, kw_only=True)
class ServiceCase:
    """One service.

    Attributes:
        since: When the deployment began.
        containers: Its replicas, lowest number first.
        hooks: The containers of its hooks that are there, in the order in which they run.
        reports: The diagnosis of each, by short id; without those that filters leave out.
        hook_reports: The same of the hooks.
        differences: Where it differs from the files.
        before: Short id and symptom of what was there before the deployment.
        refused_by: Sentences of the diagnosis of containers that found nobody at a port of this one.
        dependency: What a replica that never started waits for; None where none does.
        doubt: Why it could not be compared with the files; None where it could.
    """

    service: DesiredService
    since: datetime
    now: datetime
    containers: tuple[ContainerFacts, ...] = ()
    hooks: tuple[ContainerFacts, ...] = ()
    reports: dict[str, DiagnosisReport] = field(default_factory=dict)
    hook_reports: dict[str, DiagnosisReport] = field(default_factory=dict)
    differences: tuple[ServiceDrift, ...] = ()
    before: frozenset[tuple[str, SymptomType]] = frozenset()
    refused_by: tuple[str, ...] = ()
    dependency: MissingDependency | None = None
    doubt: str | None = None

    @cached_property
    def ends(self) -> tuple[tuple[ContainerFacts, ExitFacts], ...]:
        """The ends since the deployment that nobody asked for, of the containers that are there now."""
        return tuple(
            (container, end)
            for container in self.containers
            for end in (container.lifecycle.exits if container.lifecycle else ())
            if end.at >= self.since and not (end.requested or end.shutdown) and _is_its_own(container, end)
        )

    @cached_property
    def failed_ends(self) -> tuple[tuple[ContainerFacts, ExitFacts], ...]:
        """Those with an exit code other than 0."""
        return tuple((container, end) for container, end in self.ends if end.exit_code or end.oom)

    @cached_property
    def oom_ends(self) -> tuple[tuple[ContainerFacts, ExitFacts], ...]:
        """Those by the kernel for want of memory."""
        return tuple((container, end) for container, end in self.failed_ends if ended_by_oom(container, end))

    def restarts(self, container: ContainerFacts) -> int:
        """Return how often it was restarted since the deployment without anybody asking."""
        past = container.lifecycle
        told = sum(at >= self.since for at in past.restarts[past.predecessors_restarts :]) if past else 0
        if past is not None and past.complete:
            return told
        counted = container.restart_count or 0 if container.created_at + CLOCK_SLACK >= self.since else 0
        return max(told, counted - (container.state is ContainerState.RESTARTING))

    def symptom(self, *types: SymptomType) -> Symptom | None:
        """Return the worst symptom of these types, of at least error, whether it was there before or not."""
        found = [
            one for report in self.reports.values() for one in report.symptoms if one.type in types and _is_bad(one)
        ]
        return max(found, key=lambda one: one.severity.rank, default=None)

    def new_symptom(self, *types: SymptomType) -> Symptom | None:
        """Return the worst symptom of these types, of at least error, that was not there before the deployment."""
        found = [
            one
            for short_id, report in self.reports.items()
            for one in report.symptoms
            if one.type in types and _is_bad(one) and (short_id, one.type) not in self.before
        ]
        return max(found, key=lambda one: one.severity.rank, default=None)

    def difference(self, *types: DriftType) -> ServiceDrift | None:
        """Return the first difference of these types."""
        return next((one for one in self.differences if one.drift_type in types), None)

    def in_state(self, *states: ContainerState) -> tuple[ContainerFacts, ...]:
        """Return the replicas in one of these states."""
        return tuple(container for container in self.containers if container.state in states)

    @property
    def never_started(self) -> tuple[ContainerFacts, ...]:
        """The replicas that were created and never started."""
        return tuple(one for one in self.in_state(ContainerState.CREATED) if one.started_at is None)

    @property
    def running_hook(self) -> ContainerFacts | None:
        """The hook that runs now, for a service that was never started; None where none does."""
        return next((hook for hook in self.hooks if hook.is_running), None) if self.never_started else None

    @property
    def failed_hook(self) -> ContainerFacts | None:
        """The hook for whose failure the service was never started; None where there is none."""
        return find_failed(self.hooks) if self.never_started else None

    @property
    def ailing_hook(self) -> ContainerFacts | None:
        """The hook that runs now and has a symptom of at least error; None where none has."""
        hook = self.running_hook
        report = None if hook is None else self.hook_reports.get(hook.short_id)
        return hook if report is not None and any(map(_is_bad, report.symptoms)) else None

    def is_new(self, container: ContainerFacts) -> bool:
        """Whether it was made so short a time ago that it may just not have been its turn."""
        return self.now - container.created_at <= JUST_CREATED

    def name(self, container: ContainerFacts) -> str:
        """Return how to name a replica: "it" where the service has one."""
        return "it" if len(self.containers) == 1 else container.name


def _is_its_own(container: ContainerFacts, end: ExitFacts) -> bool:
    """Whether an end is of this container, not of one that it replaced: Compose makes the new one first."""
    began = end.at - timedelta(seconds=end.lifetime_seconds or 0)
    return began + CLOCK_SLACK >= container.created_at


def _is_bad(symptom: Symptom) -> bool:
    return symptom.severity.rank >= Severity.ERROR.rank


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRule:
    """What makes a service bad.

    Attributes:
        find: What happened, in one sentence; None where it did not. Pure.
        symptoms: Of the diagnosis, those that lead to this code.
        drift_types: Of the drift, those that lead to this code.
        description: For the docs.
    """

    code: VerifyCode
    find: Callable[[ServiceCase], str | None]
    symptoms: frozenset[SymptomType] = frozenset()
    drift_types: frozenset[DriftType] = frozenset()
    description: str


def sentence(text: str) -> str:
    """Return text with a capital letter at its start."""
    return text[:1].upper() + text[1:]
