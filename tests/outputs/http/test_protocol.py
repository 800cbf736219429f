"""Clients that dawdle keep no connection, and good ones are answered meanwhile."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import threading
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.outputs.http import Listener, bind
from bcon_exporter.outputs.http.protocol import HEADER_SECONDS, STALL_SECONDS
from tests.outputs.http.asking import LOOPBACK, site_of
from tests.outputs.http.test_listeners import is_closed, served
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bcon_exporter.outputs.http.replies import Receive, Scope, Send
    from tests.promises.plugin import Figure

HALF = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: "
WHOLE = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
DAWDLERS = 300
LONG_ANSWER_PIECES = 1000
"""Of 64 KiB: more than the kernel holds for both sides of a connection."""


def listener() -> Listener:
    return Listener(bind("127.0.0.1", 0, "web.listen-address"), site_of().behind(lambda: LOOPBACK, lambda: None))


def ask(port: int) -> float:
    """The seconds that a good client waits."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/-/healthy")
    assert connection.getresponse().status == 200
    connection.close()
    return time.monotonic() - began


def trickle(links: Iterable[socket.socket]) -> None:
    """One more byte of a header each."""
    for link in links:
        try:
            link.send(b"a", socket.MSG_NOSIGNAL)
        except ConnectionError:
            continue


@pytest.mark.promise("S4")
def test_no_client_may_take_longer_than_is_promised() -> None:
    assert HEADER_SECONDS <= 5
    assert STALL_SECONDS <= 30


@pytest.mark.promise("F14", "S4")
@pytest.mark.alone
def test_headers_that_do_not_come_whole_end_the_connection_and_good_clients_are_answered(figure: Figure) -> None:
    def dawdle(port: int) -> tuple[float, list[float]]:
        with ExitStack() as stack:
            began = time.monotonic()
            links = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(DAWDLERS)]
            for link in links[DAWDLERS // 3 :]:
                link.sendall(HALF)
            for link in links:
                link.setblocking(False)
            waits: list[float] = []

            def all_closed() -> bool:
                trickle(links[2 * DAWDLERS // 3 :])
                waits.append(ask(port))
                return all(is_closed(link) for link in links)

            wait_until(all_closed, "every connection to end", timeout_seconds=HEADER_SECONDS + 15, every_seconds=0.1)
            return time.monotonic() - began, waits

    seconds, waits = served(listener(), dawdle)

    assert seconds >= HEADER_SECONDS
    assert len(waits) > 10
    median = sorted(waits)[len(waits) // 2]
    figure(f"{DAWDLERS} half-open closed after {seconds:.1f} s, good clients meanwhile {median * 1000:.0f} ms")
    assert median < 0.1


@pytest.mark.slow
@pytest.mark.promise("F14")
def test_a_second_request_has_the_same_time_as_the_first() -> None:
    def ask_twice(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
            link.sendall(WHOLE)
            answer = http.client.HTTPResponse(link)
            answer.begin()
            assert (answer.status, len(answer.read()) > 0) == (200, True)
            link.sendall(HALF)
            link.setblocking(False)
            wait_until(lambda: is_closed(link), "its end", timeout_seconds=HEADER_SECONDS + 10)

    served(listener(), ask_twice)


@pytest.mark.slow
@pytest.mark.promise("F14")
def test_who_does_not_read_its_answers_loses_the_connection() -> None:
    def stall(port: int) -> float:
        with socket.socket() as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.settimeout(2)
            link.connect(("127.0.0.1", port))
            began = time.monotonic()
            with suppress(TimeoutError):
                link.sendall(WHOLE * 20_000)
            wait_until(lambda: has_error(link), "the connection to end", timeout_seconds=STALL_SECONDS + 15)
            return time.monotonic() - began

    assert served(listener(), stall) >= STALL_SECONDS


@pytest.mark.slow
@pytest.mark.promise("F14")
def test_who_does_not_read_one_long_answer_loses_the_connection() -> None:
    ended = threading.Event()

    async def answer_at_length(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(LONG_ANSWER_PIECES):
            await send({"type": "http.response.body", "body": bytes(65536), "more_body": True})
        ended.set()

    def stall(port: int) -> float:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
            began = time.monotonic()
            link.sendall(WHOLE)
            wait_until(ended.is_set, "the answer to be given up", timeout_seconds=STALL_SECONDS + 15)
            return time.monotonic() - began

    assert served(Listener(bind("127.0.0.1", 0, "web.listen-address"), answer_at_length), stall) >= STALL_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(b"POST /nothing HTTP/1.1\r\nHost: evil\r\nContent-Length: 100\r\n\r\n", id="refused"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: evil\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n", id="refused-chunked"),
    ],
)
def test_who_trickles_a_body_after_the_answer_loses_the_connection(request_bytes: bytes) -> None:
    def dribble(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
            link.sendall(request_bytes)
            link.settimeout(0.1)
            answer = b""

            def ended() -> bool:
                nonlocal answer
                trickle([link])
                try:
                    piece = link.recv(4096)
                except TimeoutError:
                    return False
                except ConnectionError:
                    return True
                answer += piece
                return not piece

            wait_until(ended, "its end, before uvicorn's own time for idle connections", timeout_seconds=15)
            return answer

    assert served(listener(), dribble).startswith(b"HTTP/1.1 421")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GARBAGE\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 40_000, b"431"),
        (
            b"POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            b"400",
        ),
        (
            b"POST /api/v1/tools/health_check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            b"400",
        ),
    ],
)
def test_what_is_no_http_is_refused_in_the_envelope_once_and_nothing_is_logged(
    sent: bytes, status: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    def ask_wrongly(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
            link.sendall(sent)
            return b"".join(iter(lambda: link.recv(65536), b""))

    answer = served(listener(), ask_wrongly)
    head, _, body = answer.partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 " + status)
    assert b"x-content-type-options: nosniff" in head.lower()
    assert json.loads(body)["error"]["code"] == "invalid_input"
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_a_bad_body_of_a_head_request_is_refused_without_a_body(caplog: pytest.LogCaptureFixture) -> None:
    def ask_wrongly(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
            link.sendall(b"HEAD / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
            return b"".join(iter(lambda: link.recv(65536), b""))

    answer = served(listener(), ask_wrongly)

    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert answer.endswith(b"\r\n\r\n")
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_requests_sent_at_once_are_answered_one_after_the_other() -> None:
    def pipeline(port: int) -> int:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
            wanted = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
            link.sendall(wanted % b"" * 10 + wanted % b"Connection: close\r\n")
            return b"".join(iter(lambda: link.recv(65536), b"")).count(b"HTTP/1.1 200 OK")

    assert served(listener(), pipeline) == 11


def has_error(link: socket.socket) -> bool:
    """Whether the other side has reset the connection since this was last asked, without reading from it."""
    return link.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0
