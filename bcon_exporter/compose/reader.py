"""Reads what Compose projects should look like: files → the real Compose binary → desired projects."""

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bcon_exporter import clock
from bcon_exporter.compose.binary import HOW_TO_GET_ONE
from bcon_exporter.compose.desired_project import UNKNOWN_HOME, make_project, map_paths
from bcon_exporter.compose.env_files import EnvFiles, secrets_of_model
from bcon_exporter.compose.failures import explain_failure, explain_no_yaml
from bcon_exporter.compose.files import (
    OutsideRootsError,
    check_file,
    find_default_file,
    find_override,
    is_directory,
    is_file,
    one_error_for_all,
    refuse_outside,
    refuse_unfit,
    refuse_untold,
    to_host,
    to_local,
)
from bcon_exporter.compose.invocation import Invocation, ResolvedModel, resolve_living_hashes, resolve_model
from bcon_exporter.compose.involved import Asked, FileMemory, Involved
from bcon_exporter.compose.options import ComposeOptions
from bcon_exporter.compose.patience import Patience
from bcon_exporter.compose.recent import Recent
from bcon_exporter.compose.running import find_files, find_obstacle, folders_of, is_allowed, locate
from bcon_exporter.compose.sandbox import RunLimits, RunOutcome, can_confine, run_compose
from bcon_exporter.compose.sharing import Shared, find_living, find_shared, render_living
from bcon_exporter.errors import (
    BconError,
    ComposeFileNotFoundError,
    DeadlineExceededError,
    InternalError,
    PermissionDeniedError,
)
from bcon_exporter.model.desired import DesiredProject, ProjectProblem, RunningProject
from bcon_exporter.model.facts import ComposeIdentity
from bcon_exporter.model.hiding import hide_in_error, hide_in_project
from bcon_exporter.model.known_secrets import KnownSecrets
from bcon_exporter.secret_book import SecretBook

if TYPE_CHECKING:
    from bcon_exporter.model.masking import Sealer

_log = logging.getLogger(__name__)
_CACHED_PROJECTS = 256
_VERSION_PAUSE_SECONDS = 60.0
"""How long a binary that does not tell its version is left alone."""
_LOWEST_MAJOR = 2
_PIPE_CHARACTERS = 16 * 1024
"""As much as a pipe holds in any case."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the files say.

    Attributes:
        hidden: The values that are hidden in it.
        secrets: Those of them that the files themselves hold.
        shared: Service → what it shares; the hashes of these hang on living containers.
    """

    project: DesiredProject
    shared: Mapping[str, Shared]
    hidden: KnownSecrets
    secrets: KnownSecrets


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
        home = {} if options.trusted else {"HOME": UNKNOWN_HOME}
        self._environ = {**options.environ, **home}
        self._files = FileMemory(self._environ)
        self._patience: Patience[_Answer] = Patience(self._keep)
        self._version: str | None = None
        self._version_retry_at = float("-inf")
        self._confines = False
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
        try:
            desired = self._resolve_asked(self._readable_file(path), project_name, now, known)
        except (ComposeFileNotFoundError, PermissionDeniedError):
            if self._options.trusted:
                raise
            raise one_error_for_all() from None
        return desired.model_copy(update={"own_shell": self._options.trusted})

    def _resolve_asked(
        self, file: Path, project_name: str | None, now: datetime, known: tuple[RunningProject, ...]
    ) -> DesiredProject:
        patience = self._options.timeout_seconds  # somebody waits for this one, and no scan
        override = find_override(file)
        invocation = Invocation(
            tuple(one for one in (file, override) if one), project_name, None, self._env_files((), file.parent)
        )
        if project_name is None or (running := _running_from(file, project_name, known, self._options)) is None:
            desired = self._resolve(invocation, None, now, patience)
            running = _running_from(file, desired.name, known, self._options)
            if running is None:
                return desired
        if find_obstacle(running, self._options) is not None:
            return self._resolve(invocation, None, now, patience)
        return self._resolve(self._running_invocation(running), running, now, patience)

    def configured_projects(self, now: datetime) -> tuple[DesiredProject, ...]:
        """Return the projects of the files in the settings, running or not; problems are stated, never raised."""
        return tuple(self._configured(file, now) for file in self._options.files)

    def files_changed(self) -> bool:
        """Return whether a file of a project resolved before has changed, or an answer has come late; told once."""
        return self._files.has_changed() | self._patience.has_news()

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

    def _readable_file(self, path: str) -> Path:
        file = Path(to_local(path, self._options.path_map))
        if not self._options.trusted:
            if is_allowed(file, self._options) and is_directory(file):
                file = find_default_file(file) or file
            if not is_allowed(file, self._options) or check_file(file) is not None:
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

    def _resolve(
        self, invocation: Invocation, running: RunningProject | None, now: datetime, wait_seconds: float | None = None
    ) -> DesiredProject:
        """Resolve, and let no error say what the files hold as secrets: names within it may be interpolated."""
        try:
            return self._resolve_files(invocation, running, now, wait_seconds)
        except BconError as error:
            raise hide_in_error(error, self._read_env_files.secrets_of(self._asked(invocation)).hide) from error

    def _resolve_files(
        self, invocation: Invocation, running: RunningProject | None, now: datetime, wait_seconds: float | None
    ) -> DesiredProject:
        if self._options.binary is None or not self._usable_version():
            name = invocation.project_name or invocation.files[0].parent.name
            claimed = RunningProject(name=name, config_files=tuple(map(str, invocation.files)))
            return _problem(running or claimed, now, ProjectProblem.NO_BINARY, HOW_TO_GET_ONE)
        asked = self._asked(invocation)
        involved = self._files.find(asked)
        _refuse_unfit(involved, asked)
        key = self._cache_key(invocation, involved)
        answer = self._answers.get(key)
        if answer is None and asked.roots is None:
            answer = self._ask(invocation, now, None)
            self._keep(key, answer)
        elif answer is None:
            answer = self._patience.ask(
                (invocation, asked.roots),
                key,
                lambda deadline: self._ask_watched(invocation, asked, now, deadline),
                self._options.wait_seconds if wait_seconds is None else wait_seconds,
            )
        if isinstance(answer, BconError):
            raise answer
        project = self._with_living_hashes(answer, invocation, running, key)
        self._book.learn_files(project.name, answer.secrets.values)  # the book forgets projects that are long gone
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
            run = partial(self._run, given=text, readable=self._readable(self._asked(invocation).roots))
            hashes = resolve_living_hashes(invocation, run)
            known = {one.name: hashes.get(one.name) for one in services if one.name in living and not one.doubtful}
            told = tuple(
                one.model_copy(update={"config_hash": known.get(one.name, one.config_hash)}) for one in services
            )
            project = answer.project.model_copy(update={"services": told})
            self._hashed.keep(key, project)
        return project

    def _asked(self, invocation: Invocation) -> Asked:
        options = self._options
        roots = None if options.trusted else (*options.roots, *folders_of(invocation.files, options))
        if roots is not None and options.env_file is not None:
            roots = (*roots, options.env_file)
        return Asked(invocation.files, invocation.env_files, invocation.cwd, invocation.project_name, roots)

    def _keep(self, key: str | None, answer: _Answer | BconError) -> None:
        if not isinstance(answer, DeadlineExceededError | InternalError | _ChangedError):
            self._answers.keep(key, answer)

    def _ask_watched(
        self, invocation: Invocation, asked: Asked, now: datetime, deadline: float | None
    ) -> _Answer | BconError:
        """Ask the binary, and drop its answer if another file than those that were checked may have been read."""
        involved = self._files.find(asked)
        _refuse_unfit(involved, asked)
        answer = self._ask(invocation, now, deadline, self._readable(asked.roots))
        return answer if involved.is_unchanged() else _ChangedError("Its files have changed while Compose read them.")

    def _readable(self, roots: tuple[Path, ...] | None) -> tuple[Path, ...]:
        """Return below which paths the binary may open files; none where it is not confined."""
        return (roots or ()) if self._confines else ()

    def _ask(
        self, invocation: Invocation, now: datetime, deadline: float | None, readable: tuple[Path, ...] = ()
    ) -> _Answer | BconError:
        try:
            resolved = resolve_model(invocation, partial(self._run, deadline=deadline, readable=readable))
        except BconError as error:
            return error
        try:
            name = str(resolved.model.get("name") or "")
            secrets = KnownSecrets(secrets_of_model(resolved))
            self._book.learn_files(name, secrets.values)
            known = self._book.of_project(name)
            shared = find_shared(resolved.model.get("services") or {})
            return _Answer(self._make(resolved, invocation, now, known), shared, known, secrets)
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

    def _run(
        self,
        arguments: tuple[str, ...],
        cwd: Path,
        extra: Mapping[str, str],
        given: str = "",
        deadline: float | None = None,
        readable: tuple[Path, ...] = (),
    ) -> RunOutcome:
        options = self._options
        timeout_seconds = options.timeout_seconds
        if deadline is not None:
            timeout_seconds = min(timeout_seconds, max(0.0, deadline - clock.monotonic()))
        limits = RunLimits(timeout_seconds, options.memory_bytes, max(1, round(options.timeout_seconds)))
        self.runs += 1
        try:
            return run_compose(
                (*(options.binary or ()), *arguments),
                cwd=cwd,
                environ={**self._environ, **extra},
                limits=limits,
                given=given.encode(),
                readable=readable,
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
            if clock.monotonic() < self._version_retry_at:
                return False
            self._version, self._confines = self._tell_version()
            self._version_retry_at = clock.monotonic() + _VERSION_PAUSE_SECONDS
            if not self._options.trusted and self._version is not None:
                how = "confined to the files it may read" if self._confines else "not confined: no Landlock here"
                _log.info("the Compose binary, version %s, is %s", self._version, how)
        major = (self._version or "").partition(".")[0]
        return major.isdigit() and int(major) >= _LOWEST_MAJOR

    def _tell_version(self) -> tuple[str | None, bool]:
        """Return the version, and whether the binary works while it is confined; a wrapper script may not."""
        ways = [True, False] if not self._options.trusted and can_confine() else [False]
        for confined in ways:
            try:
                readable = (Path("/dev/null"),) if confined else ()
                outcome = self._run(("version", "--short"), Path("/"), {}, readable=readable)
            except BconError:
                if not confined:
                    raise
                continue
            if outcome.exit_code == 0:
                return outcome.output.strip().removeprefix("v")[:32], confined
        return None, False

    def _cache_key(self, invocation: Invocation, involved: Involved) -> str | None:
        if involved.fingerprint is None:
            return None
        asked = json.dumps([involved.fingerprint, invocation.arguments, sorted(self._options.environ.items())])
        return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()


class _ChangedError(ComposeFileNotFoundError):
    """The files were others afterwards; only another look can tell."""


def _refuse_unfit(involved: Involved, asked: Asked) -> None:
    """Raise what stands in the way of resolving; for a command nothing but a file that nobody should open."""
    named_by = str(asked.files[0])
    if involved.unfit is not None:
        raise refuse_unfit(involved.unfit, named_by)
    if asked.roots is None:
        return
    if involved.outside is not None:
        raise refuse_outside(involved.outside, asked.roots)
    if involved.broken_line is not None:
        raise explain_no_yaml(involved.untold or named_by, involved.broken_line)
    if involved.fingerprint is None:
        raise refuse_untold(involved.untold or named_by)


def _running_from(
    file: Path, name: str, known: Sequence[RunningProject], options: ComposeOptions
) -> RunningProject | None:
    real = os.path.realpath(file)
    for project in known:
        if not options.trusted and not all(
            is_allowed(locate(one, project, options), options) for one in project.config_files
        ):
            continue
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
        case OutsideRootsError():
            return ProjectProblem.OUTSIDE_ROOTS
        case ComposeFileNotFoundError() | PermissionDeniedError():
            return ProjectProblem.NOT_FOUND
        case _:
            return ProjectProblem.PARSE_ERROR
