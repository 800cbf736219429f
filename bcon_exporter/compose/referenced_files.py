"""Finds the files that a Compose file names, in its parsed YAML. Pure; the text may be hostile.

It walks nodes, not values: names that a merge or a duplicate key hides count too, tags such as `!reset` are ignored,
and aliases are followed, never expanded. A name too many costs one stat call; a name too few would be a security hole.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from bcon_exporter.compose.yaml_nodes import MappingNode, Node, SequenceNode, UndeterminedFilesError, parse_nodes

_MOST_STEPS = 400_000
_MOST_NAMES = 1000
_MERGE = "<<"


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


def find_named_files(content: bytes) -> NamedFiles:
    """Return the files that a Compose file names.

    Raises:
        UndeterminedFilesError: The named files cannot be determined.
        NotYamlError: It is not valid YAML.
    """
    finder = _Finder()
    for document in parse_nodes(content):
        finder.find_in_document(document)
    named_files = finder.named_files
    if max(map(len, (named_files.includes, named_files.extended, named_files.read, named_files.mounted))) > _MOST_NAMES:
        raise UndeterminedFilesError
    return named_files


class _Finder:
    def __init__(self) -> None:
        self.named_files = NamedFiles()
        self._steps_left = _MOST_STEPS

    def find_in_document(self, document: Node) -> None:
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

    def _find_in_includes(self, value: Node) -> None:
        for entry in value if isinstance(value, SequenceNode) else (value,):
            self._count_step()
            if isinstance(entry, str):
                self.named_files.includes.append(Include((entry,)))
            else:
                names = (tuple(self._names(entry, key)) for key in ("path", "project_directory", "env_file"))
                self.named_files.includes.append(Include(*names))

    def _find_in_service(self, service: Node) -> None:
        for key, value in self._pairs(service):
            if key in ("env_file", "label_file"):
                self.named_files.read.update(self._strings(value))
            elif key == "extends":
                self.named_files.extended.update(self._names(value, "file"))

    def _names(self, node: Node, wanted_key: str) -> dict[str, None]:
        """Return the names under one key of a mapping."""
        names: dict[str, None] = {}
        for key, value in self._pairs(node):
            if key == wanted_key:
                names.update(self._strings(value))
        return names

    def _strings(self, node: Node) -> dict[str, None]:
        """Return the names in a string, a list, or a list of mappings with `path`, in their order."""
        names: dict[str, None] = {}
        pending = [node]
        while pending:
            self._count_step()
            node = pending.pop()
            if isinstance(node, str):
                names[node] = None
            elif isinstance(node, SequenceNode):
                pending += reversed(node)
            else:
                pending += (value for key, value in self._pairs(node) if key == "path")
        return names

    def _pairs(self, node: Node) -> Iterator[tuple[Node, Node]]:
        """Yield keys and values of a mapping and of all that is merged into it."""
        pending = [node]
        while pending:
            self._count_step()
            node = pending.pop()
            if isinstance(node, SequenceNode):
                pending += node
            elif isinstance(node, MappingNode):
                for key, value in zip(node[::2], node[1::2], strict=True):
                    self._count_step()
                    if key == _MERGE:
                        pending.append(value)
                    yield key, value

    def _count_step(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise UndeterminedFilesError
