"""Requests that no client should send, made at random from what has broken servers before."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

PATHS = (
    *("/", "/metrics", "/-/healthy", "/-/ready", "/openapi.json", "/api/v1/tools", "/api/v1/diagnosis", "/nothing"),
    *("/c/web", "/i/x", "/p/shop", "/history?words=x", "/alerts", "/assets/page.js", "/live", "/tail/web"),
    *("/api/v1/containers", "/api/v1/containers/web", "/api/v1/containers/web/logs?tail=5", "/api/v1/drift/shop"),
)
TOOLS = ("diagnose_all", "get_container_logs", "explain_error", "health_check", "detect_drift", "no_such_tool")
ESCAPES = (
    *("%", "%0", "%zz", "%00", "%0d%0a", "%c0%ae", "%ed%a0%80", "%ff", "%2e%2e%2f", "..", "//", "\\", ";", "?", "#"),
    *("?tail=%ed%a0%80", "?tail=9e999", "?name[]=" * 300, "?" + "a=1&" * 2000, "?tail=1&tail=2", "?all=\u00e9"),
)
HOSTS = ("localhost", "127.0.0.1:1", "[::1]", "", "evil.example", "localhost:x", "[", "]", "\xff", "a" * 5000, "%")
HEADERS: tuple[Callable[[random.Random], bytes], ...] = (
    lambda r: b"Authorization: Basic " + r.randbytes(r.randrange(40)).replace(b"\n", b"").replace(b"\r", b""),
    lambda r: b"Authorization: Basic " + base64.b64encode(r.randbytes(r.randrange(100))),
    lambda r: b"Authorization: " + b"Basic " * r.randrange(50),
    lambda r: b"Accept: " + b",".join([b"text/plain;q=%d.%d" % (r.randrange(9), r.randrange(99))] * r.randrange(200)),
    lambda _: b"Accept: application/openmetrics-text;version=\xff;q=nan,*/*;q=inf",
    lambda _: b"Accept-Encoding: gzip;q=-1,\xfe,*;q=1e999",
    lambda r: b"X: " + b"a" * r.choice((10, 8_000, 16_000, 17_000, 70_000)),
    lambda r: b"\r\n".join(b"X%d: y" % number for number in range(r.choice((10, 200, 3000)))),
    lambda _: b"X\0Y: z",
    lambda _: b"X: a\0b",
    lambda _: b"X: a\rb",
    lambda _: b" folded: x",
    lambda _: b"no colon",
    lambda _: b": no name",
    lambda _: b"Origin: http://\xff",
    lambda _: b"Sec-Fetch-Site: cross-site",
    lambda _: b"Expect: 100-continue",
    lambda _: b"Expect: something",
    lambda _: b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x",
    lambda _: b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
    lambda _: b"Connection: close, keep-alive, \xff",
    lambda _: b"Host: localhost",
    lambda _: b"Content-Type: application/json; charset=utf-16",
    lambda _: b"Range: bytes=0-,-1",
    lambda _: b"Content-Encoding: gzip",
    lambda _: b"Trailer: X",
    lambda _: b"TE: trailers",
)
FRAMES: tuple[bytes, ...] = (
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"Content-Length: -1\r\n\r\n",
    b"Content-Length: +5\r\n\r\nhello",
    b"Content-Length: 5, 5\r\n\r\nhello",
    b"Content-Length: 0x5\r\n\r\nhello",
    b"Content-Length: 99999999999999999999999\r\n\r\nhello",
    b"Content-Length: 70000\r\n\r\n" + b"a" * 70_000,
    b"Content-Length: 2000000\r\n\r\n" + b"a" * 5_000,
    b"Content-Length: 1\r\n\r\n{}",
    b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n-1\r\n",
    b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n5;" + b"e" * 20_000 + b"\r\nhello\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: \0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 4000 + b"\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n"
    + b"4000\r\n"
    + b"a" * 0x4000
    + b"\r\n"
    + b"ffff\r\n"
    + b"a" * 0xFFFF
    + b"\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: identity\r\n\r\nhello",
)
JSON_BODIES: tuple[bytes, ...] = (
    b"",
    b"{",
    b"null",
    b"[]",
    b'"x"',
    b"\xff",
    b"\xef\xbb\xbf{}",
    b'{"a":"\\ud800"}',
    b'{"container_id":"\\ud800"}',
    b'{"tail":1e400}',
    b'{"container_id":"\\u0000"}',
    b'{"container_id":"' + b"a" * 60_000 + b'"}',
    b'{"tail":' + b"9" * 5000 + b"}",
    b"[" * 30_000,
    b'{"a":' * 10_000,
    b'{"container_id":"../web"}',
    b'{"error_pattern":"(((((("}',
    b'{"tail":NaN}',
    b'{"tail":-1,"tail":2}',
    b'{"compose_file":"/dev/zero"}',
    b'{"compose_file":"\\n/etc/shadow"}',
    b'{"__proto__":{}}',
    b'{"filters":{"x":[]}}',
)
LINES: tuple[bytes, ...] = (
    b"\r\n" * 2000,
    b"\0" * 100,
    b"GET /metrics\r\n",
    b"GET /metrics HTTP/0.9\r\n\r\n",
    b"GET /metrics HTTP/9.9\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0",
    b"GET http://localhost/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://[::1/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 300,
    b"\x16\x03\x01\xff\xff",
    b"\x80\x2e\x01\x00\x02",
    b"GET /metrics HTTP/1.1\n\n",
    b"GET /metrics HTTP/1.1\r\rHost: x\r\n\r\n",
    b"GET " + b"/" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
    b"A" * 20_000,
    b"GET  /metrics  HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50,
    b"HELP\r\n",
    b"GET \xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /metrics HTTP/1.0\r\n\r\n",
    b"EHLO x\r\n",
    b"*1\r\n$4\r\nPING\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
)


def make_request(rng: random.Random) -> bytes:
    """The bytes of one connection; some of them are a request as it should be."""
    kind = rng.randrange(10)
    if kind < 2:
        return _mutate(rng, rng.choice(LINES))
    if kind < 4:
        body = rng.choice(JSON_BODIES)
        lines = [_start(rng, "POST", f"/api/v1/tools/{rng.choice(TOOLS)}"), b"Content-Type: application/json"]
        return b"\r\n".join([*lines, b"Content-Length: %d" % len(body), b"", body])
    path = rng.choice(PATHS) + (rng.choice(ESCAPES) if rng.random() < 0.4 else "")
    lines = [_start(rng, rng.choice(("GET", "GET", "HEAD", "POST", "PUT", "get", "\xff", "A" * 300)), path)]
    lines += [rng.choice(HEADERS)(rng) for _ in range(rng.randrange(4))]
    ending = rng.choice(FRAMES) if kind < 7 else b"\r\n"
    return _mutate(rng, b"\r\n".join(lines) + b"\r\n" + ending)


def _start(rng: random.Random, method: str, path: str) -> bytes:
    host = "localhost" if rng.random() < 0.8 else rng.choice(HOSTS)
    version = "1.1" if rng.random() < 0.9 else rng.choice(("1.0", "1.2", "2", "x"))
    return f"{method} {path} HTTP/{version}\r\nHost: {host}".encode("utf-8", "surrogateescape")


def _mutate(rng: random.Random, text: bytes) -> bytes:
    """Mostly as it is; else with some bytes changed, left out or cut off."""
    if rng.random() < 0.6 or not text:
        return text
    changed = bytearray(text)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(changed))
        match rng.randrange(3):
            case 0:
                changed[at] = rng.randrange(256)
            case 1:
                changed[at:at] = rng.randbytes(rng.randrange(1, 5))
            case _:
                del changed[at : at + rng.randrange(1, 20)]
        if not changed:
            break
    return bytes(changed[: rng.randrange(len(changed) + 1)] if rng.random() < 0.3 else changed)
