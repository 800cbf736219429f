"""Resolves Compose projects: files → the real Compose binary → desired projects."""

import hashlib
import json
import logging
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcon_exporter import clock
from bcon_exporter.compose.background_work import BackgroundWork
from bcon_exporter.compose.binary import HOW_TO_GET_ONE
from bcon_exporter.compose.bounded_cache import BoundedCache
from bcon_exporter.compose.compose_options import ComposeOptions
from bcon_exporter.compose.deployment_files import (
    FoundText,
    ResolvedDeployment,
    ResolvedEdit,
    find_named_files,
    find_places,
    make_lenient,
    make_refusal,
    missing_env_files,
    name_originals,
    no_file_error,
)
from bcon_exporter.compose.desired_project import UNKNOWN_HOME, make_project, map_paths
from bcon_exporter.compose.edited_files import EditedView, FileEdit, refuse_unread, view_edited
from bcon_exporter.compose.env_files import EnvFiles, find_secrets_in_model
from bcon_exporter.compose.failures import explain_failure, explain_invalid_yaml
from bcon_exporter.compose.file_signatures import sign
from bcon_exporter.compose.files import (
    OutsideRootsError,
    check_file,
    find_default_file,
    find_override,
    is_directory,
    is_file,
    is_within,
    opaque_file_error,
    outside_roots_error,
    override_files,
    to_host,
    to_local,
    undetermined_files_error,
    unfit_file_error,
)
from bcon_exporter.compose.invocation import (
    ComposeInvocation,
    ResolvedModel,
    resolve_hashes_with_override,
    resolve_leniently,
    resolve_model,
)
from bcon_exporter.compose.involved_files import InvolvedFiles, InvolvedFilesCache, ResolutionRequest
from bcon_exporter.compose.programs import find_programs
from bcon_exporter.compose.running_projects import find_files, find_problem, folders_of_configured, is_allowed, locate
from bcon_exporter.compose.sandbox import can_confine, run_compose
from bcon_exporter.compose.shared_namespaces import (
    SharedNamespaces,
    find_shared_namespaces,
    render_override_file,
    substitute_container_ids,
)
from bcon_exporter.compose.wanted_deployment import Deployment, make_deployment
from bcon_exporter.errors import (
    BconError,
    ComposeFileNotFoundError,
    ComposeParseError,
    DeadlineExceededError,
    InternalError,
    InvalidInputError,
    PermissionDeniedError,
)
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.limited_process import RunLimits, RunOutcome
from bcon_exporter.model.container_facts import ComposeIdentity
from bcon_exporter.model.deployment import DeploymentWords
from bcon_exporter.model.desired import DesiredProject, ProjectProblem, RunningProject
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file
from bcon_exporter.secrets.hide_in_models import hide_in_error, hide_in_project
from bcon_exporter.secrets.known_secrets import KnownSecrets
from bcon_exporter.secrets.masking import safe_text

if TYPE_CHECKING:
    from bcon_exporter.secrets.masking import Sealer

_log = logging.getLogger(__name__)
_CACHED_PROJECTS = 256
_VERSION_PAUSE_SECONDS = 60.0
"""Pause before a binary that did not report its version is asked again."""
_LOWEST_MAJOR = 2
_MOST_LISTED_FILES = 5_000
_PIPE_CHARACTERS = 16 * 1024
"""The smallest capacity of a pipe."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """A resolved project, as it is cached.

    Attributes:
        shared: Service → what it shares; the hashes of these services depend on ids of running containers.
        hidden: The values that were hidden in the project.
        secrets: Those of them that the files themselves hold.
        deployment: What a deployment of it would make.
    """

    project: DesiredProject
    shared: Mapping[str, SharedNamespaces]
    hidden: KnownSecrets
    secrets: KnownSecrets
    deployment: Deployment


@dataclass(frozen=True, slots=True)
class _EditTarget:
    """The project that reads an edited file.

    Attributes:
        invocation: Without the edit.
        edited_invocation: With it: an override file that is not there yet is one more file then.
        name: The file, as the project names it.
    """

    invocation: ComposeInvocation
    edited_invocation: ComposeInvocation
    name: str


class ComposeReader:
    """Resolves Compose projects; answers are cached by the content of every file involved. Thread-safe.

    Args:
        options: Settings of the reader.
        sealer: The process's one sealer, shared with engine.
        book: The process's one book of secrets, shared with engine.
    """

    def __init__(self, options: ComposeOptions, sealer: "Sealer", book: HostSecrets | None = None) -> None:
        self._options = options
        self._sealer = sealer
        self._book = book or HostSecrets()
        self._env_file_reader = EnvFiles(options, self._book)
        self._answers: BoundedCache[_Answer | BconError] = BoundedCache(_CACHED_PROJECTS)
        self._hashed_projects: BoundedCache[DesiredProject] = BoundedCache(_CACHED_PROJECTS)
        home = {} if options.trusted else {"HOME": UNKNOWN_HOME}
        self._environ = {**options.environ, **home}
        self._involved_files = InvolvedFilesCache(self._environ)
        self._background: BackgroundWork[_Answer] = BackgroundWork(self._keep)
        self._version: str | None = None
        self._version_retry_at = float("-inf")
        self._is_confined = False
        self.runs = 0

    def resolve_running(self, project: RunningProject, now: datetime) -> DesiredProject:
        """Return the desired state of a running project; a problem becomes part of the result and is never raised."""
        if (problem := find_problem(project, self._options)) is not None:
            return _unresolved_project(project, now, *problem)
        try:
            return self._resolve(self._invocation_of_running(project), project, now)
        except BconError as error:
            return _unresolved_project(project, now, _problem_kind(error), error.message)

    def resolve_file(
        self, path: str, project_name: str | None, now: datetime, projects: tuple[RunningProject, ...] = ()
    ) -> DesiredProject:
        """Return the desired state of a Compose file.

        If a project of this name runs from the file, all of that project's files are read; else the file and its
        default override.

        Raises:
            ComposeFileNotFoundError: Absent, a directory without a default file, no regular file, over 1 MiB. In the
                daemon also every other reason not to read it, in one and the same error.
            PermissionDeniedError: On the command line: this user may not read it.
            ComposeParseError: Compose refuses it.
            DeadlineExceededError: Compose took too long.
        """
        try:
            desired = self._resolve_requested_file(self._readable_file(path), project_name, now, projects)
        except (ComposeFileNotFoundError, PermissionDeniedError):
            if self._options.trusted:
                raise
            raise opaque_file_error() from None
        return desired.model_copy(update={"own_shell": self._options.trusted})

    def _resolve_requested_file(
        self, file: Path, project_name: str | None, now: datetime, projects: tuple[RunningProject, ...]
    ) -> DesiredProject:
        wait_seconds = self._options.timeout_seconds  # somebody waits for this one, and no scan
        override = find_override(file)
        invocation = ComposeInvocation(
            tuple(path for path in (file, override) if path), project_name, None, self._env_files((), file.parent)
        )
        if (
            project_name is None
            or (running := _find_running_from_file(file, project_name, projects, self._options)) is None
        ):
            desired = self._resolve(invocation, None, now, wait_seconds)
            running = _find_running_from_file(file, desired.name, projects, self._options)
            if running is None:
                return desired
        if find_problem(running, self._options) is not None:
            return self._resolve(invocation, None, now, wait_seconds)
        return self._resolve(self._invocation_of_running(running), running, now, wait_seconds)

    def resolve_deployment(
        self, words: DeploymentWords, now: datetime, projects: tuple[RunningProject, ...] = ()
    ) -> ResolvedDeployment:
        """Return what a user's words for `docker compose` would deploy, with the user's rights.

        Raises:
            ComposeFileNotFoundError, PermissionDeniedError: There is no such file, or it may not be read.
            DeadlineExceededError: Compose took too long.
            InvalidInputError: An edited file is not one that can be judged.
        """
        asked = self._find_invocation(words, projects)
        with view_edited(asked, words.edited) as view:
            invocation = view.invocation
            involved = self._involved_files.find(self._request(invocation))
            if involved.fingerprint is not None:
                refuse_unread(words.edited, view, involved.files)
            reader = self
            if view.is_whole:
                options = replace(self._options, path_map=view.path_map(self._options.path_map))
                reader = ComposeReader(options, self._sealer, self._book)
            resolved = reader._resolve_deployment(invocation, words, now, projects)
            if not involved.is_unchanged():
                resolved = _unresolved(invocation, now, _ChangedError("Its files have changed while they were read."))
            return name_originals(resolved, view, find_places(asked, words.edited), involved.files)

    def resolve_edit(self, edit: FileEdit, now: datetime, projects: tuple[RunningProject, ...] = ()) -> ResolvedEdit:
        """Return what a project's files ask for with one of them edited, and without the edit. Nothing is written.

        Raises:
            ComposeFileNotFoundError: There is no such file. In the daemon also every other reason not to read it, in
                one and the same error.
            PermissionDeniedError: On the command line: this user may not read it.
            InvalidInputError: The edit does not fit the file, no project reads it, or several do.
            DeadlineExceededError: Compose took too long.
            NotAvailableError: There is no room for temporary files.
        """
        file = self._file_to_edit(edit.path)
        target = self._find_target(file, edit.project_name, projects, now)
        before = self._read_to_edit(file)
        plain = self._resolve_deployment(target.invocation, DeploymentWords(), now, projects)
        after = edit.apply(before, self._env_file_reader.variables_of(self._request(target.invocation)))
        book = self._book.copy()
        with view_edited(target.edited_invocation, {target.name: after}) as view:
            roots = (*(self._request(target.invocation).roots or ()), Path(view.root))
            path_map = view.path_map(self._options.path_map) if view.is_whole else self._options.path_map
            reader = self._reader_of_edit(replace(self._options, roots=roots, path_map=path_map), book)
            resolved = reader.resolve_view(view, {target.name: after}, target.edited_invocation, now, projects)
        shown = safe_text(to_host(target.name, self._options.path_map))
        return ResolvedEdit(shown, before or "", after, plain, resolved, book)

    def read_text(self, path: str, projects: Sequence[RunningProject]) -> FoundText:
        """Return the text of a file that a known project reads, or that lies below the roots; its secrets are learned.

        Raises:
            ComposeFileNotFoundError: Neither, or there is no such file, or it is no regular one of at most 1 MiB: in
                the daemon one and the same error.
            InvalidInputError: On the command line: it is no such regular file.
        """
        file = self._file_to_edit(path)
        running = [one for one in projects if find_problem(one, self._options) is None]
        known = [(one.name, self._invocation_of_running(one)) for one in running]
        known += [(main.parent.name, self._invocation_of_file(main, None)) for main in self._configured_files()]
        readers = [(name, asked) for name, asked in known if self._target_in(file, asked) is not None]
        if not readers and not is_within(file, self._options.roots):
            raise opaque_file_error()
        text = self._read_to_edit(file)
        if text is None:
            raise opaque_file_error()
        for _, asked in readers or [(file.parent.name, self._invocation_of_file(file, None))]:
            self._learn_unresolved(asked)
        shown = safe_text(to_host(str(file), self._options.path_map))
        return FoundText(shown, text, tuple(sorted({name for name, _ in readers})))

    def list_files(self, folder: str, depth: int, projects: Sequence[RunningProject]) -> tuple[str, ...]:
        """Return the files that `read_text` shows and that lie at most `depth` folders below one."""
        top = self._file_to_edit(folder)
        top = top if is_directory(top) else top.parent
        running = [one for one in projects if find_problem(one, self._options) is None]
        known = [self._invocation_of_running(one) for one in running]
        known += [self._invocation_of_file(main, None) for main in self._configured_files()]
        named = {Path(name) for asked in known for name in self._involved_files.find(self._request(asked)).files}
        found = {file for file in named if is_file(file) and self._is_near(file, top, depth)}
        if is_within(top, self._options.roots):
            found.update(_walk(top, depth))
        return tuple(sorted(safe_text(to_host(str(file), self._options.path_map)) for file in found))

    def _is_near(self, file: Path, top: Path, depth: int) -> bool:
        is_allowed_here = self._options.trusted or is_allowed(file, self._options)
        return is_allowed_here and file.is_relative_to(top) and len(file.relative_to(top).parts) <= depth

    def _configured_files(self) -> list[Path]:
        mains = ((find_default_file(one) or one) if is_directory(one) else one for one in self._options.files)
        return [main for main in mains if is_file(main)]

    def resolve_view(
        self,
        view: EditedView,
        edited: Mapping[str, str],
        original: ComposeInvocation,
        now: datetime,
        projects: tuple[RunningProject, ...],
    ) -> ResolvedDeployment:
        """Return what the files ask for that are seen with edits in them, under the originals' names.

        Args:
            view: Where they are seen.
            edited: Path → text.
            original: What would be asked for without the edits.
            now: The time.
            projects: Those that run.

        Raises:
            InvalidInputError: An edited file is not one that Compose reads.
        """
        involved = self._involved_files.find(self._request(view.invocation))
        if involved.fingerprint is not None:
            refuse_unread(edited, view, involved.files)
        resolved = self._resolve_deployment(view.invocation, DeploymentWords(), now, projects)
        if resolved.problem is not None:
            return replace(resolved, problem=view.original(resolved.problem))
        return name_originals(resolved, view, find_places(original, edited), involved.files)

    def _file_to_edit(self, path: str) -> Path:
        """Return the file that a path means, there or not yet there."""
        file = Path(to_local(path, self._options.path_map))
        if self._options.trusted:
            file = Path(os.path.normpath(Path.cwd() / file))
        elif not file.is_absolute():
            raise opaque_file_error()
        if (self._options.trusted or is_allowed(file, self._options)) and is_directory(file):
            file = find_default_file(file) or file
        return file

    def _find_target(
        self, file: Path, name: str | None, projects: Sequence[RunningProject], now: datetime
    ) -> "_EditTarget":
        """Return the project that reads a file: one that runs, else a configured one, else that of the file itself.

        Labels are claims: of several that run, the one counts that its own main file names.
        """
        running = [one for one in projects if name in (None, one.name) and find_problem(one, self._options) is None]
        found = {one.name: self._target_in(file, self._invocation_of_running(one)) for one in running}
        targets = {project: target for project, target in found.items() if target is not None}
        if len(targets) > 1:
            own = [
                one for one, target in targets.items() if self._find_own_name(target.invocation.files[0], now) == one
            ]
            if len(own) == 1:
                return targets[own[0]]
            msg = f"several projects read this file ({', '.join(sorted(targets))}): name one with project_name"
            raise InvalidInputError(msg, {"projects": sorted(targets)})
        if targets:
            return next(iter(targets.values()))
        for main in self._configured_files():
            if (target := self._target_in(file, self._invocation_of_file(main, name))) is not None:
                return target
        allowed = self._options.trusted or is_allowed(file, self._options)
        wrong = check_file(file)
        if not allowed or (wrong is not None and not self._options.trusted):
            raise opaque_file_error()
        if wrong is not None:
            raise wrong
        if file.suffix not in (".yaml", ".yml"):
            msg = "no Compose project that runs here reads this file, so that no edit of it can be judged"
            raise InvalidInputError(msg, {"file": safe_text(str(file))})
        invocation = self._invocation_of_file(file, name)
        return _EditTarget(invocation, invocation, str(file))

    def _find_own_name(self, file: Path, now: datetime) -> str | None:
        """Return what Compose calls the project of a file that nobody names: by its `name`, or by its folder."""
        if self._options.binary is None or not self._usable_version():
            return None
        try:
            answer, _ = self._find_answer(self._invocation_of_file(file, None), now, self._options.timeout_seconds)
        except BconError:
            return None
        return answer.project.name

    def _target_in(self, file: Path, invocation: ComposeInvocation) -> "_EditTarget | None":
        """Return how a project reads a file, or would read it if it were there; None where it does not, or must not."""
        request = self._request(invocation)
        if request.roots is not None and not is_within(file, request.roots):
            return None
        signature, named = sign(str(file)), str(file)
        for known, other in self._involved_files.find(request).files.items():
            if known == named or (len(signature) > 1 and other == signature):
                edited = invocation
                is_new = not os.path.lexists(file)
                if is_new and len(invocation.files) == 1 and file in override_files(invocation.files[0]):
                    edited = replace(invocation, files=(*invocation.files, file))
                return _EditTarget(invocation, edited, known)
        return None

    def _invocation_of_file(self, file: Path, name: str | None) -> ComposeInvocation:
        files = tuple(path for path in (file, find_override(file)) if path)
        return ComposeInvocation(files, name, None, self._env_files((), file.parent))

    def _read_to_edit(self, file: Path) -> str | None:
        """Return a file's text; None where there is no such file."""
        if not os.path.lexists(file):
            return None
        try:
            return read_regular_file(file).decode("utf-8", "surrogateescape")
        except UnreadableFileError as error:
            if not self._options.trusted:
                raise opaque_file_error() from None
            shown = safe_text(str(file))
            msg = f"{shown} {error}"
            raise InvalidInputError(msg, {"file": shown}) from None

    def _reader_of_edit(self, options: ComposeOptions, book: HostSecrets) -> "ComposeReader":
        """Return a reader that is forgotten after the edit: neither its answers nor its secrets are the host's.

        The edit's folder is one of its roots: below it lie the edited file and links, and a link is judged by where it
        leads to.
        """
        reader = ComposeReader(options, self._sealer, book)
        reader._version, reader._is_confined = self._version, self._is_confined
        reader._version_retry_at = self._version_retry_at
        return reader

    def _find_invocation(self, words: DeploymentWords, projects: tuple[RunningProject, ...]) -> ComposeInvocation:
        """Return what Compose is to be asked: as it chooses by itself, or the files of a running project."""
        running = next((project for project in projects if project.name == words.project_name), None)
        problem = find_problem(running, self._options) if running is not None else None
        env_files = tuple(Path.cwd() / name for name in words.env_files)
        is_of_running = words.prefers_running and not words.files and running is not None and problem is None
        files = () if is_of_running else find_named_files(words, self._environ)
        if files:
            env_files = self._env_files(env_files, files[0].parent)
            return ComposeInvocation(files, words.project_name, None, env_files, words.profiles)
        if running is None or problem is not None:
            raise no_file_error() if problem is None else ComposeFileNotFoundError(problem[1])
        return replace(self._invocation_of_running(running, env_files), profiles=words.profiles)

    def _resolve_deployment(
        self, invocation: ComposeInvocation, words: DeploymentWords, now: datetime, projects: tuple[RunningProject, ...]
    ) -> ResolvedDeployment:
        if self._options.binary is None or not self._usable_version():
            return _unresolved(invocation, now, ComposeFileNotFoundError(HOW_TO_GET_ONE), ProjectProblem.NO_BINARY)
        try:
            answer, key = self._find_answer(invocation, now, self._options.timeout_seconds)
        except ComposeParseError as error:
            secrets = self._learn_unresolved(invocation)
            refusal = make_refusal(hide_in_error(error, secrets.hide))
            return ResolvedDeployment(self._read_leniently(invocation, words, secrets), refusal=refusal)
        except BconError as error:
            return _unresolved(invocation, now, hide_in_error(error, self._learn_unresolved(invocation).hide))
        name = answer.project.name
        running = next((project for project in projects if project.name == name), None)
        desired = self._finish(answer, invocation, running, key, now).model_copy(
            update={"own_shell": self._options.trusted}
        )
        wanted = answer.deployment.wanted.programs if self._options.trusted else ()
        programs = find_programs((program for _, _, program in wanted), self._environ)
        return ResolvedDeployment(answer.deployment, desired, programs=programs)

    def _learn_unresolved(self, invocation: ComposeInvocation) -> KnownSecrets:
        """Return what the files hold that Compose does not resolve, by their text alone, and note it for all faces."""
        secrets = self._secrets_of_files(invocation)
        self._book.learn_files(invocation.project_name or invocation.cwd.name, secrets.values)
        return secrets

    def _secrets_of_files(self, invocation: ComposeInvocation) -> KnownSecrets:
        request = self._request(invocation)
        return self._env_file_reader.secrets_of(request, self._involved_files.find(request).files)

    def _read_leniently(
        self, invocation: ComposeInvocation, words: DeploymentWords, secrets: KnownSecrets
    ) -> Deployment | None:
        """Return what Compose reads of files that it refuses."""
        absent = missing_env_files(invocation.env_files)
        missing = [to_host(file, self._options.path_map) for file in absent]
        present = tuple(file for file in invocation.env_files if str(file) not in absent)
        model = resolve_leniently(replace(invocation, env_files=present), self._run)
        active = {*words.profiles, *self._environ.get("COMPOSE_PROFILES", "").split(",")}
        try:
            return (
                None
                if model is None and not missing
                else make_lenient(self._on_host(model or {}), active, missing, secrets)
            )
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError):  # what Compose lets through
            return None

    def configured_projects(self, now: datetime) -> tuple[DesiredProject, ...]:
        """Return the projects of the files in the settings, running or not; problems are part of the results."""
        return tuple(self._configured(file, now) for file in self._options.files)

    def files_changed(self) -> bool:
        """Return whether a file of a resolved project has changed, or an answer came late. Each is reported once."""
        return self._involved_files.has_changed() | self._background.has_late_answer()

    def learn_env_files(self, claims: Iterable[ComposeIdentity]) -> None:
        """Learn the secrets in the env files of running projects, as far as they may be read."""
        self._env_file_reader.learn(claims)

    def _configured(self, file: Path, now: datetime) -> DesiredProject:
        claimed = RunningProject(name=file.parent.name, config_files=(str(file),))
        target = (find_default_file(file) or file) if is_directory(file) else file
        if wrong := check_file(target):
            return _unresolved_project(claimed, now, ProjectProblem.NOT_FOUND, wrong.message)
        override = find_override(target)
        files = tuple(path for path in (target, override) if path)
        try:
            return self._resolve(ComposeInvocation(files, None, None, self._env_files((), target.parent)), None, now)
        except BconError as error:
            return _unresolved_project(claimed, now, _problem_kind(error), error.message)

    def _readable_file(self, path: str) -> Path:
        file = Path(to_local(path, self._options.path_map))
        if not self._options.trusted:
            if is_allowed(file, self._options) and is_directory(file):
                file = find_default_file(file) or file
            if not is_allowed(file, self._options) or check_file(file) is not None:
                raise opaque_file_error()
            return file
        file = Path.cwd() / file
        if is_directory(file):
            file = find_default_file(file) or file
        if (wrong := check_file(file)) is not None:
            raise wrong
        return file

    def _invocation_of_running(self, project: RunningProject, env_files: Sequence[Path] = ()) -> ComposeInvocation:
        files = find_files(project, self._options)
        local = env_files or [Path(to_local(file, self._options.path_map)) for file in project.environment_files]
        directory = Path(to_local(project.working_dir, self._options.path_map)) if project.working_dir else None
        if directory is not None and not is_directory(directory):
            directory = None
        return ComposeInvocation(files, project.name, directory, self._env_files(local, directory or files[0].parent))

    def _env_files(self, env_files: Sequence[Path], directory: Path) -> tuple[Path, ...]:
        """Return the env files to pass: passing one switches the default .env off, so that is then passed too."""
        extra = self._options.env_file
        if extra is None:
            return tuple(env_files)
        default = [directory / ".env"] if is_file(directory / ".env") else []
        return (*(env_files or default), extra)

    def _resolve(
        self,
        invocation: ComposeInvocation,
        running: RunningProject | None,
        now: datetime,
        wait_seconds: float | None = None,
    ) -> DesiredProject:
        """Resolve, and hide the files' secrets in errors: names in an error may hold interpolated values."""
        try:
            return self._resolve_files(invocation, running, now, wait_seconds)
        except BconError as error:
            raise hide_in_error(error, self._secrets_of_files(invocation).hide) from error

    def _resolve_files(
        self, invocation: ComposeInvocation, running: RunningProject | None, now: datetime, wait_seconds: float | None
    ) -> DesiredProject:
        if self._options.binary is None or not self._usable_version():
            name = invocation.project_name or invocation.files[0].parent.name
            claimed = RunningProject(name=name, config_files=tuple(map(str, invocation.files)))
            return _unresolved_project(running or claimed, now, ProjectProblem.NO_BINARY, HOW_TO_GET_ONE)
        answer, key = self._find_answer(invocation, now, wait_seconds)
        return self._finish(answer, invocation, running, key, now)

    def _find_answer(
        self, invocation: ComposeInvocation, now: datetime, wait_seconds: float | None
    ) -> tuple[_Answer, str | None]:
        """Return the binary's answer, asked now or before, and the key under which it is kept."""
        request = self._request(invocation)
        involved = self._involved_files.find(request)
        _check_involved(involved, request)
        key = self._cache_key(invocation, involved)
        answer = self._answers.get(key)
        if answer is None and request.roots is None:
            answer = self._resolve_with_binary(invocation, now, None)
            self._keep(key, answer)
        elif answer is None:
            answer = self._background.run(
                (invocation, request.roots),
                key,
                lambda deadline: self._resolve_if_unchanged(invocation, request, now, deadline),
                self._options.wait_seconds if wait_seconds is None else wait_seconds,
            )
        if isinstance(answer, BconError):
            raise answer
        return answer, key

    def _finish(
        self,
        answer: _Answer,
        invocation: ComposeInvocation,
        running: RunningProject | None,
        key: str | None,
        now: datetime,
    ) -> DesiredProject:
        """Return what the files ask for beside what runs, with nothing in it that is a secret by now."""
        project = self._with_namespace_hashes(answer, invocation, running, key)
        self._book.learn_files(project.name, answer.secrets.values)  # the book forgets projects that are long gone
        if answer.hidden is not (hidden := self._book.of_project(project.name)):
            project = hide_in_project(project, hidden)
        return project.model_copy(update={"resolved_at": now})

    def _with_namespace_hashes(
        self, answer: _Answer, invocation: ComposeInvocation, running: RunningProject | None, key: str | None
    ) -> DesiredProject:
        """Return the project with the hashes of services that share namespaces: these depend on container ids."""
        if not answer.shared or running is None or self._options.path_map:
            return answer.project
        substituted = substitute_container_ids(answer.shared, running.only_containers)
        services = answer.project.services or ()
        override_file = render_override_file(substituted, frozenset(service.name for service in services))
        if not substituted or len(override_file) > _PIPE_CHARACTERS:
            return answer.project
        key = key and f"{key} {override_file}"
        project = self._hashed_projects.get(key)
        if project is None:
            run = partial(
                self._run, standard_input=override_file, readable=self._readable(self._request(invocation).roots)
            )
            hashes = resolve_hashes_with_override(invocation, run)
            hashes_of_sharing = {
                service.name: hashes.get(service.name)
                for service in services
                if service.name in substituted and not service.doubtful
            }
            updated = tuple(
                service.model_copy(update={"config_hash": hashes_of_sharing.get(service.name, service.config_hash)})
                for service in services
            )
            project = answer.project.model_copy(update={"services": updated})
            self._hashed_projects.keep(key, project)
        return project

    def _request(self, invocation: ComposeInvocation) -> ResolutionRequest:
        options = self._options
        roots = None if options.trusted else (*options.roots, *folders_of_configured(invocation.files, options))
        if roots is not None and options.env_file is not None:
            roots = (*roots, options.env_file)
        return ResolutionRequest(invocation.files, invocation.env_files, invocation.cwd, invocation.project_name, roots)

    def _keep(self, key: str | None, answer: _Answer | BconError) -> None:
        if not isinstance(answer, DeadlineExceededError | InternalError | _ChangedError):
            self._answers.keep(key, answer)

    def _resolve_if_unchanged(
        self, invocation: ComposeInvocation, request: ResolutionRequest, now: datetime, deadline: float | None
    ) -> _Answer | BconError:
        """Resolve, and drop the answer if a file changed meanwhile: it may have read unchecked files."""
        involved = self._involved_files.find(request)
        _check_involved(involved, request)
        answer = self._resolve_with_binary(invocation, now, deadline, self._readable(request.roots))
        return answer if involved.is_unchanged() else _ChangedError("Its files have changed while Compose read them.")

    def _readable(self, roots: tuple[Path, ...] | None) -> tuple[Path, ...]:
        """Return the paths below which the binary may open files; empty where it is not confined."""
        return (roots or ()) if self._is_confined else ()

    def _resolve_with_binary(
        self, invocation: ComposeInvocation, now: datetime, deadline: float | None, readable: tuple[Path, ...] = ()
    ) -> _Answer | BconError:
        try:
            resolved = resolve_model(invocation, partial(self._run, deadline=deadline, readable=readable))
        except BconError as error:
            return error
        try:
            name = str(resolved.model.get("name") or "")
            secrets = KnownSecrets(find_secrets_in_model(resolved))
            self._book.learn_files(name, secrets.values)
            hidden = self._book.of_project(name)
            shared = find_shared_namespaces(resolved.model.get("services") or {})
            deployment = make_deployment(self._on_host(resolved.model), resolved.enabled, hidden)
            return _Answer(self._make_project(resolved, invocation, now, hidden), shared, hidden, secrets, deployment)
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError):  # what Compose lets through
            return explain_failure("unusable value", [str(file) for file in invocation.files])

    def _make_project(
        self, resolved: ResolvedModel, invocation: ComposeInvocation, now: datetime, secrets: KnownSecrets
    ) -> DesiredProject:
        options = self._options
        mapped = ResolvedModel(
            self._on_host(resolved.model),
            resolved.enabled,
            resolved.hashes if not options.path_map else {},
            resolved.unset,
            resolved.probe and self._on_host(resolved.probe),
        )
        project = make_project(mapped, self._sealer, now, shell_known=options.trusted, secrets=secrets)
        return project.model_copy(
            update={
                "config_files": tuple(to_host(str(file), options.path_map) for file in invocation.files),
                "working_dir": to_host(str(invocation.cwd), options.path_map),
                "compose_version": self._version,
            }
        )

    def _on_host(self, model: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a model with paths as the Docker host knows them."""
        return map_paths(model, lambda path: to_host(path, self._options.path_map))

    def _run(
        self,
        arguments: tuple[str, ...],
        cwd: Path,
        extra: Mapping[str, str],
        standard_input: str = "",
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
                standard_input=standard_input.encode(),
                readable=readable,
            )
        except PermissionError as error:
            msg = f"The Compose binary may not be started in {cwd}: {error.strerror}."
            raise PermissionDeniedError(msg, {"directory": str(cwd)}) from error
        except OSError as error:
            msg = f"The Compose binary cannot be started in {cwd}: {error.strerror}."
            raise ComposeFileNotFoundError(msg, {"directory": str(cwd)}) from error

    def _usable_version(self) -> bool:
        """Return whether the binary is of version 2 or newer; older ones support neither JSON nor hashes."""
        if self._version is None:
            if clock.monotonic() < self._version_retry_at:
                return False
            self._version, self._is_confined = self._query_version()
            self._version_retry_at = clock.monotonic() + _VERSION_PAUSE_SECONDS
            if not self._options.trusted and self._version is not None:
                how = "confined to the files it may read" if self._is_confined else "not confined: no Landlock here"
                _log.info("the Compose binary, version %s, is %s", self._version, how)
        major = (self._version or "").partition(".")[0]
        return major.isdecimal() and int(major) >= _LOWEST_MAJOR

    def _query_version(self) -> tuple[str | None, bool]:
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

    def _cache_key(self, invocation: ComposeInvocation, involved: InvolvedFiles) -> str | None:
        if involved.fingerprint is None:
            return None
        content = json.dumps([involved.fingerprint, invocation.arguments, sorted(self._options.environ.items())])
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _walk(top: Path, depth: int) -> Iterator[Path]:
    """Yield the regular files below a folder, without following links; the first thousands."""
    looked_at = 0
    for folder, folders, files in os.walk(top):
        here = Path(folder)
        level = len(here.relative_to(top).parts) + 1
        if level >= depth:
            folders.clear()
        for name in files:
            looked_at += 1
            if looked_at > _MOST_LISTED_FILES:
                return
            if stat.S_ISREG((here / name).lstat().st_mode):
                yield here / name


class _ChangedError(ComposeFileNotFoundError):
    """The files changed while they were resolved: the answer is not cached."""


def _check_involved(involved: InvolvedFiles, request: ResolutionRequest) -> None:
    """Raise the reason not to resolve; for a command, only a file that is too large or not regular."""
    named_by = str(request.files[0])
    if involved.unfit is not None:
        raise unfit_file_error(involved.unfit, named_by)
    if request.roots is None:
        return
    if involved.outside is not None:
        raise outside_roots_error(involved.outside, request.roots)
    if involved.broken_line is not None:
        raise explain_invalid_yaml(involved.undetermined or named_by, involved.broken_line)
    if involved.fingerprint is None:
        raise undetermined_files_error(involved.undetermined or named_by)


def _find_running_from_file(
    file: Path, name: str, projects: Sequence[RunningProject], options: ComposeOptions
) -> RunningProject | None:
    real = os.path.realpath(file)
    for project in projects:
        if not options.trusted and not all(
            is_allowed(locate(file, project, options), options) for file in project.config_files
        ):
            continue
        mapped = [os.path.realpath(to_local(file, options.path_map)) for file in project.config_files]
        if project.name == name and real in mapped:
            return project
    return None


def _unresolved_project(project: RunningProject, now: datetime, problem: ProjectProblem, detail: str) -> DesiredProject:
    return DesiredProject(
        name=project.name,
        config_files=project.config_files,
        working_dir=project.working_dir,
        resolved_at=now,
        problem=problem,
        problem_detail=detail,
    )


def _unresolved(
    invocation: ComposeInvocation, now: datetime, error: BconError, kind: ProjectProblem | None = None
) -> ResolvedDeployment:
    """Return a deployment of which nothing could be read, and why."""
    name = invocation.project_name or invocation.cwd.name
    claimed = RunningProject(name=name, config_files=tuple(map(str, invocation.files)))
    desired = _unresolved_project(claimed, now, kind or _problem_kind(error), error.message)
    return ResolvedDeployment(desired=desired, problem=error.message)


def _problem_kind(error: BconError) -> ProjectProblem:
    match error:
        case DeadlineExceededError():
            return ProjectProblem.TIMEOUT
        case OutsideRootsError():
            return ProjectProblem.OUTSIDE_ROOTS
        case ComposeFileNotFoundError() | PermissionDeniedError():
            return ProjectProblem.NOT_FOUND
        case _:
            return ProjectProblem.PARSE_ERROR
