"""The engine's event stream: followed live by a thread, back-filled from the daemon's memory at every (re)connection.

A following stream of docker-py has no time-out, ends silently, and cannot be closed from outside: ours does not use it.
"""

import contextlib
import json
import logging
import socket
import threading
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from bcon_exporter.clock import monotonic, utc_now
from bcon_exporter.engine.event_log import CLOCK_SLACK, EventLog
from bcon_exporter.engine.failures import garbage_error, is_refused, translate
from bcon_exporter.engine.http import Following, follow
from bcon_exporter.engine.parse import NotJsonError, decode_object
from bcon_exporter.engine.parse.json_fields import format_nanoseconds
from bcon_exporter.engine.scan import Deadline
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.errors import BconError
from bcon_exporter.model.container_facts import nanoseconds_of
from bcon_exporter.model.lifecycle import CONTAINER_ACTIONS, NETWORK_ACTIONS

_log = logging.getLogger(__name__)
_DOING = "reading events"
_BACKFILL_NANO = 24 * 3600 * 1_000_000_000
_LATEST_NANO = 60 * 1_000_000_000
_BODY_CAP_BYTES = 8 * 1024 * 1024
_LINE_CAP_BYTES = 1024 * 1024
_QUIET_SECONDS = 600.0
"""A stream that brought nothing for so long is opened anew: the back-fill then proves that nothing was lost."""
_FIRST_WAIT_SECONDS = 0.1
_LONGEST_WAIT_SECONDS = 2.0
_PODMANS_NAMES = ("died", "remove")
_ACTIONS = sorted((*CONTAINER_ACTIONS, *NETWORK_ACTIONS, *_PODMANS_NAMES))
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
    now_nano = nanoseconds_of(now)
    log.forget_later_than(nanoseconds_of(now + CLOCK_SLACK))
    since = log.last_nano or now_nano - _BACKFILL_NANO
    # moby refuses a `since` after `until` with 400
    target = f"{prefix}/events?since={format_nanoseconds(since)}&until={format_nanoseconds(max(since, now_nano))}"
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
    until = nanoseconds_of(utc_now() + log.skew)
    since = min(max(log.last_nano, until - _LATEST_NANO), until)
    span = f"since={format_nanoseconds(since)}&until={format_nanoseconds(until)}"
    target = f"{session.negotiate(deadline)}/events?filters={_FILTERS}&{span}"
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


def _parse_lines(lines: list[bytes]) -> list[dict[str, Any]]:
    events = []
    for line in lines:
        with contextlib.suppress(NotJsonError):
            events.append(decode_object(line))
    return events


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
                self._session.health.report("events", monotonic(), error.message)
                if is_refused(error):
                    wait = max(wait, self._session.options.probe_interval_seconds)
            except Exception as error:  # noqa: BLE001 - a job's boundary: its end would lose all later events
                if self._session.health.failure("events") is None:
                    _log.exception("following the engine's events failed")
                reason = translate(error, self._session.endpoint, _DOING).message
                self._session.health.report("events", monotonic(), reason)
            if monotonic() - began > _LONGEST_WAIT_SECONDS:
                wait = _FIRST_WAIT_SECONDS
            self._closed.wait(wait)
            wait = min(2 * wait, _LONGEST_WAIT_SECONDS)

    def _follow(self, since_nano: int) -> None:
        """Follow one stream until it ends: a proxy cuts it, the engine restarts, or we close."""
        session, started = self._session, monotonic()
        since = f"since={format_nanoseconds(since_nano)}"
        target = f"{session.negotiate(Deadline.after(5.0))}/events?filters={_FILTERS}&{since}"
        options, failed, unfinished = session.options, True, b""
        limits = options.connect_timeout_seconds, options.read_timeout_seconds, _QUIET_SECONDS
        try:
            with contextlib.closing(follow(session.dialer, target, Following(_DOING, *limits, self._wake))) as pieces:
                for piece in pieces:
                    if not self._live.is_set():
                        self._note_live()
                    unfinished = self._take_lines(unfinished + piece)
            failed = False
        finally:
            if self._live.is_set():
                self._log.note_end(utc_now())
            self._live.clear()
            session.tally.add("events", monotonic() - started, failed=failed)

    def _note_live(self) -> None:
        self._live.set()
        self._log.note_live()
        self._session.health.report("events", monotonic(), None)

    def _take_lines(self, data: bytes) -> bytes:
        *lines, unfinished = data.split(b"\n")
        for raw in _parse_lines(lines):
            self._log.add(raw)
        if len(unfinished) > _LINE_CAP_BYTES:
            raise garbage_error(self._session.endpoint, _DOING, "an event without end")
        return unfinished
