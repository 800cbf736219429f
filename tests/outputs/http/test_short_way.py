"""A plain scrape is answered at once as it is the long way; what is not one, or not let in, goes the long way."""

from __future__ import annotations

import base64
import http.client
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.outputs.http import Listener, bind
from bcon_exporter.outputs.http.gate import Gate
from bcon_exporter.outputs.http.plain_request import read_plain_scrape
from bcon_exporter.outputs.http.users import Credentials
from tests.outputs.http.asking import BEYOND, LOOPBACK, site_of, users
from tests.outputs.http.test_listeners import served

if TYPE_CHECKING:
    from bcon_exporter.outputs.http import Door, Users
    from bcon_exporter.outputs.http.replies import Reply

PROMETHEUS = (
    b"GET /metrics HTTP/1.1\r\nHost: localhost:19877\r\nUser-Agent: Prometheus/2.42.0\r\n"
    b"Accept: text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\nAccept-Encoding: gzip\r\n"
    b"X-Prometheus-Scrape-Timeout-Seconds: 10\r\n\r\n"
)
HOST = b"Host: localhost\r\n"


def gate(door: Door = LOOPBACK, known: Users | None = None) -> Gate:
    return site_of().behind(lambda: door, lambda: known)


def test_what_prometheus_sends_is_read() -> None:
    assert read_plain_scrape(PROMETHEUS) == {
        "host": "localhost:19877",
        "user-agent": "Prometheus/2.42.0",
        "accept": "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "accept-encoding": "gzip",
        "x-prometheus-scrape-timeout-seconds": "10",
    }


@pytest.mark.parametrize(
    "data",
    [
        PROMETHEUS[:-2],
        PROMETHEUS + b"G",
        PROMETHEUS * 2,
        PROMETHEUS.replace(b"GET", b"HEAD"),
        PROMETHEUS.replace(b"GET", b"POST"),
        PROMETHEUS.replace(b"/metrics", b"/metrics?name[]=bcon_up"),
        PROMETHEUS.replace(b"/metrics", b"/"),
        PROMETHEUS.replace(b"HTTP/1.1", b"HTTP/1.0"),
        PROMETHEUS.replace(b"\r\n", b"\n"),
        PROMETHEUS.replace(b"Host: localhost:19877\r\n", b""),
        PROMETHEUS.replace(b"Host:", b"Host :"),
        PROMETHEUS.replace(b"Host: ", b"Host: \x00"),
        PROMETHEUS.replace(b"Prometheus", "Prométheus".encode()),
        PROMETHEUS.replace(b"Accept: ", b"Accept:\r\n "),
        PROMETHEUS.replace(b"Prometheus/2.42.0", b"x" * 5000),
        *(
            PROMETHEUS.replace(HOST[:5], extra + HOST[:5])
            for extra in (
                b"Content-Length: 5\r\n",
                b"Transfer-Encoding: chunked\r\n",
                b"Connection: close\r\n",
                b"Origin: http://evil.example\r\n",
                b"Sec-Fetch-Site: cross-site\r\n",
                b"Expect: 100-continue\r\n",
                b"Upgrade: websocket\r\n",
                b"Host: evil.example\r\n",
                b"X: y\r\n",
            )
        ),
    ],
)
def test_anything_else_goes_the_long_way(data: bytes) -> None:
    assert data != PROMETHEUS
    assert read_plain_scrape(data) is None


def test_who_is_not_surely_let_in_goes_the_long_way() -> None:
    known = users(reader="right")
    signed = base64.b64encode(b"reader:right")
    asked = PROMETHEUS.replace(b"Accept:", b"Authorization: Basic " + signed + b"\r\nAccept:")

    assert gate().answer_at_once(PROMETHEUS.replace(b"localhost", b"evil.example")) is None
    assert gate(BEYOND).answer_at_once(PROMETHEUS) is not None
    assert gate(known=known).answer_at_once(PROMETHEUS) is None
    assert gate(known=known).answer_at_once(asked) is None  # never checked before: that takes a thread
    assert known.check(Credentials("reader", b"right"))
    assert gate(known=known).answer_at_once(asked) is not None
    assert gate(known=known).answer_at_once(asked.replace(signed, base64.b64encode(b"reader:wrong"))) is None


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_both_ways_answer_alike_and_in_turn_on_one_connection(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = Gate.answer_at_once
    taken: list[bool] = []

    def spied(self: Gate, data: bytes) -> Reply | None:
        reply = at_once(self, data)
        taken.append(reply is not None)
        return reply

    monkeypatch.setattr(Gate, "answer_at_once", spied)
    listener = Listener(bind("127.0.0.1", 0, "web.listen-address"), gate())

    def ask(port: int) -> list[tuple[int, dict[str, str], bool]]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        answers = []
        for extra in ({}, {"X-Long": "way"}, {}, {"X-Long": "way"}):
            connection.request("GET", "/metrics", headers={"Accept-Encoding": encoding, **extra})
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            whole = len(answer.read()) == int(headers.pop("content-length"))
            headers.pop("date")
            answers.append((answer.status, headers, whole))
        connection.close()
        return answers

    answers = served(listener, ask)

    assert taken == [True, False, True, False]
    assert answers == [answers[0]] * 4
    assert (answers[0][0], answers[0][2]) == (200, True)
    assert answers[0][1]["x-content-type-options"] == "nosniff"
