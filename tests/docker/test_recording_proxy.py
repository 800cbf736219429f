"""The recording proxy sees every request, or the proof of being read-only would be worth nothing."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

import docker
from tests.docker.recording_proxy import RecordingProxy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker


def test_a_write_through_docker_py_is_seen_with_its_body(engine: TestEngine, tmp_path: Path) -> None:
    with RecordingProxy(tmp_path / "proxy.sock", engine.socket) as proxy:
        client = docker.APIClient(base_url=proxy.host, version="1.41")
        created = client.create_container(engine.image, "true")
        client.close()
    assert [request.method for request in proxy.requests] == ["POST"]
    assert proxy.requests[0].target.startswith("/v1.41/containers/create")
    assert proxy.requests[0].body_bytes > 0
    assert created["Id"] in engine.docker("ps", "-aq", "--no-trunc")


def test_pipelined_requests_are_told_apart(engine: TestEngine, tmp_path: Path) -> None:
    with RecordingProxy(tmp_path / "proxy.sock", engine.socket) as proxy, socket.socket(socket.AF_UNIX) as raw:
        raw.settimeout(10)
        raw.connect(str(proxy.path))
        request = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"
        last = b"DELETE /containers/none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        raw.sendall(request % b"_ping" + request % b"version" + last)
        answers = b""
        while received := raw.recv(1 << 16):
            answers += received
    assert answers.count(b"HTTP/1.1 200") == 2
    assert [(each.method, each.target) for each in proxy.requests] == [
        ("GET", "/_ping"),
        ("GET", "/version"),
        ("DELETE", "/containers/none"),
    ]
