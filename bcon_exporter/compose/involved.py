"""Which files a project's resolution may read: known before the Compose binary is asked, and looked at afterwards.

One walk over what the Compose files name serves two ends. A cached answer is used only while no file involved has
changed; and the daemon resolves a project only when every file involved lies within `compose.roots`. For the first a
file too many costs a needless resolution, for the second one too few would be a hole: where Compose's versions read a
name differently, every reading counts, and a name that cannot be told counts as outside.

Files are read once, and again when their signature (inode, size, times) has changed; so a project of which nothing
changed costs a few stat calls.
"""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bcon_exporter import clock
from bcon_exporter.compose.files import FILE_BYTES, is_within, override_files
from bcon_exporter.compose.named_files import Include, NamedFiles, NotYamlError, UntoldError, find_named_files
from bcon_exporter.compose.signatures import ABSENT, Signature, is_settled, read_file, sign, sign_link
from bcon_exporter.compose.variables import Values, expand, merge, read_values

_MOST_FILES = 200
_MOST_BYTES = 8 * 1024 * 1024
"""Of all that is read; parsing a hostile mebibyte takes up to 0.2 s."""
_MOST_LOOKED_AT = 1000
_DEEPEST = 10
_MAX_REMEMBERED = 1024
_NOTHING = "/dev/null"
"""Compose reads it as "no env file"."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a resolution starts from.

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
class Involved:
    """The files that a resolution may read.

    Attributes:
        fingerprint: A hash over the content of all that is read; None when it cannot be known.
        files: Path → signature of every file looked for, also of those that are not there.
        links: Path → signature of the symbolic links among them.
        settled: False while a signature is so young that one more change might not show in it.
        outside: The first file outside of the roots: nothing is read from there on.
        unfit: The first one that is no regular file, or too large.
        untold: The Compose file whose names cannot be told.
        broken_line: That one is not valid YAML; the line, 0 when that is not known.
    """

    fingerprint: str | None = None
    files: dict[str, Signature] = field(default_factory=dict)
    links: dict[str, Signature] = field(default_factory=dict)
    settled: bool = True
    outside: str | None = None
    unfit: str | None = None
    untold: str | None = None
    broken_line: int | None = None

    def is_current(self) -> bool:
        """Return whether everything is as it was, for certain; also new and vanished files count."""
        return self.settled and self.is_unchanged()

    def is_unchanged(self) -> bool:
        """Return whether everything looks as it did."""
        return all(sign(path) == known for path, known in self.files.items()) and all(
            sign_link(path) == known for path, known in self.links.items()
        )


class FileMemory:
    """Knows the files of projects by their signatures; safe to use from several threads.

    Args:
        environ: Variables that a file name may hang on, beside those of the env files.
        now: The time, in seconds since the epoch.
    """

    def __init__(
        self, environ: Mapping[str, str] | None = None, now: Callable[[], float] = lambda: clock.utc_now().timestamp()
    ) -> None:
        self._environ = environ or {}
        self._now = now
        self._lock = threading.Lock()
        self._projects: OrderedDict[Asked, Involved] = OrderedDict()

    def find(self, asked: Asked) -> Involved:
        """Return the files involved; they are looked for again when one has changed."""
        with self._lock:
            known = self._projects.get(asked)
            if known is None or not known.is_current():
                known = _Walk(asked, self._environ).involved
                known.settled = self._is_settled(known)
                self._projects[asked] = known
            self._projects.move_to_end(asked)
            while len(self._projects) > _MAX_REMEMBERED:
                self._projects.popitem(last=False)
            return known

    def has_changed(self) -> bool:
        """Return whether a file of a known project has changed, or may have while it was too young to tell.

        Each change is told once.
        """
        with self._lock:
            stale = [asked for asked, known in self._projects.items() if self._is_stale(known)]
            for asked in stale:
                del self._projects[asked]
            return bool(stale)

    def _is_stale(self, known: Involved) -> bool:
        return not known.is_current() if known.settled else self._is_settled(known)

    def _is_settled(self, known: Involved) -> bool:
        now = self._now()
        return all(is_settled(one, now) for one in known.files.values())


@dataclass(frozen=True, slots=True)
class _Scope:
    """How the names in one Compose file are read.

    Attributes:
        directory: What they are relative to.
        mistaken: What Compose 2 to 5 take for it in an `include` within an included file, for `env_file` and
            `project_directory`: the directory relative to the including one's, below the working directory.
        values: What their variables may be.
        trail: The files that lead here, each with its directory.
    """

    directory: str
    mistaken: str
    values: Values
    trail: tuple[tuple[str, str], ...] = ()


class _RefusedError(Exception):
    """A file must not be read."""


class _Walk:
    """Finds and reads the files of one project, from its Compose files on.

    Attributes:
        involved: Everything that was looked at.
    """

    def __init__(self, asked: Asked, environ: Mapping[str, str]) -> None:
        self.involved = Involved()
        self._roots = asked.roots
        self._home = environ.get("HOME")
        self._cwd = os.path.normpath(asked.directory)
        self._digest = hashlib.sha256()
        self._read_paths: set[str] = set()
        self._bytes_left = _MOST_BYTES
        values: dict[str, frozenset[str] | None] = {name: frozenset((value,)) for name, value in environ.items()}
        values["COMPOSE_PROJECT_NAME"] = frozenset((asked.project_name,)) if asked.project_name else None
        try:
            known = self._read_env_files(map(str, asked.env_files), values)
            known = self._read_default_env_file(self._cwd, known)
            for file in asked.files:
                for override in override_files(file):
                    self._watch(str(override))
                self._walk(str(file), _Scope(self._cwd, self._cwd, known))
        except (_RefusedError, UntoldError):
            return
        self.involved.fingerprint = self._digest.hexdigest()

    def _walk(self, file: str, scope: _Scope, *, extended: bool = False) -> None:
        """Read a Compose file and all that it names; of an extended one only the services count."""
        if (file, scope.directory) in scope.trail:  # a circle: Compose refuses it
            return
        content = self._read(file)
        if content is None:
            return
        scope = replace(scope, trail=(*scope.trail, (file, scope.directory)))
        try:
            self._walk_named(find_named_files(content), scope, extended=extended)
        except UntoldError as error:
            self._note_untold(file, error)
            raise

    def _walk_named(self, named: NamedFiles, scope: _Scope, *, extended: bool) -> None:
        if len(scope.trail) > _DEEPEST:
            raise UntoldError
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
            homes = [os.path.dirname(path) for found in [*paths.values()][:1] for path in found]  # noqa: PTH120 — as above
        values = scope.values
        for base in bases:
            values = self._read_env_files(self._paths(entry.env_files, scope, base), values)
        for home in dict.fromkeys(homes):
            known = values if entry.env_files else self._read_default_env_file(home, values)
            relative = os.path.relpath(home, scope.directory)
            mistaken = os.path.normpath(os.path.join(self._cwd, relative))  # noqa: PTH118 — as above
            for path in (path for found in paths.values() for path in found):
                self._walk(path, _Scope(home, mistaken, known, scope.trail))

    def _compose_paths(self, names: Iterable[str], scope: _Scope) -> Iterator[str]:
        """Yield as `_paths` does; a file that is not there is read as one below the working directory."""
        for name in names:
            for path in self._paths((name,), scope):
                yield path
                if not self._is_there(path):
                    yield from self._paths((name,), scope, self._cwd)

    def _paths(self, names: Iterable[str], scope: _Scope, base: str | None = None) -> Iterator[str]:
        """Yield every path that names may stand for.

        Raises:
            UntoldError: It cannot be told.
        """
        for name in names:
            expanded = expand(name, scope.values)
            if expanded is None:
                raise UntoldError
            for text in sorted(expanded):
                yield from self._candidates(text, base or scope.directory)

    def _candidates(self, name: str, base: str) -> Iterator[str]:
        if not name or name == _NOTHING:
            return
        if "://" in name or name.startswith(("git@", "github.com/")):
            raise UntoldError  # remote, and switched off
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
        if not self._is_there(path):
            return None
        content = read_file(Path(path))
        self._read_paths.add(path)
        self._bytes_left -= len(content or b"")
        if len(self._read_paths) > _MOST_FILES or self._bytes_left < 0:
            raise UntoldError
        self._digest.update(f"{path}\0{content is not None}\0".encode("utf-8", "surrogateescape"))
        self._digest.update(hashlib.sha256(content or b"").digest())
        return content

    def _is_there(self, path: str) -> bool:
        signature = self._watch(path)
        if signature is not ABSENT and (len(signature) == 1 or signature[2] > FILE_BYTES):
            self.involved.unfit = path
            raise _RefusedError
        return signature is not ABSENT

    def _watch(self, path: str) -> Signature:
        """Look at a file, so that it is noticed when it comes, changes or goes."""
        if path not in self.involved.files:
            self._check_root(path)
            if len(self.involved.files) >= _MOST_LOOKED_AT:
                raise UntoldError
            self.involved.files[path] = sign(path)
            if link := sign_link(path):
                self.involved.links[path] = link
        return self.involved.files[path]

    def _check_root(self, path: str) -> None:
        if self._roots is not None and not is_within(Path(path), self._roots):
            self.involved.outside = path
            raise _RefusedError

    def _note_untold(self, file: str, error: UntoldError) -> None:
        if self.involved.untold is None:
            self.involved.untold = file
            if isinstance(error, NotYamlError):
                self.involved.broken_line = error.line or 0
