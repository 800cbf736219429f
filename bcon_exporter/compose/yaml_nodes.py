"""Reads YAML that may be hostile as nodes: scalars are texts, aliases are references and never expanded. Pure."""

from typing import TypeAlias

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_EVENTS = 200_000
_DEEPEST = 64
_MOST_TAG_DIRECTIVES = 16
_BINARY_TAG = "tag:yaml.org,2002:binary"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class SequenceNode(list["Node"]):
    """A sequence node."""


class MappingNode(list["Node"]):
    """A mapping node: key, value, key, value."""


Node: TypeAlias = str | SequenceNode | MappingNode


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


def parse_nodes(content: bytes) -> list[Node]:
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


def _build(content: bytes) -> list[Node]:
    documents = SequenceNode()
    anchors: dict[str, Node] = {}
    open_nodes: list[SequenceNode | MappingNode] = [documents]
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


def _node_of(event: yaml.NodeEvent, anchors: dict[str, Node]) -> Node:
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            raise UndeterminedFilesError
        return anchors[event.anchor]
    node: Node
    if isinstance(event, yaml.ScalarEvent):
        if event.tag == _BINARY_TAG:  # Compose reads base64 there
            raise UndeterminedFilesError
        node = event.value
    else:
        node = MappingNode() if isinstance(event, yaml.MappingStartEvent) else SequenceNode()
    if event.anchor is not None:
        anchors[event.anchor] = node
    return node
