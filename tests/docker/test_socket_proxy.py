"""The shipped socket proxy lets through what the exporter asks, answered as the engine does, and nothing else."""

from __future__ import annotations

import select
import socket
import time
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.engine.allowlist import ALLOWED_PATHS
from tests.docker.daemon import Daemon
from tests.docker.scraping import wait_for_whole_scan
from tests.docker.socket_proxy import SocketProxy, connect_unix, say, statuses
from tests.docker.test_read_only import call_every_tool_and_route, start_everything

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

DIGEST = "sha256:" + "a" * 64
STREAMING = ("/events", "/containers/{container}/stats")
IMAGES = (
    "ghcr.io/team/app:1.2",
    "localhost:5000/team/app",
    f"team/app@{DIGEST}",
    f"registry.example:5000/app%40{DIGEST}",
    DIGEST,
    "a" * 64,
)
V = "/v1.41/containers/victim"
WRITES = (
    f"POST {V}/stop", f"POST {V}/start", f"POST {V}/kill", f"POST {V}/attach?stream=1", f"POST {V}/exec",
    "POST /v1.41/containers/create", "POST /v1.41/build", "POST /v1.41/images/create?fromImage=x", f"POST {V}/json",
    f"PUT {V}/archive?path=/tmp", f"DELETE {V}?force=1", "DELETE /v1.41/containers/json", "PATCH /version",
    "OPTIONS /version", "TRACE /version", "CONNECT /version", "get /version", "GETX /version",
)  # fmt: skip
LEAKS = (
    f"GET {V}/archive?path=/etc/passwd", f"HEAD {V}/archive?path=/etc/passwd", f"GET {V}/export", f"GET {V}/changes",
    f"GET {V}/top", f"GET {V}/attach/ws?stream=1", "GET /v1.41/exec/1/json", "GET /v1.41/images/json",
    "GET /v1.41/images/busybox/get", "GET /v1.41/images/busybox/history", "GET /v1.41/images/get?names=busybox",
    "GET /v1.41/images/search?term=x", "GET /v1.41/distribution/x/json", "GET /v1.41/secrets", "GET /v1.41/configs",
    "GET /v1.41/swarm", "GET /v1.41/swarm/unlockkey", "GET /v1.41/plugins", "GET /v1.41/nodes", "GET /v1.41/services",
    "GET /v1.41/tasks", "GET /session", "GET /grpc", "GET /metrics", "GET /debug/pprof/", "GET /", "GET *",
)  # fmt: skip
TRICKS = (
    f"GET {V}%2fexport", f"GET {V}/%65xport", f"GET {V}/%2e%2e/victim/json",
    f"GET {V}/..%2f..%2fcontainers/victim/export",
    f"GET {V}/json%2f..%2fexport", f"GET {V}/export%00/json", f"GET {V}/export%23/json", f"GET {V}/export%3f/json",
    f"GET {V}/json/../export", f"GET {V}/..;/json", f"GET {V}/json;/export", f"GET {V}/export;/json", f"GET {V};a/json",
    f"GET {V}/export#/json", f"GET {V}/json#/export", f"GET {V}/json/", f"GET {V}//json", f"GET /{V}/json",
    "GET //v1.41/containers/json", "GET /v1.41//containers/json", "GET /v1.41/containers//victim/json",
    "GET /v1.41/containers/./json", "GET /v1.41/containers/../json", "GET /v1.41/containers/..a/json",
    f"GET {V}/export/json", "GET /v1.41/images/../containers/victim/json", "GET /v1.41/images/..%2fcontainers/x/json",
    "GET /v1.41/images/a%2fb/json", "GET /v1.41/images/a//b/json", "GET /v1.41/images/a/../b/json",
    r"GET \v1.41\version", r"GET /v1.41\containers\victim\export", "GET /v1X41/version", "GET /v2.41/version",
    "GET /v1.411/version", "GET /v1.41/version/v1.41/version", "GET /V1.41/VERSION", "GET victim/json",
    "GET http://x/v1.41/containers/victim/export", "GET http://x/../v1.41/containers/victim/export",
    f"GET {V}/export /v1.41/version", "GET /v1.41/networks/a/b", "GET /v1.41/volumes/a%2fb",
)  # fmt: skip
FRAMING = {
    "a body": "Content-Length: 4\r\n\r\nabcd",
    "an empty body": "Content-Length: 0\r\n\r\n",
    "chunks": "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "length and chunks": "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG",
    "an unknown coding": "Transfer-Encoding: xchunked\r\n\r\n",
    "two lengths": "Content-Length: 0\r\nContent-Length: 5\r\n\r\nabcde",
    "an upgrade": "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n",
    "an upgrade to HTTP/2": "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n",
}


@pytest.fixture
def proxy(engine: TestEngine, tmp_path: Path) -> Iterator[SocketProxy]:
    engine.docker("run", "-d", "--name", "victim", engine.image, "serve")
    with SocketProxy(tmp_path, engine.socket) as running:
        yield running


def request(line: str, rest: str = "Connection: close\r\n\r\n") -> bytes:
    return f"{line} HTTP/1.1\r\nHost: engine\r\n{rest}".encode("latin-1")


def ask_engine(engine: TestEngine, raw: bytes) -> bytes:
    return say(connect_unix(engine.socket), raw)


def listed_targets() -> list[str]:
    found = []
    for path in ALLOWED_PATHS:
        names = IMAGES if "{image}" in path else ("victim",)
        for name in names:
            target = path.format(container=name, image=name, network="bridge", volume="none")
            query = (
                "?since=0&until=1" if path == "/events" else "?stream=false&one-shot=true" if "/stats" in path else ""
            )
            query = "?stdout=1&tail=1" if path.endswith("/logs") else query
            found += [f"/v1.41{target}{query}", f"{target}{query}"]
    return found


def test_what_the_exporter_may_ask_is_answered_as_the_engine_does(proxy: SocketProxy, engine: TestEngine) -> None:
    for target in listed_targets():
        raw = request(f"GET {target}")
        through, direct = statuses(proxy.say(raw)), statuses(ask_engine(engine, raw))
        assert through[:1] == direct[:1], target
        assert through[0] in (200, 404), target
    assert statuses(proxy.say(request("HEAD /v1.41/_ping"))) == [200]


@pytest.mark.promise("S7")
def test_writes_leaks_and_tricks_are_refused(proxy: SocketProxy) -> None:
    for line in (*WRITES, *LEAKS, *TRICKS):
        answered = statuses(proxy.say(request(line)))
        assert answered
        assert set(answered) <= {400, 403, 405}, line


@pytest.mark.promise("S7")
def test_a_request_with_a_body_an_upgrade_or_a_strange_length_is_refused(proxy: SocketProxy) -> None:
    for name, rest in FRAMING.items():
        answered = statuses(proxy.say(request("GET /version", rest), seconds=2))
        assert answered, name
        assert set(answered) <= {400, 403, 501}, name


def test_a_second_request_is_judged_by_itself(proxy: SocketProxy, engine: TestEngine) -> None:
    pipelined = request("GET /_ping", "\r\n") + request(f"POST {V}/stop")
    assert statuses(proxy.say(pipelined, seconds=3)).count(200) == 1
    assert 403 in statuses(proxy.say(pipelined, seconds=3))
    for preface in (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", b"GET /containers/victim/export\r\n\r\n"):
        assert b" 200" not in proxy.say(preface, seconds=2)
    assert engine.docker("inspect", "-f", "{{.State.Running}}", "victim").strip() == "true"


def test_an_idle_event_stream_outlives_every_other_time_out_and_leaves_nothing(
    engine: TestEngine, tmp_path: Path
) -> None:
    idle_seconds = 4  # twice the time-out of idle connections
    with (
        SocketProxy(tmp_path, engine.socket, quick=True) as proxy,
        socket.create_connection(("127.0.0.1", proxy.port), timeout=30) as connection,
    ):
        connection.sendall(request(f"GET /v1.41/events?since={int(time.time())}", "\r\n"))
        assert statuses(connection.recv(65536)) == [200]
        assert select.select([connection], [], [], idle_seconds)[0] == []
        engine.docker("run", "--name", "late", engine.image, "true")
        assert b'"Action":"create"' in connection.recv(65536)


@pytest.mark.parametrize(("wanted", "mode"), [({}, 0o600), ({"BCON_PROXY_MODE": "0666"}, 0o666)])
def test_a_unix_socket_is_for_its_own_user_unless_told_otherwise(
    engine: TestEngine, tmp_path: Path, wanted: dict[str, str], mode: int
) -> None:
    path = tmp_path / "proxy.sock"
    with SocketProxy(tmp_path, engine.socket, environ={"BCON_PROXY_BIND": f"unix@{path}", **wanted}) as proxy:
        assert statuses(proxy.say(request("GET /version"))) == [200]
        assert statuses(proxy.say(request("POST /v1.41/containers/create"))) == [403]
        assert path.stat().st_mode & 0o777 == mode


def test_all_tools_answer_through_the_proxy(engine: TestEngine, tmp_path: Path) -> None:
    file = start_everything(engine, tmp_path)
    with SocketProxy(tmp_path, engine.socket) as proxy:
        flags = ("--scan.diagnose-interval=2s", "--scan.drift-interval=2s", f"--compose.roots={tmp_path}")
        with Daemon(tmp_path, proxy.host, *flags) as daemon:
            wait_for_whole_scan(daemon)
            call_every_tool_and_route(daemon, file)
            wait_for_whole_scan(daemon)
            assert "bcon_up 1" in daemon.ask("/metrics").text
        assert " 403 " not in proxy.log.read_text()
