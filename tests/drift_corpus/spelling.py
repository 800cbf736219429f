"""Short and long spellings of one and the same: each Compose key that has two is turned into the other one."""

from __future__ import annotations

import re

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_MAP, _SEQ, _STR = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:str"
_BOOL, _INT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:int"
_PORT = re.compile(
    r"(?:(?P<ip>[0-9]+\.[0-9.]+):)?(?:(?P<published>[0-9]+):)?(?P<target>[0-9]+)(?:/(?P<protocol>tcp|udp))?"
)
_VOLUME = re.compile(r"(?P<source>\./[^:$]*|[a-z][\w-]*):(?P<target>/[^:$]*)(?::(?P<mode>ro|rw))?")
_SIZE = re.compile(r"([0-9]+) ?([kmg])b?", re.IGNORECASE)
_UNITS = {"k": 1024, "m": 1024**2, "g": 1024**3}
_SIZES = frozenset(("mem_limit", "memswap_limit", "mem_reservation", "shm_size", "memory"))
_DURATION = re.compile(r"(?:([0-9]+)m)?(?:([0-9]+)s)?")
_DURATIONS = frozenset(("stop_grace_period", "interval", "timeout", "start_period"))


def spell_services(services: MappingNode) -> None:
    """Respell every service in place; what cannot be respelled stays."""
    seen: set[int] = set()
    for _, body in services.value:
        if isinstance(body, MappingNode) and id(body) not in seen:
            seen.add(id(body))
            body.value = [(key, _respell(str(key.value), value)) for key, value in body.value]


def _respell(key: str, node: Node) -> Node:
    if key in ("environment", "labels", "sysctls"):
        return _turn(node, "=")
    if key == "ports" and isinstance(node, SequenceNode):
        return SequenceNode(_SEQ, [_long_port(one) for one in node.value])
    if key == "volumes" and isinstance(node, SequenceNode):
        return SequenceNode(_SEQ, [_long_volume(one) for one in node.value])
    if key == "networks" and isinstance(node, SequenceNode):
        return MappingNode(_MAP, [(one, ScalarNode("tag:yaml.org,2002:null", "null")) for one in node.value])
    if key == "depends_on" and isinstance(node, SequenceNode):
        return MappingNode(_MAP, [(one, _plain({"condition": "service_started"})) for one in node.value])
    if key == "env_file" and isinstance(node, ScalarNode):
        return SequenceNode(_SEQ, [MappingNode(_MAP, [(ScalarNode(_STR, "path"), node)])])
    if key in ("dns", "dns_search", "tmpfs") and isinstance(node, ScalarNode):
        return SequenceNode(_SEQ, [node])
    return _respell_quantities(key, node)


def _respell_quantities(key: str, node: Node) -> Node:
    """Sizes and durations, wherever they stand below a service's key."""
    if isinstance(node, MappingNode) and key in ("healthcheck", "deploy", "resources", "limits", "reservations"):
        return MappingNode(_MAP, [(name, _respell_quantities(str(name.value), value)) for name, value in node.value])
    if isinstance(node, ScalarNode) and key in _SIZES and (size := _SIZE.fullmatch(node.value)):
        return ScalarNode(_STR, f"{int(size[1]) * _UNITS[size[2].lower()]}", style='"')
    if isinstance(node, ScalarNode) and key in _DURATIONS and (span := _DURATION.fullmatch(node.value)):
        return ScalarNode(_STR, f"{int(span[1] or 0) * 60 + int(span[2] or 0)}s")
    return node


def _turn(node: Node, separator: str) -> Node:
    """A map as a list, a list as a map; only where every value is text or a plain number."""
    if isinstance(node, MappingNode) and all(_is_text(key) and _is_text(value) for key, value in node.value):
        return SequenceNode(_SEQ, [_text(f"{key.value}{separator}{value.value}") for key, value in node.value])
    if isinstance(node, SequenceNode) and all(separator in str(one.value) for one in node.value):
        pairs = [str(one.value).partition(separator) for one in node.value]
        return MappingNode(_MAP, [(_text(key), _text(value)) for key, _, value in pairs])
    return node


def _is_text(node: Node) -> bool:
    if not isinstance(node, ScalarNode) or node.value == "<<":
        return False
    return node.tag == _STR or (node.tag == _INT and re.fullmatch("0|[1-9][0-9]*", node.value) is not None)


def _long_port(node: Node) -> Node:
    parsed = _PORT.fullmatch(str(node.value)) if isinstance(node, ScalarNode) else None
    if parsed is None:
        return node
    said = {
        "mode": "ingress",
        "host_ip": parsed["ip"],
        "target": parsed["target"],
        "published": parsed["published"],
        "protocol": parsed["protocol"] or "tcp",
    }
    return _plain({key: value for key, value in said.items() if value})


def _long_volume(node: Node) -> Node:
    parsed = _VOLUME.fullmatch(str(node.value)) if isinstance(node, ScalarNode) else None
    if parsed is None:
        return node
    is_bind = parsed["source"].startswith("./")
    said = _plain({"type": "bind" if is_bind else "volume", "source": parsed["source"], "target": parsed["target"]})
    if parsed["mode"] == "ro":
        said.value.append((ScalarNode(_STR, "read_only"), ScalarNode(_BOOL, "true")))
    if is_bind:
        create = MappingNode(_MAP, [(ScalarNode(_STR, "create_host_path"), ScalarNode(_BOOL, "true"))])
        said.value.append((ScalarNode(_STR, "bind"), create))
    else:
        said.value.append((ScalarNode(_STR, "volume"), MappingNode(_MAP, [], flow_style=True)))
    return said


def _plain(content: dict[str, str]) -> MappingNode:
    numbers = {"target"}
    return MappingNode(
        _MAP,
        [
            (ScalarNode(_STR, key), ScalarNode(_INT, value) if key in numbers and value.isdigit() else _text(value))
            for key, value in content.items()
        ],
    )


def _text(value: str) -> ScalarNode:
    return ScalarNode(_STR, value, style='"')
