"""A light ping every two seconds: says that the engine hangs or is gone sooner than the next scan would.

A ping is no health check (it is answered while containerd hangs), so it only ever adds bad news to the breakers' own.
"""

import logging
import threading

from bcon_exporter.clock import monotonic
from bcon_exporter.docker_host.failures import is_refused, status_error, translate
from bcon_exporter.docker_host.pipeline import Batch, fetch_one
from bcon_exporter.docker_host.session import EngineSession
from bcon_exporter.errors import BconError

_log = logging.getLogger(__name__)


class Heartbeat:
    """A thread that pings one engine; not started by its constructor.

    Attributes:
        failure: Why the last ping failed; None when it was answered, or there was none yet.
    """

    def __init__(self, session: EngineSession) -> None:
        self._session = session
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self.failure: BconError | None = None

    def start(self) -> None:
        """Start pinging."""
        if self._thread is None and not self._closed.is_set():
            self._thread = threading.Thread(target=self._run, name="bcon-heartbeat", daemon=True)
            self._thread.start()

    def signal(self) -> None:
        """Ask the thread to stop."""
        self._closed.set()

    def close(self, wait_seconds: float) -> None:
        """Stop pinging; returns when the thread has ended or `wait_seconds` have passed."""
        self.signal()
        if self._thread is not None:
            self._thread.join(wait_seconds)

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self.beat()
            except Exception as error:  # noqa: BLE001 - a job's boundary: its end would leave the engine up for ever
                if self.failure is None:
                    _log.exception("the ping of the engine failed")
                self.failure = translate(error, self._session.endpoint, "pinging")
            self._closed.wait(self._session.options.heartbeat_seconds)

    def beat(self) -> None:
        """Ping once."""
        session, started = self._session, monotonic()
        seconds = session.options.ping_timeout_seconds
        batch = Batch("pinging", seconds, seconds, body_cap_bytes=4096, is_cancelled=session.closed.is_set)
        failure: BconError | None = None
        try:
            answer = fetch_one(session.dialer, "/_ping", batch)
            if answer.status != 200:  # noqa: PLR2004 - HTTP's OK
                failure = status_error(answer.status, answer.body, session.endpoint, "pinging")
            session.note_offered(answer.header("api-version"))
        except BconError as error:
            failure = error
        if not session.closed.is_set():
            if self.failure is not None and failure is None:
                session.note_return()
            # a proxy that lets no ping through says nothing about the engine behind it
            self.failure = None if failure is not None and is_refused(failure) else failure
            session.tally.add("ping", monotonic() - started, failed=failure is not None)
