"""Reads what Compose projects should look like: files → the real Compose binary → desired projects."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bcon_exporter.compose.binary import HOW_TO_GET_ONE
from bcon_exporter.compose.desired_project import UNKNOWN_HOME, make_project, map_paths
from bcon_exporter.compose.env_files import EnvFiles, secrets_of_model
from bcon_exporter.compose.failures import explain_failure
from bcon_exporter.compose.files import (
    check_file,
    find_default_file,
    find_override,
    is_directory,
    is_file,
    is_within,
    one_error_for_all,
    to_host,
    to_local,
)
from bcon_exporter.compose.invocation import Invocation, ResolvedModel, resolve_living_hashes, resolve_model
from bcon_exporter.compose.involved import FileMemory
from bcon_exporter.compose.options import ComposeOptions
from bcon_exporter.compose.recent import Recent
from bcon_exporter.compose.running import find_files, find_obstacle
from bcon_exporter.compose.sandbox import RunLimits, RunOutcome, run_compose
from bcon_exporter.compose.sharing import Shared, find_living, find_shared, render_living
from bcon_exporter.errors import (
    BconError,
    ComposeFileNotFoundError,
    DeadlineExceededError,
    PermissionDeniedError,
)
from bcon_exporter.model.desired import DesiredProject, ProjectProblem, RunningProject
from bcon_exporter.model.facts import ComposeIdentity
from bcon_exporter.model.hiding import hide_in_project
from bcon_exporter.model.known_secrets import KnownSecrets
from bcon_exporter.secret_book import SecretBook

if TYPE_CHECKING:
    from bcon_exporter.model.masking import Sealer

_CACHED_PROJECTS = 256
_LOWEST_MAJOR = 2
_PIPE_CHARACTERS = 16 * 1024
"""As much as a pipe holds in any case."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the files say.

    Attributes:
        hidden: The values that are hidden in it.
        shared: Service → what it shares; the hashes of these hang on living containers.
    """

    project: DesiredProject
    shared: Mapping[str, Shared]
    hidden: KnownSecrets


class ComposeReader:
    """Resolves Compose projects; answers are cached by the content of every file involved. Thread-safe.

    Args:
        options: What may be read, and how.
        sealer: The process's one sealer, shared with docker_host.
        book: The process's one book of secrets, shared with docker_host.
    """

    def __init__(self, options: ComposeOptions, sealer: "Sealer", book: SecretBook | None = None) -> None:
        self._options = options
        self._sealer = sealer
        self._book = book or SecretBook()
        self._read_env_files = EnvFiles(options, self._book)
        self._answers: Recent[_Answer | BconError] = Recent(_CACHED_PROJECTS)
        self._hashed: Recent[DesiredProject] = Recent(_CACHED_PROJECTS)
        self._files = FileMemory(options.environ)
        self._version: str | None = None
        self.runs = 0

    def resolve_running(self, project: RunningProject, now: datetime) -> DesiredProject:
        """Return what a running project's own files ask for; a problem is stated, never raised."""
        if (obstacle := find_obstacle(project, self._options)) is not None:
            return _problem(project, now, *obstacle)
        try:
            return self._resolve(self._running_invocation(project), project, now)
        except BconError as error:
            return _problem(project, now, _problem_of(error), error.message)

    def resolve_file(
        self, path: str, project_name: str | None, now: datetime, known: tuple[RunningProject, ...] = ()
    ) -> DesiredProject:
        """Return what a Compose file asks for.

        With a project of this name running from the file, all of that project's files count; else the file and its
        default override.

        Raises:
            ComposeFileNotFoundError: Absent, a directory without a default file, no regular file, over 1 MiB; toward
                HTTP also every other reason not to read it, in one and the same error.
            PermissionDeniedError: On the command line: this user may not read it.
            ComposeParseError: Compose refuses it.
            DeadlineExceededError: Compose took too long.
        """
        desired = self._resolve_asked(self._readable_file(path, known), project_name, now, known)
        return desired.model_copy(update={"own_shell": self._options.trusted})

    def _resolve_asked(
        self, file: Path, project_name: str | None, now: datetime, known: tuple[RunningProject, ...]
    ) -> DesiredProject:
        override = find_override(file)
        invocation = Invocation(
            tuple(one for one in (file, override) if one), project_name, None, self._env_files((), file.parent)
        )
        if project_name is None or (running := _running_from(file, project_name, known, self._options)) is None:
            desired = self._resolve(invocation, None, now)
            running = _running_from(file, desired.name, known, self._options)
            if running is None:
                return desired
        if find_obstacle(running, self._options) is not None:
            return self._resolve(invocation, None, now)
        return self._resolve(self._running_invocation(running), running, now)

    def configured_projects(self, now: datetime) -> tuple[DesiredProject, ...]:
        """Return the projects of the files in the settings, running or not; problems are stated, never raised."""
        return tuple(self._configured(file, now) for file in self._options.files)

    def files_changed(self) -> bool:
        """Return whether a file of a project resolved before has changed since; each change is told once."""
        return self._files.has_changed()

    def learn_env_files(self, claims: Iterable[ComposeIdentity]) -> None:
        """Take the secrets that the env files of running projects hold, as far as they may be read."""
        self._read_env_files.learn(claims)

    def _configured(self, file: Path, now: datetime) -> DesiredProject:
        claimed = RunningProject(name=file.parent.name, config_files=(str(file),))
        target = (find_default_file(file) or file) if is_directory(file) else file
        if wrong := check_file(target):
            return _problem(claimed, now, ProjectProblem.NOT_FOUND, wrong.message)
        override = find_override(target)
        files = tuple(one for one in (target, override) if one)
        try:
            return self._resolve(Invocation(files, None, None, self._env_files((), target.parent)), None, now)
        except BconError as error:
            return _problem(claimed, now, _problem_of(error), error.message)

    def _readable_file(self, path: str, known: Sequence[RunningProject]) -> Path:
        file = Path(to_local(path, self._options.path_map))
        if not self._options.trusted:
            known_files = {name for project in known for name in project.config_files}
            allowed = str(path) in known_files or is_within(file, self._options.roots)
            if not allowed or check_file(file) is not None:
                raise one_error_for_all()
            return file
        file = Path.cwd() / file
        if is_directory(file):
            file = find_default_file(file) or file
        if (wrong := check_file(file)) is not None:
            raise wrong
        return file

    def _running_invocation(self, project: RunningProject) -> Invocation:
        files = find_files(project, self._options)
        local = [Path(to_local(file, self._options.path_map)) for file in project.environment_files]
        directory = Path(to_local(project.working_dir, self._options.path_map)) if project.working_dir else None
        if directory is not None and not is_directory(directory):
            directory = None
        return Invocation(files, project.name, directory, self._env_files(local, directory or files[0].parent))

    def _env_files(self, named: Sequence[Path], directory: Path) -> tuple[Path, ...]:
        """Return the env files to name: naming one switches the default .env off, so that it is then named too."""
        extra = self._options.env_file
        if extra is None:
            return tuple(named)
        default = [directory / ".env"] if is_file(directory / ".env") else []
        return (*(named or default), extra)

    def _resolve(self, invocation: Invocation, running: RunningProject | None, now: datetime) -> DesiredProject:
        if self._options.binary is None or not self._usable_version():
            name = invocation.project_name or invocation.files[0].parent.name
            claimed = RunningProject(name=name, config_files=tuple(map(str, invocation.files)))
            return _problem(running or claimed, now, ProjectProblem.NO_BINARY, HOW_TO_GET_ONE)
        key = self._cache_key(invocation)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._ask(invocation, now)
            if not isinstance(answer, DeadlineExceededError):
                self._answers.keep(key, answer)
        if isinstance(answer, BconError):
            raise answer
        project = self._with_living_hashes(answer, invocation, running, key)
        if answer.hidden is not (known := self._book.of_project(project.name)):
            project = hide_in_project(project, known)
        return project.model_copy(update={"resolved_at": now})

    def _with_living_hashes(
        self, answer: _Answer, invocation: Invocation, running: RunningProject | None, key: str | None
    ) -> DesiredProject:
        """Return the project with the hashes that hang on living containers."""
        if not answer.shared or running is None or self._options.path_map:
            return answer.project
        living = find_living(answer.shared, running.only_containers)
        services = answer.project.services or ()
        text = render_living(living, frozenset(one.name for one in services))
        if not living or len(text) > _PIPE_CHARACTERS:
            return answer.project
        key = key and f"{key} {text}"
        project = self._hashed.get(key)
        if project is None:
            hashes = resolve_living_hashes(invocation, partial(self._run, given=text))
            known = {one.name: hashes.get(one.name) for one in services if one.name in living and not one.doubtful}
            told = tuple(
                one.model_copy(update={"config_hash": known.get(one.name, one.config_hash)}) for one in services
            )
            project = answer.project.model_copy(update={"services": told})
            self._hashed.keep(key, project)
        return project

    def _ask(self, invocation: Invocation, now: datetime) -> _Answer | BconError:
        try:
            resolved = resolve_model(invocation, self._run)
        except BconError as error:
            return error
        try:
            name = str(resolved.model.get("name") or "")
            self._book.learn_files(name, secrets_of_model(resolved))
            known = self._book.of_project(name)
            shared = find_shared(resolved.model.get("services") or {})
            return _Answer(self._make(resolved, invocation, now, known), shared, known)
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError):  # what Compose lets through
            return explain_failure("unusable value", [str(file) for file in invocation.files])

    def _make(
        self, resolved: ResolvedModel, invocation: Invocation, now: datetime, known: KnownSecrets
    ) -> DesiredProject:
        options = self._options
        mapped = ResolvedModel(
            map_paths(resolved.model, lambda path: to_host(path, options.path_map)),
            resolved.enabled,
            resolved.hashes if not options.path_map else {},
            resolved.unset,
            resolved.probe and map_paths(resolved.probe, lambda path: to_host(path, options.path_map)),
        )
        project = make_project(mapped, self._sealer, now, shell_known=options.trusted, known=known)
        return project.model_copy(
            update={
                "config_files": tuple(to_host(str(file), options.path_map) for file in invocation.files),
                "working_dir": to_host(str(invocation.cwd), options.path_map),
                "compose_version": self._version,
            }
        )

    def _run(self, arguments: tuple[str, ...], cwd: Path, extra: Mapping[str, str], given: str = "") -> RunOutcome:
        options = self._options
        limits = RunLimits(options.timeout_seconds, options.memory_bytes, max(1, round(options.timeout_seconds)))
        home = {} if options.trusted else {"HOME": UNKNOWN_HOME}
        self.runs += 1
        try:
            return run_compose(
                (*(options.binary or ()), *arguments),
                cwd=cwd,
                environ={**options.environ, **home, **extra},
                limits=limits,
                given=given.encode(),
            )
        except PermissionError as error:
            msg = f"The Compose binary may not be started in {cwd}: {error.strerror}."
            raise PermissionDeniedError(msg, {"directory": str(cwd)}) from error
        except OSError as error:
            msg = f"The Compose binary cannot be started in {cwd}: {error.strerror}."
            raise ComposeFileNotFoundError(msg, {"directory": str(cwd)}) from error

    def _usable_version(self) -> bool:
        """Ask the binary once which version it is; below 2 it knows neither JSON nor hashes."""
        if self._version is None:
            outcome = self._run(("version", "--short"), Path("/"), {})
            if outcome.exit_code != 0:
                return False
            self._version = outcome.output.strip().removeprefix("v")[:32]
        major = self._version.partition(".")[0]
        return major.isdigit() and int(major) >= _LOWEST_MAJOR

    def _cache_key(self, invocation: Invocation) -> str | None:
        files = (*invocation.files, *invocation.env_files)
        content = self._files.fingerprint(files, [invocation.cwd, *{file.parent for file in invocation.files}])
        if content is None:
            return None
        asked = json.dumps([content, invocation.arguments, sorted(self._options.environ.items())])
        return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()


def _running_from(
    file: Path, name: str, known: Sequence[RunningProject], options: ComposeOptions
) -> RunningProject | None:
    real = os.path.realpath(file)
    for project in known:
        mapped = [os.path.realpath(to_local(one, options.path_map)) for one in project.config_files]
        if project.name == name and real in mapped:
            return project
    return None


def _problem(project: RunningProject, now: datetime, problem: ProjectProblem, detail: str) -> DesiredProject:
    return DesiredProject(
        name=project.name,
        config_files=project.config_files,
        working_dir=project.working_dir,
        resolved_at=now,
        problem=problem,
        problem_detail=detail,
    )


def _problem_of(error: BconError) -> ProjectProblem:
    match error:
        case DeadlineExceededError():
            return ProjectProblem.TIMEOUT
        case ComposeFileNotFoundError() | PermissionDeniedError():
            return ProjectProblem.NOT_FOUND
        case _:
            return ProjectProblem.PARSE_ERROR
