"""The heartbeat goes on whatever a ping runs into, and says so."""

import socket
from pathlib import Path

import pytest

from bcon_exporter.engine.background_checks import Heartbeat
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.engine.scan import HostOptions
from bcon_exporter.engine.session import EngineSession
from tests.engine.fake_engine import FakeEngine, answer, read_requests
from tests.waiting import wait_until

OFTEN = HostOptions(heartbeat_seconds=0.02)


class BrokenSession(EngineSession):
    """A session with a defect: what no engine can provoke."""

    def note_offered(self, api_version: str | None) -> None:
        """Fail."""
        raise LookupError(api_version)


def talk(connection: socket.socket) -> None:
    """Answer every ping."""
    while read_requests(connection):
        connection.sendall(answer(b"OK"))


def test_an_unexpected_error_of_a_ping_is_a_failure_and_does_not_end_the_heartbeat(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with FakeEngine(tmp_path / "s", talk) as engine:
        session = BrokenSession(Endpoint(engine.url), OFTEN)
        heartbeat = Heartbeat(session)
        heartbeat.start()
        try:
            wait_until(lambda: engine.connections > 1, "another ping")
        finally:
            heartbeat.close(5.0)
    assert session.health.ping_failure is not None
    assert "the ping of the engine failed" in caplog.text
