"""An engine that answers as a recorded one did at a moment that we choose: a stand-in, on a socket of its own."""

from __future__ import annotations

import asyncio
import fcntl
import json
import re
import struct
import termios
import threading
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from pathlib import Path

    from tests.golden.recording import Host, Moment

VERSION = re.compile(r"^/v1\.\d+(?=/)")
LOGS = re.compile(r"^/containers/([^/]+)/logs$")
NANO = 1_000_000_000
LOOK_EVERY_SECONDS = 0.1
TOLD_WITHIN_SECONDS = 120.0


@dataclass(eq=False)
class Follower:
    """A connection that events are sent on as they happen."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    query: dict[str, list[str]]
    sent: int = 0

    @property
    def is_there(self) -> bool:
        """Whether the other end is still open."""
        return not (self.reader.at_eof() or self.writer.is_closing())

    async def send(self, text: bytes) -> None:
        """Send it, and return once the other end has taken it from its socket."""
        self.writer.write(b"%x\r\n%s\r\n" % (len(text), text))
        await self.writer.drain()
        connection = self.writer.get_extra_info("socket")
        while self.is_there and (self.writer.transport.get_write_buffer_size() or _count_unread(connection.fileno())):
            await asyncio.sleep(0.001)


class RecordedEngine:
    """Answers while it is entered; `show` chooses the moment.

    Attributes:
        events_type: The content type of events.
        minimum: A request in an API version below this one is refused; None refuses none.
    """

    events_type = "application/json"
    minimum: tuple[int, int] | None = None

    def __init__(self, host: Host, socket: Path) -> None:
        self._host, self._socket = host, socket
        self._logs = {
            container: ([at for at, _, _ in lines], [_frame(*line, container in host.terminals) for line in lines])
            for container, lines in host.logs.items()
        }
        self._moment: Moment = host.moments[0]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="recorded-engine")
        self._tasks: set[asyncio.Task[None]] = set()
        self._followers: set[Follower] = set()
        self._telling = asyncio.Lock()

    @property
    def host(self) -> str:
        """Its address as DOCKER_HOST wants it."""
        return f"unix://{self._socket}"

    def show(self, moment: Moment) -> None:
        """Answer as at this moment from now on."""
        self._moment = moment

    def wait_until_told(self) -> None:
        """Wait until somebody follows the events and has taken in all of the moment that is shown."""
        told = asyncio.run_coroutine_threadsafe(self._tell_a_follower(), self._loop)
        told.result(TOLD_WITHIN_SECONDS)

    def __enter__(self) -> RecordedEngine:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def __exit__(self, *_unused: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncio.start_unix_server(self._serve, self._socket, limit=1 << 20, backlog=4096)

    async def _stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, target, _ = head.decode("latin-1").split("\r\n", 1)[0].split(" ")
                url = urlsplit(target)
                path, query = VERSION.sub("", unquote(url.path)), parse_qs(url.query)
                if (refusal := self._refuse_version(url.path)) is not None:
                    self._answer(writer, method, 400, refusal, "application/json")
                    await writer.drain()
                    continue
                if path == "/events" and "until" not in query:
                    await self._serve_follower(Follower(reader, writer, query))
                    return
                self._answer(writer, method, *self._find(path, query))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    def _answer(self, writer: asyncio.StreamWriter, method: str, status: int, body: bytes, kind: str) -> None:
        version = str(self._moment.answers["/version"]["ApiVersion"])
        head = f"HTTP/1.1 {status} Recorded\r\nApi-Version: {version}\r\nContent-Type: {kind}\r\n"
        head += f"Server: Docker\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + (b"" if method == "HEAD" else body))

    def _refuse_version(self, path: str) -> bytes | None:
        asked = VERSION.match(path)
        if self.minimum is None or asked is None:
            return None
        version = tuple(map(int, asked[0].removeprefix("/v").split(".")))
        if version >= self.minimum:
            return None
        needed = ".".join(map(str, self.minimum))
        message = f"client version {asked[0].removeprefix('/v')} is too old. Minimum supported API version is {needed}"
        return json.dumps({"message": message}).encode()

    def _find(self, path: str, query: dict[str, list[str]]) -> tuple[int, bytes, str]:
        if path == "/_ping":
            return 200, b"OK", "text/plain"
        if path == "/events":
            lines = [json.dumps(event) for event in self._events(query)]
            return 200, "\n".join([*lines, ""]).encode(), self.events_type
        if found := LOGS.match(path):
            return 200, self._read_log(found[1], query), "application/octet-stream"
        answer = self._moment.answers.get(path)
        if answer is None:
            return 404, json.dumps({"message": f"not recorded: {path}"}).encode(), "application/json"
        if path == "/containers/json" and "filters" in query:
            wanted = json.loads(query["filters"][0]).get("id")
            answer = [entry for entry in answer if wanted is None or entry["Id"] in wanted]
        return 200, json.dumps(answer).encode(), "application/json"

    def _read_log(self, container: str, query: dict[str, list[str]]) -> bytes:
        times, frames = self._logs.get(container, ([], []))
        last = min(_nano(query, "until", self._moment.at_nanoseconds), self._moment.at_nanoseconds)
        first, end = bisect_left(times, _nano(query, "since", 0)), bisect_right(times, last)
        tail = query.get("tail", ["all"])[0]
        return b"".join(frames[first if tail == "all" else max(first, end - int(tail)) : end])

    def _events(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        """Those of the time asked for that have happened by now."""
        first = _nano(query, "since", 0)
        last = min(_nano(query, "until", self._moment.at_nanoseconds), self._moment.at_nanoseconds)
        wanted = json.loads(query["filters"][0]) if "filters" in query else {}
        types, actions = wanted.get("type"), wanted.get("event")
        return [
            event
            for event in self._host.events
            if first <= event["timeNano"] <= last
            and (types is None or event["Type"] in types)
            and (actions is None or {event["Action"], event["Action"].partition(":")[0]} & set(actions))
        ]

    async def _serve_follower(self, follower: Follower) -> None:
        head = f"HTTP/1.1 200 OK\r\nApi-Version: {self._moment.answers['/version']['ApiVersion']}\r\n"
        follower.writer.write(f"{head}Content-Type: {self.events_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        self._followers.add(follower)
        try:
            while follower.is_there:
                await self._tell(follower)
                await asyncio.sleep(LOOK_EVERY_SECONDS)
        finally:
            self._followers.discard(follower)

    async def _tell(self, follower: Follower) -> None:
        """Send the events that have happened since it was told last."""
        async with self._telling:
            events = self._events(follower.query)[follower.sent :]
            follower.sent += len(events)
            if events:
                await follower.send(b"".join(json.dumps(event).encode() + b"\n" for event in events))

    async def _tell_a_follower(self) -> None:
        """Who takes the empty line at the end from its socket has done with the lines before it."""
        while True:
            for follower in [one for one in self._followers if one.is_there]:
                await self._tell(follower)
                await follower.send(b"\n")
                if follower.is_there:
                    return
            await asyncio.sleep(LOOK_EVERY_SECONDS)


def _nano(query: dict[str, list[str]], name: str, absent: int) -> int:
    if name not in query:
        return absent
    seconds, _, fraction = query[name][0].partition(".")
    return int(seconds) * NANO + int(fraction.ljust(9, "0")[:9] or 0)


def _frame(at: int, stream: int, text: str, is_terminal: bool) -> bytes:
    line = f"{_stamp(at)} {text}".encode("utf-8", "surrogateescape")
    return line if is_terminal else struct.pack(">BxxxL", stream, len(line)) + line


def _stamp(at: int) -> str:
    return f"{datetime.fromtimestamp(at // NANO, UTC):%Y-%m-%dT%H:%M:%S}.{at % NANO:09d}Z"


def _count_unread(descriptor: int) -> int:
    """The bytes that the other end of a Unix socket has not read yet."""
    return int(struct.unpack("i", fcntl.ioctl(descriptor, termios.TIOCOUTQ, b"\0" * 4))[0])
