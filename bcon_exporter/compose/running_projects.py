"""Finds the Compose files that a running project's labels name, and the reason why they cannot be read."""

import os
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from bcon_exporter.clock import monotonic
from bcon_exporter.compose.compose_options import ComposeOptions
from bcon_exporter.compose.files import check_file, find_default_file, find_override, is_within, real_path, to_local
from bcon_exporter.model.desired import ProjectProblem, RunningProject
from bcon_exporter.secrets.masking import safe_text

_PORTAINER = "/data/compose/"


def find_files(project: RunningProject, options: ComposeOptions) -> tuple[Path, ...]:
    """Return the local paths of the project's files, including an override file that was added after `up`.

    The labels of a project that was started from one default file do not show whether `-f` named it. An override file
    that is younger than every container did not exist then: the next `up` without `-f` merges it.
    """
    files = tuple(locate(file, project, options) for file in project.config_files)
    if len(files) != 1 or project.newest_created_at is None or project.working_dir is None:
        return files
    override = find_override(files[0])
    is_in_working_dir = files[0].parent == Path(to_local(project.working_dir, options.path_map))
    if override is None or not is_in_working_dir or not _is_younger(override, project.newest_created_at):
        return files
    return (*files, override)


def find_problem(project: RunningProject, options: ComposeOptions) -> tuple[ProjectProblem, str] | None:
    """Return why the files cannot be read, as code and sentence; None when they can be read."""
    if project.is_stack:
        detail = (
            "It is a Swarm stack: `docker stack deploy` leaves no trace of its file, which therefore is unknown here."
        )
        return ProjectProblem.NOT_FOUND, detail
    if not project.config_files:
        return ProjectProblem.NOT_FOUND, "Its containers name no Compose file."
    if any(map(_is_standard_input, project.config_files)):
        return ProjectProblem.NOT_FOUND, "It was deployed from standard input: no file has it."
    if not options.trusted and (forbidden := _find_forbidden_path(project, options)) is not None:
        why = "lies outside of compose.roots" if options.roots else "is not read, since compose.roots is not set"
        shown = safe_text(forbidden)
        detail = f"Its containers name {shown}, which {why}. Labels are claims: add its folder to compose.roots."
        return ProjectProblem.OUTSIDE_ROOTS, detail + _portainer_hint(forbidden)
    for labelled in project.config_files:
        file = locate(labelled, project, options)
        error = check_file(file)
        if error is None:
            continue
        if not os.path.lexists(file) and _is_outside_known_places(file, options):
            shown = safe_text(labelled)
            detail = f"Its Compose file {shown} is not here, and lies outside compose.roots and compose.path-map."
            return ProjectProblem.OUTSIDE_ROOTS, detail + _portainer_hint(labelled)
        return ProjectProblem.NOT_FOUND, error.message + _portainer_hint(labelled)
    return None


def locate(file: str, project: RunningProject, options: ComposeOptions) -> Path:
    """Return the local path of a file that a label names; Compose 1 writes it relative to the working directory."""
    if not os.path.isabs(file) and project.working_dir:  # noqa: PTH117 — paths of the Docker host
        file = os.path.join(project.working_dir, file)  # noqa: PTH118 — as above
    return Path(to_local(file, options.path_map))


def is_allowed(file: Path, options: ComposeOptions) -> bool:
    """Return whether the daemon may read a file that a label or a client names.

    The file system is not touched where no setting allows any file.
    """
    return is_within(file, options.roots) or bool(folders_of_configured((file,), options))


def folders_of_configured(files: tuple[Path, ...], options: ComposeOptions) -> tuple[Path, ...]:
    """Return the folders of those of the files that the setting compose.files names: they count as roots."""
    if not options.files:
        return ()
    by_real_path = _find_configured(options.files, int(monotonic()))
    matches = {real: by_real_path[real] for real in map(real_path, files) if real in by_real_path}
    return tuple(dict.fromkeys(folder for real, file in matches.items() for folder in (file.parent, real.parent)))


@lru_cache(maxsize=1)
def _find_configured(settings: tuple[Path, ...], second: int) -> Mapping[Path, Path]:  # noqa: ARG001 -- part of the key
    """Return the files that the setting names, by their real paths.

    Args:
        settings: The values of compose.files.
        second: The second of the question: they are looked for once in it, while a scan asks about each of its files.
    """
    configured = (file for setting in settings for file in (setting, find_default_file(setting)) if file)
    return {real_path(file): file for file in configured}


def _find_forbidden_path(project: RunningProject, options: ComposeOptions) -> str | None:
    """Return the first file or folder in the labels that the daemon must not read; None when it may read all."""
    files = {file: locate(file, project, options) for file in project.config_files}
    for file, local in files.items():
        if not is_allowed(local, options):
            return file
    roots = (*options.roots, *folders_of_configured(tuple(files.values()), options))
    other_paths = (*project.environment_files, *([project.working_dir] if project.working_dir else []))
    return next((path for path in other_paths if not is_within(locate(path, project, options), roots)), None)


def _portainer_hint(file: str) -> str:
    number, _, name = file.removeprefix(_PORTAINER).partition("/")
    if not file.startswith(_PORTAINER) or not number.isdecimal() or not name:
        return ""
    return " Portainer keeps its stacks' files there, inside its own container or its volume."


def _is_standard_input(file: str) -> bool:
    """Return whether the name stands for standard input or another open file of the process that ran `up`."""
    if os.path.basename(file) == "-" or file == "/dev/stdin" or file.startswith("/dev/fd/"):  # noqa: PTH119 — as below
        return True
    _, proc, process, descriptors, *_ = (*file.split("/", 4), "", "", "")
    return (proc, descriptors) == ("proc", "fd") and (process == "self" or process.isdecimal())


def _is_outside_known_places(file: Path, options: ComposeOptions) -> bool:
    """Return whether compose.roots or compose.path-map is set and the file lies outside of both."""
    places = [*options.roots, *(Path(here) for _, here in options.path_map)]
    return bool(places) and not is_within(file, places)


def _is_younger(file: Path, moment: datetime) -> bool:
    try:
        facts = file.stat()
    except OSError:
        return False
    return min(facts.st_mtime, facts.st_ctime) > moment.timestamp()
