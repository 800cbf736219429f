"""Which Compose projects a host runs, and which containers no file knows. Labels are claims."""

from bcon_exporter.model.desired import DesiredProject, RunningProject
from bcon_exporter.model.facts import ComposeIdentity, ContainerFacts, HostSnapshot


def find_projects(snapshot: HostSnapshot) -> tuple[RunningProject, ...]:
    """Return the projects that container labels claim, by name.

    The newest container that names files names them: a hand-made one may claim a project and name none.
    """
    claims: dict[str, list[ContainerFacts]] = {}
    for container in snapshot.containers:
        if container.compose is not None and container.compose.config_hash is not None:
            claims.setdefault(container.compose.project, []).append(container)
    return tuple(_project(name, found) for name, found in sorted(claims.items()))


def find_untracked(project: DesiredProject | None, snapshot: HostSnapshot) -> tuple[ContainerFacts, ...]:
    """Return the containers, in any state, that the files do not define: of this project or of none.

    Other projects' containers have files of their own. Without a project every container is untracked.
    """
    if project is None:
        return snapshot.containers
    known = {service.name for service in project.services or ()}
    return tuple(one for one in snapshot.containers if _is_untracked(one.compose, project.name, known))


def _is_untracked(claim: ComposeIdentity | None, project: str, known: set[str]) -> bool:
    if claim is None:
        return True
    if claim.project != project:
        return False
    return claim.service not in known or claim.config_hash is None


def _project(name: str, containers: list[ContainerFacts]) -> RunningProject:
    newest = max(containers, key=lambda one: (_names_files(one), one.created_at, one.id))
    claim = newest.compose
    directories = {one.compose.working_dir for one in containers if one.compose and one.compose.working_dir}
    return RunningProject(
        name=name,
        config_files=claim.config_files if claim else (),
        working_dir=claim.working_dir if claim else None,
        environment_files=claim.environment_files if claim else (),
        contradicting=len(directories) > 1,
    )


def _names_files(container: ContainerFacts) -> bool:
    return bool(container.compose and container.compose.config_files)
