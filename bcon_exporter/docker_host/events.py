"""The engine's event stream: followed live by a thread, back-filled from the daemon's memory at every (re)connection.

The thread owns its socket: a following stream of docker-py has no time-out, ends silently, and cannot be closed from
outside.
"""

import contextlib
import json
import logging
import selectors
import socket
import ssl
import threading
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from bcon_exporter.clock import monotonic, utc_now
from bcon_exporter.docker_host.allowlist import check_request
from bcon_exporter.docker_host.decode import NotJsonError, decode_object
from bcon_exporter.docker_host.event_log import CLOCK_SLACK, EventLog
from bcon_exporter.docker_host.failures import garbage_error, is_refused, status_error, timeout_error, translate
from bcon_exporter.docker_host.session import Deadline, EngineSession
from bcon_exporter.docker_host.wire import AnswerReader, MalformedAnswerError
from bcon_exporter.errors import BconError

_log = logging.getLogger(__name__)
_DOING = "reading events"
_BACKFILL_NANO = 24 * 3600 * 1_000_000_000
_LATEST_NANO = 60 * 1_000_000_000
_BODY_CAP_BYTES = 8 * 1024 * 1024
_LINE_CAP_BYTES = 1024 * 1024
_RECEIVE_BYTES = 64 * 1024
_QUIET_SECONDS = 600.0
"""A stream that brought nothing for so long is opened anew: the back-fill then proves that nothing was lost."""
_FIRST_WAIT_SECONDS = 0.1
_LONGEST_WAIT_SECONDS = 2.0
_ACTIONS = (
    *("create", "start", "die", "kill", "stop", "restart", "oom", "pause", "unpause", "destroy", "rename", "update"),
    *("health_status", "connect", "disconnect"),
    *("died", "remove"),  # Podman's names
)
_FILTERS = quote(json.dumps({"type": ["container", "network"], "event": _ACTIONS}, separators=(",", ":")))


def read_backfill(session: EngineSession, log: EventLog, deadline: Deadline) -> int:
    """Ask the daemon for what it remembers, once; of the last 24 hours, or since the last event known.

    Returns:
        Since when events are to be followed, in nanoseconds by the engine's clock.

    Raises:
        BconError: It did not answer.
    """
    prefix = session.negotiate(deadline)
    now, skew = _engine_time(session, deadline)
    now_nano = _to_nano(now)
    log.forget_later_than(_to_nano(now + CLOCK_SLACK))
    since = log.last_nano or now_nano - _BACKFILL_NANO
    # moby refuses a `since` after `until` with 400
    target = f"{prefix}/events?since={_stamp(since)}&until={_stamp(max(since, now_nano))}"
    answer = session.get("events", _DOING, target, deadline, body_cap_bytes=_BODY_CAP_BYTES)
    log.add_backfill(_parse_lines(answer.body.splitlines()), now, skew=skew)
    return log.last_nano or now_nano


def read_latest(session: EngineSession, log: EventLog, deadline: Deadline) -> None:
    """Take from the daemon's memory what the live stream has not brought yet.

    On a busy machine the stream lags behind what a scan has read meanwhile: a log line that a program wrote on its stop
    signal would be known, and the signal not. Nothing is asked after a step of our clock, until the stream is opened
    anew: an `until` in the engine's future would keep the request open.

    Raises:
        BconError: It did not answer.
    """
    if not log.knows_clock():
        return
    until = _to_nano(utc_now() + log.skew)
    since = min(max(log.last_nano, until - _LATEST_NANO), until)
    target = f"{session.negotiate(deadline)}/events?filters={_FILTERS}&since={_stamp(since)}&until={_stamp(until)}"
    answer = session.get("events", _DOING, target, deadline, body_cap_bytes=_BODY_CAP_BYTES)
    for raw in _parse_lines(answer.body.splitlines()):
        log.add(raw)


def _engine_time(session: EngineSession, deadline: Deadline) -> tuple[datetime, timedelta]:
    """Return the engine's clock, and how far it is ahead of ours.

    An `until` that lies in its future would keep the request open till then.
    """
    now = utc_now()
    answer = session.ping(deadline)
    if answer.status != 200:  # noqa: PLR2004 - HTTP's OK; a proxy that lets no ping through tells its own time
        return now, timedelta()
    with contextlib.suppress(ValueError, TypeError):
        theirs = parsedate_to_datetime(answer.header("date") or "")
        if abs(theirs - now) > CLOCK_SLACK:
            return theirs, theirs - now
    return now, timedelta()


def _to_nano(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1000


def _stamp(nanoseconds: int) -> str:
    return f"{nanoseconds // 1_000_000_000}.{nanoseconds % 1_000_000_000:09d}"


def _parse_lines(lines: list[bytes]) -> list[dict[str, Any]]:
    found = []
    for line in lines:
        with contextlib.suppress(NotJsonError):
            found.append(decode_object(line))
    return found


class EventStream:
    """A thread that follows the engine's events into a log, reconnecting for ever; not started by its constructor."""

    def __init__(self, session: EngineSession, log: EventLog) -> None:
        self._session, self._log = session, log
        self._wake: socket.socket | None = None
        self._waker: socket.socket | None = None
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self.first_backfill = threading.Event()
        self._live = threading.Event()

    @property
    def is_started(self) -> bool:
        """True when the thread runs."""
        return self._thread is not None

    @property
    def is_live(self) -> bool:
        """True while a stream is open: then whatever happens reaches the log."""
        return self._live.is_set()

    def start(self) -> None:
        """Start following."""
        if self._thread is None and not self._closed.is_set():
            self._wake, self._waker = socket.socketpair()
            self._thread = threading.Thread(target=self._run, name="bcon-events", daemon=True)
            self._thread.start()

    def close(self, wait_seconds: float) -> None:
        """Stop following; returns when the thread has ended or `wait_seconds` have passed."""
        self._closed.set()
        if self._thread is None or self._wake is None or self._waker is None:
            return
        with contextlib.suppress(OSError):
            self._waker.send(b"x")
        self._thread.join(wait_seconds)
        if not self._thread.is_alive():
            self._wake.close()
            self._waker.close()

    def _run(self) -> None:
        wait = _FIRST_WAIT_SECONDS
        while not self._closed.is_set():
            began = monotonic()
            try:
                deadline = Deadline.after(2 * self._session.options.read_timeout_seconds)
                since = read_backfill(self._session, self._log, deadline)
                self.first_backfill.set()
                self._follow(since)
            except BconError as error:
                self._session.breakers.report("events", monotonic(), error.message)
                if is_refused(error):
                    wait = max(wait, self._session.options.probe_interval_seconds)
            except Exception as error:  # noqa: BLE001 - a job's boundary: its end would lose all later events
                if self._session.breakers.reason("events") is None:
                    _log.exception("following the engine's events failed")
                reason = translate(error, self._session.endpoint, _DOING).message
                self._session.breakers.report("events", monotonic(), reason)
            if monotonic() - began > _LONGEST_WAIT_SECONDS:
                wait = _FIRST_WAIT_SECONDS
            self._closed.wait(wait)
            wait = min(2 * wait, _LONGEST_WAIT_SECONDS)

    def _follow(self, since_nano: int) -> None:
        """Follow one stream until it ends: a proxy cuts it, the engine restarts, or we close."""
        session, started = self._session, monotonic()
        target = f"{session.negotiate(Deadline.after(5.0))}/events?filters={_FILTERS}&since={_stamp(since_nano)}"
        check_request("GET", target)
        failed = True
        try:
            opened = session.dialer.open(session.options.connect_timeout_seconds)
            with contextlib.closing(opened):
                _send(opened, target, session)
                self._read(opened)
            failed = False
        except MalformedAnswerError as error:
            raise garbage_error(session.endpoint, _DOING, str(error)) from None
        except OSError as error:
            raise translate(error, session.endpoint, _DOING) from None
        finally:
            if self._live.is_set():
                self._log.note_end(utc_now())
            self._live.clear()
            session.tally.add("events", monotonic() - started, failed=failed)

    def _read(self, stream: socket.socket) -> None:
        reader, rest = AnswerReader(_BODY_CAP_BYTES), b""
        with contextlib.closing(selectors.DefaultSelector()) as selector:
            selector.register(stream, selectors.EVENT_READ)
            if self._wake is not None:
                selector.register(self._wake, selectors.EVENT_READ)
            while not self._closed.is_set():
                patience = _QUIET_SECONDS if self._live.is_set() else self._session.options.read_timeout_seconds
                if not selector.select(patience):
                    if self._live.is_set():
                        return
                    raise timeout_error(self._session.endpoint, _DOING)
                data = _receive(stream)
                if data == b"":
                    return
                reader.feed(data or b"")
                self._check_head(reader)
                rest = self._take_lines(rest + bytes(reader.body))
                reader.body.clear()
                if reader.take() is not None:
                    return

    def _check_head(self, reader: AnswerReader) -> None:
        if reader.status is None or self._live.is_set():
            return
        if reader.status != 200:  # noqa: PLR2004 - HTTP's OK
            raise status_error(reader.status, bytes(reader.body), self._session.endpoint, _DOING)
        self._live.set()
        self._log.note_live()
        self._session.breakers.report("events", monotonic(), None)

    def _take_lines(self, data: bytes) -> bytes:
        *lines, rest = data.split(b"\n")
        for raw in _parse_lines(lines):
            self._log.add(raw)
        if len(rest) > _LINE_CAP_BYTES:
            raise garbage_error(self._session.endpoint, _DOING, "an event without end")
        return rest


def _send(stream: socket.socket, target: str, session: EngineSession) -> None:
    """Send the request; it is far smaller than a fresh socket's buffer."""
    request = f"GET {target} HTTP/1.1\r\nHost: {session.dialer.host_header}\r\nUser-Agent: bcon-exporter\r\n\r\n"
    stream.settimeout(session.options.connect_timeout_seconds)
    stream.sendall(request.encode())
    stream.settimeout(0)


def _receive(stream: socket.socket) -> bytes | None:
    """Return what has come; empty at the end of the stream, None when there is nothing yet."""
    try:
        data = stream.recv(_RECEIVE_BYTES)
        while data and isinstance(stream, ssl.SSLSocket) and stream.pending():
            data += stream.recv(_RECEIVE_BYTES)
    except (BlockingIOError, ssl.SSLWantReadError):
        return None
    return data
