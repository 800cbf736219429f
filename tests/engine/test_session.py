"""Whether the engine is up is judged by what tells of the engine as a whole; a failed negotiation costs no scan."""

import socket
from pathlib import Path

import pytest

from bcon_exporter.engine.endpoint_health import EndpointName
from bcon_exporter.engine.failures import NotQueriedError
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.engine.scan import Deadline, HostOptions
from bcon_exporter.engine.session import BulkRequest, EngineSession
from bcon_exporter.errors import BconError, DeadlineExceededError
from tests.engine.fake_engine import FakeEngine, answer, read_requests
from tests.table_rows import table

TARGET = "/v1.41/containers/json"


def talk(connection: socket.socket) -> None:
    """Answer lists, and hang at everything else."""
    while targets := read_requests(connection):
        if "json" in targets[0]:
            connection.sendall(answer(b"[]"))


def ask(session: EngineSession, name: EndpointName, target: str) -> None:
    session.get(name, "asking", target, Deadline.after(2), body_cap_bytes=1000)


@pytest.mark.parametrize("name", ["inspect", "stats", "logs", "events"])
def test_one_hanging_request_of_another_endpoint_than_list_leaves_the_engine_up(
    tmp_path: Path, name: EndpointName
) -> None:
    with FakeEngine(tmp_path / "s", talk) as engine:
        session = EngineSession(Endpoint(engine.url), HostOptions(read_timeout_seconds=0.2))
        ask(session, "list", TARGET)
        with pytest.raises(DeadlineExceededError):
            ask(session, name, "/v1.41/events")
        assert session.health.is_reached is True
        with pytest.raises(DeadlineExceededError):
            ask(session, "list", "/v1.41/events")
        assert session.health.is_reached is False


@pytest.mark.parametrize("name", ["list", "inspect", "stats", "logs", "events"])
def test_an_engine_that_cannot_be_reached_is_down_whoever_notices(tmp_path: Path, name: EndpointName) -> None:
    session = EngineSession(Endpoint(f"unix://{tmp_path}/absent"), HostOptions())
    session.health.is_reached = True
    with pytest.raises(BconError):
        ask(session, name, TARGET)
    assert session.health.is_reached is False


def ask_for_info(session: EngineSession) -> None:
    """Ask what goes through docker-py."""
    session.call("info", "asking for the engine's info", Deadline.after(0.3), lambda client: client.info())


@table("raw", [answer(b"{}", "500 X"), answer(b"{}", "403 X"), answer(b"x")[:-1], answer(b"<"), b""])
@table("before", [True, False])
def test_an_engine_that_can_be_reached_is_not_down_for_its_failing_info(
    tmp_path: Path, raw: bytes, before: bool
) -> None:
    """A whole answer of any status shows that it is up; a broken or no answer says nothing about the rest of it."""

    def talk_badly(connection: socket.socket) -> None:
        read_requests(connection)
        connection.sendall(raw)
        if not raw:
            connection.recv(1)

    with FakeEngine(tmp_path / "s", talk_badly) as engine:
        session = EngineSession(Endpoint(engine.url), HostOptions())
        session.health.is_reached = before
        with pytest.raises(BconError):
            ask_for_info(session)
    is_whole = raw.startswith((b"HTTP/1.1 500", b"HTTP/1.1 403"))
    assert session.health.is_reached is (True if is_whole else before)


def test_an_engine_whose_info_cannot_be_asked_for_is_down(tmp_path: Path) -> None:
    session = EngineSession(Endpoint(f"unix://{tmp_path}/absent"), HostOptions())
    session.health.is_reached = True
    with pytest.raises(BconError):
        ask_for_info(session)
    assert session.health.is_reached is False


def test_who_could_not_be_asked_for_want_of_a_version_is_unread_with_the_reason(tmp_path: Path) -> None:
    session = EngineSession(Endpoint(f"unix://{tmp_path}/absent"), HostOptions())

    targets = {name: f"/containers/{name}/logs" for name in ("a", "b")}
    outcomes = dict(session.query_containers(BulkRequest("logs", "reading logs", targets, Deadline.after(1), 1000)))
    assert outcomes.keys() == {"a", "b"}
    for outcome in outcomes.values():
        assert isinstance(outcome, NotQueriedError)
        assert "no Docker socket" in outcome.message
