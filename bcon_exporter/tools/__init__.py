"""The tools: each one function with an input model and an output type, declared once for every face."""

from bcon_exporter.tools.context import Context, Host, Memories, Wanted
from bcon_exporter.tools.envelope import Envelope
from bcon_exporter.tools.error_counts import ErrorTally
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.registry import TOOLS, call_tool, execute, find_tool, record_shared, run_tool
from bcon_exporter.tools.single_flight import SingleFlight
from bcon_exporter.tools.tool import Effect, Tool, Toolset

__all__ = [
    "TOOLS",
    "Context",
    "Effect",
    "Envelope",
    "ErrorTally",
    "Host",
    "Memories",
    "SingleFlight",
    "Tool",
    "Toolset",
    "Wanted",
    "call_tool",
    "execute",
    "find_tool",
    "observe",
    "record_shared",
    "run_tool",
]
