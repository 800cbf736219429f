"""Which files a project's resolution may read, so that a cached answer is used only while none has changed.

The Compose format has many ways to name a file (include, extends, env_file, label_file, secrets, ...). Rather than
know them all, every word of a Compose file that names an existing file counts: one too many costs a needless
resolution, one too few would cost a wrong answer.

Files are read once, and again when their signature (inode, size, times) has changed; so a project of which nothing
changed costs a few stat calls.
"""

import hashlib
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bcon_exporter import clock
from bcon_exporter.compose.signatures import ABSENT, Signature, is_settled, list_names, read_file, sign, sign_directory
from bcon_exporter.compose.variable_names import expand, find_names, read_values

_MAX_FILES = 200
_MAX_WORDS = 20_000
_MAX_REMEMBERED = 1024
_WORD = re.compile(r"[^\s\"'\[\]{},:=#&*!|>]+")
_PROJECT_DIRECTORY = re.compile(r"\bproject_directory[\"']?\s*:\s*[\"']?([^\s\"',}]+)")
_COMPOSE_SUFFIXES = (".yaml", ".yml")


@dataclass(slots=True)
class Involved:
    """What a fingerprint was made from.

    Attributes:
        fingerprint: None when it cannot be known.
        files: Path → signature of every file looked for, also of those that are not there.
        directories: Path → signature of every directory whose names were matched.
        settled: False while a signature is so young that one more change might not show in it.
    """

    fingerprint: str | None = None
    files: dict[str, Signature] = field(default_factory=dict)
    directories: dict[str, Signature] = field(default_factory=dict)
    settled: bool = True

    def is_current(self) -> bool:
        """Return whether everything is as it was; also new and vanished files count."""
        return (
            self.settled
            and all(sign(path) == known for path, known in self.files.items())
            and all(sign_directory(path) == known for path, known in self.directories.items())
        )


class FileMemory:
    """Knows the content of the files of projects by their signatures; safe to use from several threads.

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
        self._projects: OrderedDict[tuple[object, ...], Involved] = OrderedDict()

    def fingerprint(self, files: Iterable[Path], directories: Iterable[Path]) -> str | None:
        """Return a hash over the content of every file involved; None when it cannot be known.

        Args:
            files: Compose files and env files.
            directories: Directories against which names are read, beside each file's own.
        """
        key = (tuple(files), tuple(dict.fromkeys(directories)))
        with self._lock:
            known = self._projects.get(key)
            if known is None or not known.is_current():
                known = self._find(*key)
                self._projects[key] = known
            self._projects.move_to_end(key)
            while len(self._projects) > _MAX_REMEMBERED:
                self._projects.popitem(last=False)
            return known.fingerprint

    def has_changed(self) -> bool:
        """Return whether a file of a known project has changed, or may have while it was too young to tell.

        Each change is told once.
        """
        with self._lock:
            stale = [key for key, known in self._projects.items() if self._is_stale(known)]
            for key in stale:
                del self._projects[key]
            return bool(stale)

    def _is_stale(self, known: Involved) -> bool:
        return not known.is_current() if known.settled else self._is_settled(known)

    def _is_settled(self, known: Involved) -> bool:
        now = self._now()
        return all(is_settled(one, now) for one in (*known.files.values(), *known.directories.values()))

    def _find(self, files: tuple[Path, ...], directories: tuple[Path, ...]) -> Involved:
        search = _Search(directories, self._environ)
        waiting = [*files, *(base / ".env" for base in directories)]
        while waiting:
            if not search.read(waiting):
                return Involved()
            named = search.expand()
            if named is None:
                return Involved()
            waiting = named
        found = search.found
        found.fingerprint, found.settled = search.digest.hexdigest(), self._is_settled(found)
        return found


class _Search:
    """Reads the files of one project and finds those that they name.

    Attributes:
        found: Everything that was looked at.
        digest: Over the content of all files, in the order in which they were read.
    """

    def __init__(self, directories: tuple[Path, ...], environ: Mapping[str, str]) -> None:
        self.found = Involved()
        self.digest = hashlib.sha256()
        self._directories = directories
        self._seen: set[Path] = set()
        self._values = {name: {value} for name, value in environ.items()}
        self._open: list[tuple[Path, str]] = []

    def read(self, waiting: list[Path]) -> bool:
        """Read files and all that they name; False when there are too many or a name cannot be told."""
        while waiting:
            file = waiting.pop()
            if file in self._seen:
                continue
            self._seen.add(file)
            if len(self._seen) > _MAX_FILES:
                return False
            self.found.files[str(file)] = sign(str(file))
            content = read_file(file)
            self.digest.update(f"{file}\0{content is not None}\0".encode("utf-8", "surrogateescape"))
            self.digest.update(hashlib.sha256(content or b"").digest())
            text = (content or b"").decode("utf-8-sig", "replace")
            if file.suffix not in _COMPOSE_SUFFIXES:
                self._note_values(text)
            elif content is not None:
                names = find_names(text)
                if names is None:
                    return False
                self._open += [(file.parent, name) for name in names]
                # what an included file names lies there
                self._directories += tuple(file.parent / other for other in _PROJECT_DIRECTORY.findall(text))
                words = dict.fromkeys(_WORD.findall(text)[:_MAX_WORDS])
                waiting += [*_named_files(words, self._bases(file.parent), self.found), file.parent / ".env"]
        return True

    def expand(self) -> list[Path] | None:
        """Return the unread files that names with variables may stand for; None when that cannot be told."""
        named: list[Path] = []
        for directory, name in self._open:
            words = expand(name, self._values)
            if words is None:
                return None
            named += _named_files(words, self._bases(directory), self.found)
        return [file for file in named if file not in self._seen]

    def _note_values(self, text: str) -> None:
        for name, value in read_values(text):
            self._values.setdefault(name, set()).add(value)

    def _bases(self, directory: Path) -> list[Path]:
        return [directory, *self._directories]


def _named_files(words: Iterable[str], bases: list[Path], found: Involved) -> list[Path]:
    """Return the files that words name; notes all that was looked at, so that a new file is noticed."""
    named: list[Path] = []
    directories = [str(base) for base in dict.fromkeys(bases)]
    names = {directory: list_names(directory) for directory in directories}
    found.directories.update({directory: sign_directory(directory) for directory in directories})
    for word in words:
        relative = word.removeprefix("./")
        first = relative.partition("/")[0]
        for directory in directories:
            if first in ("", "..") or first in names[directory]:
                named += [Path(path) for path in _candidates(directory, relative or ".") if _is_file(path, found)]
    return named


def _candidates(directory: str, word: str) -> tuple[str, str]:
    path = os.path.join(directory, word)  # noqa: PTH118 — a thousand words a file: pathlib takes ten times as long
    return path, f"{path}/.env"


def _is_file(path: str, found: Involved) -> bool:
    signature = found.files[path] = found.files[path] if path in found.files else sign(path)
    return signature is not ABSENT and len(signature) > 1
