"""I/O edge 2: the real Compose binary resolves files into desired services."""

from bcon_exporter.compose.binary import find_binary
from bcon_exporter.compose.compose_options import ComposeOptions
from bcon_exporter.compose.deployment_files import ResolvedDeployment, ResolvedEdit
from bcon_exporter.compose.edited_files import FileEdit
from bcon_exporter.compose.reader import ComposeReader

__all__ = ["ComposeOptions", "ComposeReader", "FileEdit", "ResolvedDeployment", "ResolvedEdit", "find_binary"]
