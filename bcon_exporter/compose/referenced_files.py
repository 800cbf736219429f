"""Finds the files that a Compose file names, in its parsed YAML. Pure; the text may be hostile.

It walks nodes, not values: names that a merge or a duplicate key hides count too, tags such as `!reset` are ignored,
and aliases are followed, never expanded. A name too many costs one stat call; a name too few would be a security hole.
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


class UndeterminedFilesError(Exception):
    """The named files cannot be determined: too deep, too many, or hidden in a tag or a variable."""


class NotYamlError(UndeterminedFilesError):
    """The text is not valid YAML.

    Args:
        line: Counted from 1; None when unknown.
    """

    def __init__(self, line: int | None) -> None:
        super().__init__()
        self.line = line


def find_named_files(content: bytes) -> NamedFiles:
    """Return the files that a Compose file names.

    Raises:
        UndeterminedFilesError: The named files cannot be determined.
        NotYamlError: It is not valid YAML.
    """
    finder = _Finder()
    for document in _parse(content):
        finder.find_in_document(document)
    named_files = finder.named_files
    if max(map(len, (named_files.includes, named_files.extended, named_files.read, named_files.mounted))) > _MOST_NAMES:
        raise UndeterminedFilesError
    return named_files


class _Finder:
    def __init__(self) -> None:
        self.named_files = NamedFiles()
        self._steps_left = _MOST_STEPS

    def find_in_document(self, document: _Node) -> None:
        """Find the names in one document of a file."""
        for key, value in self._pairs(document):
            match key:
                case "include":
                    self._find_in_includes(value)
                case "services":
                    for _, service in self._pairs(value):
                        self._find_in_service(service)
                case "configs" | "secrets":
                    for _, resource in self._pairs(value):
                        self.named_files.mounted.update(self._names(resource, "file"))
                case _:
                    continue

    def _find_in_includes(self, value: _Node) -> None:
        for entry in value if isinstance(value, _Sequence) else (value,):
            self._count_step()
            if isinstance(entry, str):
                self.named_files.includes.append(Include((entry,)))
            else:
                names = (tuple(self._names(entry, key)) for key in ("path", "project_directory", "env_file"))
                self.named_files.includes.append(Include(*names))

    def _find_in_service(self, service: _Node) -> None:
        for key, value in self._pairs(service):
            if key in ("env_file", "label_file"):
                self.named_files.read.update(self._strings(value))
            elif key == "extends":
                self.named_files.extended.update(self._names(value, "file"))

    def _names(self, node: _Node, wanted_key: str) -> dict[str, None]:
        """Return the names under one key of a mapping."""
        names: dict[str, None] = {}
        for key, value in self._pairs(node):
            if key == wanted_key:
                names.update(self._strings(value))
        return names

    def _strings(self, node: _Node) -> dict[str, None]:
        """Return the names in a string, a list, or a list of mappings with `path`, in their order."""
        names: dict[str, None] = {}
        pending = [node]
        while pending:
            self._count_step()
            node = pending.pop()
            if isinstance(node, str):
                names[node] = None
            elif isinstance(node, _Sequence):
                pending += reversed(node)
            else:
                pending += (value for key, value in self._pairs(node) if key == "path")
        return names

    def _pairs(self, node: _Node) -> Iterator[tuple[_Node, _Node]]:
        """Yield keys and values of a mapping and of all that is merged into it."""
        pending = [node]
        while pending:
            self._count_step()
            node = pending.pop()
            if isinstance(node, _Sequence):
                pending += node
            elif isinstance(node, _Mapping):
                for key, value in zip(node[::2], node[1::2], strict=True):
                    self._count_step()
                    if key == _MERGE:
                        pending.append(value)
                    yield key, value

    def _count_step(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise UndeterminedFilesError


def _parse(content: bytes) -> list[_Node]:
    """Return the documents of a file, aliases as references.

    libyaml is quadratic in nesting (a mebibyte of `[` takes more than ten minutes) and in `%TAG` directives: the depth
    is limited and the directives are counted first. UTF-16 is refused, because the count would miss them there.
    """
    if content.startswith(_UTF_16) or content.count(b"%TAG") > _MOST_TAG_DIRECTIVES:
        raise UndeterminedFilesError
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
            raise UndeterminedFilesError
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
            raise UndeterminedFilesError
        return anchors[event.anchor]
    node: _Node
    if isinstance(event, yaml.ScalarEvent):
        if event.tag == _BINARY_TAG:  # Compose reads base64 there
            raise UndeterminedFilesError
        node = event.value
    else:
        node = _Mapping() if isinstance(event, yaml.MappingStartEvent) else _Sequence()
    if event.anchor is not None:
        anchors[event.anchor] = node
    return node
