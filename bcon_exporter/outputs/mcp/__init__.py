"""The face for AI agents: the Model Context Protocol over HTTP and over standard input and output.

The library is the extra `mcp`. It weighs 25 MB, so the first agent that asks imports it, or `bcon-exporter mcp`.
"""

from bcon_exporter.outputs.mcp.http_app import McpApp
from bcon_exporter.outputs.mcp.optional_sdk import check_listener, require_sdk

__all__ = ["McpApp", "check_listener", "require_sdk"]
