"""Indexes a host's containers, networks and volumes by project: fifty projects need not search the host fifty times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot, NetworkFacts, VolumeFacts

_Resource = TypeVar("_Resource", NetworkFacts, VolumeFacts)
_PROJECT_LABEL = "com.docker.compose.project"


@dataclass(frozen=True, slots=True)
class HostIndex:
    """One snapshot, indexed by Compose project.

    Attributes:
        containers: Project → the containers whose labels claim it, in the snapshot's order.
        loose: Containers that claim no project.
        names: Name or short id → the container.
        networks: Project → the networks whose labels claim it.
        volumes: Project → the volumes whose labels claim it.
    """

    snapshot: HostSnapshot
    containers: dict[str, list[ContainerFacts]]
    loose: tuple[ContainerFacts, ...]
    names: dict[str, ContainerFacts]
    networks: dict[str, list[NetworkFacts]]
    volumes: dict[str, list[VolumeFacts]]


def index_host(snapshot: HostSnapshot | HostIndex) -> HostIndex:
    """Index a snapshot once for all comparisons; an index is returned as it is."""
    if isinstance(snapshot, HostIndex):
        return snapshot
    containers: dict[str, list[ContainerFacts]] = {}
    names: dict[str, ContainerFacts] = {}
    for container in snapshot.containers:
        names[container.short_id] = names[container.name] = container
        if container.compose is not None:
            containers.setdefault(container.compose.project, []).append(container)
    return HostIndex(
        snapshot,
        containers,
        tuple(container for container in snapshot.containers if container.compose is None),
        names,
        _by_project(snapshot.networks or ()),
        _by_project(snapshot.volumes or ()),
    )


def _by_project(resources: Sequence[_Resource]) -> dict[str, list[_Resource]]:
    by_project: dict[str, list[_Resource]] = {}
    for resource in resources:
        if project := resource.labels.get(_PROJECT_LABEL):
            by_project.setdefault(project, []).append(resource)
    return by_project
