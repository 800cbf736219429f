"""Agents that begin a POST and never end it, or never read its answer, hold nobody up."""

from __future__ import annotations

import http.client
import json
import socket
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.outputs.http import Listener, bind
from bcon_exporter.outputs.http.protocol import STALL_SECONDS
from tests.factories import container, snapshot
from tests.outputs.http.asking import LOOPBACK
from tests.outputs.http.test_listeners import served
from tests.outputs.http.test_protocol import has_error, trickle
from tests.outputs.mcp.talking import DIAGNOSE_ALL, site_for_agents
from tests.outputs.scenes import make_context
from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.promises.plugin import Figure

DAWDLERS = 300
ENDED_WITHIN_SECONDS = 30
ANOTHER_ADDRESS = "127.0.3.1"
HEADERS = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\n"
)
BEGUN = (
    HEADERS + b"X: ",
    HEADERS + b"Content-Length: 5000\r\n\r\n",
    HEADERS + b"Transfer-Encoding: chunked\r\n\r\n",
    HEADERS + b'Content-Length: 5000\r\n\r\n{"jsonrpc": ',
)
"""How far they get; the last ones send one more byte now and then."""


def send(port: int, method: str, path: str, address: str, body: object = None) -> tuple[float, Any]:
    """The seconds that a good client waits, and its answer."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10, source_address=(address, 0))
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Mcp-Method": "tools/call"}
    headers |= {"Mcp-Name": "diagnose_all", "MCP-Protocol-Version": "2026-07-28"}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        said = answer.read()
        assert answer.status == 200, said
        return time.monotonic() - began, said
    finally:
        connection.close()


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.promise("F14")
def test_posts_that_do_not_come_whole_end_and_hold_up_neither_agents_nor_probes_nor_scrapes(figure: Figure) -> None:
    app = site_for_agents(make_context(snapshot(container(name="web")))).behind(lambda: LOOPBACK, lambda: None)

    def dawdle(port: int) -> tuple[float, list[float]]:
        send(port, "POST", "/mcp", ANOTHER_ADDRESS, DIAGNOSE_ALL)  # the first one imports the SDK
        with ExitStack() as stack:
            began = time.monotonic()
            links = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(DAWDLERS)]
            for number, link in enumerate(links):
                try:
                    link.sendall(BEGUN[number % len(BEGUN)])
                except ConnectionError:
                    continue  # it had to make room for one of the later ones
            for link in links:
                link.setblocking(False)
            waits: list[float] = []

            def all_closed() -> bool:
                trickle(links[len(BEGUN) - 1 :: len(BEGUN)])
                seconds, said = send(port, "POST", "/mcp", ANOTHER_ADDRESS, DIAGNOSE_ALL)
                assert json.loads(said)["result"]["isError"] is False
                waits.append(seconds)
                for path in ("/-/healthy", "/metrics"):
                    send(port, "GET", path, "127.0.0.1")
                return all(has_ended(link) for link in links)

            wait_until(all_closed, "every connection to end", timeout_seconds=ENDED_WITHIN_SECONDS, every_seconds=0.25)
            return time.monotonic() - began, waits

    seconds, waits = served(Listener(bind("127.0.0.1", 0, "web.listen-address"), app), dawdle)

    assert len(waits) > 10
    median = sorted(waits)[len(waits) // 2]
    figure(f"{DAWDLERS} half-open POSTs ended after {seconds:.1f} s, agents meanwhile {median * 1000:.0f} ms")


def has_ended(link: socket.socket) -> bool:
    """Whether the connection is closed; what it was told before is read."""
    try:
        while link.recv(4096):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        pass
    return True


SLOW_READERS = 5
REQUESTS = 2000
"""More than the server has received when it stops: what it has not read makes the end of the connection a reset."""


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.promise("F26")
def test_agents_that_do_not_read_their_answers_lose_the_connection_and_hold_up_no_other(figure: Figure) -> None:
    app = site_for_agents(make_context(snapshot(container(name="web")))).behind(lambda: LOOPBACK, lambda: None)
    body = json.dumps({**DIAGNOSE_ALL, "method": "tools/list", "params": {"_meta": DIAGNOSE_ALL["params"]["_meta"]}})  # type: ignore[index]
    names = b"Mcp-Method: tools/list\r\nMCP-Protocol-Version: 2026-07-28\r\n"
    request = HEADERS + names + b"Content-Length: %d\r\n\r\n" % len(body) + body.encode()

    def stall(port: int) -> tuple[float, list[float]]:
        send(port, "POST", "/mcp", ANOTHER_ADDRESS, DIAGNOSE_ALL)  # the first one imports the SDK
        with ExitStack() as stack:
            began = time.monotonic()
            links = [stack.enter_context(socket.socket()) for _ in range(SLOW_READERS)]
            for link in links:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                link.settimeout(1)
                link.connect(("127.0.0.1", port))
                with suppress(TimeoutError):
                    link.sendall(request * REQUESTS)
            waits: list[float] = []
            reset: set[socket.socket] = set()

            def all_closed() -> bool:
                waits.append(send(port, "POST", "/mcp", ANOTHER_ADDRESS, DIAGNOSE_ALL)[0])
                reset.update(link for link in links if has_error(link))  # which is told once
                return len(reset) == len(links)

            patience = STALL_SECONDS + 30
            wait_until(all_closed, "every connection to end", timeout_seconds=patience, every_seconds=0.5)
            return time.monotonic() - began, waits

    listener = Listener(bind("127.0.0.1", 0, "web.listen-address"), app)
    for bound in listener.sockets:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)  # or the kernel holds hundreds of answers
    seconds, waits = served(listener, stall)

    median = sorted(waits)[len(waits) // 2]
    figure(f"{SLOW_READERS} that do not read ended after {seconds:.1f} s, agents meanwhile {median * 1000:.0f} ms")
    assert seconds >= STALL_SECONDS
