"""GET requests over raw HTTP/1.1: many at once, with one wall-clock deadline for all of them, or one without end.

Every connection is non-blocking and served by one loop in the caller's thread, so that nothing can hang: not a daemon
that accepts and says nothing, not one that sends a byte a second, not one that answers garbage. A failed request is an
outcome of its own; the others go on.
"""

import contextlib
import selectors
import socket
import ssl
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.address import Dialer
from bcon_exporter.engine.allowlist import check_request
from bcon_exporter.engine.failures import (
    closed_error,
    garbage_error,
    overdue_error,
    status_error,
    timeout_error,
    translate,
)
from bcon_exporter.engine.http_parser import Answer, AnswerReader, MalformedAnswerError
from bcon_exporter.engine.kept_open_files import kept_open_files
from bcon_exporter.errors import BconError

Outcome = Answer | BconError
Finished = tuple[int, Outcome, float]
"""Which of the targets, its whole answer (of any HTTP status) or the error, and the seconds it took."""

MAX_ATTEMPTS = 4
"""How often one request is sent when connections close under it; all are reads, so that sending again is safe."""
_RECEIVE_BYTES = 256 * 1024
_PIECE_CAP_BYTES = 8 * 1024 * 1024
_POLL_SECONDS = 0.2
"""How soon a batch notices that it was cancelled."""


@dataclass(frozen=True, slots=True)
class Batch:
    """How a batch of requests is to be sent.

    Attributes:
        doing: For messages: "reading stats".
        seconds: Wall-clock limit for everything.
        request_seconds: Limit for one request, from the time its connection is free for its answer.
        connections: Most connections at once.
        patience_seconds: All but the first are opened only when the batch has not ended by then: what is done soon
            should not take two cores of the engine.
        depth: Requests sent ahead on one connection before its first answer has come.
        body_cap_bytes: A longer body is cut, and its connection dropped.
        is_cancelled: Polled; True ends the batch, unanswered requests count as timed out.
    """

    doing: str
    seconds: float
    request_seconds: float
    connections: int = 1
    patience_seconds: float = 0.0
    depth: int = 1
    body_cap_bytes: int = 64 * 1024 * 1024
    is_cancelled: Callable[[], bool] = lambda: False


@dataclass(slots=True, eq=False)
class _Connection:
    socket: socket.socket
    reader: AnswerReader
    unsent: bytearray = field(default_factory=bytearray)
    waiting: deque[int] = field(default_factory=deque)
    head_since: float = 0.0
    wants_write: bool = False


class _Loop:
    """One run of a batch."""

    def __init__(self, dialer: Dialer, targets: Sequence[str], batch: Batch) -> None:
        self._dialer, self._targets, self._batch = dialer, targets, batch
        now = monotonic()
        self._deadline, self._patient_until = now + batch.seconds, now + batch.patience_seconds
        self._todo = deque(range(len(targets)))
        self._left = len(targets)
        self._finished: deque[Finished] = deque()
        self._attempts = [0] * len(targets)
        self._started = [0.0] * len(targets)
        self._connections: set[_Connection] = set()
        self._selector = selectors.DefaultSelector()
        self._depth = batch.depth
        self._allowed = max(1, min(batch.connections, _descriptor_room()))
        self._header = f" HTTP/1.1\r\nHost: {dialer.host_header}\r\nUser-Agent: bcon-exporter\r\n\r\n".encode()

    def run(self) -> Iterator[Finished]:
        try:
            while self._left:
                self._fill()
                yield from self._take_finished()
                now = monotonic()
                if now >= self._deadline or self._batch.is_cancelled():
                    self._end_all(timeout_error(self._dialer.endpoint, self._batch.doing))
                    break
                for key, mask in self._selector.select(min(_POLL_SECONDS, self._deadline - now) if self._left else 0):
                    self._serve(key.data, mask)
                self._drop_overdue(monotonic())
            yield from self._take_finished()
        finally:
            for connection in list(self._connections):
                self._close(connection)
            self._selector.close()

    def _take_finished(self) -> Iterator[Finished]:
        while self._finished:
            yield self._finished.popleft()

    def _fill(self) -> None:
        """Give waiting requests to connections with room, opening new ones up to the limit."""
        for connection in list(self._connections):
            if self._todo and len(connection.waiting) <= self._depth // 2:  # in bulk: each send wakes the engine
                while self._todo and len(connection.waiting) < self._depth:
                    self._give(connection)
                self._send(connection)
        while self._todo and len(self._connections) < self._allowed_now():
            opened = self._open()
            if opened is None:
                return
            while self._todo and len(opened.waiting) < self._share():
                self._give(opened)
            self._send(opened)

    def _allowed_now(self) -> int:
        return self._allowed if monotonic() >= self._patient_until else min(1, self._allowed)

    def _share(self) -> int:
        """Spread what is left over the connections that may still be opened, so that none takes all of it."""
        return max(1, min(self._depth, -(-self._left // self._allowed)))

    def _open(self) -> _Connection | None:
        try:
            opened = self._dialer.open(min(self._batch.request_seconds, self._deadline - monotonic()))
        except (OSError, ValueError) as error:
            if self._connections:
                self._allowed = len(self._connections)  # go on with those we have
            elif not isinstance(error, BlockingIOError):  # the queue of who connects is full for a moment: try again
                self._end_all(translate(error, self._dialer.endpoint, self._batch.doing))
            return None
        connection = _Connection(opened, AnswerReader(self._batch.body_cap_bytes))
        self._connections.add(connection)
        self._selector.register(opened, selectors.EVENT_READ, connection)
        return connection

    def _give(self, connection: _Connection) -> None:
        index = self._todo.popleft()
        now = monotonic()
        if not connection.waiting:
            connection.head_since = now
        if not self._attempts[index]:
            self._started[index] = now
        self._attempts[index] += 1
        connection.waiting.append(index)
        connection.unsent += b"GET " + self._targets[index].encode() + self._header

    def _send(self, connection: _Connection) -> None:
        try:
            while connection.unsent:
                sent = connection.socket.send(connection.unsent)
                del connection.unsent[:sent]
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            pass
        except OSError:
            self._receive(connection)  # an answer may have come before the connection closed
            if connection in self._connections:
                self._drop(connection)
            return
        self._watch(connection)

    def _watch(self, connection: _Connection) -> None:
        wants_write = bool(connection.unsent)
        if wants_write != connection.wants_write and connection in self._connections:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if wants_write else 0)
            self._selector.modify(connection.socket, events, connection)
            connection.wants_write = wants_write

    def _serve(self, connection: _Connection, mask: int) -> None:
        if mask & selectors.EVENT_WRITE and connection in self._connections:
            self._send(connection)
        if mask & selectors.EVENT_READ and connection in self._connections:
            self._receive(connection)

    def _receive(self, connection: _Connection) -> None:
        try:
            data = _receive(connection.socket)
            if data:
                connection.reader.feed(data)
                self._take_answers(connection)
            elif data is not None:
                self._take_end(connection)
        except MalformedAnswerError as error:
            self._drop(connection, garbage_error(self._dialer.endpoint, self._batch.doing, str(error)))
        except OSError:
            self._drop(connection)

    def _take_answers(self, connection: _Connection) -> None:
        while (answer := connection.reader.take()) is not None:
            if not connection.waiting:
                self._drop(connection)
                return
            self._finish(connection.waiting.popleft(), answer)
            connection.head_since = monotonic()
            if not connection.reader.reusable:
                self._drop(connection)
                return
            connection.reader.feed(b"")

    def _take_end(self, connection: _Connection) -> None:
        if connection.reader.status is not None:
            try:
                connection.reader.feed_end()
            except MalformedAnswerError:
                self._drop(connection, closed_error(self._dialer.endpoint, self._batch.doing))
                return
            self._take_answers(connection)
        if connection in self._connections:
            self._drop(connection)

    def _drop(self, connection: _Connection, blame: BconError | None = None) -> None:
        """Close a connection; its first request failed when there is somebody to blame, the rest is sent again."""
        self._close(connection)
        if blame is not None and connection.waiting:
            self._finish(connection.waiting.popleft(), blame)
        if connection.waiting:
            self._depth = 1  # this engine closes connections: send nothing ahead any more
        for index in connection.waiting:
            if self._attempts[index] >= MAX_ATTEMPTS:
                self._finish(index, closed_error(self._dialer.endpoint, self._batch.doing))
            else:
                self._todo.append(index)
        connection.waiting.clear()

    def _drop_overdue(self, now: float) -> None:
        limit = self._batch.request_seconds
        for connection in list(self._connections):
            if connection.waiting and now - connection.head_since >= limit:
                self._drop(connection, overdue_error(self._dialer.endpoint, self._batch.doing))

    def _close(self, connection: _Connection) -> None:
        if connection in self._connections:
            self._connections.discard(connection)
            self._selector.unregister(connection.socket)
            with contextlib.suppress(OSError):
                connection.socket.close()

    def _finish(self, index: int, outcome: Outcome) -> None:
        self._left -= 1
        now = monotonic()
        self._finished.append((index, outcome, now - (self._started[index] or now)))

    def _end_all(self, error: BconError) -> None:
        unanswered = [index for connection in self._connections for index in connection.waiting]
        for connection in self._connections:
            connection.waiting.clear()
        for index in [*unanswered, *self._todo]:
            self._finish(index, error)
        self._todo.clear()


def fetch(dialer: Dialer, targets: Sequence[str], batch: Batch) -> Iterator[Finished]:
    """Send GET requests and yield what came of each, once per target, as they come.

    Args:
        dialer: Opens the connections.
        targets: Raw request targets, each checked against the allow-list before anything is sent.
        batch: How to send them.

    Raises:
        RequestRefusedError: A target is not allowed; nothing was sent.
    """
    for target in targets:
        check_request("GET", target)
    return _Loop(dialer, targets, batch).run()


def fetch_one(dialer: Dialer, target: str, batch: Batch) -> Answer:
    """Send one GET request.

    Raises:
        BconError: There was no whole answer.
        RequestRefusedError: The target is not allowed.
    """
    [(_, outcome, _)] = fetch(dialer, [target], batch)
    if isinstance(outcome, BconError):
        raise outcome
    return outcome


@dataclass(frozen=True, slots=True)
class Following:
    """How an answer without end is to be read.

    Attributes:
        doing: For messages: "reading events".
        connect_seconds: Limit for the connection.
        answer_seconds: Limit for the head of the answer.
        quiet_seconds: An answer of which nothing has come for so long ends.
        wake: Once there is something to read from it, the answer ends; None when nobody will ever want that.
    """

    doing: str
    connect_seconds: float
    answer_seconds: float
    quiet_seconds: float
    wake: socket.socket | None


def follow(dialer: Dialer, target: str, how: Following) -> Generator[bytes]:
    """Send one GET request whose answer has no end, and yield its body as it comes; nothing at first, with the head.

    Raises:
        BconError: It was not answered with 200.
        RequestRefusedError: The target is not allowed.
    """
    check_request("GET", target)
    try:
        connection = dialer.open(how.connect_seconds)
        with contextlib.closing(connection):
            connection.settimeout(how.connect_seconds)
            request = f"GET {target} HTTP/1.1\r\nHost: {dialer.host_header}\r\nUser-Agent: bcon-exporter\r\n\r\n"
            connection.sendall(request.encode())
            connection.settimeout(0)
            yield from _read_on(connection, dialer, how)
    except MalformedAnswerError as error:
        raise garbage_error(dialer.endpoint, how.doing, str(error)) from None
    except OSError as error:
        raise translate(error, dialer.endpoint, how.doing) from None


def _read_on(connection: socket.socket, dialer: Dialer, how: Following) -> Iterator[bytes]:
    reader, has_begun = AnswerReader(_PIECE_CAP_BYTES), False
    with contextlib.closing(selectors.DefaultSelector()) as selector:
        selector.register(connection, selectors.EVENT_READ)
        if how.wake is not None:
            selector.register(how.wake, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select(how.quiet_seconds if has_begun else how.answer_seconds)}
            if not ready and not has_begun:
                raise timeout_error(dialer.endpoint, how.doing)
            data = _receive(connection) if connection in ready else b""
            if how.wake in ready or data == b"":
                return
            reader.feed(data or b"")
            if reader.status not in (None, HTTPStatus.OK):
                raise status_error(reader.status or 0, bytes(reader.body), dialer.endpoint, how.doing)
            if reader.status is not None:
                has_begun = True
                yield bytes(reader.body)
                reader.body.clear()
            if reader.take() is not None:
                return


def _receive(connection: socket.socket) -> bytes | None:
    """Return what has come; empty at the end, None when there is nothing yet."""
    try:
        data = connection.recv(_RECEIVE_BYTES)
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return None
    while data and isinstance(connection, ssl.SSLSocket) and connection.pending():
        data += connection.recv(_RECEIVE_BYTES)  # no selector shows what TLS holds
    return data


def _descriptor_room() -> int:
    """Return how many connections a batch may hold: half of what the process may open."""
    return max(1, kept_open_files() // 2)
