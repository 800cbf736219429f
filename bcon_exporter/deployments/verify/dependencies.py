"""What a container that was created and never started waits for, as its Compose labels name it."""

from collections.abc import Mapping, Sequence

from bcon_exporter.deployments.verify.rule_context import MissingDependency
from bcon_exporter.diagnosis.last_exit import is_wanted
from bcon_exporter.diagnosis.peers import dependencies_of
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus

COMPLETED, HEALTHY = "service_completed_successfully", "service_healthy"

LONGEST_CHAIN = 50

Replicas = Mapping[str, Sequence[ContainerFacts]]
"""The containers of a project by service."""


def find_dependency(containers: Sequence[ContainerFacts], replicas: Replicas) -> MissingDependency | None:
    """Return what the replicas of a service wait for that were created and never started; None where none waits."""
    waiting = [one for one in containers if one.state is ContainerState.CREATED and one.started_at is None]
    found = (_blocked_by(one, replicas, frozenset()) for one in waiting if not (one.error or one.exit_code))
    return next((dependency for dependency in found if dependency is not None), None)


def _blocked_by(container: ContainerFacts, replicas: Replicas, seen: frozenset[str]) -> MissingDependency | None:
    """Return the dependency that is not ready; else the one with a condition, which came too late for Compose."""
    own = container.compose.service if container.compose else ""
    late = None
    for service, condition in dependencies_of(container):
        lacks = _lacks(replicas.get(service, ()), condition)
        if lacks is not None and service not in seen:
            return MissingDependency(service, _root_of(service, replicas, seen | {own}), *lacks)
        if condition in (COMPLETED, HEALTHY) and late is None:
            late = MissingDependency(service, service, "became ready too late", is_final=True)
    return late


def _root_of(service: str, replicas: Replicas, seen: frozenset[str]) -> str:
    """Return where the chain of those that wait ends: the first that does not wait itself.

    Labels are claims: a chain that goes on and on is followed no further.
    """
    if len(seen) > LONGEST_CHAIN:
        return service
    for container in replicas.get(service, ()):
        if container.state is ContainerState.CREATED and container.started_at is None and not container.error:
            blocked = _blocked_by(container, replicas, seen)
            if blocked is not None:
                return blocked.root
    return service


def _lacks(containers: Sequence[ContainerFacts], condition: str) -> tuple[str, bool] | None:
    """Return what is missing of a dependency, and whether it will not come any more; None where it is ready."""
    if not containers:
        return "has no container", False
    found = (_lack_of(container, condition) for container in containers)
    return next((lack for lack in found if lack is not None), None)


def _lack_of(container: ContainerFacts, condition: str) -> tuple[str, bool] | None:
    gone = container.state is ContainerState.EXITED and not is_wanted(container)
    if container.state is ContainerState.CREATED:
        return ("could not be started", True) if container.error else ("was never started", False)
    if condition == COMPLETED:
        if container.state is ContainerState.EXITED and container.exit_code == 0:
            return None
        return ("is still running", False) if container.is_running else ("did not end with 0", gone)
    if container.state is ContainerState.EXITED:
        return f"ended with code {container.exit_code}", gone
    if container.state is not ContainerState.RUNNING:
        return f"is {container.state.value}", gone
    status = container.health.status if container.health is not None else HealthStatus.NONE
    if condition == HEALTHY and status is not HealthStatus.HEALTHY:
        return ("is unhealthy" if status is HealthStatus.UNHEALTHY else "is not healthy yet"), False
    return None
