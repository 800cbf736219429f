"""Agents over standard input and output. Imports the SDK: only `bcon-exporter mcp` imports this."""

import asyncio
import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, cast

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError

LINE_MAX_BYTES = 8 * 1024 * 1024
_CHUNK = 64 * 1024
_TOO_LONG = f"a message may have {LINE_MAX_BYTES // 1024 // 1024} MiB; this one was longer and was skipped"


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
    lines = BoundedLines(_take_standard_input())
    async with stdio_server(stdin=anyio.wrap_file(cast("Any", lines))) as (read, write):
        lines.on_too_long = partial(anyio.from_thread.run, write.send, _refusal())
        try:
            await server.run(read, write, server.create_initialization_options())
        finally:
            on_end()


def _refusal() -> SessionMessage:
    return SessionMessage(
        JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=INVALID_REQUEST, message=_TOO_LONG))
    )


def _take_standard_input() -> BinaryIO:
    """Return standard input, which nothing else of the process can read from now on.

    It is never closed: a thread may still wait for it when the process ends.
    """
    taken = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return os.fdopen(taken, "rb", closefd=False)


class BoundedLines:
    """The lines of a stream as text, as a file has them; those that are too long are skipped, and told of.

    Args:
        stream: What is read.

    Attributes:
        on_too_long: Called in the thread that reads.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.on_too_long: Callable[[], object] = lambda: None

    def readline(self) -> str:
        """Return the next line that is not too long; nothing at the end of the stream."""
        while len(line := self._stream.readline(LINE_MAX_BYTES + 1)) > LINE_MAX_BYTES:
            while line and not line.endswith(b"\n"):
                line = self._stream.readline(_CHUNK)
            self.on_too_long()
        return line.decode(errors="replace")
