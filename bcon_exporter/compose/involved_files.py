"""Finds the files that a project's resolution may read, before the Compose binary runs.

One walk over the files that the Compose files name serves two purposes. A cached answer is used only while no involved
file has changed, and the daemon resolves a project only when every involved file lies within `compose.roots`. For the
first, a file too many costs a needless resolution; for the second, a file too few would be a security hole. So where
Compose's versions read a name differently, every reading counts, and a name that cannot be determined counts as
outside.

Files are read once, and again when their signature (inode, size, times) has changed. A project of which nothing changed
costs a few stat calls.
"""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bcon_exporter import clock
from bcon_exporter.compose.file_signatures import ABSENT, Signature, is_settled, read_file, sign, sign_link
from bcon_exporter.compose.files import FILE_BYTES, is_within, override_files
from bcon_exporter.compose.referenced_files import Include, NamedFiles, find_named_files
from bcon_exporter.compose.variables import Values, expand, merge, read_values
from bcon_exporter.compose.yaml_nodes import NotYamlError, UndeterminedFilesError

_MOST_FILES = 200
_MOST_BYTES = 8 * 1024 * 1024
"""Limit of all files together; parsing a hostile mebibyte takes up to 0.2 s."""
_MOST_LOOKED_AT = 1000
_DEEPEST = 10
_MAX_REMEMBERED = 1024
_NOTHING = "/dev/null"
"""Compose reads it as "no env file"."""


@dataclass(frozen=True, slots=True)
class ResolutionRequest:
    """Input of one resolution.

    Attributes:
        files: The Compose files.
        env_files: For interpolation; without any, the `.env` of the directory.
        directory: The project directory, in which the binary runs.
        project_name: None: Compose infers it.
        roots: Only files below these may be read; None: any that the user may read.
    """

    files: tuple[Path, ...]
    env_files: tuple[Path, ...]
    directory: Path
    project_name: str | None = None
    roots: tuple[Path, ...] | None = None


@dataclass(slots=True)
class InvolvedFiles:
    """The files that a resolution may read.

    Attributes:
        fingerprint: A hash over the content of all that is read; None when it cannot be known.
        files: Path → signature of every file that was looked up, also of those that do not exist.
        links: Path → signature of the symbolic links among them.
        settled: False while a signature is so young that one more change might not show in it.
        outside: The first file outside of the roots; the walk ends there.
        unfit: The first file that is not regular, or too large; the walk ends there.
        undetermined: The Compose file whose named files cannot be determined; the walk ends there.
        broken_line: The line at which that file is not valid YAML, 0 when the line is unknown; None when it is valid.
    """

    fingerprint: str | None = None
    files: dict[str, Signature] = field(default_factory=dict)
    links: dict[str, Signature] = field(default_factory=dict)
    settled: bool = True
    outside: str | None = None
    unfit: str | None = None
    undetermined: str | None = None
    broken_line: int | None = None

    def is_current(self) -> bool:
        """Return whether certainly nothing has changed; new and vanished files count as changes."""
        return self.settled and self.is_unchanged()

    def is_unchanged(self) -> bool:
        """Return whether all signatures are the same as before."""
        return all(sign(path) == signature for path, signature in self.files.items()) and all(
            sign_link(path) == signature for path, signature in self.links.items()
        )


class InvolvedFilesCache:
    """Caches the involved files of projects, with their signatures. Thread-safe.

    Args:
        environ: Variables that file names may use, in addition to those of the env files.
        now: The time, in seconds since the epoch.
    """

    def __init__(
        self, environ: Mapping[str, str] | None = None, now: Callable[[], float] = lambda: clock.utc_now().timestamp()
    ) -> None:
        self._environ = environ or {}
        self._now = now
        self._lock = threading.Lock()
        self._projects: OrderedDict[ResolutionRequest, InvolvedFiles] = OrderedDict()

    def find(self, request: ResolutionRequest) -> InvolvedFiles:
        """Return the involved files; the walk is repeated when one of them has changed."""
        with self._lock:
            involved = self._projects.get(request)
            if involved is None or not involved.is_current():
                involved = _Walk(request, self._environ).involved
                involved.settled = self._is_settled(involved)
                self._projects[request] = involved
            self._projects.move_to_end(request)
            while len(self._projects) > _MAX_REMEMBERED:
                self._projects.popitem(last=False)
            return involved

    def has_changed(self) -> bool:
        """Return whether a file of a cached project has, or may have, changed. Each change is reported once."""
        with self._lock:
            stale = [request for request, involved in self._projects.items() if self._is_stale(involved)]
            for request in stale:
                del self._projects[request]
            return bool(stale)

    def _is_stale(self, involved: InvolvedFiles) -> bool:
        return not involved.is_current() if involved.settled else self._is_settled(involved)

    def _is_settled(self, involved: InvolvedFiles) -> bool:
        now = self._now()
        return all(is_settled(signature, now) for signature in involved.files.values())


@dataclass(frozen=True, slots=True)
class _Scope:
    """How to read the names in one Compose file.

    Attributes:
        directory: Base of relative names.
        mistaken: The base that Compose 2 to 5 use instead in an `include` within an included file, for `env_file` and
            `project_directory`: the directory relative to the including one's, below the working directory.
        values: Candidate values of variables.
        trail: The chain of files that led here, each with its directory.
    """

    directory: str
    mistaken: str
    values: Values
    trail: tuple[tuple[str, str], ...] = ()


class _RefusedError(Exception):
    """A file must not be read."""


class _Walk:
    """Walks from a project's Compose files to every file that they name.

    Attributes:
        involved: The result.
    """

    def __init__(self, request: ResolutionRequest, environ: Mapping[str, str]) -> None:
        self.involved = InvolvedFiles()
        self._roots = request.roots
        self._home = environ.get("HOME")
        self._cwd = os.path.normpath(request.directory)
        self._digest = hashlib.sha256()
        self._read_paths: set[str] = set()
        self._bytes_left = _MOST_BYTES
        values: dict[str, frozenset[str] | None] = {name: frozenset((value,)) for name, value in environ.items()}
        values["COMPOSE_PROJECT_NAME"] = frozenset((request.project_name,)) if request.project_name else None
        try:
            env_values = self._read_env_files(map(str, request.env_files), values)
            env_values = self._read_default_env_file(self._cwd, env_values)
            for file in request.files:
                for override in override_files(file):
                    self._look_up(str(override))
                self._walk(str(file), _Scope(self._cwd, self._cwd, env_values))
        except (_RefusedError, UndeterminedFilesError):
            return
        self.involved.fingerprint = self._digest.hexdigest()

    def _walk(self, file: str, scope: _Scope, *, extended: bool = False) -> None:
        """Read a Compose file and the files that it names; an extended file's `include` is not followed."""
        if (file, scope.directory) in scope.trail:  # a circle: Compose refuses it
            return
        content = self._read(file)
        if content is None:
            return
        scope = replace(scope, trail=(*scope.trail, (file, scope.directory)))
        try:
            self._walk_named(find_named_files(content), scope, extended=extended)
        except UndeterminedFilesError as error:
            self._record_undetermined(file, error)
            raise

    def _walk_named(self, named: NamedFiles, scope: _Scope, *, extended: bool) -> None:
        if len(scope.trail) > _DEEPEST:
            raise UndeterminedFilesError
        for entry in () if extended else named.includes:
            self._walk_include(entry, scope)
        for path in self._compose_paths(named.extended, scope):
            base = os.path.dirname(path)  # noqa: PTH120 — paths are strings here, as Compose joins them
            self._walk(path, replace(scope, directory=base, mistaken=base), extended=True)
        for path in self._paths(named.read, scope):
            self._read(path)
        if self._roots is not None and not extended:
            for path in self._paths(named.mounted, scope):
                self._check_root(path)

    def _walk_include(self, entry: Include, scope: _Scope) -> None:
        bases = dict.fromkeys((scope.directory, scope.mistaken))
        paths = {name: [*self._compose_paths((name,), scope)] for name in entry.paths}
        homes = [path for base in bases for path in self._paths(entry.project_directories, scope, base)]
        if not homes:
            homes = [os.path.dirname(path) for candidates in [*paths.values()][:1] for path in candidates]  # noqa: PTH120 — as above
        values = scope.values
        for base in bases:
            values = self._read_env_files(self._paths(entry.env_files, scope, base), values)
        for home in dict.fromkeys(homes):
            home_values = values if entry.env_files else self._read_default_env_file(home, values)
            relative = os.path.relpath(home, scope.directory)
            mistaken = os.path.normpath(os.path.join(self._cwd, relative))  # noqa: PTH118 — as above
            for path in (path for candidates in paths.values() for path in candidates):
                self._walk(path, _Scope(home, mistaken, home_values, scope.trail))

    def _compose_paths(self, names: Iterable[str], scope: _Scope) -> Iterator[str]:
        """Yield as `_paths` does; a file that does not exist is also looked up below the working directory."""
        for name in names:
            for path in self._paths((name,), scope):
                yield path
                if not self._exists(path):
                    yield from self._paths((name,), scope, self._cwd)

    def _paths(self, names: Iterable[str], scope: _Scope, base: str | None = None) -> Iterator[str]:
        """Yield every path that the names may stand for.

        Raises:
            UndeterminedFilesError: A name cannot be determined.
        """
        for name in names:
            expanded = expand(name, scope.values)
            if expanded is None:
                raise UndeterminedFilesError
            for text in sorted(expanded):
                yield from self._candidates(text, base or scope.directory)

    def _candidates(self, name: str, base: str) -> Iterator[str]:
        if not name or name == _NOTHING:
            return
        if "://" in name or name.startswith(("git@", "github.com/")):
            raise UndeterminedFilesError  # remote, and switched off
        if name.startswith("~") and self._home is not None:
            yield os.path.normpath(f"{self._home}/{name[1:]}")
        if name.startswith("/"):
            yield name
        path = os.path.normpath(os.path.join(base, name))  # noqa: PTH118 — as above
        if path != name:
            yield path

    def _read_env_files(self, paths: Iterable[str], values: Values) -> Values:
        for path in paths:
            content = self._read(path)
            if content is not None:
                values = merge(values, read_values(content.decode("utf-8-sig", "replace")))
        return values

    def _read_default_env_file(self, directory: str, values: Values) -> Values:
        path = f"{directory}/.env"
        self._check_root(path)
        return values if os.path.isdir(path) else self._read_env_files((path,), values)  # noqa: PTH112 — as above

    def _read(self, path: str) -> bytes | None:
        if not self._exists(path):
            return None
        content = read_file(Path(path))
        self._read_paths.add(path)
        self._bytes_left -= len(content or b"")
        if len(self._read_paths) > _MOST_FILES or self._bytes_left < 0:
            raise UndeterminedFilesError
        self._digest.update(f"{path}\0{content is not None}\0".encode("utf-8", "surrogateescape"))
        self._digest.update(hashlib.sha256(content or b"").digest())
        return content

    def _exists(self, path: str) -> bool:
        signature = self._look_up(path)
        if signature is not ABSENT and (len(signature) == 1 or signature[2] > FILE_BYTES):
            self.involved.unfit = path
            raise _RefusedError
        return signature is not ABSENT

    def _look_up(self, path: str) -> Signature:
        """Record a file's signature, so that its creation, change or removal is noticed later."""
        if path not in self.involved.files:
            self._check_root(path)
            if len(self.involved.files) >= _MOST_LOOKED_AT:
                raise UndeterminedFilesError
            self.involved.files[path] = sign(path)
            if link := sign_link(path):
                self.involved.links[path] = link
        return self.involved.files[path]

    def _check_root(self, path: str) -> None:
        if self._roots is not None and not is_within(Path(path), self._roots):
            self.involved.outside = path
            raise _RefusedError

    def _record_undetermined(self, file: str, error: UndeterminedFilesError) -> None:
        if self.involved.undetermined is None:
            self.involved.undetermined = file
            if isinstance(error, NotYamlError):
                self.involved.broken_line = error.line or 0
