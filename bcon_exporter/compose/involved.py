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
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bcon_exporter import clock
from bcon_exporter.compose.signatures import ABSENT, Signature, is_settled, list_names, read_file, sign, sign_directory

_MAX_FILES = 200
_MAX_WORDS = 20_000
_MAX_REMEMBERED = 1024
_WORD = re.compile(r"[^\s\"'\[\]{},:=#&*!|>]+")
_FILE_KEYS = r"(?:include|extends|env_file|label_file|file|path|project_directory)"
_FILE_KEY = re.compile(rf"(?:-\s*)?[\"']?{_FILE_KEYS}[\"']?\s*:")
_INLINE_FILE = re.compile(rf"\b{_FILE_KEYS}[\"']?\s*:[^,}}]*\$")
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
    """Knows the content of the files of projects by their signatures; safe to use from several threads."""

    def __init__(self, now: Callable[[], float] = lambda: clock.utc_now().timestamp()) -> None:
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
        digest, found = hashlib.sha256(), Involved()
        waiting = [*files, *(base / ".env" for base in directories)]
        seen: set[Path] = set()
        while waiting:
            file = waiting.pop()
            if file in seen:
                continue
            seen.add(file)
            if len(seen) > _MAX_FILES:
                return Involved()
            found.files[str(file)] = sign(str(file))
            content = read_file(file)
            digest.update(f"{file}\0{content is not None}\0".encode("utf-8", "surrogateescape"))
            digest.update(hashlib.sha256(content or b"").digest())
            if content is not None and file.suffix in _COMPOSE_SUFFIXES:
                words = _words(content)
                if words is None:
                    return Involved()
                waiting += [*_named_files(words, [file.parent, *directories], found), file.parent / ".env"]
        found.fingerprint, found.settled = digest.hexdigest(), self._is_settled(found)
        return found


def _words(content: bytes) -> tuple[str, ...] | None:
    """Return the words that could name a file; None when the name of one may hang on a variable."""
    text = content.decode("utf-8", "replace")
    if _hangs_on_variable(text):
        return None
    return tuple(dict.fromkeys(_WORD.findall(text)[:_MAX_WORDS]))


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


def _hangs_on_variable(text: str) -> bool:
    """Return whether the name of a file may hang on a variable: then we do not know which file it is."""
    block: int | None = None
    for line in text.splitlines():
        stripped = line.strip()
        if "$" in line and _INLINE_FILE.search(line):
            return True
        indent = len(line) - len(line.lstrip())
        if _FILE_KEY.match(stripped):
            block = indent
        elif block is not None and stripped and (indent < block or (indent == block and stripped[0] != "-")):
            block = None
        if block is not None and "$" in line:
            return True
    return False
