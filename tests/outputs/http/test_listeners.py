"""Listeners bind where they are told, say in one line when they cannot, and end in time."""

from __future__ import annotations

import asyncio
import gc
import http.client
import socket
import ssl
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.http import Listener, bind, close_all, serve_all
from bcon_exporter.outputs.http.connections import CONNECTIONS_MAX
from bcon_exporter.outputs.http.web_access import WebAccess
from tests.outputs.http.asking import LOOPBACK, site_of
from tests.outputs.http.test_web_config import certificate, needs_openssl, write
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_free_port_is_bound_and_shown() -> None:
    sockets = bind("127.0.0.1", 0, "web.listen-address")
    try:
        (address,) = Listener(sockets, site_of()).addresses
        assert address.startswith("127.0.0.1:")
        assert int(address.rpartition(":")[2]) > 0
    finally:
        close_all(sockets)


def test_a_port_in_use_names_the_setting_and_the_address() -> None:
    first = bind("127.0.0.1", 0, "web.listen-address")
    port = first[0].getsockname()[1]
    try:
        with pytest.raises(SettingsError) as caught:
            bind("127.0.0.1", port, "web.listen-address")
    finally:
        close_all(first)

    assert f"web.listen-address 127.0.0.1:{port}" in caught.value.message
    assert "in use" in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_an_address_that_is_not_ours_is_refused(host: str) -> None:
    with pytest.raises(SettingsError, match=host.replace(".", r"\.")):
        bind(host, 0, "api.listen-address")


def test_every_address_of_the_machine_takes_ipv4() -> None:
    sockets = bind("", 0, "web.listen-address")
    try:
        port = sockets[0].getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    finally:
        close_all(sockets)


def served(listener: Listener, work: Callable[[int], Any]) -> Any:
    """Serve while `work` runs in a thread with the port."""

    async def run() -> Any:
        stop = asyncio.Event()
        serving = asyncio.create_task(serve_all([listener], stop))
        port = int(listener.addresses[0].rpartition(":")[2])
        try:
            return await asyncio.to_thread(work, port)
        finally:
            stop.set()
            await asyncio.wait_for(serving, 5)

    return asyncio.run(run())


def test_requests_are_answered_over_a_real_socket() -> None:
    listener = Listener(bind("127.0.0.1", 0, "web.listen-address"), site_of().behind(lambda: LOOPBACK, lambda: None))

    def ask(port: int) -> tuple[int, str | None]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/-/healthy")
        answer = connection.getresponse()
        connection.close()
        return answer.status, answer.getheader("server")

    assert served(listener, ask) == (200, None)


def test_a_head_request_has_no_body() -> None:
    listener = Listener(bind("127.0.0.1", 0, "web.listen-address"), site_of().behind(lambda: LOOPBACK, lambda: None))

    def ask(port: int) -> tuple[int, bytes, int]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("HEAD", "/metrics")
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body, int(answer.getheader("content-length") or 0)

    status, body, length = served(listener, ask)
    assert (status, body) == (200, b"")
    assert length > 1000


def is_closed(link: socket.socket) -> bool:
    """Whether the other side has ended the connection, which must not block."""
    try:
        return link.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


@pytest.mark.promise("F18")
@pytest.mark.parametrize(
    "raw",
    [
        b"GARBAGE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
def test_malformed_requests_get_a_4xx_and_stop_nothing(raw: bytes) -> None:
    listener = Listener(bind("127.0.0.1", 0, "web.listen-address"), site_of().behind(lambda: LOOPBACK, lambda: None))

    def ask(port: int) -> tuple[bytes, bytes]:
        answers = []
        for request in (raw, b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=5) as link:
                link.sendall(request)
                answers.append(link.recv(200).split(b"\r\n")[0])
        return answers[0], answers[1]

    bad, good = served(listener, ask)
    assert bad.split()[1].startswith(b"4"), bad
    assert good.split()[1] == b"200"


def serve_tls(folder: Path) -> Listener:
    """A listener with TLS and a certificate of its own."""
    access = WebAccess(write(folder, certificate(folder)))
    app = site_of().behind(lambda: LOOPBACK, lambda: None)
    return Listener(bind("127.0.0.1", 0, "web.listen-address"), app, access.tls)


def ask_over_tls(port: int) -> int:
    """The status of a good client's request."""
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=trust)
    connection.request("GET", "/-/healthy")
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.integration
@needs_openssl
@pytest.mark.parametrize("begun", [b"", b"\x16\x03\x01\x02\x00\x01"])
def test_who_never_ends_the_tls_handshake_has_few_places_for_five_seconds_and_keeps_nobody_out(
    tmp_path: Path, begun: bytes
) -> None:
    def hold(port: int) -> tuple[int, int]:
        with ExitStack() as stack:
            links = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(400)]
            for link in links:
                with suppress(ConnectionError):
                    link.sendall(begun)
                link.setblocking(False)
            status = ask_over_tls(port)
            kept = sum(not is_closed(link) for link in links)
            wait_until(lambda: all(is_closed(link) for link in links), "all to end", timeout_seconds=20)
            return status, kept

    status, kept = served(serve_tls(tmp_path), hold)

    assert status == 200
    assert kept <= CONNECTIONS_MAX // 2


@pytest.mark.integration
@needs_openssl
def test_an_idle_tls_connection_takes_less_than_120_kib(tmp_path: Path) -> None:
    def hold(port: int) -> float:
        with ExitStack() as stack:
            for _ in range(20):
                ask_over_tls(port)
            before = resident_kib()
            for _ in range(100):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), 10))
            ask_over_tls(port)
            return (resident_kib() - before) / 100

    assert served(serve_tls(tmp_path), hold) < 120


def resident_kib() -> int:
    """The memory of this process."""
    return int(Path("/proc/self/status").read_text().partition("VmRSS:")[2].split()[0])


@pytest.mark.integration
@needs_openssl
def test_no_cbc_suite_is_spoken(tmp_path: Path) -> None:
    def offer(port: int) -> dict[str, bool]:
        return {suites: can_speak(port, suites) for suites in ("ECDHE+AES:!AESGCM:!AESCCM", "ECDHE+AESGCM", "kRSA")}

    assert served(serve_tls(tmp_path), offer) == {
        "ECDHE+AES:!AESGCM:!AESCCM": False,
        "ECDHE+AESGCM": True,
        "kRSA": False,
    }


def can_speak(port: int, suites: str) -> bool:
    """Whether the server accepts one of these suites of TLS 1.2."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(suites)
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as link, context.wrap_socket(link):
            return True
    except (ssl.SSLError, ConnectionError):
        return False


@pytest.mark.integration
@needs_openssl
def test_failed_handshakes_and_requests_leave_little_that_refers_to_itself(tmp_path: Path) -> None:
    def litter(port: int) -> int:
        for number in range(60):
            if number == 10:  # the API has been made
                gc.collect()
                gc.disable()
            with socket.create_connection(("127.0.0.1", port), 5) as link:
                link.sendall(b"GET / HTTP/1.1\r\n\r\n")
                with suppress(ConnectionError):
                    link.recv(100)
            ask_over_tls(port)
        return gc.collect()

    try:
        found = served(serve_tls(tmp_path), litter)
    finally:
        gc.enable()
    assert found / 100 < 20  # of 50 a connection before


@pytest.mark.integration
@needs_openssl
def test_tls_is_served(tmp_path: Path) -> None:
    listener = serve_tls(tmp_path)

    def ask(port: int) -> int:
        trust = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        trust.check_hostname = False
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=trust)
        connection.request("GET", "/-/healthy")
        status = connection.getresponse().status
        connection.close()
        return status

    assert served(listener, ask) == 200
