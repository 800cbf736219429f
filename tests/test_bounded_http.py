"""An answer ends in time and in size whatever the other side does: head, body, handshake."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.bounded_http import BoundedConnection

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.integration

SECONDS = 0.7
PIECES = 200
"""As long as a server goes on: some ten seconds."""


@contextmanager
def endless(beginning: bytes, piece: bytes, pause_seconds: float = 0.05) -> Iterator[int]:
    """A server that answers with a beginning, then with a piece for long; its port."""
    done = threading.Event()

    def serve() -> None:
        while not done.is_set():
            with suppress(OSError), server.accept()[0] as connection:
                connection.sendall(beginning)
                for _ in range(PIECES):
                    if done.wait(pause_seconds):
                        return
                    connection.sendall(piece)

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            done.set()
            thread.join(10)


CASES: dict[str, tuple[bytes, bytes, bool]] = {
    "a status line that comes byte by byte": (b"HTTP/1.1 ", b"2", False),
    "a head that comes byte by byte": (b"HTTP/1.1 200 OK\r\nX-A: ", b"a", False),
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", False),
    "a body until the end of the connection": (b"HTTP/1.0 200 OK\r\n\r\n", b"x", False),
    "a body of a stated length": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\nConnection: close\r\n\r\n",
        b"x",
        False,
    ),
    "pieces": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", False),
    "a handshake": (b"\x16\x03\x03\x40\x00", b"x", True),
}


def ask(port: int, seconds: float, *, tls: bool) -> bytes:
    context = ssl.create_default_context() if tls else None
    with BoundedConnection("127.0.0.1", port, seconds, context) as connection:
        connection.request("GET", "/")
        return connection.read(connection.getresponse(), 1_000_000)


@pytest.mark.promise("F23")
def test_an_answer_that_trickles_is_cut_when_its_time_is_over() -> None:
    def measure(beginning: bytes, piece: bytes, *, tls: bool) -> tuple[str, float]:
        with endless(beginning, piece) as port:
            began = time.monotonic()
            with pytest.raises((OSError, http.client.HTTPException)) as raised:
                ask(port, SECONDS, tls=tls)
            return raised.type.__name__, time.monotonic() - began

    with ThreadPoolExecutor(len(CASES)) as pool:
        asked = {case: pool.submit(measure, start, piece, tls=tls) for case, (start, piece, tls) in CASES.items()}
        outcomes = {case: future.result() for case, future in asked.items()}
    assert {case: error for case, (error, _) in outcomes.items()} == dict.fromkeys(CASES, "TimeoutError")
    assert {case: seconds for case, (_, seconds) in outcomes.items() if seconds > SECONDS + 4} == {}


def test_an_answer_is_read_up_to_its_cap_and_no_further() -> None:
    for length in (1_000_000, 1_000_001):
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length
        with endless(head + b"x" * length, b"") as port:
            if length <= 1_000_000:
                assert len(ask(port, 20.0, tls=False)) == length
                continue
            with pytest.raises(http.client.HTTPException, match="longer than 1000000 bytes"):
                ask(port, 20.0, tls=False)


def test_a_connection_that_is_refused_is_told_as_such() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionRefusedError):
            ask(free.getsockname()[1], 5.0, tls=False)
