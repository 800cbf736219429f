"""A proxy in front of an engine's socket that writes down every request that passes, pipelined ones too."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

REQUEST_LINE = re.compile(rb"^([A-Z]+) (\S+) HTTP/1\.[01]$")
LENGTH = re.compile(rb"^content-length:\s*(\d+)\s*$", re.IGNORECASE)
HEAD_END = b"\r\n\r\n"


@dataclass(frozen=True)
class Recorded:
    """One request line; `malformed` when what the client sent cannot be told apart as requests."""

    method: str
    target: str
    body_bytes: int = 0
    malformed: bool = False


class RecordingProxy:
    """Listens on `path` and forwards to `upstream` while it is entered; what it counts grows meanwhile.

    Attributes:
        answered_bytes: What the engine has answered, heads and frames included.
    """

    def __init__(self, path: Path, upstream: Path) -> None:
        self.path, self.upstream = path, upstream
        self.requests: list[Recorded] = []
        self.answered_bytes = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="recording-proxy")
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def host(self) -> str:
        """The proxy's address as DOCKER_HOST wants it."""
        return f"unix://{self.path}"

    def __enter__(self) -> RecordingProxy:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncio.start_unix_server(self._serve, path=str(self.path), backlog=1024)

    async def _stop(self) -> None:
        self._server.close()
        await asyncio.sleep(0)  # a connection just accepted has begun: what is cancelled before that closes nothing
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            # only `_stop` cancels, and asyncio 3.11 would log it; an engine that is gone refuses
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await self._connect(reader, writer)
        finally:
            writer.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        engine_reader, engine_writer = await asyncio.open_unix_connection(str(self.upstream))
        ways = [
            asyncio.ensure_future(self._pass_requests(reader, engine_writer)),
            asyncio.ensure_future(self._pass_answers(engine_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait(ways[1:], timeout=5 if ways[0].done() else 0)  # the last answers still come
        finally:
            for way in ways:
                way.cancel()
            writer.close()
            engine_writer.close()  # both, before anything is waited for: a second cancellation may come
            await asyncio.gather(*ways, return_exceptions=True)
            for each in (writer, engine_writer):
                with contextlib.suppress(OSError):
                    await each.wait_closed()

    async def _pass_requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pending = b""
        with contextlib.suppress(OSError):
            while received := await reader.read(1 << 16):
                pending = self._record(pending + received)
                writer.write(received)
                await writer.drain()
            writer.write_eof()

    async def _pass_answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while received := await reader.read(1 << 16):
                self.answered_bytes += len(received)
                writer.write(received)
                await writer.drain()

    def _record(self, sent: bytes) -> bytes:
        """Note every whole request and return what is not whole yet."""
        while HEAD_END in sent:
            head, _, rest = sent.partition(HEAD_END)
            first, *headers = head.split(b"\r\n")
            length = next((int(found[1]) for line in headers if (found := LENGTH.match(line))), 0)
            if len(rest) < length:
                return sent
            found = REQUEST_LINE.match(first)
            method, target = (found[1].decode(), found[2].decode("latin-1")) if found else ("", repr(first))
            self.requests.append(Recorded(method, target, length, malformed=found is None))
            sent = rest[length:]
        return sent
