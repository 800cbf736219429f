"""Where each key of a project stands: file and line, found in the YAML of its files. Pure; the text may be hostile.

Compose tells no lines of what it resolves. The last file that gives a key has it; what a service extends comes before
its own keys. An alias is followed once, never expanded, and a file that is not plain YAML has no places.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from bcon_exporter.model.deployment import FilePlace, KeyLocation
from bcon_exporter.secrets.masking import safe_name

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_EVENTS_TAKEN = 200_000
_DEEPEST = 64
_DEEPEST_KEY = 6
_STEPS_TAKEN = 100_000
_FILES_PARSED = 50
_TAG_DIRECTIVES_TAKEN = 16
_MERGE = "<<"

ReadText = Callable[[str], str | None]
"""Returns a file's text; None where it cannot be read."""
JoinPath = Callable[[str, str], str]
"""Returns the path of a file that another one names."""


@dataclass(slots=True)
class _Scalar:
    text: str
    line: int


@dataclass(slots=True)
class _Sequence:
    line: int
    items: list["_Node"] = field(default_factory=list)


@dataclass(slots=True)
class _Mapping:
    line: int
    items: list["_Node"] = field(default_factory=list)
    index: "dict[str, _Node] | None" = None

    def pairs(self) -> Iterator[tuple[_Scalar, "_Node"]]:
        """Yield what is merged in, then its own keys: a later one counts."""
        for key, value in zip(self.items[::2], self.items[1::2], strict=False):
            if isinstance(key, _Scalar) and key.text == _MERGE:
                for merged in value.items if isinstance(value, _Sequence) else [value]:
                    if isinstance(merged, _Mapping) and merged is not self:
                        yield from merged.own_pairs()
        yield from self.own_pairs()

    def own_pairs(self) -> Iterator[tuple[_Scalar, "_Node"]]:
        """Yield its own keys, in their order."""
        for key, value in zip(self.items[::2], self.items[1::2], strict=False):
            if isinstance(key, _Scalar) and key.text != _MERGE:
                yield key, value

    def get(self, name: str) -> "_Node | None":
        """Return the value of a key."""
        if self.index is None:
            self.index = {key.text: value for key, value in self.pairs()}
        return self.index.get(name)


_Node: TypeAlias = _Scalar | _Sequence | _Mapping


def find_key_locations(files: tuple[str, ...], read: ReadText, join: JoinPath) -> dict[str, KeyLocation]:
    """Return where the keys of a project's files stand, by their dotted path, as far as 100,000 steps lead.

    Args:
        files: The Compose files, the last one counts.
        read: Reads a file.
        join: Joins a file's path and what it names.
    """
    finder = _Finder(read, join)
    for file in files:
        finder.look_at(file)
    return finder.places


class _Finder:
    def __init__(self, read: ReadText, join: JoinPath) -> None:
        self._read, self._join = read, join
        self._documents: dict[str, _Mapping | None] = {}
        self._steps_left = _STEPS_TAKEN
        self.places: dict[str, KeyLocation] = {}

    def look_at(self, file: str, depth: int = 0) -> None:
        """Take a file's keys, after those of what it includes."""
        document = self._document(file)
        if document is None or depth > _DEEPEST_KEY:
            return
        for name in _include_paths(document.get("include")):
            if name != file:
                self.look_at(self._join(file, name), depth + 1)
        for key, value in document.pairs():
            if key.text == "services" and isinstance(value, _Mapping):
                for service, body in value.pairs():
                    self._take_service(file, service, body)
            else:
                self._take(key.text, key.line, value, file)

    def _take_service(self, file: str, name: _Scalar, body: _Node) -> None:
        path = f"services.{name.text}"
        seen = {(file, name.text)}
        chain: list[tuple[str, _Node]] = [(file, body)]
        while len(chain) <= _DEEPEST_KEY and (base := self._extended(*chain[-1])) is not None:
            if (base[0], base[1]) in seen:
                break
            seen.add((base[0], base[1]))
            chain.append((base[0], base[2]))
        for origin, part in reversed(chain):
            self._take(path, name.line if part is body else part.line, part, origin)

    def _extended(self, file: str, body: _Node) -> tuple[str, str, _Node] | None:
        """Return file, name and body of the service that another one extends."""
        extends = body.get("extends") if isinstance(body, _Mapping) else None
        if isinstance(extends, _Scalar):
            target, base = file, extends.text
        elif isinstance(extends, _Mapping):
            named, service = extends.get("file"), extends.get("service")
            target = self._join(file, named.text) if isinstance(named, _Scalar) else file
            base = service.text if isinstance(service, _Scalar) else ""
        else:
            return None
        document = self._document(target)
        services = document.get("services") if document is not None else None
        found = services.get(base) if isinstance(services, _Mapping) else None
        return None if found is None else (target, base, found)

    def _take(self, path: str, line: int, node: _Node, file: str, depth: int = 0) -> None:
        self._steps_left -= 1 + _count_texts(node)
        if self._steps_left < 0 or depth > _DEEPEST_KEY:
            return
        before = self.places.get(path)
        items = {**(before.items if before else {}), **{text: _place(file, at) for text, at in _texts(node)}}
        self.places[path] = KeyLocation(place=_place(file, line), items=items)
        if isinstance(node, _Mapping):
            for key, value in node.pairs():
                self._take(f"{path}.{key.text}", key.line, value, file, depth + 1)

    def _document(self, file: str) -> _Mapping | None:
        if file not in self._documents:
            text = self._read(file) if len(self._documents) < _FILES_PARSED else None
            self._documents[file] = None if text is None else _parse(text)
        return self._documents[file]


def _place(file: str, line: int) -> FilePlace:
    return FilePlace(file=file, line=line)


def _count_texts(node: _Node) -> int:
    """Return how many scalars a list may have, also in its mappings."""
    items = node.items if isinstance(node, _Sequence) else []
    return sum(len(item.items) if isinstance(item, _Mapping) else 1 for item in items)


def _texts(node: _Node) -> Iterator[tuple[str, int]]:
    """Yield the scalars in a list, also those of its mappings, as they may be shown."""
    for item in node.items if isinstance(node, _Sequence) else ():
        if isinstance(item, _Scalar):
            yield safe_name(item.text), item.line
        elif isinstance(item, _Mapping):
            yield from ((safe_name(value.text), value.line) for _, value in item.pairs() if isinstance(value, _Scalar))


def _include_paths(node: _Node | None) -> Iterator[str]:
    for entry in node.items if isinstance(node, _Sequence) else ():
        paths = entry.get("path") if isinstance(entry, _Mapping) else entry
        for path in paths.items if isinstance(paths, _Sequence) else [paths]:
            if isinstance(path, _Scalar) and "$" not in path.text:
                yield path.text


def _parse(text: str) -> _Mapping | None:
    """Return a file's document; see `named_files` for the bounds."""
    if text.count("%TAG") > _TAG_DIRECTIVES_TAKEN:
        return None
    try:
        return _build(text)
    except (yaml.YAMLError, ValueError):
        return None


def _build(text: str) -> _Mapping | None:
    root = _Sequence(1)
    anchors: dict[str, _Node] = {}
    open_nodes: list[_Sequence | _Mapping] = [root]
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        if count > _EVENTS_TAKEN or len(open_nodes) > _DEEPEST:
            return None
        if isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
        elif isinstance(event, yaml.NodeEvent):
            node = _make_node(event, anchors)
            open_nodes[-1].items.append(node)
            if isinstance(event, yaml.CollectionStartEvent) and not isinstance(node, _Scalar):
                open_nodes.append(node)
    return next((node for node in root.items if isinstance(node, _Mapping)), None)


def _make_node(event: yaml.NodeEvent, anchors: dict[str, _Node]) -> _Node:
    line = event.start_mark.line + 1 if event.start_mark is not None else 1
    if isinstance(event, yaml.AliasEvent):
        return anchors.get(event.anchor or "") or _Scalar("", line)
    node: _Node
    if isinstance(event, yaml.ScalarEvent):
        node = _Scalar(event.value, line)
    else:
        node = _Mapping(line) if isinstance(event, yaml.MappingStartEvent) else _Sequence(line)
    if event.anchor is not None:
        anchors[event.anchor] = node
    return node
