"""Which Compose projects a host runs, and which containers no file knows. Labels are claims."""

from bcon_exporter.drift.host_index import HostIndex, index_host
from bcon_exporter.model.desired import DesiredProject, RunningProject
from bcon_exporter.model.facts import ComposeIdentity, ContainerFacts, HostSnapshot

_STACK_LABEL = "com.docker.stack.namespace"


def find_projects(snapshot: HostSnapshot) -> tuple[RunningProject, ...]:
    """Return the projects and Swarm stacks that container labels claim, by name.

    The newest container that names files names them: a hand-made one may claim a project and name none.
    """
    claims: dict[str, list[ContainerFacts]] = {}
    for container in snapshot.containers:
        if container.compose is not None and container.compose.config_hash is not None:
            claims.setdefault(container.compose.project, []).append(container)
    stacks = {one.labels[_STACK_LABEL] for one in snapshot.containers if is_stack_task(one)}
    found = [_project(name, containers) for name, containers in claims.items()]
    found += [RunningProject(name=name, is_stack=True) for name in stacks - claims.keys()]
    return tuple(sorted(found, key=lambda one: one.name))


def is_stack_task(container: ContainerFacts) -> bool:
    """Return whether Swarm runs the container as part of a stack."""
    return container.compose is None and bool(container.labels.get(_STACK_LABEL))


def find_untracked(project: DesiredProject | None, snapshot: HostSnapshot | HostIndex) -> tuple[ContainerFacts, ...]:
    """Return the containers, in any state, that the files do not define: of this project or of none.

    Other projects' containers have files of their own. Without a project every container is untracked.
    """
    host = index_host(snapshot)
    if project is None:
        return host.snapshot.containers
    known = {service.name for service in project.services or ()}
    claimed = (one for one in host.containers.get(project.name, ()) if _is_stray(one.compose, known))
    return (*host.loose, *claimed)


def _is_stray(claim: ComposeIdentity | None, known: set[str]) -> bool:
    return claim is None or claim.service not in known or claim.config_hash is None


def _project(name: str, containers: list[ContainerFacts]) -> RunningProject:
    newest = max(containers, key=lambda one: (_names_files(one), one.created_at, one.id))
    claim = newest.compose
    return RunningProject(
        name=name,
        config_files=claim.config_files if claim else (),
        working_dir=claim.working_dir if claim else None,
        environment_files=claim.environment_files if claim else (),
        newest_created_at=max(one.created_at for one in containers),
        only_containers=_only_containers(containers),
    )


def _only_containers(containers: list[ContainerFacts]) -> dict[str, str]:
    ids: dict[str, list[str]] = {}
    for one in containers:
        if one.compose and not one.compose.oneoff:
            ids.setdefault(one.compose.service, []).append(one.id)
    return {service: found[0] for service, found in ids.items() if len(found) == 1}


def _names_files(container: ContainerFacts) -> bool:
    return bool(container.compose and container.compose.config_files)
