"""Which files a running project's labels lead to, and why there may be none to read."""

import os
import re
from datetime import datetime
from pathlib import Path

from bcon_exporter.compose.files import check_file, find_override, is_within, to_local
from bcon_exporter.compose.options import ComposeOptions
from bcon_exporter.model.desired import ProjectProblem, RunningProject

_STANDARD_INPUT = re.compile(r"(?:.*/)?-|/dev/stdin|/dev/fd/\d+|/proc/(?:self|\d+)/fd/.*")
_PORTAINER = re.compile(r"/data/compose/\d+/.*")


def find_files(project: RunningProject, options: ComposeOptions) -> tuple[Path, ...]:
    """Return the project's files where they lie here, with an override file that was added after `up`.

    The labels of a project that was started from one default file do not tell whether `-f` named it. An override file
    that is younger than every container was not there then: the next `up` without `-f` merges it.
    """
    files = tuple(_locate(file, project, options) for file in project.config_files)
    if len(files) != 1 or project.newest_created_at is None or project.working_dir is None:
        return files
    override = find_override(files[0])
    at_home = files[0].parent == Path(to_local(project.working_dir, options.path_map))
    if override is None or not at_home or not _is_younger(override, project.newest_created_at):
        return files
    return (*files, override)


def find_obstacle(project: RunningProject, options: ComposeOptions) -> tuple[ProjectProblem, str] | None:
    """Return why the files cannot be read, in words; None when they can."""
    if project.is_stack:
        told = (
            "It is a Swarm stack: `docker stack deploy` leaves no trace of its file, which therefore is unknown here."
        )
        return ProjectProblem.NOT_FOUND, told
    if not project.config_files:
        return ProjectProblem.NOT_FOUND, "Its containers name no Compose file."
    if any(_STANDARD_INPUT.fullmatch(file) for file in project.config_files):
        return ProjectProblem.NOT_FOUND, "It was deployed from standard input: no file has it."
    for named in project.config_files:
        file = _locate(named, project, options)
        error = check_file(file)
        if error is None:
            continue
        if not os.path.lexists(file) and _is_out_of_sight(file, options):
            told = f"Its Compose file {named} is not here, and lies outside compose.roots and compose.path-map."
            return ProjectProblem.OUTSIDE_ROOTS, told + _add_portainer(named)
        return ProjectProblem.NOT_FOUND, error.message + _add_portainer(named)
    return None


def _add_portainer(file: str) -> str:
    if not _PORTAINER.fullmatch(file):
        return ""
    return " Portainer keeps its stacks' files there, inside its own container or its volume."


def _is_out_of_sight(file: Path, options: ComposeOptions) -> bool:
    """Return whether somebody has said where Compose files are, and this is elsewhere."""
    places = [*options.roots, *(Path(here) for _, here in options.path_map)]
    return bool(places) and not is_within(file, places)


def _locate(file: str, project: RunningProject, options: ComposeOptions) -> Path:
    """Return where a file lies here; Compose 1 names it as seen from the working directory."""
    if not os.path.isabs(file) and project.working_dir:  # noqa: PTH117 — paths of the Docker host
        file = os.path.join(project.working_dir, file)  # noqa: PTH118 — as above
    return Path(to_local(file, options.path_map))


def _is_younger(file: Path, than: datetime) -> bool:
    try:
        facts = file.stat()
    except OSError:
        return False
    return min(facts.st_mtime, facts.st_ctime) > than.timestamp()
