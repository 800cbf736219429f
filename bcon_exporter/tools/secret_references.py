"""Finds where a Compose or env file would show the value of a variable: `image: db:${DB_PASSWORD}`.

Compose puts the value in, and a difference would then tell it. What is hidden by its own key, flag or URL is no
concern: each reference is replaced by a word, and it is seen whether masking hides that word. The values of
`environment` are never shown; a file of labels shows all that is in it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import re2

from bcon_exporter.compose import MappingNode, Node, NotYamlError, UndeterminedFilesError, parse_nodes
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.secrets.masking import safe_text
from bcon_exporter.secrets.secret_names import key_strength

_REFERENCE = re2.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)([^{}$]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_OPERATOR = re2.compile(r"^:?[-+?]")
_NESTED_AT_MOST = 8
_NODES_TAKEN = 50_000
_KEYS_TOLD = 12
_PROBE = "wintersun"
"""Any word: no rule knows it, so it is hidden only by what stands around it."""
_NEVER_SHOWN = frozenset(("environment", "args"))
_SHOWS_A_FILE = "label_file"

Place = tuple[str, ...]
Hide = Callable[[str], str]


def find_shown_references(
    text: str, hide: Hide, *, is_yaml: bool, variables: frozenset[str] = frozenset()
) -> Counter[tuple[Place, str]]:
    """Return the values that would show a variable's, each with the keys that lead to it, and how often.

    Args:
        text: A file of a project.
        hide: Hides what is known as a secret.
        is_yaml: It is a Compose file; else it has lines KEY=value.
        variables: Those whose value must not be shown, whatever their name, beside those with the name of a secret.

    Raises:
        InvalidInputError: It nests too deeply, its aliases repeat too much, or a tag says that it is encoded.
    """
    values = Counter(
        (place, value) for place, value in _read_values(text, is_yaml=is_yaml) if "$" in value or _SHOWS_A_FILE in place
    )
    return Counter(
        {(place, value): count for (place, value), count in values.items() if _shows(place, value, hide, variables)}
    )


def find_shown_variables(text: str, *, is_yaml: bool) -> frozenset[str]:
    """Return the names of variables whose values a Compose file shows.

    Raises:
        InvalidInputError: As for `find_shown_references`.
    """
    return frozenset(
        match.group(1) or match.group(3)
        for place, value in (_read_values(text, is_yaml=True) if is_yaml else ())
        if "$" in value and _NEVER_SHOWN.isdisjoint(place)
        for match in _REFERENCE.finditer(value.replace("$$", ""))
    )


def _shows(place: Place, value: str, hide: Hide, variables: frozenset[str]) -> bool:
    """Whether a value would show that of a variable."""
    if _SHOWS_A_FILE in place:
        return True
    probed, is_told = _replace_references(value, variables if _NEVER_SHOWN.isdisjoint(place) else frozenset())
    if not is_told:
        return False
    name, equals, rest = probed.partition("=")
    key = place[-1] if place else ""
    line = probed if equals and " " not in name and rest else f"{key}: {probed}"
    return _PROBE in safe_text(hide(line), max_chars=2 * len(line) + 100)


def _replace_references(value: str, variables: frozenset[str]) -> tuple[str, bool]:
    """Return a value with the probe for each variable to be hidden, and whether there is one; the innermost first."""
    has_probe = False

    def replace(match: "re2._Match[str]") -> str:
        nonlocal has_probe
        name, rest = match.group(1) or match.group(3), match.group(2) or ""
        if name in variables or key_strength(name) != "no":
            has_probe = True
            return _PROBE
        return str(_OPERATOR.sub("", rest))

    for _ in range(_NESTED_AT_MOST):
        replaced = _REFERENCE.sub(replace, value)
        if replaced == value:
            break
        value = replaced
    return value, has_probe


def _read_values(text: str, *, is_yaml: bool) -> Iterable[tuple[Place, str]]:
    text = text.encode(errors="replace").decode()  # RE2 refuses lone surrogates
    if not is_yaml:
        return _read_lines(text)
    try:
        return _read_nodes(parse_nodes(text.encode()))
    except NotYamlError:
        return _read_lines(text)
    except UndeterminedFilesError:
        raise _too_much() from None


def _read_lines(text: str) -> Iterator[tuple[Place, str]]:
    """Yield key and value of each line KEY=value or KEY: value; a line without a key has none."""
    for line in text.split("\n"):
        key, sign, value = line.partition("=" if "=" in line else ":")
        yield ((key.strip().removeprefix("export "),), value) if sign else ((), line)


def _read_nodes(documents: Iterable[Node]) -> Iterator[tuple[Place, str]]:
    """Yield the scalars with the keys that lead to them, an alias as what it stands for."""
    waiting: list[tuple[Place, Node]] = [((), node) for node in documents]
    for _ in range(_NODES_TAKEN):
        if not waiting:
            return
        place, node = waiting.pop()
        if isinstance(node, str):
            yield place, node
        elif isinstance(node, MappingNode):
            keys = [key if isinstance(key, str) else "" for key in node[::2]]
            waiting += [((*place, key)[-_KEYS_TOLD:], value) for key, value in zip(keys, node[1::2], strict=True)]
        else:
            waiting += [(place, item) for item in node]
    raise _too_much()


def _too_much() -> InvalidInputError:
    message = "what the file says is not certain: it nests too deeply, repeats too much by its aliases, or is encoded"
    return InvalidInputError(f"modify_config: {message}", {"errors": [{"field": "content", "message": message}]})
