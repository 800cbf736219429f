"""File names with variables in Compose files: every name that they may stand for. Pure.

A variable has its value from the environment or from one of several env files; which one wins is Compose's business.
All of them are candidates: one too many costs a look at a file, one too few would cost a wrong answer.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import product

_FILE_KEYS = r"(?:include|extends|env_file|label_file|file|path|project_directory)"
_FILE_KEY = re.compile(rf"(?:-\s*)?[\"']?{_FILE_KEYS}[\"']?\s*:")
_INLINE_FILE = re.compile(rf"\b{_FILE_KEYS}[\"']?\s*:[^,}}]*\$")
_NAME = re.compile(r"(?:[^\s\"'\[\]{},#$]|\$\{[^}]*\}|\$)+")
_QUOTED_SPACE = re.compile(r"\"[^\"]*\s[^\"]*\"|'[^']*\s[^']*'")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:(:?-)([^}$]*)|:?\?[^}$]*)?\})")
_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)")
_MOST_NAMES = 64


def find_names(text: str) -> tuple[str, ...] | None:
    """Return the words with variables that may name a file; None when one of them cannot be told."""
    names: list[str] = []
    for line in _lines_of_files(text):
        if _QUOTED_SPACE.search(line):
            return None
        names += [word for word in _NAME.findall(line) if "$" in word]
    return tuple(dict.fromkeys(names))


def read_values(text: str) -> Iterator[tuple[str, str]]:
    """Yield variable and value of each assignment of an env file, as it may be read."""
    for line in text.splitlines():
        if match := _ASSIGNMENT.match(line):
            value = match[2].strip()
            bare = value.partition(" #")[0].strip()
            yield from ((match[1], one) for one in (bare, bare.strip("\"'")))


def expand(name: str, values: Mapping[str, set[str]]) -> frozenset[str] | None:
    """Return every name that one with variables may stand for; None when that cannot be told.

    Args:
        name: "${DIR:-conf}/app.env".
        values: Variable → every value that it may have.
    """
    choices: list[list[str]] = []
    end = total = 0
    for match in _VARIABLE.finditer(name):
        known = {*values.get(match[1] or match[2], ()), match[4] or ""}
        choices += [[name[end : match.start()]], sorted(known)]
        total, end = (total or 1) * len(known), match.end()
    choices.append([name[end:]])
    if total > _MOST_NAMES or any("$" in part for parts in choices for part in parts):
        return None
    return frozenset("".join(parts) for parts in product(*choices))


def _lines_of_files(text: str) -> Iterator[str]:
    """Yield the lines with variables on which a file may be named."""
    block: int | None = None
    for line in text.splitlines():
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if _FILE_KEY.match(stripped):
            block = indent
        elif block is not None and stripped and (indent < block or (indent == block and stripped[0] != "-")):
            block = None
        if "$" in line and (block is not None or _INLINE_FILE.search(line)):
            yield stripped
