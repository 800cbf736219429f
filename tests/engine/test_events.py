"""The event stream's thread goes on whatever it runs into, and says so."""

import json
import socket
import threading
from datetime import datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import NoReturn
from urllib.parse import parse_qs, urlsplit

import pytest

from bcon_exporter.clock import utc_now
from bcon_exporter.engine.event_log import EventLog
from bcon_exporter.engine.events import EventStream, read_backfill, read_latest
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.engine.scan import Deadline, HostOptions
from bcon_exporter.engine.session import EngineSession
from tests.engine.fake_engine import FakeEngine, answer, read_requests
from tests.waiting import wait_until


class BrokenSession(EngineSession):
    """A session with a defect: what no engine can provoke."""

    tries = 0

    def negotiate(self, deadline: Deadline) -> NoReturn:
        """Fail."""
        self.tries += 1
        raise LookupError(deadline)


def test_an_unexpected_error_is_told_as_a_failure_and_does_not_end_the_stream(caplog: pytest.LogCaptureFixture) -> None:
    session = BrokenSession(Endpoint("unix:///x"), HostOptions())
    stream = EventStream(session, EventLog())
    stream.start()
    try:
        wait_until(lambda: session.tries > 1, "another try")
    finally:
        stream.close(5.0)
    assert "reading events" in str(session.health.failure("events"))
    assert caplog.text.count("following the engine's events failed") == 1, "said once"


class Clockwork:
    """An engine whose clock can be set; as moby, it refuses a `since` after `until` and leaves out later events."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self.ring: list[dict[str, object]] = []
        self.refused = 0
        self.followers = 0
        self.cut = threading.Event()

    def happens(self, action: str, at: datetime) -> None:
        """Remember an event of a container, of a time by the engine's clock."""
        nano = int(at.timestamp() * 1_000_000) * 1000
        actor = {"ID": "a" * 64, "Attributes": {"name": "web"}}
        self.ring.append({"Type": "container", "Action": action, "Actor": actor, "timeNano": nano})

    def talk(self, connection: socket.socket) -> None:
        """Answer the requests of one connection."""
        while targets := read_requests(connection):
            for target in targets:
                query = parse_qs(urlsplit(target).query)
                if "/events" not in target:
                    date = f"Date: {format_datetime(utc_now() + self.ahead)}\r\n"
                    connection.sendall(answer(b'{"ApiVersion":"1.41","MinAPIVersion":"1.12"}', extra=date))
                elif "until" in query:
                    connection.sendall(
                        self.tell(*(int(query[name][0].replace(".", "")) for name in ("since", "until")))
                    )
                else:
                    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    self.followers += 1
                    self.cut.wait(20)
                    self.cut.clear()
                    return

    def tell(self, since: int, until: int) -> bytes:
        """The answer to a back-fill between two times in nanoseconds."""
        if since > until:
            self.refused += 1
            return answer(b'{"message":"`since` time cannot be after `until` time"}', "400 Bad Request")
        told = [each for each in self.ring if since <= int(str(each["timeNano"])) <= until]
        return answer(b"".join(json.dumps(each).encode() + b"\n" for each in told))


@pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(days=5 * 365)])
def test_a_clock_that_was_set_back_costs_a_gap_and_not_the_stream(tmp_path: Path, back: timedelta) -> None:
    clockwork, log = Clockwork(), EventLog()
    now = utc_now()
    clockwork.happens("create", now - back - timedelta(minutes=1))
    clockwork.happens("start", now - timedelta(seconds=5))
    with FakeEngine(tmp_path / "s", clockwork.talk) as engine:
        stream = EventStream(EngineSession(Endpoint(engine.url), HostOptions(read_timeout_seconds=1.0)), log)
        stream.start()
        try:
            wait_until(lambda: clockwork.followers == 1 and stream.is_live, "a stream")
            before = log.drain()
            clockwork.ahead = -back
            clockwork.happens("die", now - back - timedelta(seconds=2))
            clockwork.cut.set()
            wait_until(lambda: clockwork.followers == 2 and stream.is_live, "another stream", timeout_seconds=5)
            after = log.drain()
        finally:
            clockwork.cut.set()
            stream.close(5.0)
    assert clockwork.refused == 0
    assert [event.action for event in (*before.events, *after.events)].count("start") == 1
    assert "die" in [event.action for event in after.events]
    assert (before.gap, after.gap, after.broken_at) == (False, True, ())


def test_an_event_a_moment_ahead_of_the_engines_clock_is_asked_for_again_without_a_gap(tmp_path: Path) -> None:
    """The engine tells its time in whole seconds."""
    clockwork, log = Clockwork(), EventLog()
    clockwork.ahead = timedelta(minutes=10)
    with FakeEngine(tmp_path / "s", clockwork.talk) as engine:
        session = EngineSession(Endpoint(engine.url), HostOptions(read_timeout_seconds=1.0))
        read_backfill(session, log, Deadline.after(5))
        clockwork.happens("start", utc_now() + clockwork.ahead + timedelta(seconds=0.9))
        log.add(clockwork.ring[0])
        read_backfill(session, log, Deadline.after(5))
    batch = log.drain()
    assert ([event.action for event in batch.events], batch.gap, batch.broken_at) == (["start"], False, ())
    assert clockwork.refused == 0


@pytest.mark.parametrize("ahead", [timedelta(), timedelta(minutes=10), timedelta(minutes=-10)])
def test_what_the_live_stream_has_not_brought_yet_is_asked_for(tmp_path: Path, ahead: timedelta) -> None:
    clockwork, log = Clockwork(), EventLog()
    clockwork.ahead = ahead
    clockwork.happens("start", utc_now() + ahead - timedelta(seconds=90))
    with FakeEngine(tmp_path / "s", clockwork.talk) as engine:
        session = EngineSession(Endpoint(engine.url), HostOptions(read_timeout_seconds=1.0))
        read_backfill(session, log, Deadline.after(5))
        log.drain()
        clockwork.happens("kill", utc_now() + ahead - timedelta(seconds=1.5))
        read_latest(session, log, Deadline.after(5))
        read_latest(session, log, Deadline.after(5))
    batch = log.drain()
    assert ([event.action for event in batch.events], batch.gap, batch.broken_at) == (["kill"], False, ())
    assert clockwork.refused == 0
