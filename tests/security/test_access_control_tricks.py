"""Promise: no spelling of a request gets past the gate: path, method, header or version, over a real socket."""

from __future__ import annotations

import base64
import socket
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.outputs.http import Listener, ListenerPolicy, bind
from tests.factories import container, snapshot
from tests.outputs.http.asking import BEYOND, INSECURE, LOOPBACK, site_of, users
from tests.outputs.http.test_listeners import served
from tests.outputs.scenes import make_context, scan_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bcon_exporter.outputs.http import Users

REPORT = "/api/v1/containers/canary-name"
SPELLINGS = (
    *(REPORT, "/" + REPORT, REPORT + "/", REPORT + "//", "/./api/v1/containers", "/api/v1/../v1/containers"),
    *("/metrics/../api/v1/containers", "/metrics/..%2fapi/v1/containers", "/metrics%2f..%2fapi/v1/diagnosis"),
    *("/%61pi/v1/containers", "/api%2fv1%2fcontainers", "/API/V1/CONTAINERS", "/api/v1/diagnosis;/metrics"),
    *("/api/v1/diagnosis?x=/metrics", "/api/v1/diagnosis%00", "/api/v1/diagnosis%23", "/api/v1/diagnosis#/metrics"),
    *("/-/ready/../../api/v1/diagnosis", "/-/healthy%2f..%2f..%2fapi/v1/diagnosis", "\\api\\v1\\diagnosis"),
    *(
        "http://localhost/api/v1/diagnosis",
        "http://localhost/metrics@/api/v1/diagnosis",
        "//localhost/api/v1/diagnosis",
    ),
    *("/%2e%2e/api/v1/diagnosis", "/api/v1/diagnosis/%2e", "/openapi.json", "/%6fpenapi.json", "*"),
)
METHODS = ("GET", "HEAD", "POST", "OPTIONS", "TRACE", "PUT", "get", "CONNECT", "PROPFIND")
HEADERS = (
    "X-HTTP-Method-Override: GET",
    "X-Original-URL: /metrics",
    "X-Rewrite-URL: /-/healthy",
    "X-Forwarded-For: 127.0.0.1",
    "X-Forwarded-Host: localhost",
    "Forwarded: for=127.0.0.1",
    "Authorization: Basic Og==",
    "Authorization: Bearer x",
    "Upgrade: websocket\r\nConnection: Upgrade",
)


def answers_to(policy: ListenerPolicy, requests: Sequence[bytes], known: Users | None = None) -> list[bytes]:
    """Send each raw request on a connection of its own; the whole answers."""
    host = snapshot(container(name="canary-name"))
    context = make_context(host)
    context.scans.publish_diagnosis(scan_of(host))
    listener = Listener(
        bind("127.0.0.1", 0, "web.listen-address"), site_of(context).behind(lambda: policy, lambda: known)
    )

    def ask(port: int) -> list[bytes]:
        found = []
        for request in requests:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as link:
                link.sendall(request)
                pieces = []
                while piece := link.recv(65536):
                    pieces.append(piece)
                found.append(b"".join(pieces))
        return found

    return list(served(listener, ask))


def request(path: str, method: str = "GET", *headers: str, host: str = "localhost") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode()


@pytest.mark.promise("S2")
@pytest.mark.parametrize("policy", [LOOPBACK, BEYOND, INSECURE])
def test_with_users_no_spelling_of_a_path_shows_a_report(policy: ListenerPolicy) -> None:
    asked = [request(path, method) for path in SPELLINGS for method in ("GET", "HEAD", "POST")]
    for sent, answer in zip(asked, answers_to(policy, asked, users(bob="x")), strict=True):
        assert answer.split(b" ")[1] in (b"400", b"401"), (sent, answer[:200])
        assert b"canary-name" not in answer


@pytest.mark.promise("S1")
def test_beyond_loopback_without_users_no_spelling_of_a_path_shows_a_report() -> None:
    asked = [request(path) for path in SPELLINGS]
    for sent, answer in zip(asked, answers_to(BEYOND, asked), strict=True):
        assert answer.split(b" ")[1] in (b"400", b"403"), (sent, answer[:200])
        assert b"canary-name" not in answer


@pytest.mark.promise("S2")
def test_no_method_and_no_header_opens_the_gate() -> None:
    asked = [request(REPORT, method, header) for method in METHODS for header in HEADERS]
    for sent, answer in zip(asked, answers_to(BEYOND, asked, users(bob="x")), strict=True):
        assert answer.split(b" ")[1] in (b"400", b"401", b"429"), (sent, answer[:200])
        assert b"canary-name" not in answer


def test_no_other_method_does_anything() -> None:
    asked = [request("/metrics", method) for method in ("OPTIONS", "TRACE", "PUT", "DELETE", "get", "PROPFIND")]
    for sent, answer in zip(asked, answers_to(LOOPBACK, asked), strict=True):
        assert answer.split(b" ")[1] == b"405", (sent, answer[:200])
        assert b"access-control" not in answer.lower()


@pytest.mark.promise("S3")
def test_a_rebound_name_is_not_served_on_loopback() -> None:
    hosts = (
        "evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "evil.example#localhost",
        "localhost@evil.example", "0.0.0.0", "[::2]", "127.1", "2130706433", "",
        "localhost:x@evil.example", "evil.example:localhost",
    )  # fmt: skip
    answers = answers_to(LOOPBACK, [request(REPORT, host=host) for host in hosts])
    for host, answer in zip(hosts, answers, strict=True):
        assert answer.split(b" ")[1] in (b"400", b"421"), (host, answer[:200])
        assert b"canary-name" not in answer


@pytest.mark.promise("S3")
def test_two_host_headers_are_refused() -> None:
    (answer,) = answers_to(LOOPBACK, [request(REPORT, "GET", "Host: localhost", host="evil.example")])
    assert answer.split(b" ")[1] in (b"400", b"421")


@pytest.mark.promise("S2")
def test_the_right_password_opens_and_its_neighbours_do_not() -> None:
    known = users(bob="right horse")

    def header(name: bytes) -> str:
        return "Authorization: Basic " + base64.b64encode(name).decode()

    good = header(b"bob:right horse")
    bad = [
        header(pair) for pair in (b"bob:right horse\0", b"bob:right", b"Bob:right horse", b"bob\0:right horse", b"bob:")
    ]
    bad += [good + "\r\nAuthorization: Basic Og==", "authorization: basic", good.replace("Basic ", "Basic")]
    answers = answers_to(BEYOND, [request(REPORT, "GET", one) for one in (good, *bad)], known)
    assert [answer.split(b" ")[1] for answer in answers] == [b"200", *[b"401"] * len(bad)]
