"""The web configuration is the exporter-toolkit's; whatever is wrong in it is named in one line, no value quoted."""

from __future__ import annotations

import hashlib
import os
import pty
import shutil
import ssl
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.http import Users, load_web_config, make_tls_context
from bcon_exporter.outputs.http.users import Credentials
from bcon_exporter.outputs.http.web_access import WebAccess
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

HASH = "$2y$04$" + "a" * 53


def write(folder: Path, text: str) -> Path:
    """Write a file and return its path."""
    file = folder / "web.yml"
    file.write_text(text)
    return file


def certificate(folder: Path, name: str = "localhost") -> str:
    """Make a certificate and return the section that names it."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"), "-days", "2", "-subj", f"/CN={name}"]
    subprocess.run([*command, *files], check=True, capture_output=True)
    return "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n"


needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


def test_users_are_read(tmp_path: Path) -> None:
    config = load_web_config(write(tmp_path, f"basic_auth_users:\n  me: {HASH}\n"))

    assert config.make_users()


def test_tokens_make_users_too_and_are_kept_as_digests_only(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"a long token").hexdigest()
    known = load_web_config(write(tmp_path, f"bearer_tokens: {{agent: 'sha256:{digest}'}}\n")).make_users()

    assert known
    assert known.have_tokens
    assert known.name_of_token(b"a long token") == "agent"
    assert known.name_of_token(digest.encode()) is None


@pytest.mark.parametrize("text", ["", "{}", "http_server_config: {http2: false}"])
def test_a_file_without_users_has_none(tmp_path: Path, text: str) -> None:
    assert load_web_config(write(tmp_path, text)).make_users() is None


@table(
    ("text", "said"),
    [
        ("basic_auth_user: {}", "unknown key basic_auth_user"),
        ("tls_server_config: {cert_file: a, key_file: b, cert: c}", "unknown key tls_server_config.cert"),
        ("tls_server_config: {cert_file: a}", "tls_server_config.key_file"),
        ("tls_server_config: {cert_file: a, key_file: b, min_version: TLS10}", "tls_server_config.min_version"),
        ("tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAnyClientCert}", "client_auth_type"),
        (
            "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAndVerifyClientCert}",
            "client_ca_file",
        ),
        ("tls_server_config: {cert_file: a, key_file: b, client_ca_file: c}", "RequireAndVerifyClientCert"),
        ("basic_auth_users: {me: topsecret}", "bcrypt"),
        ("bearer_tokens: {me: topsecret}", "sha256"),
        (f"bearer_tokens: {{me: 'sha256:{'A' * 64}'}}", "sha256"),
        (f"bearer_tokens: {{me: '{'a' * 64}'}}", "sha256"),
        ("basic_auth_users: {me: 12345}", "bcrypt"),
        ("[]", "the file"),
        ("a: [topsecret", "line 1: is not valid YAML"),
        ("\x00", "is not valid YAML"),
        ("basic_auth_users: {me: 2026-13-45}", "has a value that YAML cannot read"),
        (f"basic_auth_users: {'9' * 5_000}", "has a value that YAML cannot read"),
        ("basic_auth_users: {me: !!timestamp topsecret}", "has a value that YAML cannot read"),
        (f"basic_auth_users: 1{':00' * 300}.0", "has a value that YAML cannot read"),
        ("[" * 1_000, "is nested too deeply"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_quoted(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_web_config(write(tmp_path, text))

    assert said in caught.value.message
    assert "topsecret" not in caught.value.message
    assert "\n" not in caught.value.message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        load_web_config(tmp_path / "absent")


@pytest.mark.integration
@needs_openssl
def test_tls_is_1_2_or_newer(tmp_path: Path) -> None:
    config = load_web_config(write(tmp_path, certificate(tmp_path)))

    assert config.tls_server_config is not None
    context = make_tls_context(config.tls_server_config)
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.verify_mode is ssl.CERT_NONE


@pytest.mark.integration
@needs_openssl
def test_clients_must_show_a_certificate_when_asked_to(tmp_path: Path) -> None:
    text = certificate(tmp_path).replace(
        "}", ", min_version: TLS13, client_auth_type: RequireAndVerifyClientCert, client_ca_file: cert.pem}"
    )

    config = load_web_config(write(tmp_path, text)).tls_server_config

    assert config is not None
    context = make_tls_context(config)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.minimum_version is ssl.TLSVersion.TLSv1_3


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_certificate_that_cannot_be_used_is_named(tmp_path: Path, content: str | None) -> None:
    if content:
        (tmp_path / "cert.pem").write_text(content)
        (tmp_path / "key.pem").write_text(content)
    file = write(tmp_path, "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n")

    with pytest.raises(SettingsError, match=r"cert\.pem"):
        WebAccess(file)


@pytest.mark.integration
@needs_openssl
def test_a_key_with_a_passphrase_is_refused_instead_of_asked_for(tmp_path: Path) -> None:
    key = ["-newkey", "rsa:2048", "-passout", "pass:topsecret", "-keyout", str(tmp_path / "key.pem")]
    command = ["openssl", "req", "-x509", *key, "-out", str(tmp_path / "cert.pem"), "-days", "2", "-subj", "/CN=x"]
    subprocess.run(command, check=True, capture_output=True)
    file = write(tmp_path, "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n")
    keyboard, terminal = pty.openpty()
    try:
        os.write(keyboard, b"topsecret\n")
        done = subprocess.run(
            [sys.executable, "-m", "bcon_exporter", "check-config", "--web.config.file", str(file)],
            stdin=terminal, capture_output=True, text=True, start_new_session=True, timeout=30, check=False,
        )  # fmt: skip
    finally:
        os.close(keyboard)
        os.close(terminal)

    assert done.returncode == 2
    assert done.stderr.startswith(f"bcon-exporter: the certificate {tmp_path}/cert.pem, its key")


def test_a_reload_takes_other_users_and_keeps_them_when_the_file_breaks(tmp_path: Path) -> None:
    file = write(tmp_path, f"basic_auth_users: {{me: {HASH}}}")
    access = WebAccess(file)
    before = access.users

    file.write_text("basic_auth_users: {me: broken}")
    with pytest.raises(SettingsError):
        access.reload()
    kept = access.users
    file.write_text("{}")
    access.reload()

    assert kept is before
    assert access.users is None


@pytest.mark.integration
@needs_openssl
def test_a_reload_does_not_switch_tls_on(tmp_path: Path) -> None:
    file = write(tmp_path, "{}")
    access = WebAccess(file)
    file.write_text(certificate(tmp_path))

    with pytest.raises(SettingsError, match="restart"):
        access.reload()


@pytest.mark.integration
@needs_openssl
def test_a_reload_takes_another_certificate(tmp_path: Path) -> None:
    file = write(tmp_path, certificate(tmp_path))
    access = WebAccess(file)
    context = access.tls

    certificate(tmp_path, "other")
    access.reload()

    assert access.tls is context


def test_without_a_file_there_is_neither() -> None:
    access = WebAccess(None)
    access.reload()

    assert (access.users, access.tls) == (None, None)


@pytest.mark.promise("S2")
def test_an_unknown_user_costs_a_check_at_the_same_cost_as_a_known_one() -> None:
    import bcrypt

    hashed = bcrypt.hashpw(b"pw", bcrypt.gensalt(5)).decode()
    users = Users({"me": hashed})

    assert users._fake_hash.startswith(hashed[:7].encode())
    assert len(users._fake_hash) == len(hashed)
    assert not users.check(Credentials("other", b"pw"))
