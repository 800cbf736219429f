"""Agents over HTTP: one request, one answer; nothing is kept between them."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bcon_exporter.outputs.http.replies import Receive, Scope, Send
from bcon_exporter.outputs.http.request_body import ClientGoneError
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.tools import Context

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

Post = Callable[["Server[Any]", Scope, Receive, Send], Coroutine[Any, Any, None]]


class McpApp:
    """Answers agents; the server is made at the first request, since its library takes a second to import.

    Args:
        context: The context in force.
        toolsets: Of the tools that are offered.
        structured: See `make_server`.
    """

    def __init__(self, context: Callable[[], Context], toolsets: tuple[str, ...], *, structured: bool = False) -> None:
        self._context = context
        self._toolsets = toolsets
        self._structured = structured
        self._threads = RequestThreads()
        self._making = asyncio.Lock()
        self._made: tuple[Server[Any], Post] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one POST that the gate has admitted.

        Raises:
            ClientGoneError: The agent hung up before it had its answer.
        """
        async with self._making:
            if self._made is None:
                self._made = await self._threads.run(self._make)
        server, post = self._made
        body = await _read_body(receive)
        await _work_until_gone(post(server, scope, _replay(body), send), receive)

    def _make(self) -> "tuple[Server[Any], Post]":
        from bcon_exporter.outputs.mcp.answers import OwnAnswers
        from bcon_exporter.outputs.mcp.server import make_server
        from bcon_exporter.outputs.mcp.streamable import answer_post

        answers = OwnAnswers(self._context, self._threads)
        return make_server(answers, self._toolsets, structured=self._structured), answer_post


async def _read_body(receive: Receive) -> bytes:
    """Return the body, which the gate has read and bounded."""
    pieces: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(pieces)


def _replay(body: bytes) -> Receive:
    """Return a `receive` that hands out a body and then never anything."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Scope:
        return waiting.pop() if waiting else await asyncio.Event().wait()

    return receive


async def _work_until_gone(work: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Do the work, or drop it when the agent hangs up; the tool's own run goes on for others that wait for it."""
    working = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_wait_until_gone(receive))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGoneError
        working.result()
    finally:
        for task in (working, gone):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
