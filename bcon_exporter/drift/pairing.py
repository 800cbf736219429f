"""Pairs services with their containers, as Compose itself does (docker/compose v5).

Candidates are containers in any state with the project's label and a config hash. The service label groups them; their
names do not matter. One-off containers of `compose run` and those of hooks are no replicas: Compose makes them without
being asked by a difference, and takes them away itself.
"""

from dataclasses import dataclass

from bcon_exporter.drift.host_index import HostIndex
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.desired import DesiredProject, DesiredService
from bcon_exporter.model.hooks import group_hooks

_ALIVE = (ContainerState.RUNNING, ContainerState.RESTARTING)


@dataclass(frozen=True)
class ServicePairing:
    """A service that Compose wants, with its replicas, lowest number first, and its hooks in the order of their run."""

    service: DesiredService
    replicas: tuple[ContainerFacts, ...]
    hooks: tuple[ContainerFacts, ...] = ()

    @property
    def running(self) -> tuple[ContainerFacts, ...]:
        """Replicas that run or are restarting: a crash loop is a symptom, not drift."""
        return tuple(container for container in self.replicas if container.state in _ALIVE)

    @property
    def started_once(self) -> bool:
        """Whether a replica has ever been started: hooks run before that."""
        return any(container.started_at is not None for container in self.replicas)

    @property
    def done(self) -> tuple[ContainerFacts, ...]:
        """Replicas that have finished: a one-shot that ended with exit code 0 and that nobody stopped."""
        return tuple(container for container in self.replicas if self._is_done(container))

    def _is_done(self, container: ContainerFacts) -> bool:
        if container.state is not ContainerState.EXITED or container.exit_code != 0:
            return False
        if self.service.runs_once:
            return True
        stopped = container.lifecycle is not None and container.lifecycle.stop_requested is True
        return self._ends_with_0 and not stopped

    @property
    def _ends_with_0(self) -> bool:
        """Whether its restart policy leaves an end with 0 as it is: none, or one that asks for a failure."""
        policy = self.service.fields.get("restart")
        return policy is None or policy.shown.startswith("on-failure")

    @property
    def stop_requested(self) -> bool | None:
        """Whether somebody stopped every replica that is down; None when none is down or one is unknown."""
        down = [
            container for container in self.replicas if container not in self.running and container not in self.done
        ]
        verdicts = [container.lifecycle.stop_requested if container.lifecycle else None for container in down]
        if not verdicts or None in verdicts:
            return None
        return all(verdicts)


@dataclass(frozen=True)
class ProjectPairing:
    """Input of the drift rules: one project and its containers.

    Attributes:
        services: The enabled services, in the order of the project.
        orphans: Containers whose service the files do not define.
        claimants: Containers whose labels claim a service although Compose does not know them (no config hash).
    """

    project: DesiredProject
    host: HostIndex
    services: tuple[ServicePairing, ...]
    orphans: tuple[ContainerFacts, ...]
    claimants: tuple[ContainerFacts, ...]


def pair_project(project: DesiredProject, host: HostIndex) -> ProjectPairing:
    """Match a project's services with the host's containers."""
    by_service: dict[str, list[ContainerFacts]] = {}
    hooks = group_hooks(host.containers.get(project.name, ()))
    claimants: list[ContainerFacts] = []
    for container in host.containers.get(project.name, ()):
        claim = container.compose
        if claim is None or not claim.is_replica:
            continue
        if claim.config_hash is None:
            claimants.append(container)
        else:
            by_service.setdefault(claim.service, []).append(container)
    service_names = {service.name for service in project.services or ()}
    orphans = [
        container
        for name, containers in sorted(by_service.items())
        if name not in service_names
        for container in containers
    ]
    pairings = [
        ServicePairing(
            service,
            tuple(sorted(by_service.get(service.name, ()), key=_number)),
            hooks.get((project.name, service.name), ()),
        )
        for service in project.services or ()
        if service.enabled
    ]
    return ProjectPairing(project, host, tuple(pairings), tuple(orphans), tuple(claimants))


def _number(container: ContainerFacts) -> tuple[int, str]:
    return (container.compose.number if container.compose else 0, container.name)
