"""The same client works over TCP and TLS, through a proxy that forbids or cuts, and sends nothing but allowed reads."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import ssl
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.clock import utc_now
from bcon_exporter.engine import DockerHost, Endpoint, HostOptions, TlsFiles, Wants
from bcon_exporter.engine.allowlist import check_request
from bcon_exporter.errors import DockerConnectionError, PermissionDeniedError
from bcon_exporter.secrets.masking import Sealer
from tests.docker.hosts import BY_API_ONLY, by_name, open_host, scan
from tests.docker.recording_proxy import RecordingProxy
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker


class TcpProxy:
    """Forwards a loopback port to the engine's socket; answers 403 to targets that hold `forbidden`."""

    def __init__(self, upstream: Path, *, forbidden: bytes | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._upstream, self._forbidden, self._tls = upstream, forbidden, tls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.port = 0

    def __enter__(self) -> TcpProxy:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.wait(self._tasks or {asyncio.ensure_future(asyncio.sleep(0))}, timeout=5)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        engine_reader, engine_writer = await asyncio.open_unix_connection(str(self._upstream))
        self._writers += [writer, engine_writer]
        answers = asyncio.ensure_future(_copy(engine_reader, writer))
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if self._forbidden is not None and self._forbidden in data:
                    writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\nConnection: close\r\n\r\nForbidden")
                    await writer.drain()
                    break
                engine_writer.write(data)
        engine_writer.close()
        await asyncio.wait([answers], timeout=5)
        writer.close()
        for each in (engine_writer, writer):
            with contextlib.suppress(OSError):
                await each.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


def test_a_whole_scan_works_over_tcp(engine: TestEngine) -> None:
    for number in range(12):
        engine.docker("run", "-d", "--name", f"aa{number}", engine.image, "sh", "-c", "echo hello; sleep 600")
    with TcpProxy(engine.socket) as proxy, open_host(f"tcp://127.0.0.1:{proxy.port}", started=True) as host:
        wait_until(lambda: host.drain_events().covers_since, "the back-fill")
        snapshot = scan(host, Wants(config=True))
        assert snapshot.incomplete == ()
        assert set(snapshot.unread) == {"disks"}
        for container in snapshot.containers:
            assert container.usage is not None
            assert container.logs is not None
            assert [line.text for line in container.logs.lines] == ["hello"]
        assert host.is_up()


@pytest.mark.promise("F19")
def test_a_proxy_that_forbids_one_endpoint_costs_that_one_only(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "aa", engine.image, "sleep", "600")
    with TcpProxy(engine.socket, forbidden=b"/logs") as proxy, open_host(f"tcp://127.0.0.1:{proxy.port}") as host:
        snapshot = scan(host)
        container = by_name(snapshot)["aa"]
        assert container.usage is not None
        assert container.logs is None
        assert "a proxy" in container.unread["logs"]
    with (
        TcpProxy(engine.socket, forbidden=b"/events") as proxy,
        open_host(f"tcp://127.0.0.1:{proxy.port}", started=True) as host,
    ):
        wait_until(lambda: not host.endpoints_up()["events"], "the events to be missed")
        assert "events" in scan(host).unread
        assert host.is_up()
        assert host.requests().endpoints["events"].requests < 20, "no storm of attempts"
    with (
        TcpProxy(engine.socket, forbidden=b"/containers/json") as proxy,
        open_host(f"tcp://127.0.0.1:{proxy.port}") as host,
        pytest.raises(PermissionDeniedError, match="proxy"),
    ):
        scan(host)


@pytest.mark.promise("S7")
def test_everything_sent_is_an_allowed_read(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "aa", engine.image, "sleep", "600")
    began = f"{utc_now().timestamp():.6f}"
    with RecordingProxy(tmp_path / "proxy.sock", engine.socket) as proxy:
        with open_host(proxy.host, BY_API_ONLY, started=True) as host:
            wait_until(lambda: host.drain_events().covers_since, "the back-fill")
            scan(host, Wants(config=True))
            host.engine()
            host.read_logs(host.resolve("aa"), tail=10, since=None, until=None)
            ended = f"{utc_now().timestamp():.6f}"
        assert len(proxy.requests) > 10
        for request in proxy.requests:
            assert not request.malformed
            assert request.method == "GET"
            check_request(request.method, request.target)
    assert engine.docker("events", "--since", began, "--until", ended) == "", "reading leaves no event"


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """An authority, a server's and a client's certificate, made by openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not there")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=tmp_path, check=True, capture_output=True)

    new = ("-newkey", "rsa:2048", "-nodes", "-days", "2")
    openssl("req", "-x509", *new, "-keyout", "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=authority")
    for name, extra in (("server", "subjectAltName=IP:127.0.0.1"), ("client", "extendedKeyUsage=clientAuth")):
        (tmp_path / "ext").write_text(extra)
        openssl("req", *new[:3], "-keyout", f"{name}-key.pem", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial",
                "-out", f"{name}.pem", "-days", "2", "-extfile", "ext")  # fmt: skip
    return tmp_path


def test_tls_with_client_certificates_works_and_its_failures_are_told(engine: TestEngine, certificates: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.pem", certificates / "server-key.pem")
    context.load_verify_locations(certificates / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    engine.docker("run", "-d", "--name", "aa", engine.image, "sh", "-c", "echo hello; sleep 600")
    good = TlsFiles(certificates / "ca.pem", certificates / "client.pem", certificates / "client-key.pem")
    with TcpProxy(engine.socket, tls=context) as proxy:
        url = f"tcp://127.0.0.1:{proxy.port}"

        def connect(tls: TlsFiles | None) -> DockerHost:
            return DockerHost(Endpoint(url, tls), HostOptions(read_timeout_seconds=3.0), Sealer(b"0123456789abcdef"))

        with contextlib.closing(connect(good)) as host:
            host.start()
            wait_until(lambda: host.drain_events().covers_since, "the back-fill")
            logs = by_name(scan(host))["aa"].logs
            assert logs is not None
            assert [line.text for line in logs.lines] == ["hello"]
        for tls in (TlsFiles(), TlsFiles(ca=certificates / "ca.pem"), None):
            with contextlib.closing(connect(tls)) as host, pytest.raises(DockerConnectionError) as error:
                scan(host)
            assert error.value.details["hint"] in {"tls", "closed", "no engine"}, error.value.message
