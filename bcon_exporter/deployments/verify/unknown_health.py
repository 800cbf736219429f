"""Why a service that shows nothing wrong is not known to be well."""

from datetime import timedelta

from bcon_exporter.deployments.verify.rule_context import ServiceCase
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.hooks import describe_hook
from bcon_exporter.model.quantities import show_duration


def explain_unknown_health(case: ServiceCase) -> str | None:
    """Return what could not be judged, in one sentence; None where all could."""
    hook = case.running_hook
    if hook is not None:
        return f"It is not started yet: its {describe_hook(hook)} is still running{_for_how_long(hook, case)}."
    for container in case.containers:
        doubt = _of_container(case, container)
        if doubt is not None:
            return doubt
    return case.doubt


def _for_how_long(hook: ContainerFacts, case: ServiceCase) -> str:
    return "" if hook.started_at is None else f", for {show_duration((case.now - hook.started_at).total_seconds())}"


def _of_container(case: ServiceCase, container: ContainerFacts) -> str | None:
    if container.state is ContainerState.CREATED and container.started_at is None:
        return f"{container.name} was created a moment ago and is not started yet."
    if container.state in (ContainerState.RESTARTING, ContainerState.REMOVING):
        return f"{container.name} is {container.state.value}."
    if container.state is ContainerState.RUNNING and "inspect" in container.unread:
        return f"{container.name} could not be read: {container.unread['inspect']}."
    health = container.health
    if container.state is ContainerState.RUNNING and health is not None and health.status is HealthStatus.STARTING:
        return _starting(case, container)
    report = case.reports.get(container.short_id)
    if report is not None and not report.checked:
        missing = report.not_evaluated[0] if report.not_evaluated else None
        why = f": {missing.reason}" if missing is not None and missing.reason else ""
        return f"{container.name} could not be judged{why}."
    return None


def _starting(case: ServiceCase, container: ContainerFacts) -> str:
    period = container.health.start_period_seconds if container.health is not None else None
    if container.started_at is None or not period:
        return f"The health check of {container.name} has not succeeded yet."
    left = (container.started_at + timedelta(seconds=period) - case.now).total_seconds()
    if left <= 0:
        return f"The health check of {container.name} has not succeeded yet; its start period is over."
    return f"{container.name} is starting: its start period goes on for {show_duration(left)}."
