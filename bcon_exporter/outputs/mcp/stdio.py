"""Agents over standard input and output. Imports the SDK: only `bcon-exporter mcp` imports this."""

import asyncio
import signal
from collections.abc import Callable
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


def serve_stdio(make_server: Callable[[], Server[Any]], on_end: Callable[[], None]) -> None:
    """Serve the client at the other end of standard input until it closes it.

    While serving, the SDK points descriptor 1 at standard error, so nothing but the protocol can reach the client.

    Args:
        make_server: Called in the event loop.
        on_end: Called at once when the client has closed its end, while calls may still run.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the thread that reads standard input cannot be interrupted
    asyncio.run(_serve(make_server, on_end))


async def _serve(make_server: Callable[[], Server[Any]], on_end: Callable[[], None]) -> None:
    server = make_server()
    async with stdio_server() as (read, write):
        try:
            await server.run(read, write, server.create_initialization_options())
        finally:
            on_end()
