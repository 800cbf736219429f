"""Runs the shipped socket proxy (deploy/haproxy.cfg) with the HAProxy of this machine, before a test's engine."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.waiting import wait_until

if TYPE_CHECKING:
    from types import TracebackType

CONFIG = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"


def find_haproxy() -> str:
    """The program; where there is none skips, or fails if an engine's tests are required."""
    found = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        if os.environ.get("CI") == "true" or os.environ.get("TEST_ENGINE") == "required":
            pytest.fail("no haproxy, and it is required here (Debian, Ubuntu: apt-get install haproxy)", pytrace=False)
        pytest.skip("no haproxy (Debian, Ubuntu: apt-get install haproxy)")
    return found


class SocketProxy:
    """The proxy on a free loopback port, gone at the end.

    Args:
        folder: Holds its configuration and its log.
        engine_socket: The engine behind it.
        quick: Time-outs of idle connections are two seconds, to see what outlives them; those of streams stay.
        environ: More variables for its configuration.
        refused: The last part of a container's paths that it lets not pass: stats.
        port: Where to listen; None for a free one.
    """

    def __init__(
        self,
        folder: Path,
        engine_socket: Path,
        *,
        quick: bool = False,
        environ: dict[str, str] | None = None,
        refused: str | None = None,
        port: int | None = None,
    ) -> None:
        self.log = folder / "haproxy.log"
        self._config = folder / "haproxy.cfg"
        text = CONFIG.read_text()
        if refused is not None:
            assert f"|{refused}|" in text
            text = text.replace(f"|{refused}|", "|")
        self._config.write_text(
            re.sub(r"(timeout (?:client|server|http-keep-alive) +)75s", r"\g<1>2s", text) if quick else text
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = port or free.getsockname()[1]
        self._environ = {"BCON_PROXY_BIND": f"127.0.0.1:{self.port}", "BCON_DOCKER_SOCK": str(engine_socket)}
        self._environ |= environ or {}
        _, unix, path = self._environ["BCON_PROXY_BIND"].partition("unix@")
        self._path = Path(path) if unix else None

    @property
    def host(self) -> str:
        """Its address as DOCKER_HOST wants it."""
        return f"tcp://127.0.0.1:{self.port}"

    def __enter__(self) -> SocketProxy:
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [find_haproxy(), "-db", "-f", str(self._config)], stdout=log, stderr=log, env=self._environ
            )
        wait_until(self._listens, "the socket proxy to listen", timeout_seconds=20)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End it; may be done again."""
        self._process.kill()
        self._process.wait(10)

    def _listens(self) -> bool:
        assert self._process.poll() is None, self.log.read_text()
        try:
            self._connect(5.0).close()
        except OSError:
            return False
        return True

    def _connect(self, seconds: float) -> socket.socket:
        if self._path is not None:
            return connect_unix(self._path, seconds)
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def say(self, raw: bytes, *, seconds: float = 5.0) -> bytes:
        """Send raw bytes; return all that comes until the proxy closes or nothing more comes."""
        return say(self._connect(seconds), raw)


def connect_unix(path: Path, seconds: float = 5.0) -> socket.socket:
    """A connection to a unix socket."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(seconds)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection


def say(connection: socket.socket, raw: bytes) -> bytes:
    """Send raw bytes over a connection and return what comes back."""
    answer = b""
    with connection:
        try:
            connection.sendall(raw)
            while piece := connection.recv(65536):
                answer += piece
        except (TimeoutError, ConnectionError):
            pass
    return answer


def statuses(answer: bytes) -> list[int]:
    """The status of each answer in some bytes."""
    return [int(found) for found in re.findall(rb"HTTP/1\.[01] ([0-9]{3}) ", answer)]
