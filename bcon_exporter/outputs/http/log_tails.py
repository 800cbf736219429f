"""Shows a page the new lines of one container's log as they come, by server-sent events."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bcon_exporter.diagnosis import level_of
from bcon_exporter.errors import BconError
from bcon_exporter.outputs.http.access_control import TAIL_PATH
from bcon_exporter.outputs.http.live import (
    STILL_HERE,
    STILL_HERE_SECONDS,
    LiveStreams,
    encode_event,
    send_piece,
    serve_stream,
)
from bcon_exporter.outputs.http.replies import Receive, Scope, Send
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.tools import Context
from bcon_exporter.tools.log_tail import LogTail

_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Follower:
    """Reads and encodes, in a thread, so that nothing else waits for a container that prints much."""

    tail: LogTail
    to_local: Callable[[datetime], datetime]

    def read(self, *, is_first: bool = False) -> bytes:
        """Return the event of the new lines; empty where there are none."""
        new = self.tail.read()
        if not new.lines and not is_first:
            return b""
        lines = [
            (
                "" if line.at is None else f"{self.to_local(line.at):%H:%M:%S}",
                level_of(line.text).name.lower(),
                line.text,
            )
            for line in new.lines
        ]
        return encode_event("lines", {"lines": lines, "first": is_first, "gap": new.has_gap})


class LogTails:
    """The application of all tails: each reads its log once a second, and only while its page listens.

    Args:
        context: Returns the context in force.
        live: Ends with the daemon, and these with it.
        threads: Read the logs.
    """

    def __init__(self, context: Callable[[], Context], live: LiveStreams, threads: RequestThreads) -> None:
        self._context = context
        self._live = live
        self._threads = threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one tail until its client goes, its user is no longer let in, or its log cannot be read any more.

        Raises:
            BconError: There is no such container, or its log cannot be read.
        """
        context, name = self._context(), scope["path"].removeprefix(TAIL_PATH)
        follower = _Follower(await self._threads.run(lambda: LogTail(context, name)), context.to_local)
        first = await self._threads.run(lambda: follower.read(is_first=True))

        async def tell(still_admitted: Callable[[], bool], gone: "asyncio.Task[None]", send: Send) -> None:
            await send_piece(send, first)
            await self._follow(follower, still_admitted, gone, send)

        await serve_stream(scope, receive, send, tell)

    async def _follow(
        self, follower: _Follower, still_admitted: Callable[[], bool], gone: "asyncio.Task[None]", send: Send
    ) -> None:
        silent_seconds = 0.0
        while True:
            await asyncio.wait((gone,), timeout=_PAUSE_SECONDS)
            reading = asyncio.ensure_future(self._threads.run(follower.read))
            while not reading.done():
                await asyncio.wait((reading, gone), timeout=_PAUSE_SECONDS, return_when="FIRST_COMPLETED")
                if gone.done() or self._live.is_closed or not still_admitted():
                    reading.cancel()
                    return
            try:
                event = reading.result()
            except BconError as error:
                await send_piece(send, encode_event("end", {"message": error.message}))
                return
            silent_seconds = 0.0 if event else silent_seconds + _PAUSE_SECONDS
            if not event and silent_seconds >= STILL_HERE_SECONDS:
                event, silent_seconds = STILL_HERE, 0.0
            if event:
                await send_piece(send, event)
