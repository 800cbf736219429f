"""docker-py cannot write through our client, follows no redirect, uses no proxy, and speaks the right version."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bcon_exporter.engine.allowlist import RequestRefusedError
from bcon_exporter.engine.api_version import NEWEST_API, choose_version, format_version
from bcon_exporter.engine.client import ReadOnlyClient
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.engine.scan import Deadline, HostOptions
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.errors import BconError, DeadlineExceededError, DockerConnectionError
from tests.engine.fake_engine import FakeEngine, answer, read_requests
from tests.table_rows import table

WRITES: tuple[Callable[[ReadOnlyClient], Any], ...] = (
    lambda c: c.start("x"),
    lambda c: c.stop("x"),
    lambda c: c.kill("x"),
    lambda c: c.restart("x"),
    lambda c: c.remove_container("x"),
    lambda c: c.rename("x", "y"),
    lambda c: c.exec_create("x", "sh"),
    lambda c: c.export("x"),
    lambda c: c.get_archive("x", "/etc"),
    lambda c: c.put_archive("x", "/etc", b""),
    lambda c: c.top("x"),
    lambda c: c.diff("x"),
    lambda c: c.attach("x"),
    lambda c: c.pause("x"),
    lambda c: c.remove_volume("x"),
    lambda c: c.create_network("x"),
    lambda c: c.pull("x"),
    lambda c: c.get_image("x"),
    lambda c: c.search("x"),
    lambda c: c.inspect_container("../images/x"),
    lambda c: c.inspect_container("x/json?size=1#"),
)


def session_for(url: str, seconds: float = 2.0) -> EngineSession:
    return EngineSession(Endpoint(url), HostOptions(read_timeout_seconds=seconds))


@pytest.mark.promise("S7")
@table("write", WRITES)
def test_no_write_and_no_path_beyond_the_list_leaves(write: Callable[[ReadOnlyClient], Any], tmp_path: Path) -> None:
    with FakeEngine(tmp_path / "s", lambda connection: connection.close()) as engine:
        client = session_for(engine.url).client()
        client.use_version((1, 41))
        with pytest.raises(RequestRefusedError):
            write(client)
        assert engine.connections == 0


@pytest.mark.promise("S7")
def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    session = session_for("tcp://127.0.0.1:9")
    with pytest.raises(DockerConnectionError) as error:
        session.negotiate(Deadline.after(2))
    assert "127.0.0.1:9" in error.value.message
    assert not session.client().trust_env


@table(
    "body",
    [b"", b"null", b"[]", b"{}", b'{"ApiVersion": 7}', b'{"ApiVersion": "1.12"}', b"<html>", b"[" * 100_000, b"\xff"],
)
def test_an_engine_that_names_no_version_is_no_engine(body: bytes, tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        while read_requests(connection):
            connection.sendall(answer(body))

    with FakeEngine(tmp_path / "s", talk) as engine, pytest.raises(DockerConnectionError):
        session_for(engine.url).negotiate(Deadline.after(2))


@pytest.mark.promise("S7")
def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    seen: list[str] = []

    def talk(connection: socket.socket) -> None:
        while requests := read_requests(connection):
            seen.extend(requests)
            connection.sendall(answer(b"", "302 Found", "Location: /info\r\n"))

    with FakeEngine(tmp_path / "s", talk) as engine, pytest.raises(DockerConnectionError):
        session_for(engine.url).negotiate(Deadline.after(2))
    assert seen == ["/_ping", "/version"]


def test_a_trickling_answer_does_not_outlast_the_deadline(tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        read_requests(connection)
        for byte in answer(b" " * 10_000):
            connection.sendall(bytes([byte]))
            if engine.stopped.wait(0.02):
                return

    with FakeEngine(tmp_path / "s", talk) as engine, pytest.raises(DeadlineExceededError):
        session_for(engine.url, 0.3).negotiate(Deadline.after(5))


@pytest.mark.promise("F19")
def test_a_replaced_engine_is_negotiated_with_again(tmp_path: Path) -> None:
    versions = ["1.44", "1.41"]

    def talk(connection: socket.socket) -> None:
        while requests := read_requests(connection):
            said = b'{"ApiVersion":"%s","MinAPIVersion":"1.24"}' % versions[0].encode()
            connection.sendall(answer(said if requests == ["/version"] else b"OK"))

    with FakeEngine(tmp_path / "s", talk) as engine:
        session = session_for(engine.url)
        assert session.negotiate(Deadline.after(2)) == "/v1.44"
        versions.pop(0)
        assert session.negotiate(Deadline.after(2)) == "/v1.44"
        session.note_offered("1.44")
        session.note_offered("1.41")
        assert session.negotiate(Deadline.after(2)) == "/v1.41"


def negotiate_with(path: Path, ping: bytes, version: bytes | None) -> tuple[str, list[str]]:
    """Negotiate with an engine that hangs at /version if that is None; return the prefix and what was asked."""
    seen: list[str] = []

    def talk(connection: socket.socket) -> None:
        while requests := read_requests(connection):
            seen.extend(requests)
            if requests == ["/_ping"]:
                connection.sendall(ping)
            elif version is not None:
                connection.sendall(answer(version))

    with FakeEngine(path, talk) as engine:
        return session_for(engine.url, 0.3).negotiate(Deadline.after(2)), seen


def offering(api_version: str) -> bytes:
    """The answer to a ping."""
    return answer(b"OK", extra=f"Api-Version: {api_version}\r\n")


@pytest.mark.parametrize("offered", ["1.24", "1.41", format_version(NEWEST_API)])
def test_the_version_that_a_ping_names_is_spoken_without_asking_for_more(tmp_path: Path, offered: str) -> None:
    """/version hangs with containerd: an engine that is asked for it then could not be read at all."""
    assert negotiate_with(tmp_path / "s", offering(offered), None) == (f"/v{offered}", ["/_ping"])


@pytest.mark.parametrize(
    "ping", [answer(b"OK"), offering("garbage"), answer(b"no", "403 Forbidden"), answer(b"", "404 X")]
)
def test_an_engine_whose_ping_names_none_is_asked_for_its_version(tmp_path: Path, ping: bytes) -> None:
    version = b'{"ApiVersion":"1.40","MinAPIVersion":"1.12"}'
    assert negotiate_with(tmp_path / "s", ping, version) == ("/v1.40", ["/_ping", "/version"])


@pytest.mark.promise("F19")
@pytest.mark.parametrize(
    ("version", "prefix"),
    [
        (b'{"ApiVersion":"1.99","MinAPIVersion":"1.98"}', "/v1.98"),
        (b'{"ApiVersion":"1.99","MinAPIVersion":"1.44"}', f"/v{format_version(NEWEST_API)}"),
        (None, f"/v{format_version(NEWEST_API)}"),
    ],
)
def test_an_engine_newer_than_all_we_know_is_asked_for_the_oldest_version_that_it_accepts(
    tmp_path: Path, version: bytes | None, prefix: str
) -> None:
    assert negotiate_with(tmp_path / "s", offering("1.99"), version) == (prefix, ["/_ping", "/version"])


def test_an_engine_that_does_not_answer_a_ping_is_not_asked_for_more(tmp_path: Path) -> None:
    seen: list[str] = []

    def talk(connection: socket.socket) -> None:
        while requests := read_requests(connection):
            seen.extend(requests)

    with FakeEngine(tmp_path / "s", talk) as engine:
        session = session_for(engine.url, 0.3)
        with pytest.raises(DeadlineExceededError):
            session.negotiate(Deadline.after(2))
    assert seen == ["/_ping"]
    assert session.health.is_reached is False


def test_who_asks_an_engine_that_has_just_been_silent_is_told_at_once(tmp_path: Path) -> None:
    """A command reads events and then containers: it would wait for the same silence twice."""
    seen: list[str] = []

    def talk(connection: socket.socket) -> None:
        while requests := read_requests(connection):
            seen.extend(requests)

    with FakeEngine(tmp_path / "s", talk) as engine:
        session = session_for(engine.url, 0.3)
        for _ in range(2):
            with pytest.raises(DeadlineExceededError, match="pinging"):
                session.negotiate(Deadline.after(2))
        hasty = session_for(engine.url, 0.3)
        for _ in range(2):
            with pytest.raises(DeadlineExceededError):
                hasty.negotiate(Deadline.after(0.1))

    assert seen == ["/_ping"] * 3


@pytest.mark.promise("F19")
@table(
    ("engine", "minimum", "chosen"),
    [
        ("1.41", "1.12", (1, 41)),
        ("1.24", None, (1, 24)),
        ("1.23", None, None),
        ("1.99", "1.44", NEWEST_API),
        ("1.99", "1.98", (1, 98)),
        ("9.9.9", None, None),
        ("", None, None),
        (None, None, None),
        (1.41, None, None),
        ("1.41", "garbage", (1, 41)),
    ],
)
def test_the_newest_version_both_know_is_chosen(
    engine: object, minimum: object, chosen: tuple[int, int] | None
) -> None:
    assert choose_version(engine, minimum) == chosen


def test_errors_of_docker_py_are_ours(tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        while read_requests(connection):
            connection.sendall(answer(b'{"message":"No such network"}', "404 Not Found"))

    with FakeEngine(tmp_path / "s", talk) as engine, pytest.raises(BconError, match="No such network"):
        session_for(engine.url).call("networks", "listing networks", Deadline.after(2), lambda c: c.networks())


@table("body", [b"", b"{}", b"[]", b"null", b'{"message":7}', b"<html>", b"[" * 100_000, b"\xff"])
@table("status", ["404 Not Found", "500 Internal Server Error"])
def test_an_error_of_the_engine_without_a_message_is_ours_too(tmp_path: Path, body: bytes, status: str) -> None:
    def talk(connection: socket.socket) -> None:
        while read_requests(connection):
            connection.sendall(answer(body, status))

    with FakeEngine(tmp_path / "s", talk) as engine, pytest.raises(BconError):
        session_for(engine.url).call("info", "asking for the engine's info", Deadline.after(2), lambda c: c.info())
