"""`healthcheck` asks a real daemon as that daemon's settings say: on every address, over TLS, without a certificate."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration

NOTHING_OF_TLS = "# tls_server_config: {cert_file: c.pem, key_file: k.pem}\n"
TLS = "tls_server_config: {cert_file: c.pem, key_file: k.pem}\n"
MUTUAL = (
    "tls_server_config: {cert_file: c.pem, key_file: k.pem, client_ca_file: c.pem, max_version: %s,"
    " client_auth_type: RequireAndVerifyClientCert}\n"
)


@pytest.fixture
def web_config(tmp_path: Path) -> Path:
    """A web configuration's path beside a self-signed certificate."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=outside.example",
         "-keyout", tmp_path / "k.pem", "-out", tmp_path / "c.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    return tmp_path / "web.yml"


def check(address: str, *flags: str) -> tuple[int, str]:
    """Run the command; returns exit code and standard error."""
    command = [sys.executable, "-m", "bcon_exporter", "healthcheck", f"--web.listen-address={address}", *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", ""])
def test_a_running_daemon_is_healthy_whatever_address_it_serves(tmp_path: Path, address: str) -> None:
    flags = (f"--web.listen-address={address}:0", "--api.listen-address=127.0.0.1:0")
    with Daemon(tmp_path, f"unix://{tmp_path}/absent.sock", *flags) as daemon:
        found = re.search(r"serving on http://\S+?:(\d+)\n", daemon.log)
        assert found, daemon.log
        assert check(f"{address}:{found[1]}") == (0, "")


@pytest.mark.parametrize("content", [NOTHING_OF_TLS, TLS])
def test_tls_is_spoken_where_the_daemon_speaks_it(tmp_path: Path, web_config: Path, content: str) -> None:
    web_config.write_text(content)
    flag = f"--web.config.file={web_config}"
    with Daemon(tmp_path, f"unix://{tmp_path}/absent.sock", flag) as daemon:
        assert check(f"127.0.0.1:{daemon.port}", flag) == (0, "")


@pytest.mark.parametrize("version", ["TLS12", "TLS13"])
def test_a_demand_for_a_certificate_is_a_sign_of_life_and_said(tmp_path: Path, web_config: Path, version: str) -> None:
    web_config.write_text(MUTUAL % version)
    flag = f"--web.config.file={web_config}"
    with Daemon(tmp_path, f"unix://{tmp_path}/absent.sock", flag) as daemon:
        code, said = check(f"127.0.0.1:{daemon.port}", flag)
    assert (code, "demands a client certificate" in said) == (0, True)
    assert check(f"127.0.0.1:{daemon.port}", flag)[0] == 1, "the daemon is gone"


def test_a_listener_that_never_speaks_tls_is_not_healthy(web_config: Path) -> None:
    web_config.write_text(MUTUAL % "TLS13")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        code, said = check(f"127.0.0.1:{silent.getsockname()[1]}", f"--web.config.file={web_config}")
    assert (code, "no answer" in said) == (1, True)
