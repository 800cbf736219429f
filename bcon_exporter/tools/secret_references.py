"""Finds where a Compose or env file would show the value of a secret variable: `image: db:${DB_PASSWORD}`.

Compose puts the value in, and a difference would then tell it. What is hidden by its own key, flag or URL is no
concern: each reference is replaced by a word, and it is seen whether masking hides that word.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import re2
import yaml

from bcon_exporter.errors import InvalidInputError
from bcon_exporter.secrets.masking import safe_text
from bcon_exporter.secrets.secret_names import key_strength

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_REFERENCE = re2.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)([^{}$]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_OPERATOR = re2.compile(r"^:?[-+?]")
_NESTED_AT_MOST = 8
_NODES_TAKEN = 50_000
_KEYS_TOLD = 12
_DEEPEST = 100
_TOO_DEEP, _TOO_OFTEN = "nests too deeply", "repeats too much by its aliases"
_PROBE = "wintersun"
"""Any word: no rule knows it, so it is hidden only by what stands around it."""

Place = tuple[str, ...]
Hide = Callable[[str], str]


def find_shown_references(text: str, hide: Hide, *, is_yaml: bool) -> Counter[tuple[Place, str]]:
    """Return the values that would show a secret variable's, each with the keys that lead to it, and how often.

    Args:
        text: A file of a project.
        hide: Hides what is known as a secret.
        is_yaml: It is a Compose file; else it has lines KEY=value.

    Raises:
        InvalidInputError: It nests too deeply, or its aliases repeat too much.
    """
    found = Counter((place, value) for place, value in _read_values(text, is_yaml=is_yaml) if "$" in value)
    return Counter({(place, value): count for (place, value), count in found.items() if _shows(place, value, hide)})


def _shows(place: Place, value: str, hide: Hide) -> bool:
    """Whether a value would show that of a secret variable."""
    probed, is_secret = _replace_references(value)
    if not is_secret:
        return False
    name, equals, rest = probed.partition("=")
    key = place[-1] if place else ""
    line = probed if equals and " " not in name and rest else f"{key}: {probed}"
    return _PROBE in safe_text(hide(line), max_chars=2 * len(line) + 100)


def _replace_references(value: str) -> tuple[str, bool]:
    """Return a value with the probe for each secret variable, and whether there is one; the innermost first."""
    is_secret = False

    def replace(match: "re2._Match[str]") -> str:
        nonlocal is_secret
        name, rest = match.group(1) or match.group(3), match.group(2) or ""
        if key_strength(name) != "no":
            is_secret = True
            return _PROBE
        return str(_OPERATOR.sub("", rest))

    for _ in range(_NESTED_AT_MOST):
        replaced = _REFERENCE.sub(replace, value)
        if replaced == value:
            break
        value = replaced
    return value, is_secret


def _read_values(text: str, *, is_yaml: bool) -> Iterable[tuple[Place, str]]:
    if not is_yaml:
        return _read_lines(text)
    document = _Document()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            document.take(event)
    except (yaml.YAMLError, ValueError):
        return _read_lines(text)
    return document.read()


def _read_lines(text: str) -> Iterator[tuple[Place, str]]:
    """Yield key and value of each line KEY=value or KEY: value; a line without a key has none."""
    for line in text.split("\n"):
        key, sign, value = line.partition("=" if "=" in line else ":")
        yield ((key.strip().removeprefix("export "),), value) if sign else ((), line)


class _Document:
    """A file's nodes, read event by event: what PyYAML composes itself can be too deep for the stack."""

    def __init__(self) -> None:
        self._root: list[_Node] = []
        self._open = [self._root]
        self._anchors: dict[str, _Node] = {}

    def take(self, event: yaml.Event) -> None:
        """Add what an event tells."""
        if isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
        elif isinstance(event, yaml.NodeEvent):
            node = self._make(event)
            self._open[-1].append(node)
            if isinstance(event, yaml.CollectionStartEvent) and not isinstance(node.value, str):
                self._open.append(node.value)
                if len(self._open) > _DEEPEST:
                    raise _too_much(_TOO_DEEP)

    def _make(self, event: yaml.NodeEvent) -> "_Node":
        if isinstance(event, yaml.AliasEvent):
            return self._anchors.get(event.anchor or "") or _Node("")
        node = _Node(event.value if isinstance(event, yaml.ScalarEvent) else [])
        node.is_mapping = isinstance(event, yaml.MappingStartEvent)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def read(self) -> Iterator[tuple[Place, str]]:
        """Yield the scalars with the keys that lead to them, an alias as what it stands for."""
        waiting: list[tuple[Place, _Node]] = [((), node) for node in self._root]
        for _ in range(_NODES_TAKEN):
            if not waiting:
                return
            place, node = waiting.pop()
            if isinstance(node.value, str):
                yield place, node.value
            elif node.is_mapping:
                keys = [key.value if isinstance(key.value, str) else "" for key in node.value[::2]]
                waiting += [
                    ((*place, key)[-_KEYS_TOLD:], value) for key, value in zip(keys, node.value[1::2], strict=False)
                ]
            else:
                waiting += [(place, item) for item in node.value]
        raise _too_much(_TOO_OFTEN)


def _too_much(what: str) -> InvalidInputError:
    message = f"the file {what}"
    return InvalidInputError(f"modify_config: {message}", {"errors": [{"field": "content", "message": message}]})


class _Node:
    """A scalar, or the items of a list, or keys and values in turn."""

    def __init__(self, value: "str | list[_Node]") -> None:
        self.value = value
        self.is_mapping = False
