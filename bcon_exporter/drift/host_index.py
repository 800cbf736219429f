"""A host's containers, networks and volumes by project, so that fifty projects do not search the host fifty times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from bcon_exporter.model.facts import ContainerFacts, HostSnapshot, NetworkFacts, VolumeFacts

_Resource = TypeVar("_Resource", NetworkFacts, VolumeFacts)
_PROJECT_LABEL = "com.docker.compose.project"


@dataclass(frozen=True, slots=True)
class HostIndex:
    """One snapshot, sorted.

    Attributes:
        containers: Project → the containers that claim it, in the snapshot's order.
        loose: Containers that claim no project.
        names: Name or first digits of the id → the container.
        networks, volumes: Project → those that claim it.
    """

    snapshot: HostSnapshot
    containers: dict[str, list[ContainerFacts]]
    loose: tuple[ContainerFacts, ...]
    names: dict[str, ContainerFacts]
    networks: dict[str, list[NetworkFacts]]
    volumes: dict[str, list[VolumeFacts]]


def index_host(snapshot: HostSnapshot | HostIndex) -> HostIndex:
    """Sort a snapshot, once for all comparisons; one that is sorted is returned as it is."""
    if isinstance(snapshot, HostIndex):
        return snapshot
    containers: dict[str, list[ContainerFacts]] = {}
    names: dict[str, ContainerFacts] = {}
    for one in snapshot.containers:
        names[one.short_id] = names[one.name] = one
        if one.compose is not None:
            containers.setdefault(one.compose.project, []).append(one)
    return HostIndex(
        snapshot,
        containers,
        tuple(one for one in snapshot.containers if one.compose is None),
        names,
        _by_project(snapshot.networks or ()),
        _by_project(snapshot.volumes or ()),
    )


def _by_project(resources: Sequence[_Resource]) -> dict[str, list[_Resource]]:
    found: dict[str, list[_Resource]] = {}
    for one in resources:
        if project := one.labels.get(_PROJECT_LABEL):
            found.setdefault(project, []).append(one)
    return found
