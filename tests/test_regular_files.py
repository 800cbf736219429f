"""A file that a setting names is read at once or refused in one line; nothing in its place hangs the daemon."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.engine.address import make_tls_context as make_engine_tls
from bcon_exporter.engine.find_socket import TlsFiles, find_endpoint
from bcon_exporter.errors import BconError
from bcon_exporter.outputs.alertmanager.http_config import load_http_access
from bcon_exporter.outputs.http import load_web_config, make_tls_context
from bcon_exporter.regular_files import UnreadableFileError, check_regular_file, read_regular_file
from bcon_exporter.settings import load_settings
from bcon_exporter.tools.replay import read_snapshot
from tests.odd_files import ODD_KINDS, put_in_place
from tests.table_rows import table
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

CERTIFICATE = Path(__file__).parent / "odd_files.py"
"""A regular file; what is in it is never reached, since the odd one is refused before."""


def outcome_of(work: Callable[[], object]) -> BaseException | None:
    """What the work raises; it gets 10 seconds, then it counts as hung."""
    raised: list[BaseException | None] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - looked at below
            raised.append(error)
        else:
            raised.append(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(10)
    assert raised, "it hangs"
    return raised[0]


def web_tls(folder: Path, odd: str) -> None:
    """Load a web configuration of whose files the named one is odd."""
    files = {key: str(CERTIFICATE) for key in ("cert_file", "key_file", "client_ca_file")} | {odd: "odd"}
    lines = [f"  {key}: {file}" for key, file in files.items()]
    (folder / "web.yml").write_text(
        "\n".join(["tls_server_config:", "  client_auth_type: RequireAndVerifyClientCert", *lines])
    )
    config = load_web_config(folder / "web.yml").tls_server_config
    assert config is not None
    make_tls_context(config)


def alertmanager(folder: Path, text: str) -> None:
    """Load an Alertmanager configuration that names the odd file."""
    (folder / "alertmanager.yml").write_text(text)
    load_http_access(folder / "alertmanager.yml")


def signatures(folder: Path) -> None:
    """Load a signature directory that holds the odd file."""
    (folder / "signatures").mkdir()
    (folder / "odd").rename(folder / "signatures" / "own.yml")
    load_catalogue(folder / "signatures")


READERS: dict[str, Callable[[Path], object]] = {
    "config.file": lambda folder: load_settings({"config": {"file": str(folder / "odd")}}, {}),
    "web.config.file": lambda folder: load_settings({"web": {"config": {"file": str(folder / "odd")}}}, {}),
    "alertmanager.config.file": lambda folder: load_settings(
        {
            "alertmanager": {
                "url": "http://127.0.0.1:9",
                "job": "docker",
                "instance": "h1",
                "config": {"file": str(folder / "odd")},
            }
        },
        {},
    ),
    "compose.env-file": lambda folder: load_settings({"compose": {"env_file": str(folder / "odd")}}, {}),
    "the web configuration": lambda folder: load_web_config(folder / "odd"),
    "its certificate": lambda folder: web_tls(folder, "cert_file"),
    "its key": lambda folder: web_tls(folder, "key_file"),
    "its client CA": lambda folder: web_tls(folder, "client_ca_file"),
    "the Alertmanager configuration": lambda folder: load_http_access(folder / "odd"),
    "its password": lambda folder: alertmanager(folder, "basic_auth: {username: me, password_file: odd}"),
    "its token": lambda folder: alertmanager(folder, "authorization: {credentials_file: odd}"),
    "its CA": lambda folder: alertmanager(folder, "tls_config: {ca_file: odd}"),
    "its client certificate": lambda folder: alertmanager(
        folder, f"tls_config: {{cert_file: odd, key_file: {CERTIFICATE}}}"
    ),
    "its client key": lambda folder: alertmanager(folder, f"tls_config: {{cert_file: {CERTIFICATE}, key_file: odd}}"),
    "a signature file": signatures,
    "the engine's CA": lambda folder: make_engine_tls(TlsFiles(ca=folder / "odd")),
    "the engine's client certificate": lambda folder: make_engine_tls(TlsFiles(cert=folder / "odd")),
    "the engine's client key": lambda folder: make_engine_tls(TlsFiles(cert=CERTIFICATE, key=folder / "odd")),
}
"""What reads a file of a person → how it is made to read `odd`."""


@table("kind", ODD_KINDS)
@table("reader", READERS)
def test_what_is_no_small_regular_file_is_refused_at_once_in_one_line(tmp_path: Path, reader: str, kind: str) -> None:
    put_in_place(tmp_path / "odd", kind)

    raised = outcome_of(lambda: READERS[reader](tmp_path))

    assert isinstance(raised, BconError | OSError), raised
    told = str(getattr(raised, "reason", None) or raised)
    assert ODD_KINDS[kind] in told
    assert "\n" not in told


@pytest.mark.parametrize("kind", ODD_KINDS)
def test_dockers_own_configuration_is_refused_too_or_passed_over(tmp_path: Path, kind: str) -> None:
    put_in_place(tmp_path / "config.json", kind)

    raised = outcome_of(lambda: find_endpoint(None, {"DOCKER_CONFIG": str(tmp_path)}, home=tmp_path))

    assert raised is None or (isinstance(raised, BconError) and ODD_KINDS[kind] in str(raised))


@pytest.mark.parametrize("kind", [kind for kind in ODD_KINDS if kind != "large"])
def test_a_snapshot_has_a_bound_of_its_own(tmp_path: Path, kind: str) -> None:
    put_in_place(tmp_path / "odd", kind)

    raised = outcome_of(lambda: read_snapshot(tmp_path / "odd"))

    assert isinstance(raised, BconError)
    assert ODD_KINDS[kind] in str(raised)


def test_a_file_of_just_the_bound_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 1024)

    assert len(read_regular_file(tmp_path / "file", 1024)) == 1024
    with pytest.raises(UnreadableFileError, match=r"^is larger than 0 KiB$"):
        read_regular_file(tmp_path / "file", 1023)


def test_links_are_followed_and_an_absent_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    (tmp_path / "link").symlink_to("file")

    assert read_regular_file(tmp_path / "link") == b"content"
    with pytest.raises(UnreadableFileError, match=r"^cannot be read: No such file or directory$"):
        check_regular_file(tmp_path / "absent")
    with pytest.raises(UnreadableFileError, match="no file name"):
        check_regular_file(Path("a\0b"))


@pytest.mark.skipif(os.geteuid() != 0, reason="the kernel's log is root's")
def test_a_file_that_makes_its_readers_wait_is_refused() -> None:
    """The kernel's log calls itself a regular file; once it is read to its end, there is nothing yet."""

    def waits() -> bool:
        try:
            read_regular_file(Path("/proc/kmsg"))
        except UnreadableFileError as error:
            return "still to come" in str(error)
        return False

    wait_until(waits, "the end of the kernel's log")
