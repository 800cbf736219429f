"""The event stream's thread goes on whatever it runs into, and says so."""

from typing import NoReturn

import pytest

from bcon_exporter.docker_host.event_log import EventLog
from bcon_exporter.docker_host.events import EventStream
from bcon_exporter.docker_host.locate import Endpoint
from bcon_exporter.docker_host.options import HostOptions
from bcon_exporter.docker_host.session import Deadline, EngineSession
from tests.waiting import wait_until


class BrokenSession(EngineSession):
    """A session with a defect: what no engine can provoke."""

    tries = 0

    def negotiate(self, deadline: Deadline) -> NoReturn:
        """Fail."""
        self.tries += 1
        raise LookupError(deadline)


def test_an_unexpected_error_opens_the_breaker_and_does_not_end_the_stream(caplog: pytest.LogCaptureFixture) -> None:
    session = BrokenSession(Endpoint("unix:///x"), HostOptions())
    stream = EventStream(session, EventLog())
    stream.start()
    try:
        wait_until(lambda: session.tries > 1, "another try")
    finally:
        stream.close(5.0)
    assert "reading events" in str(session.breakers.reason("events"))
    assert caplog.text.count("following the engine's events failed") == 1, "said once"
