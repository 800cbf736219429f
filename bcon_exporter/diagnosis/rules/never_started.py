"""never_started: the container was created and nobody started it."""

from datetime import datetime, timedelta

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.last_exit import is_wanted
from bcon_exporter.diagnosis.peers import dependencies_of
from bcon_exporter.diagnosis.rule import Advice, Case, Hysteresis, SymptomRule, Verdict
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.hooks import describe_failure, describe_hook, find_failed, is_hook
from bcon_exporter.model.quantities import show_duration

ORCHESTRATED_SECONDS = 120
_COMPLETED, _HEALTHY = "service_completed_successfully", "service_healthy"
_SWARM = "com.docker.swarm.service.name"


def _judge(case: Case) -> Verdict:
    container = case.container
    age = case.now - container.created_at
    failed = find_failed(case.hooks)
    if container.error or container.exit_code or is_hook(container):
        return None
    if failed is None and age.total_seconds() <= _allowed_seconds(case):
        return None
    old = age > timedelta(seconds=case.thresholds.exit_age_seconds)
    severity = Severity.INFO if old and not (is_wanted(container) and _was_watched(case)) else Severity.WARNING
    why = "" if failed is None else f": its {describe_hook(failed)} {describe_failure(failed)}"
    description = f"It was created {show_duration(age.total_seconds())} ago and never started{why}."
    evidence = () if failed is None or failed.logs is None else tuple(line.text for line in failed.logs.lines[-1:])
    return case.symptom(SymptomType.NEVER_STARTED, severity, description, *evidence)


def _was_watched(case: Case) -> bool:
    """Whether it was created in the time that the history covers."""
    lifecycle = case.container.lifecycle
    return lifecycle is not None and lifecycle.observed_since <= case.container.created_at


def _allowed_seconds(case: Case) -> float:
    """Return after how many seconds it counts as never started: Compose and Swarm create first, and start later."""
    own = case.thresholds.created_seconds
    compose = case.container.compose
    if compose is None and _SWARM not in case.container.labels:
        return own
    if any(hook.is_running for hook in case.hooks):
        return float("inf")
    needed = [
        (condition, dependency)
        for name, condition in dependencies_of(case.container)
        for dependency in case.host.containers
        if compose is not None
        and dependency.compose is not None
        and (dependency.compose.project, dependency.compose.service) == (compose.project, name)
    ]
    if any(_may_still_come(condition, dependency) for condition, dependency in needed):
        return float("inf")
    if any(_has_failed(condition, dependency, case.container.created_at) for condition, dependency in needed):
        return own
    return max(own, ORCHESTRATED_SECONDS)


def _may_still_come(condition: str, dependency: ContainerFacts) -> bool:
    """Whether Compose still waits for a dependency: it is not this container's turn yet."""
    if condition == _COMPLETED and dependency.is_running:
        return True
    return dependency.is_running and dependency.health is not None and dependency.health.status is HealthStatus.STARTING


def _has_failed(condition: str, dependency: ContainerFacts, since: datetime) -> bool:
    """Whether a dependency has failed for good since, or is unhealthy: Compose then gives up at once."""
    if condition == _HEALTHY and dependency.health is not None and dependency.is_running:
        return dependency.health.status is HealthStatus.UNHEALTHY
    ended = (
        dependency.state is ContainerState.EXITED
        and dependency.finished_at is not None
        and dependency.finished_at >= since
    )
    return ended and not is_wanted(dependency) and (condition != _COMPLETED or bool(dependency.exit_code))


def _advise(_case: Case) -> Advice:
    return Advice(causes=(known_cause("not_started_yet"),))


RULE = SymptomRule(
    type=SymptomType.NEVER_STARTED,
    hysteresis=Hysteresis.NONE,
    decides=False,
    from_log=False,
    is_failure=False,
    states=frozenset({ContainerState.CREATED}),
    needs=("error", "exit_code"),
    judge=_judge,
    advise=_advise,
    description="State created for longer than thresholds.created_seconds, without an error; Compose and Swarm have "
    "two minutes, longer while a dependency or a hook that they wait for is under way, and no time once it has failed "
    "for good. A hook that waits for its turn is no such container.",
    conditions=(
        (
            "created more than {created_seconds} ago (by Compose or Swarm: 2 minutes) and never started",
            Severity.WARNING,
        ),
    ),
    ages="info for an old one that nothing wants running",
    unknown_when="when inspect failed",
    source="docs/symptoms.md#never_started",
)
