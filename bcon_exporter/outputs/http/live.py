"""Tells open pages that a newer scan is there, by server-sent events."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from pydantic_core import to_json

from bcon_exporter.outputs.http.replies import Receive, Scope, Send
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.tools import Context

if TYPE_CHECKING:
    from bcon_exporter.outputs.pages import LiveState

STILL_HERE_SECONDS = 15.0
STILL_HERE = b": still here\n\n"
_EVENT_STREAM = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]


class LiveStreams:
    """The application of all streams. What they tell is read once a scan, in a thread, and only while somebody listens.

    Args:
        context: Returns the context in force.
        find_hang: Names the scan that hangs; None where all is well.
        threads: Read the state.

    Attributes:
        is_closed: The daemon stops: no stream goes on.
    """

    def __init__(
        self, context: Callable[[], Context], find_hang: Callable[[], str | None], threads: RequestThreads
    ) -> None:
        self._context = context
        self._find_hang = find_hang
        self._threads = threads
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self._reading = asyncio.Lock()
        self._latest: tuple[object, LiveState] | None = None
        self.is_closed = False

    def wake(self) -> None:
        """Let every stream look what is new, and whether it may still be told; from any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the process ends
                self._loop.call_soon_threadsafe(self._wake)

    def close(self) -> None:
        """End every stream: the daemon stops."""
        self.is_closed = True
        self.wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one stream until its client goes, its user is no longer let in, or its place is given to another."""
        self._loop = asyncio.get_running_loop()
        await serve_stream(scope, receive, send, self._tell)

    async def _tell(self, still_admitted: Callable[[], bool], gone: "asyncio.Task[None]", send: Send) -> None:
        before: LiveState | None = None
        while still_admitted() and not gone.done() and not self.is_closed:
            news = self._news
            state = await self._read()
            if state is not before:
                await send_piece(send, encode_event("scan", state.message(before, self._context().now())))
                before = state
            waiting = asyncio.create_task(news.wait())
            done, _ = await asyncio.wait((waiting, gone), timeout=STILL_HERE_SECONDS, return_when="FIRST_COMPLETED")
            waiting.cancel()
            if not done:
                await send_piece(send, STILL_HERE)

    async def _read(self) -> "LiveState":
        """Return the state of the last scan, which all streams share."""
        async with self._reading:
            context, hang = self._context(), self._find_hang()
            memory = context.memory.memory
            mark = (context.scans.statuses, context.host.is_up(), hang, memory.quiets, memory.incidents.open)
            if self._latest is None or self._latest[0] != mark:
                from bcon_exporter.outputs.pages import read_live_state  # loads the pages

                self._latest = mark, await self._threads.run(lambda: read_live_state(context, hang))
            return self._latest[1]


Tell = Callable[[Callable[[], bool], "asyncio.Task[None]", Send], Awaitable[None]]
"""Sends the events of one stream: told whether the user is still let in, and of a task that ends with the client."""


async def serve_stream(scope: Scope, receive: Receive, send: Send, tell: Tell) -> None:
    """Answer with a stream of events, whose connection is the first to go where room is needed; HEAD gets none."""
    await send({"type": "http.response.start", "status": 200, "headers": _EVENT_STREAM})
    if not scope["bcon.is_head"]:
        place = scope.get("state", {}).get("place")
        if place is not None:
            place.wait()  # its connection makes room for those who ask for something
        gone = asyncio.create_task(_until_gone(receive))
        try:
            await tell(scope["bcon.still_admitted"], gone, send)
        finally:
            gone.cancel()
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def encode_event(name: str, value: object) -> bytes:
    """Return one event of a stream."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), to_json(value))


async def send_piece(send: Send, body: bytes) -> None:
    """Send a part of a stream."""
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _until_gone(receive: Receive) -> None:
    """Return when the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass
