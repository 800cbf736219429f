"""Clients that dawdle keep no connection, and good ones are answered meanwhile."""

from __future__ import annotations

import http.client
import socket
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.outputs.http import Listener, bind
from bcon_exporter.outputs.http.protocol import HEADER_SECONDS, STALL_SECONDS
from tests.outputs.http.asking import LOOPBACK, site_of
from tests.outputs.http.test_listeners import served
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.promises.plugin import Figure

HALF = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: "
WHOLE = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
DAWDLERS = 300


def listener() -> Listener:
    return Listener(bind("127.0.0.1", 0, "web.listen-address"), site_of().behind(lambda: LOOPBACK, lambda: None))


def is_closed(link: socket.socket) -> bool:
    """Whether the other side has ended the connection, which must not block."""
    try:
        return link.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


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


def has_error(link: socket.socket) -> bool:
    """Whether the other side has reset the connection, without reading from it."""
    return link.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0
