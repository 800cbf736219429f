"""Which containers stand for which service, as Compose itself decides (docker/compose v5).

Candidates are containers in any state with the project's label and a config hash; the service label groups them, names
mean nothing. One-off containers of `compose run` are no replicas.
"""

from dataclasses import dataclass

from bcon_exporter.drift.host_index import HostIndex
from bcon_exporter.model.desired import DesiredProject, DesiredService
from bcon_exporter.model.facts import ContainerFacts, ContainerState

_ALIVE = (ContainerState.RUNNING, ContainerState.RESTARTING)


@dataclass(frozen=True)
class ServicePairing:
    """A service that Compose wants, with its replicas, lowest number first."""

    service: DesiredService
    replicas: tuple[ContainerFacts, ...]

    @property
    def running(self) -> tuple[ContainerFacts, ...]:
        """Those that run, or that their restart policy is bringing back: a crash loop is no drift but a symptom."""
        return tuple(one for one in self.replicas if one.state in _ALIVE)

    @property
    def done(self) -> tuple[ContainerFacts, ...]:
        """Those that have finished what they were made for: exit 0 of a one-shot, which nobody asked to stop."""
        return tuple(one for one in self.replicas if self._is_done(one))

    def _is_done(self, container: ContainerFacts) -> bool:
        if container.state is not ContainerState.EXITED or container.exit_code != 0:
            return False
        if self.service.runs_once:
            return True
        stopped = container.lifecycle is not None and container.lifecycle.stop_requested is True
        return "restart" not in self.service.fields and not stopped

    @property
    def stop_requested(self) -> bool | None:
        """Whether somebody stopped every replica that does not run; None when unknown of one."""
        down = [one for one in self.replicas if one not in self.running and one not in self.done]
        verdicts = [one.lifecycle.stop_requested if one.lifecycle else None for one in down]
        if not verdicts or None in verdicts:
            return None
        return all(verdicts)


@dataclass(frozen=True)
class ProjectPairing:
    """Everything the drift rules see.

    Attributes:
        services: Services that Compose wants now, in the file's order of names.
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
    claimants: list[ContainerFacts] = []
    for container in host.containers.get(project.name, ()):
        claim = container.compose
        if claim is None or claim.oneoff:
            continue
        if claim.config_hash is None:
            claimants.append(container)
        else:
            by_service.setdefault(claim.service, []).append(container)
    known = {service.name for service in project.services or ()}
    orphans = [one for name, found in sorted(by_service.items()) if name not in known for one in found]
    pairings = [
        ServicePairing(service, tuple(sorted(by_service.get(service.name, ()), key=_number)))
        for service in project.services or ()
        if service.enabled
    ]
    return ProjectPairing(project, host, tuple(pairings), tuple(orphans), tuple(claimants))


def _number(container: ContainerFacts) -> tuple[int, str]:
    return (container.compose.number if container.compose else 0, container.name)
