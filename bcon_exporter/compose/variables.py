"""Expands file names with variables to every name that they may stand for. Pure, and linear in the size of its input.

A variable gets its value from the environment or from one of several env files. Which one wins is not decided here: all
of them are candidates. Where one value cannot be determined, the name cannot either.
"""

from collections.abc import Callable, Mapping
from itertools import product
from typing import TypeAlias

Values: TypeAlias = Mapping[str, frozenset[str] | None] | None
"""Variable → every value that it may have. None, for one variable or for all, means that it cannot be determined."""

_MOST_NAMES = 64
_LONGEST_NAME = 4096
"""PATH_MAX of the kernel."""
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_KEY = _WORD | frozenset(".-[]")
_HIDING = frozenset("$\\\"'`")


def read_values(text: str) -> dict[str, frozenset[str] | None] | None:
    """Return every value that an env file may give its variables; None when that cannot be determined.

    Compose reads several statements on one line after a quoted value, and accepts `:` for `=`.
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
        candidates, position = _read_value(text, position + 1)
        for name in {key, bare}:
            collected = values.setdefault(name, set())
            if candidates is None or collected is None:
                values[name] = None
            else:
                collected.update(candidates)
    return {name: None if collected is None else frozenset(collected) for name, collected in values.items()}


def expand(name: str, values: Values) -> frozenset[str] | None:
    """Return every name that a name with variables may stand for; None when that cannot be determined.

    Args:
        name: For example "${DIR:-conf}/app.env".
        values: The candidate values; a variable that is not among them is empty.
    """
    if "$" not in name:
        return frozenset((name,))
    if values is None or len(name) > _LONGEST_NAME:
        return None
    fixed, *parts_with_variables = name.split("$")
    choices: list[tuple[str, ...]] = [(fixed,)]
    total = 1
    for part in parts_with_variables:
        variable, default, fixed = _split(part)
        variable_values = values.get(variable, frozenset())
        if not variable or variable_values is None:
            return None
        candidates = {*variable_values, default}
        total *= len(candidates)
        if total > _MOST_NAMES or any("$" in candidate for candidate in candidates):
            return None
        choices += [tuple(candidates), (fixed,)]
    return frozenset("".join(chosen) for chosen in product(*choices))


def merge(values: Values, more: Values) -> Values:
    """Return the union of both sets of candidates."""
    if values is None or more is None:
        return None
    merged = dict(values)
    for name, added in more.items():
        existing = merged.get(name, frozenset())
        merged[name] = None if existing is None or added is None else existing | added
    return merged


def _read_value(text: str, position: int) -> tuple[set[str] | None, int]:
    """Return the candidates for one value (None when it cannot be determined) and the position after it."""
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
    """Split what follows a dollar sign into variable, default and remaining text; variable "" when it is not valid."""
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
