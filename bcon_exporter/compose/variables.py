"""File names with variables: every name that they may stand for. Pure; linear in what it is given.

A variable has its value from the environment or from one of several env files; which one wins is Compose's business:
all of them are candidates. Where one of the values cannot be told, neither can the name.
"""

from collections.abc import Callable, Mapping
from itertools import product
from typing import TypeAlias

Values: TypeAlias = Mapping[str, frozenset[str] | None] | None
"""Variable → every value that it may have. None in place of values, or of them all: they cannot be told."""

_MOST_NAMES = 64
_LONGEST_NAME = 4096
"""What the kernel takes for a path."""
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_KEY = _WORD | frozenset(".-[]")
_HIDING = frozenset("$\\\"'`")


def read_values(text: str) -> dict[str, frozenset[str] | None] | None:
    """Return what an env file may give its variables; None when that cannot be told.

    Compose reads one statement after the other, several on a line after a quoted value, and takes `:` for `=`.
    """
    values: dict[str, set[str] | None] = {}
    text = text.replace("\r\n", "\n")
    position = 0
    while (position := _skip(text, position, str.isspace)) < len(text):
        if text[position] == "#":
            position = _end_of_line(text, position)
            continue
        start, position = position, _skip(text, position, lambda character: character not in "=:\n")
        key = text[start:position].strip()
        bare = key.removeprefix("export").strip()
        if not bare or not _KEY.issuperset(bare):
            return None
        if text[position : position + 1] in ("", "\n"):  # taken over from the environment: a candidate already
            continue
        told, position = _read_value(text, position + 1)
        for name in {key, bare}:
            known = values.setdefault(name, set())
            if told is None or known is None:
                values[name] = None
            else:
                known.update(told)
    return {name: None if found is None else frozenset(found) for name, found in values.items()}


def expand(name: str, values: Values) -> frozenset[str] | None:
    """Return every name that one with variables may stand for; None when that cannot be told.

    Args:
        name: "${DIR:-conf}/app.env".
        values: What its variables may be; one that is not among them is empty.
    """
    if "$" not in name:
        return frozenset((name,))
    if values is None or len(name) > _LONGEST_NAME:
        return None
    fixed, *rest = name.split("$")
    choices: list[tuple[str, ...]] = [(fixed,)]
    total = 1
    for part in rest:
        variable, default, fixed = _split(part)
        known = values.get(variable, frozenset())
        if not variable or known is None:
            return None
        candidates = {*known, default}
        total *= len(candidates)
        if total > _MOST_NAMES or any("$" in one for one in candidates):
            return None
        choices += [tuple(candidates), (fixed,)]
    return frozenset("".join(parts) for parts in product(*choices))


def merge(values: Values, more: Values) -> Values:
    """Return the candidates of both."""
    if values is None or more is None:
        return None
    merged = dict(values)
    for name, found in more.items():
        known = merged.get(name, frozenset())
        merged[name] = None if known is None or found is None else known | found
    return merged


def _read_value(text: str, position: int) -> tuple[set[str] | None, int]:
    """Return what a value may be, None when that cannot be told, and where it ends."""
    position = _skip(text, position, lambda character: character.isspace() and character != "\n")
    quote = text[position : position + 1]
    if quote not in ('"', "'"):
        end = _end_of_line(text, position)
        value = text[position:end]
        candidates = {value.strip(), value.partition("#")[0].strip(), value.partition(" #")[0].strip()}
        return (candidates if all(map(_is_plain, candidates)) else None), end
    end = text.find(quote, position + 1)
    while end > 0 and text[end - 1] == "\\":
        end = text.find(quote, end + 1)
    if end < 0:
        return None, len(text)
    value = text[position + 1 : end]
    return ({value} if _is_plain(value) else None), end + 1


def _is_plain(value: str) -> bool:
    return value.isprintable() and _HIDING.isdisjoint(value)


def _split(part: str) -> tuple[str, str, str]:
    """Return variable, default and the text behind of what follows a dollar sign; no variable: it cannot be told."""
    if not part.startswith("{"):
        length = next((at for at, character in enumerate(part) if character not in _WORD), len(part))
        return part[:length], "", part[length:]
    inside, brace, fixed = part[1:].partition("}")
    length = next((at for at, character in enumerate(inside) if character not in _WORD), len(inside))
    variable, operation = inside[:length], inside[length:].removeprefix(":")
    if not brace or operation[:1] not in ("", "-", "?") or inside[length:] == ":":
        return "", "", ""
    return variable, operation[1:] if operation.startswith("-") else "", fixed


def _skip(text: str, position: int, is_skipped: Callable[[str], bool]) -> int:
    while position < len(text) and is_skipped(text[position]):
        position += 1
    return position


def _end_of_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end
