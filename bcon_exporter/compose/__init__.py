"""I/O edge 2: the real Compose binary resolves files into desired services."""

from bcon_exporter.compose.binary import find_binary
from bcon_exporter.compose.compose_options import ComposeOptions
from bcon_exporter.compose.deployment_files import FoundText, ResolvedDeployment, ResolvedEdit
from bcon_exporter.compose.edited_files import FileEdit
from bcon_exporter.compose.environment_values import hide_environment
from bcon_exporter.compose.reader import ComposeReader
from bcon_exporter.compose.yaml_nodes import MappingNode, Node, NotYamlError, UndeterminedFilesError, parse_nodes

__all__ = [
    "ComposeOptions",
    "ComposeReader",
    "FileEdit",
    "FoundText",
    "MappingNode",
    "Node",
    "NotYamlError",
    "ResolvedDeployment",
    "ResolvedEdit",
    "UndeterminedFilesError",
    "find_binary",
    "hide_environment",
    "parse_nodes",
]
