"""Other ways to write the same Compose file. Works on YAML nodes, so that no value is read and written differently."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tests.drift_corpus.spelling import spell_services

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

STRING = "tag:yaml.org,2002:str"
_LOCAL_KEYS = frozenset(("depends_on", "links", "external_links", "volumes_from", "extends", "profiles"))
"""What a service names of its neighbours or what is not inherited: stays where it is."""
_NEIGHBOUR_KEYS = ("network_mode", "ipc", "pid")

Files = dict[str, str]
"""File name → text."""


def reorder(text: str) -> Files:
    """Turn the order of all keys round and comment everything."""
    root = read(text)
    for node in walk(root):
        if isinstance(node, MappingNode):
            node.value.reverse()
    lines = [
        f"# about {line.strip(': ')}\n{line}" if re.match(r"\S|  \S", line) else line
        for line in write(root).splitlines()
    ]
    return {"": "# rewritten\n\n" + "\n".join(lines) + "  # the end\n"}


def flow(text: str) -> Files:
    """Write everything in braces and brackets."""
    root = read(text)
    for node in walk(root):
        if isinstance(node, MappingNode | SequenceNode):
            node.flow_style = True
    return {"": write(root)}


def anchor(text: str) -> Files:
    """Let every service be an alias of a body that stands elsewhere."""
    root = read(text)
    services = section(root, "services")
    if services is None:
        return {"": text}
    bodies = MappingNode("tag:yaml.org,2002:map", [(key, value) for key, value in services.value])
    name = (
        f"x-bodies-{hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:8]}"  # files of a project are merged
    )
    root.value.insert(0, (scalar(name), bodies))
    return {"": write(root)}


def extend(text: str) -> Files:
    """Move the services' bodies to another file and extend them."""
    root = read(text)
    services = section(root, "services")
    if services is None:
        return {"": text}
    moved: list[tuple[Node, Node]] = []
    kept: list[tuple[Node, Node]] = []
    for key, body in services.value:
        if not isinstance(body, MappingNode) or any(name.value in ("extends", "<<") for name, _ in body.value):
            kept.append((key, body))
            continue
        local = [pair for pair in body.value if _is_local(*pair)]
        extends = mapping({"file": "bodies.yaml", "service": key.value})
        kept.append((key, MappingNode(body.tag, [*local, (scalar("extends"), extends)])))
        moved.append((key, MappingNode(body.tag, [pair for pair in body.value if pair not in local])))
    services.value = kept
    bodies = MappingNode(root.tag, [(scalar("services"), MappingNode(root.tag, moved))])
    return {"": write(root), "bodies.yaml": write(bodies)} if moved else {"": text}


def include(text: str) -> Files:
    """Move the whole file and include it; the project's name stays."""
    root = read(text)
    name = [pair for pair in root.value if pair[0].value == "name"]
    root.value = [pair for pair in root.value if pair not in name]
    sequence = SequenceNode("tag:yaml.org,2002:seq", [scalar("whole.yaml")])
    outer = MappingNode(root.tag, [*name, (scalar("include"), sequence)])
    return {"": write(outer), "whole.yaml": write(root)}


def spell(text: str) -> Files:
    """Write short forms long, lists as maps and maps as lists, sizes in bytes, durations in seconds."""
    root = read(text)
    services = section(root, "services")
    if services is not None:
        spell_services(services)
    return {"": write(root)}


REWRITINGS: Mapping[str, Callable[[str], Files]] = {
    "reorder": reorder,
    "flow": flow,
    "anchor": anchor,
    "spell": spell,
    "extend": extend,
    "include": include,
}
WHOLE_PROJECT = frozenset(("extend", "include"))
"""Only for projects of one file: what several files say is merged in another order otherwise."""


def read(text: str) -> MappingNode:
    """Parse a Compose file into nodes; an empty value becomes a written null."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, MappingNode)
    for node in walk(root):
        if isinstance(node, ScalarNode) and node.tag.endswith(":null"):
            node.value = "null"
        elif isinstance(node, ScalarNode) and node.tag.endswith(":int") and ":" in node.value:
            node.tag = STRING  # YAML 1.1 reads 22:22 to base 60, Compose does not
    return root


def write(root: Node) -> str:
    """Write nodes as YAML."""
    written: str = yaml.serialize(root, Dumper=yaml.SafeDumper, allow_unicode=True, width=10_000)
    return written


def walk(node: Any) -> Iterator[Node]:
    """Yield every node once, though an alias makes it stand in several places."""
    waiting, seen = [node], set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, MappingNode):
            waiting += [part for pair in one.value for part in pair]
        elif isinstance(one, SequenceNode):
            waiting += one.value


def section(root: MappingNode, name: str) -> MappingNode | None:
    """Return a top-level map."""
    return next((value for key, value in root.value if key.value == name and isinstance(value, MappingNode)), None)


def scalar(text: str) -> ScalarNode:
    """A plain string."""
    return ScalarNode(STRING, text)


def mapping(content: Mapping[str, str]) -> MappingNode:
    """A map of strings."""
    return MappingNode("tag:yaml.org,2002:map", [(scalar(key), scalar(value)) for key, value in content.items()])


def _is_local(key: Node, value: Node) -> bool:
    if key.value in _NEIGHBOUR_KEYS:
        return str(value.value).startswith("service:")
    return key.value in _LOCAL_KEYS
