"""Which files a Compose file names, found in its parsed YAML. Pure; the text may be hostile.

Nodes are walked, not values: what a merge or a duplicate key hides counts too, tags such as `!reset` mean nothing, and
an alias is followed, never expanded. A name too many costs a look at a file; one too few would be a hole.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_EVENTS = 200_000
_DEEPEST = 64
_MOST_STEPS = 400_000
_MOST_NAMES = 1000
_MOST_TAG_DIRECTIVES = 16
_BINARY_TAG = "tag:yaml.org,2002:binary"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MERGE = "<<"


class _Sequence(list["_Node"]):
    """A sequence node."""


class _Mapping(list["_Node"]):
    """A mapping node: key, value, key, value."""


_Node: TypeAlias = str | _Sequence | _Mapping


@dataclass(frozen=True, slots=True)
class Include:
    """One entry of `include`, names as they are written.

    Attributes:
        paths: The Compose files.
        project_directories: Where names in these files are read; more than one only where the file is wrong.
        env_files: For interpolation; without any, the `.env` of the project directory.
    """

    paths: tuple[str, ...]
    project_directories: tuple[str, ...] = ()
    env_files: tuple[str, ...] = ()


@dataclass(slots=True)
class NamedFiles:
    """The files that one Compose file names, names as they are written.

    Attributes:
        includes: Entries of `include`.
        extended: Compose files whose services are extended.
        read: `env_file` and `label_file` of services.
        mounted: Files of `configs` and `secrets`: Compose binds them into containers without reading them here.
    """

    includes: list[Include] = field(default_factory=list)
    extended: dict[str, None] = field(default_factory=dict)
    read: dict[str, None] = field(default_factory=dict)
    mounted: dict[str, None] = field(default_factory=dict)


class UntoldError(Exception):
    """Which files are named cannot be told: too deep, too many, hidden in a tag or in a variable."""


class NotYamlError(UntoldError):
    """It is not valid YAML.

    Args:
        line: Where, counted from 1, as far as that is known.
    """

    def __init__(self, line: int | None) -> None:
        super().__init__()
        self.line = line


def find_named_files(content: bytes) -> NamedFiles:
    """Return the files that a Compose file names.

    Raises:
        UntoldError: They cannot be told.
        NotYamlError: It is not valid YAML.
    """
    finder = _Finder()
    for document in _parse(content):
        finder.look_at(document)
    found = finder.found
    if max(map(len, (found.includes, found.extended, found.read, found.mounted))) > _MOST_NAMES:
        raise UntoldError
    return found


class _Finder:
    def __init__(self) -> None:
        self.found = NamedFiles()
        self._steps_left = _MOST_STEPS

    def look_at(self, document: _Node) -> None:
        """Find the names in one document of a file."""
        for key, value in self._pairs(document):
            match key:
                case "include":
                    self._look_at_includes(value)
                case "services":
                    for _, service in self._pairs(value):
                        self._look_at_service(service)
                case "configs" | "secrets":
                    for _, resource in self._pairs(value):
                        self.found.mounted.update(self._names(resource, "file"))
                case _:
                    continue

    def _look_at_includes(self, value: _Node) -> None:
        for entry in value if isinstance(value, _Sequence) else (value,):
            self._spend()
            if isinstance(entry, str):
                self.found.includes.append(Include((entry,)))
            else:
                names = (tuple(self._names(entry, key)) for key in ("path", "project_directory", "env_file"))
                self.found.includes.append(Include(*names))

    def _look_at_service(self, service: _Node) -> None:
        for key, value in self._pairs(service):
            if key in ("env_file", "label_file"):
                self.found.read.update(self._strings(value))
            elif key == "extends":
                self.found.extended.update(self._names(value, "file"))

    def _names(self, node: _Node, wanted: str) -> dict[str, None]:
        """Return the names under one key of a mapping."""
        names: dict[str, None] = {}
        for key, value in self._pairs(node):
            if key == wanted:
                names.update(self._strings(value))
        return names

    def _strings(self, node: _Node) -> dict[str, None]:
        """Return the names in a string, a list, or a list of mappings with `path`, in their order."""
        names: dict[str, None] = {}
        waiting = [node]
        while waiting:
            self._spend()
            node = waiting.pop()
            if isinstance(node, str):
                names[node] = None
            elif isinstance(node, _Sequence):
                waiting += reversed(node)
            else:
                waiting += (value for key, value in self._pairs(node) if key == "path")
        return names

    def _pairs(self, node: _Node) -> Iterator[tuple[_Node, _Node]]:
        """Yield keys and values of a mapping and of all that is merged into it."""
        waiting = [node]
        while waiting:
            self._spend()
            node = waiting.pop()
            if isinstance(node, _Sequence):
                waiting += node
            elif isinstance(node, _Mapping):
                for key, value in zip(node[::2], node[1::2], strict=True):
                    self._spend()
                    if key == _MERGE:
                        waiting.append(value)
                    yield key, value

    def _spend(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise UntoldError


def _parse(content: bytes) -> list[_Node]:
    """Return the documents of a file, aliases as references.

    libyaml is quadratic in nesting (a mebibyte of `[` takes more than ten minutes) and in `%TAG` directives: the one
    ends at a depth, the other is counted first. As UTF-16 they would pass uncounted.
    """
    if content.startswith(_UTF_16) or content.count(b"%TAG") > _MOST_TAG_DIRECTIVES:
        raise UntoldError
    try:
        return _build(content)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        raise NotYamlError(mark.line + 1 if mark else None) from error


def _build(content: bytes) -> list[_Node]:
    documents = _Sequence()
    anchors: dict[str, _Node] = {}
    open_nodes: list[_Sequence | _Mapping] = [documents]
    for count, event in enumerate(yaml.parse(content, Loader=_LOADER)):
        if count > _MOST_EVENTS or len(open_nodes) > _DEEPEST:
            raise UntoldError
        if isinstance(event, yaml.DocumentStartEvent):
            anchors.clear()
        elif isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
        elif isinstance(event, yaml.NodeEvent):
            node = _node_of(event, anchors)
            open_nodes[-1].append(node)
            if isinstance(event, yaml.CollectionStartEvent) and not isinstance(node, str):
                open_nodes.append(node)
    return documents


def _node_of(event: yaml.NodeEvent, anchors: dict[str, _Node]) -> _Node:
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            raise UntoldError
        return anchors[event.anchor]
    node: _Node
    if isinstance(event, yaml.ScalarEvent):
        if event.tag == _BINARY_TAG:  # Compose reads base64 there
            raise UntoldError
        node = event.value
    else:
        node = _Mapping() if isinstance(event, yaml.MappingStartEvent) else _Sequence()
    if event.anchor is not None:
        anchors[event.anchor] = node
    return node
