"""Hides the values of variables in the text of a Compose or env file: keys stay, and the number of lines too. Pure.

A Compose file is read as YAML: the values of `environment` and of a build's `args` are hidden, also through aliases and
merges, with the comments beside them. In an env file every value is. Of what cannot be read, a line keeps its key only.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import re2
import yaml

from bcon_exporter.secrets.masking import MASK

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_EVENTS_READ = 200_000
_DEEPEST_NODE = 64
_TAG_DIRECTIVES_READ = 16
_NODES_VISITED = 200_000
_YAML_SUFFIXES = (".yml", ".yaml", ".json")
_TOP_LEVEL = frozenset(("services", "include", "networks", "volumes", "configs", "secrets"))
_HOLDERS = frozenset(("environment", "args"))
_MERGE = "<<"
_NAME = r"[A-Za-z_][A-Za-z0-9_.\-]{0,127}"
_LIST_ITEM = re2.compile(rf"[\"']?{_NAME}=")
_LONE_NAME = re2.compile(rf"[\"']?{_NAME}[\"']?")
_ENV_LINE = re2.compile(rf"\s*(?:export\s+)?{_NAME}\s*[=:]\s*")
_KEY_LINE = re2.compile(rf"\s*(?:-\s+)*[\"']?{_NAME}[\"']?\s*[=:]\s*")
_QUOTES = ("'", '"')
_BLANKS = " \t\r"


@dataclass(slots=True)
class _Scalar:
    text: str
    start: int
    end: int


@dataclass(slots=True)
class _Collection:
    start: int
    is_mapping: bool
    end: int = 0
    items: list["_Node"] = field(default_factory=list)

    def pairs(self) -> Iterator[tuple["_Node", "_Node"]]:
        """Yield the keys and values of a mapping."""
        if self.is_mapping:
            yield from zip(self.items[::2], self.items[1::2], strict=False)


_Node: TypeAlias = "_Scalar | _Collection"


@dataclass(frozen=True, slots=True)
class HiddenText:
    """A file's text without the values of variables.

    Attributes:
        text: It has `***` in their place.
        is_certain: It was read as what it is; else every value in it is hidden.
    """

    text: str
    is_certain: bool = True


class _UnreadableError(Exception):
    """The text is no YAML, or too much of it."""


def hide_environment(text: str, name: str) -> HiddenText:
    """Return a file's text without the values of variables.

    Args:
        text: Of the file.
        name: Its path: its ending tells what it is, else its top-level keys.
    """
    text = text.encode(errors="replace").decode()  # RE2 refuses lone surrogates
    is_yaml = name.lower().endswith(_YAML_SUFFIXES)
    try:
        documents = _parse(text)
    except (_UnreadableError, yaml.YAMLError, ValueError):
        return HiddenText(_hide_lines(text), is_certain=False) if is_yaml else HiddenText(_hide_env_file(text))
    if not is_yaml and not any(map(_is_compose_file, documents)):
        return HiddenText(_hide_env_file(text))
    try:
        return HiddenText(_hide_spans(text, _Finder().find(documents)))
    except _UnreadableError:
        return HiddenText(_hide_lines(text), is_certain=False)


def _is_compose_file(document: _Node) -> bool:
    pairs = document.pairs() if isinstance(document, _Collection) else ()
    return any(
        isinstance(key, _Scalar) and key.text in _TOP_LEVEL and isinstance(value, _Collection) for key, value in pairs
    )


def _parse(text: str) -> list[_Node]:
    if text.count("%TAG") > _TAG_DIRECTIVES_READ:
        raise _UnreadableError
    shift = len(text) - len(text.removeprefix("\ufeff"))
    documents = _Collection(0, is_mapping=False)
    anchors: dict[str, _Node] = {}
    open_nodes = [documents]
    for count, event in enumerate(yaml.parse(text[shift:], Loader=_LOADER)):
        if count > _EVENTS_READ or len(open_nodes) > _DEEPEST_NODE:
            raise _UnreadableError
        if isinstance(event, yaml.DocumentStartEvent):
            anchors.clear()
        elif isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop().end = shift + _index(event.end_mark)
        elif isinstance(event, yaml.NodeEvent):
            node = _make_node(event, anchors, shift)
            open_nodes[-1].items.append(node)
            if isinstance(event, yaml.CollectionStartEvent) and isinstance(node, _Collection):
                open_nodes.append(node)
    return documents.items


def _make_node(event: yaml.NodeEvent, anchors: dict[str, _Node], shift: int) -> _Node:
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            raise _UnreadableError
        return anchors[event.anchor]
    start = shift + _index(event.start_mark)
    node: _Node
    if isinstance(event, yaml.ScalarEvent):
        node = _Scalar(event.value, start, shift + _index(event.end_mark))
    else:
        node = _Collection(start, isinstance(event, yaml.MappingStartEvent))
    if event.anchor is not None:
        anchors[event.anchor] = node
    return node


def _index(mark: object) -> int:
    return int(getattr(mark, "index", 0))


@dataclass(slots=True)
class _Spans:
    """Where values stand: those of maps, items of lists ("NAME=value"), and texts in which comments may hold some."""

    values: set[tuple[int, int]] = field(default_factory=set)
    items: set[tuple[int, int]] = field(default_factory=set)
    regions: set[tuple[int, int]] = field(default_factory=set)


class _Finder:
    def __init__(self) -> None:
        self._spans = _Spans()
        self._visited: set[tuple[int, str]] = set()
        self._visits_left = _NODES_VISITED

    def find(self, documents: Iterable[_Node]) -> _Spans:
        """Return where the values of variables stand."""
        waiting: list[tuple[_Node, str]] = [(node, "any") for node in documents]
        while waiting:
            node, kind = waiting.pop()
            if (id(node), kind) in self._visited:
                continue
            self._visited.add((id(node), kind))
            self._visits_left -= 1
            if self._visits_left < 0:
                raise _UnreadableError
            waiting += self._take(node, kind)
        return self._spans

    def _take(self, node: _Node, kind: str) -> Iterator[tuple[_Node, str]]:
        if isinstance(node, _Scalar):
            if kind == "value":
                self._spans.values.add((node.start, node.end))
            elif kind in ("variables", "item"):
                self._spans.items.add((node.start, node.end))
            return
        if kind == "variables":
            self._spans.regions.add((node.start, node.end))
        if not node.is_mapping or kind == "value":
            inner = {"variables": "item", "item": "value"}.get(kind, kind)
            yield from ((item, inner) for item in node.items)
            return
        pairs = list(node.pairs())
        for at, (key, value) in enumerate(pairs):
            name = key.text if isinstance(key, _Scalar) else ""
            if kind == "any":
                is_holder = name in _HOLDERS
                if is_holder:
                    following = pairs[at + 1][0].start if at + 1 < len(pairs) else node.end
                    self._spans.regions.add((key.end, following))
                yield key, "any"
                yield value, "variables" if is_holder else "any"
            else:
                yield value, "variables" if name == _MERGE else "value"
                if not isinstance(key, _Scalar):
                    yield key, "value"


def _hide_spans(text: str, spans: _Spans) -> str:
    ranges = dict(spans.values | {(start + _name_end(text[start:end]), end) for start, end in spans.items})
    done: list[str] = []
    position = 0
    for start, end in sorted(ranges.items()):
        if start < position:
            continue
        done += [text[position:start], _hide_range(text[start:end])]
        position = end
    hidden = "".join(done) + text[position:]
    return _hide_comments(text, hidden, spans)


def _name_end(item: str) -> int:
    """Return how much of an item of a list may be shown: `NAME=` of "NAME=value", all of a lone name."""
    match = _LIST_ITEM.match(item)
    if match is not None:
        return int(match.end())
    return len(item) if _LONE_NAME.fullmatch(item) is not None else 0


def _hide_range(value: str) -> str:
    """Return a value hidden on each of its lines; what is empty says nothing."""
    return "\n".join(_hide_line(line) for line in value.split("\n"))


def _hide_line(line: str) -> str:
    stripped = line.strip(_BLANKS)
    if not stripped:
        return line
    before = line[: len(line) - len(line.lstrip(_BLANKS))]
    return f"{before}{MASK}{line[len(line.rstrip(_BLANKS)) :]}"


def _hide_comments(text: str, hidden: str, spans: _Spans) -> str:
    """Return a text without the comments among variables: a value that was in use may stand there."""
    shown = hidden.split("\n")
    starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
    among = {
        line
        for start, end in spans.regions
        for line in range(bisect_right(starts, start) - 1, bisect_right(starts, max(start, end - 1)))
    }
    for line in among:
        mark = _comment_start(shown[line])
        if mark is not None:
            shown[line] = f"{shown[line][:mark]}# {MASK}"
    return "\n".join(shown)


def _comment_start(line: str) -> int | None:
    """Return where a comment begins in a line whose values are hidden."""
    at = line.find("#")
    while at > 0 and line[at - 1] not in _BLANKS:
        at = line.find("#", at + 1)
    return at if at >= 0 else None


def _hide_env_file(text: str) -> str:
    """Return an env file with its keys alone; a value in quotes may go on over lines that look like keys."""
    shown: list[str] = []
    quote = ""
    for line in text.split("\n"):
        match = None if quote else _ENV_LINE.match(line)
        if quote:
            shown.append(_hide_line(line))
            quote = "" if quote in line.replace(f"\\{quote}", "") else quote
        elif match is None:
            shown.append(f"# {MASK}" if line.lstrip().startswith("#") else _hide_line(line))
        else:
            value = line[match.end() :]
            shown.append(match.group() + _hide_line(value))
            if value[:1] in _QUOTES and value[0] not in value[1:].replace(f"\\{value[0]}", ""):
                quote = value[0]
    return "\n".join(shown)


def _hide_lines(text: str) -> str:
    """Return a text that cannot be read, with the key of each line at most."""
    shown = []
    for line in text.split("\n"):
        match = _KEY_LINE.match(line)
        shown.append(match.group() + _hide_line(line[match.end() :]) if match is not None else _hide_line(line))
    return "\n".join(shown)
