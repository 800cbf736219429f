"""A reload puts TLS in force as it is written then: who is to be let in no longer is not, over no connection."""

from __future__ import annotations

import http.client
import shutil
import socket
import ssl
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.http import Listener, bind
from bcon_exporter.outputs.http.web_access import WebAccess
from tests.outputs.http.asking import LOOPBACK, site_of
from tests.outputs.http.test_listeners import served
from tests.outputs.http.test_web_config import needs_openssl, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.integration, needs_openssl]
NAME = "localhost"


def make_certificates(folder: Path) -> None:
    """Two CAs, each with a client's certificate, and two certificates for the server."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    signers = {"old-client": "old-ca", "new-client": "new-ca"}
    for who in ("old-ca", "new-ca", *signers, "server", "renewed"):
        signer = signers.get(who)
        signed = ("-CA", f"{signer}.pem", "-CAkey", f"{signer}.key") if signer else ()
        files = ("-keyout", f"{who}.key", "-out", f"{who}.pem", "-subj", f"/CN={who}")
        command = ["openssl", "req", "-x509", *key, *signed, *files]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    make_certificates(folder)
    return folder


@pytest.fixture
def folder(certificates: Path, tmp_path: Path) -> Path:
    shutil.copytree(certificates, tmp_path, dirs_exist_ok=True)
    return tmp_path


def tls(certificate: str = "server", **more: str) -> str:
    """The section of a web configuration."""
    keys = {"cert_file": f"{certificate}.pem", "key_file": f"{certificate}.key", **more}
    return f"tls_server_config: {{{', '.join(f'{key}: {value}' for key, value in keys.items())}}}\n"


def asking_for(authority: str) -> str:
    return tls(client_auth_type="RequireAndVerifyClientCert", client_ca_file=f"{authority}.pem")


def context_of(folder: Path, client: str | None, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> ssl.SSLContext:
    """What a client says and shows; it believes every server."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = newest
    if client:
        context.load_cert_chain(folder / f"{client}.pem", folder / f"{client}.key")
    return context


class Client:
    """One connection, which is kept as long as the server keeps it."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=context)
        self._connection.auto_open = False

    def ask(self) -> int | None:
        """The status of the answer; None when there is none."""
        try:
            if self._connection.sock is None:
                self._connection.connect()
            self._connection.request("GET", "/metrics", headers={"Host": NAME})
            answer = self._connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return None
        return answer.status

    def close(self) -> None:
        self._connection.close()


def ask(port: int, context: ssl.SSLContext) -> int | None:
    """The status over a connection of its own."""
    client = Client(port, context)
    try:
        return client.ask()
    finally:
        client.close()


def serving(file: Path, work: Callable[[WebAccess, int], Any]) -> Any:
    """What `work` returns of a listener with the web configuration."""
    access = WebAccess(file)
    app = site_of().behind(lambda: LOOPBACK, lambda: None)
    listener = Listener(bind("127.0.0.1", 0, "web.listen-address"), app, access.tls)
    return served(listener, lambda port: work(access, port))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (tls(), asking_for("new-ca"), {None: (200, None), "old-client": (200, None), "new-client": (200, 200)}),
        (
            asking_for("old-ca"),
            asking_for("new-ca"),
            {None: (None, None), "old-client": (200, None), "new-client": (None, 200)},
        ),
        (asking_for("old-ca"), tls(), {None: (None, 200), "old-client": (200, 200), "new-client": (None, 200)}),
    ],
    ids=["asked-from-now-on", "another-authority", "asked-no-longer"],
)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=lambda one: one.name)
def test_other_clients_are_let_in(
    folder: Path,
    before: str,
    after: str,
    expected: dict[str | None, tuple[int | None, int | None]],
    version: ssl.TLSVersion,
) -> None:
    file = write(folder, before)

    def work(access: WebAccess, port: int) -> dict[str | None, tuple[int | None, int | None]]:
        contexts = {client: context_of(folder, client, version) for client in expected}
        first = {client: ask(port, context) for client, context in contexts.items()}
        file.write_text(after)
        access.reload()
        return {client: (first[client], ask(port, context)) for client, context in contexts.items()}

    assert serving(file, work) == expected


def test_an_open_connection_is_no_way_round(folder: Path) -> None:
    file = write(folder, asking_for("old-ca"))

    def work(access: WebAccess, port: int) -> list[int | None]:
        client = Client(port, context_of(folder, "old-client"))
        first, second = client.ask(), client.ask()
        file.write_text(asking_for("new-ca"))
        access.reload()
        third = client.ask()
        client.close()
        return [first, second, third]

    assert serving(file, work) == [200, 200, None]


def test_a_session_of_before_is_no_way_round(folder: Path) -> None:
    """Whoever resumes a session shows no certificate."""
    file = write(folder, asking_for("old-ca"))

    def resume(port: int, context: ssl.SSLContext, session: ssl.SSLSession | None) -> ssl.SSLSession | None:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=5) as plain,
            context.wrap_socket(plain, session=session) as link,
        ):
            link.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert link.recv(12) == b"HTTP/1.1 200"
            return link.session

    def work(access: WebAccess, port: int) -> None:
        context = context_of(folder, "old-client", ssl.TLSVersion.TLSv1_2)
        session = resume(port, context, None)
        resume(port, context, session)
        file.write_text(asking_for("new-ca"))
        access.reload()
        with pytest.raises(OSError, match=r"SSL|reset|EOF"):
            resume(port, context, session)

    serving(file, work)


def test_other_versions_are_spoken(folder: Path) -> None:
    file = write(folder, tls())

    def work(access: WebAccess, port: int) -> list[int | None]:
        contexts = [context_of(folder, None, version) for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)]
        first = [ask(port, context) for context in contexts]
        file.write_text(tls(min_version="TLS13"))
        access.reload()
        return first + [ask(port, context) for context in contexts]

    assert serving(file, work) == [200, 200, None, 200]


def test_another_certificate_is_shown(folder: Path) -> None:
    file = write(folder, tls())

    def work(access: WebAccess, port: int) -> list[str]:
        first = ssl.get_server_certificate(("127.0.0.1", port), timeout=5)
        file.write_text(tls("renewed"))
        access.reload()
        return [first, ssl.get_server_certificate(("127.0.0.1", port), timeout=5)]

    assert serving(file, work) == [(folder / name).read_text() for name in ("server.pem", "renewed.pem")]


@pytest.mark.parametrize("broken", ["new-ca.pem", "server.pem"])
def test_a_file_that_cannot_be_used_leaves_all_as_it_was(folder: Path, broken: str) -> None:
    file = write(folder, asking_for("old-ca"))

    def work(access: WebAccess, port: int) -> list[int | None]:
        client = Client(port, context_of(folder, "old-client"))
        first = client.ask()
        (folder / broken).write_text("no certificate")
        file.write_text(asking_for("new-ca"))
        with pytest.raises(SettingsError, match="cannot be used"):
            access.reload()
        answers = [first, client.ask(), *(ask(port, context_of(folder, who)) for who in ("old-client", "new-client"))]
        client.close()
        return answers

    assert serving(file, work) == [200, 200, 200, None]
