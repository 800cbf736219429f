"""What agents ask, over and over: tools with other arguments each time, over MCP and over HTTP in turn."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from bcon_exporter.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def make_calls(names: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tools with what agents give them, over and over, each time with something else."""
    there = {tool.name for tool in TOOLS}
    for number in itertools.count():
        name = names[number % len(names)]
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("list_containers", {"all": bool(number % 2)}),
            ("diagnose_all", {"include_healthy": bool(number % 2)}),
            ("diagnose_container", {"container_id": name, "log_tail": 50 + number % 100}),
            ("get_container_logs", {"container_id": name, "tail": 100 + number % 400}),
            ("get_container_stats", {"container_id": name}),
            ("get_container_info", {"container_id": name}),
            ("get_history", {"limit": 1 + number % 50}),
            ("list_incidents", {"limit": 1 + number % 50}),
            ("query_memory", {"query": f"connection refused {name} {number}"}),
            ("rag_search", {"query": f"why does {name} fail {number}"}),
            ("explain_error", {"container_id": name, "error_pattern": f"refused {number}"}),
            ("write_memory", {"text": f"note {number} about {name}", "about": name, "dry_run": True}),
            ("read_logs", {"unit": name, "lines": 1 + number % 200}),
            ("system_status", {}),
            ("get_untracked_containers", {"all": True}),
        )
        yield from (call for call in calls if call[0] in there)


def as_request(tool: str, arguments: dict[str, Any], *, over_mcp: bool) -> tuple[str, str, dict[str, str]]:
    """Return path, body and headers of the POST that calls a tool."""
    if not over_mcp:
        return f"/api/v1/tools/{tool}?view=agent", json.dumps(arguments), {"Content-Type": "application/json"}
    params = {"name": tool, "arguments": arguments, "_meta": _META}
    headers = {"Accept": "application/json", "Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28"}
    headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    return "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}), headers
