"""Finds the Compose projects that a host runs, and the containers that no file defines.

Labels are claims: anybody may put them on a container.
"""

from bcon_exporter.drift.host_index import HostIndex, index_host
from bcon_exporter.model.container_facts import ComposeIdentity, ContainerFacts, HostSnapshot
from bcon_exporter.model.desired import DesiredProject, RunningProject

_STACK_LABEL = "com.docker.stack.namespace"


def find_projects(snapshot: HostSnapshot) -> tuple[RunningProject, ...]:
    """Return the projects and Swarm stacks that container labels claim, by name.

    A project's files are those of its newest container that names files: a hand-made container may name none.
    """
    claims: dict[str, list[ContainerFacts]] = {}
    for container in snapshot.containers:
        if container.compose is not None and container.compose.config_hash is not None:
            claims.setdefault(container.compose.project, []).append(container)
    stacks = {container.labels[_STACK_LABEL] for container in snapshot.containers if is_stack_task(container)}
    projects = [_project(name, containers) for name, containers in claims.items()]
    projects += [RunningProject(name=name, is_stack=True) for name in stacks - claims.keys()]
    return tuple(sorted(projects, key=lambda project: project.name))


def is_stack_task(container: ContainerFacts) -> bool:
    """Return whether Swarm runs the container as part of a stack."""
    return container.compose is None and bool(container.labels.get(_STACK_LABEL))


def find_untracked(project: DesiredProject | None, snapshot: HostSnapshot | HostIndex) -> tuple[ContainerFacts, ...]:
    """Return the containers, in any state, of this project or of no project that the files do not define.

    Containers of other projects are left out: they have files of their own. Without a project, all are untracked.
    """
    host = index_host(snapshot)
    if project is None:
        return host.snapshot.containers
    service_names = {service.name for service in project.services or ()}
    claimed = (
        container
        for container in host.containers.get(project.name, ())
        if _is_undefined(container.compose, service_names)
    )
    return (*host.loose, *claimed)


def _is_undefined(claim: ComposeIdentity | None, service_names: set[str]) -> bool:
    if claim is None or claim.service not in service_names:
        return True
    return claim.config_hash is None and claim.hook is None


def _project(name: str, containers: list[ContainerFacts]) -> RunningProject:
    newest = max(containers, key=lambda container: (_has_config_files(container), container.created_at, container.id))
    claim = newest.compose
    return RunningProject(
        name=name,
        config_files=claim.config_files if claim else (),
        working_dir=claim.working_dir if claim else None,
        environment_files=claim.environment_files if claim else (),
        newest_created_at=max(container.created_at for container in containers),
        only_containers=_containers_of_single_replicas(containers),
    )


def _containers_of_single_replicas(containers: list[ContainerFacts]) -> dict[str, str]:
    ids: dict[str, list[str]] = {}
    for container in containers:
        if container.compose and container.compose.is_replica:
            ids.setdefault(container.compose.service, []).append(container.id)
    return {service: container_ids[0] for service, container_ids in ids.items() if len(container_ids) == 1}


def _has_config_files(container: ContainerFacts) -> bool:
    return bool(container.compose and container.compose.config_files)
