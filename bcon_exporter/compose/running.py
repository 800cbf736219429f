"""Which files a running project's labels lead to, and why there may be none to read."""

import os
from datetime import datetime
from pathlib import Path

from bcon_exporter.compose.files import check_file, find_default_file, find_override, is_within, real_path, to_local
from bcon_exporter.compose.options import ComposeOptions
from bcon_exporter.model.desired import ProjectProblem, RunningProject
from bcon_exporter.model.masking import safe_text

_PORTAINER = "/data/compose/"


def find_files(project: RunningProject, options: ComposeOptions) -> tuple[Path, ...]:
    """Return the project's files where they lie here, with an override file that was added after `up`.

    The labels of a project that was started from one default file do not tell whether `-f` named it. An override file
    that is younger than every container was not there then: the next `up` without `-f` merges it.
    """
    files = tuple(locate(file, project, options) for file in project.config_files)
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
    if any(map(_is_standard_input, project.config_files)):
        return ProjectProblem.NOT_FOUND, "It was deployed from standard input: no file has it."
    if not options.trusted and (refused := _find_refused(project, options)) is not None:
        why = "lies outside of compose.roots" if options.roots else "is not read, since compose.roots is not set"
        shown = safe_text(refused)
        told = f"Its containers name {shown}, which {why}. Labels are claims: add its folder to compose.roots."
        return ProjectProblem.OUTSIDE_ROOTS, told + _add_portainer(refused)
    for named in project.config_files:
        file = locate(named, project, options)
        error = check_file(file)
        if error is None:
            continue
        if not os.path.lexists(file) and _is_out_of_sight(file, options):
            told = (
                f"Its Compose file {safe_text(named)} is not here, and lies outside compose.roots and compose.path-map."
            )
            return ProjectProblem.OUTSIDE_ROOTS, told + _add_portainer(named)
        return ProjectProblem.NOT_FOUND, error.message + _add_portainer(named)
    return None


def locate(file: str, project: RunningProject, options: ComposeOptions) -> Path:
    """Return where a file lies here; Compose 1 names it as seen from the working directory."""
    if not os.path.isabs(file) and project.working_dir:  # noqa: PTH117 — paths of the Docker host
        file = os.path.join(project.working_dir, file)  # noqa: PTH118 — as above
    return Path(to_local(file, options.path_map))


def is_allowed(file: Path, options: ComposeOptions) -> bool:
    """Return whether the daemon may read a file that somebody else names.

    Asks nothing of the file system where no setting allows any file.
    """
    return is_within(file, options.roots) or bool(folders_of((file,), options))


def folders_of(files: tuple[Path, ...], options: ComposeOptions) -> tuple[Path, ...]:
    """Return the folders of those files that the settings name: what such a project consists of lies there."""
    if not options.files:
        return ()
    given = (file for one in options.files for file in (one, find_default_file(one)) if file)
    named = {real_path(file): file for file in given}
    found = {real: named[real] for real in map(real_path, files) if real in named}
    return tuple(dict.fromkeys(folder for real, file in found.items() for folder in (file.parent, real.parent)))


def _find_refused(project: RunningProject, options: ComposeOptions) -> str | None:
    """Return the first file or folder of the labels that the daemon must not read."""
    files = {file: locate(file, project, options) for file in project.config_files}
    for file, here in files.items():
        if not is_allowed(here, options):
            return file
    roots = (*options.roots, *folders_of(tuple(files.values()), options))
    beside = (*project.environment_files, *([project.working_dir] if project.working_dir else []))
    return next((one for one in beside if not is_within(locate(one, project, options), roots)), None)


def _add_portainer(file: str) -> str:
    number, _, name = file.removeprefix(_PORTAINER).partition("/")
    if not file.startswith(_PORTAINER) or not number.isdecimal() or not name:
        return ""
    return " Portainer keeps its stacks' files there, inside its own container or its volume."


def _is_standard_input(file: str) -> bool:
    """Return whether a file is named as the standard input or another open file of the process that ran `up`."""
    if os.path.basename(file) == "-" or file == "/dev/stdin" or file.startswith("/dev/fd/"):  # noqa: PTH119 — as below
        return True
    _, proc, process, descriptors, *_ = (*file.split("/", 4), "", "", "")
    return (proc, descriptors) == ("proc", "fd") and (process == "self" or process.isdecimal())


def _is_out_of_sight(file: Path, options: ComposeOptions) -> bool:
    """Return whether somebody has said where Compose files are, and this is elsewhere."""
    places = [*options.roots, *(Path(here) for _, here in options.path_map)]
    return bool(places) and not is_within(file, places)


def _is_younger(file: Path, than: datetime) -> bool:
    try:
        facts = file.stat()
    except OSError:
        return False
    return min(facts.st_mtime, facts.st_ctime) > than.timestamp()
