"""An Alertmanager behind a password, a token or a private CA is asked as Prometheus would ask it; no secret shows."""

from __future__ import annotations

import base64
import re
import subprocess
from typing import TYPE_CHECKING

import bcrypt
import pytest

from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.alertmanager import Alertmanager, load_http_access
from bcon_exporter.outputs.alertmanager.delivery import deliver
from tests.outputs.alertmanager.receiver import receiving
from tests.outputs.alertmanager.running import RunningAlertmanager, running_alertmanager
from tests.programs import free_port, need
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.outputs.alertmanager.delivery import PushDelivery
    from bcon_exporter.outputs.alertmanager.payload import Payload

NAME = "alerts.example"
SIGNS = "keyUsage=critical,keyCertSign,cRLSign"
"""From 3.13 on Python trusts no CA that does not say so."""
PASSWORD = "hunter2-über"
ALERT: Payload = {"labels": {"alertname": "Sent"}, "annotations": {}}


def write(folder: Path, text: str, **files: str) -> Path:
    """A configuration beside the files that it names."""
    for name, content in files.items():
        (folder / name).write_text(content)
    path = folder / "alertmanager.yml"
    path.write_text(text)
    return path


def push(url: str, config: Path) -> PushDelivery:
    access = load_http_access(config)
    return deliver(Alertmanager(url, 10.0, lambda: access).post, [ALERT])


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run([need("openssl"), *arguments], cwd=folder, check=True, capture_output=True)


def make_certificates(folder: Path) -> None:
    """A CA, and signed by it a server's certificate for `NAME` alone and a client's."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    ca = ("-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=private CA", "-addext", SIGNS)
    openssl(folder, "req", "-x509", *key, *ca)
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key")
    for who, names in (("server", f"DNS:{NAME}"), ("client", "DNS:exporter")):
        openssl(
            folder, "req", "-x509", *key, *signed, "-keyout", f"{who}.key", "-out", f"{who}.pem", "-subj", f"/CN={who}",
            "-addext", f"subjectAltName={names}", "-addext", "basicConstraints=critical,CA:FALSE",
        )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("http")


@pytest.fixture(scope="module")
def guarded(folder: Path) -> Iterator[RunningAlertmanager]:
    """A real Alertmanager that wants a user, and shows a certificate of a private CA to clients that show theirs."""
    make_certificates(folder)
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    web = folder / "web.yml"
    web.write_text(
        f"basic_auth_users: {{pusher: '{hashed}'}}\n"
        "tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem,"
        " client_auth_type: RequireAndVerifyClientCert}\n"
    )
    with running_alertmanager(folder, free_port(), f"--web.config.file={web}") as running:
        yield running


WHOLE = {
    "basic_auth": "{username: pusher, password_file: password}",
    "tls_config": f"{{ca_file: ca.pem, cert_file: client.pem, key_file: client.key, server_name: {NAME}}}",
}


@pytest.mark.integration
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"tls_config": "{insecure_skip_verify: true, cert_file: client.pem, key_file: client.key}"}, None),
        ({"basic_auth": "{username: pusher, password: wrong}"}, "HTTP status 401"),
        ({"basic_auth": "{username: nobody, password_file: password}"}, "HTTP status 401"),
        ({"basic_auth": None}, "HTTP status 401"),
        ({"tls_config": None}, "CERTIFICATE_VERIFY_FAILED"),
        ({"tls_config": "{ca_file: ca.pem, cert_file: client.pem, key_file: client.key}"}, "IP address mismatch"),
        (
            {"tls_config": f"{{ca_file: ca.pem, server_name: {NAME}}}"},
            "certificate|EOF|reset|pipe",
        ),  # after the handshake
    ],
)
def test_a_real_alertmanager_takes_alerts_from_who_may_send_them(
    guarded: RunningAlertmanager, folder: Path, change: dict[str, str | None], said: str | None
) -> None:
    parts = {key: value for key, value in {**WHOLE, **change}.items() if value is not None}
    text = "".join(f"{key}: {value}\n" for key, value in parts.items())

    delivery = push(f"https://127.0.0.1:{guarded.port}", write(folder, text, password=f"{PASSWORD}\n"))

    assert delivery.accepted == (1 if said is None else 0)
    assert re.search(said or "", delivery.error or "")
    assert PASSWORD not in str(delivery)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("authorization: {credentials_file: token}", "Bearer s3cret-token"),
        ("authorization: {type: Token, credentials: s3cret-token}", "Token s3cret-token"),
        (
            "basic_auth: {username: me, password: s3cret-token}",
            f"Basic {base64.b64encode(b'me:s3cret-token').decode()}",
        ),
        ("{}", None),
    ],
)
def test_what_is_configured_is_sent(tmp_path: Path, text: str, sent: str | None) -> None:
    with receiving() as receiver:
        push(receiver.url, write(tmp_path, text, token="  s3cret-token\n"))

    assert receiver.authorizations == [sent]


def test_a_token_that_was_renewed_counts_for_the_next_request_and_one_that_is_gone_is_named(tmp_path: Path) -> None:
    access = load_http_access(write(tmp_path, "authorization: {credentials_file: token}", token="first"))
    with receiving() as receiver:
        post = Alertmanager(receiver.url, 10.0, lambda: access).post
        deliver(post, [ALERT])
        (tmp_path / "token").write_text("second")
        deliver(post, [ALERT])
        (tmp_path / "token").write_text("two\r\nEvil: lines")
        broken = deliver(post, [ALERT])
        (tmp_path / "token").unlink()
        gone = deliver(post, [ALERT])

    assert receiver.authorizations == ["Bearer first", "Bearer second"]
    assert broken.error == "authorization.credentials: must be one line of ASCII characters"
    assert gone.error == f"authorization.credentials_file: {tmp_path}/token cannot be read: No such file or directory"


@table(
    ("text", "said"),
    [
        ("basic_auht: {}", "unknown key basic_auht"),
        ("basic_auth: {username: me, password: topsecret, passwd: topsecret}", "unknown key basic_auth.passwd"),
        ("basic_auth: {password: topsecret}", "basic_auth.username"),
        ("basic_auth: {username: me}", "basic_auth: needs either password or password_file"),
        ("basic_auth: {username: me, password: topsecret, password_file: x}", "basic_auth: needs either"),
        ("basic_auth: {username: me, password: [topsecret]}", "basic_auth.password"),
        (
            "basic_auth: {username: me, password_file: absent}",
            "basic_auth.password_file: {folder}/absent cannot be read: No such file",
        ),
        ("authorization: {}", "authorization: needs either credentials or credentials_file"),
        ("authorization: {type: basic, credentials: topsecret}", "authorization: type Basic"),
        ('authorization: {type: "a b", credentials: topsecret}', "authorization.type"),
        ('authorization: {credentials: "topsecret\\nX: y"}', "authorization.credentials: must be one line"),
        ("{basic_auth: {username: a, password: topsecret}, authorization: {credentials: topsecret}}", "exclude one"),
        ("bearer_token: topsecret", "unknown key bearer_token"),
        ("tls_config: {cert_file: a}", "tls_config: cert_file and key_file belong together"),
        ("tls_config: {ca_file: absent}", "tls_config.ca_file: {folder}/absent cannot be read: No such file"),
        ("tls_config: {ca_file: alertmanager.yml}", "tls_config.ca_file: {folder}/alertmanager.yml: "),
        (
            "tls_config: {cert_file: a, key_file: b}",
            "tls_config.cert_file: {folder}/a cannot be read: No such",
        ),
        ("tls_config: {min_version: TLS10}", "tls_config.min_version"),
        ("a: [topsecret", "line 1: is not valid YAML"),
        ("[]", "the file"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_quoted(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_http_access(write(tmp_path, text))

    assert caught.value.message.startswith(f"{tmp_path}/alertmanager.yml")
    assert said.format(folder=tmp_path) in caught.value.message
    assert "topsecret" not in f"{caught.value.message} {caught.value.details}"


@pytest.mark.integration
def test_a_key_with_a_passphrase_is_refused_instead_of_asked_for(tmp_path: Path) -> None:
    key = ("-newkey", "rsa:2048", "-passout", "pass:topsecret", "-days", "2", "-subj", "/CN=x")
    openssl(tmp_path, "req", "-x509", *key, "-keyout", "k.pem", "-out", "c.pem")

    with pytest.raises(SettingsError, match=r"tls_config\.cert_file"):
        load_http_access(write(tmp_path, "tls_config: {cert_file: c.pem, key_file: k.pem}"))


def test_secrets_do_not_show_in_what_is_kept(tmp_path: Path) -> None:
    text = "{basic_auth: {username: me, password: topsecret}}"

    assert "topsecret" not in repr(load_http_access(write(tmp_path, text)))
