"""Which files a project's resolution may read, so that a cached answer is used only while none has changed.

The Compose format has many ways to name a file (include, extends, env_file, label_file, secrets, ...). Rather than
know them all, every word of a Compose file that names an existing file counts: one too many costs a needless
resolution, one too few would cost a wrong answer.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from bcon_exporter.compose.files import FILE_BYTES, is_file

_MAX_FILES = 200
_MAX_WORDS = 20_000
_WORD = re.compile(r"[^\s\"'\[\]{},:=#&*!|>]+")
_FILE_KEYS = r"(?:include|extends|env_file|label_file|file|path|project_directory)"
_FILE_KEY = re.compile(rf"(?:-\s*)?[\"']?{_FILE_KEYS}[\"']?\s*:")
_INLINE_FILE = re.compile(rf"\b{_FILE_KEYS}[\"']?\s*:[^,}}]*\$")
_COMPOSE_SUFFIXES = (".yaml", ".yml")


def fingerprint_files(files: Iterable[Path], directories: Iterable[Path]) -> str | None:
    """Return a hash over the content of every file involved; None when it cannot be known.

    Args:
        files: Compose files and env files.
        directories: Directories against which names are read, beside each file's own.
    """
    digest, bases = hashlib.sha256(), list(dict.fromkeys(directories))
    waiting = [*files, *(base / ".env" for base in bases)]
    seen: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        if len(seen) > _MAX_FILES:
            return None
        content = _read(file)
        digest.update(f"{file}\0{content is not None}\0".encode("utf-8", "surrogateescape"))
        digest.update(hashlib.sha256(content or b"").digest())
        if content is not None and file.suffix in _COMPOSE_SUFFIXES:
            named = _named_files(content, [file.parent, *bases])
            if named is None:
                return None
            waiting += [*named, file.parent / ".env"]
    return digest.hexdigest()


def _named_files(content: bytes, bases: list[Path]) -> list[Path] | None:
    text = content.decode("utf-8", "replace")
    if _hangs_on_variable(text):
        return None
    found: list[Path] = []
    for word in dict.fromkeys(_WORD.findall(text)[:_MAX_WORDS]):
        for base in bases:
            found += [path for path in _candidates(base, word) if is_file(path)]
    return found


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


def _candidates(base: Path, word: str) -> tuple[Path, ...]:
    path = base / word
    return (path, path / ".env")


def _read(file: Path) -> bytes | None:
    """Read a regular file; a pipe or device in its place, which could hang the scan for good, counts as absent."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as handle:
            return handle.read(FILE_BYTES + 1) if stat.S_ISREG(os.fstat(handle.fileno()).st_mode) else None
    except (OSError, ValueError):
        return None
