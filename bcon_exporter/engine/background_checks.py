"""Threads that look after an engine between scans: a light ping every two seconds, and a look at its stats.

A ping says sooner than the next scan would that the engine hangs or is gone. Stats that hang are how a dead containerd
shows; where usage comes from cgroup files, nothing else asks for them.
"""

import logging
import threading
from collections.abc import Sequence

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.failures import status_error, translate
from bcon_exporter.engine.scan import Deadline
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.errors import BconError

_PINGING = "pinging"
_PROBING = "probing stats"
_PROBED_AT_ONCE = 2
"""Containers: one that is silent says nothing about the endpoint while the other answers."""
_log = logging.getLogger(__name__)


class Heartbeat:
    """A thread that pings one engine; not started by its constructor."""

    def __init__(self, session: EngineSession) -> None:
        self._session = session
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

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
        health = self._session.health
        while not self._closed.is_set():
            try:
                self._beat()
            except Exception as error:  # noqa: BLE001 - a job's boundary: its end would leave the engine up for ever
                if health.ping_failure is None:
                    _log.exception("the ping of the engine failed")
                health.ping_failure = translate(error, self._session.endpoint, _PINGING)
            self._closed.wait(self._session.options.heartbeat_seconds)

    def _beat(self) -> None:
        session = self._session
        failure: BconError | None = None
        try:
            answer = session.ping(Deadline.after(session.options.ping_timeout_seconds))
            if answer.status != 200:  # noqa: PLR2004 - HTTP's OK
                failure = status_error(answer.status, answer.body, session.endpoint, _PINGING)
        except BconError as error:
            failure = error
        if not session.closed.is_set():
            session.note_ping(failure)


class StatsProbe:
    """Asks for the stats of two containers, in a thread of its own since that may hang; at most one at a time."""

    def __init__(self, session: EngineSession) -> None:
        self._session = session
        self._thread: threading.Thread | None = None
        self._began_at = float("-inf")
        self._turn = 0

    def begin(self, running: Sequence[str]) -> None:
        """Probe some of these containers beside the caller; not while a probe runs, nor right after one."""
        now = monotonic()
        is_busy = self._thread is not None and self._thread.is_alive()
        if is_busy or now - self._began_at < self._session.options.heartbeat_seconds or self._session.closed.is_set():
            return  # tools may scan many times a second
        self._began_at = now
        thread = threading.Thread(target=self._run, args=(tuple(running),), name="bcon-probe", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return  # no thread is left to this process: the next scan tries again
        self._thread = thread

    def close(self, wait_seconds: float) -> None:
        """Return when a probe that runs has ended or `wait_seconds` have passed; the closed session ends it."""
        if self._thread is not None:
            self._thread.join(wait_seconds)

    def _run(self, running: Sequence[str]) -> None:
        try:
            self.probe(running)
        except Exception as error:  # noqa: BLE001 - a job's boundary: nobody else would tell of it
            _log.exception("the probe of the engine's stats failed")
            reason = translate(error, self._session.endpoint, _PROBING).message
            self._session.health.report("stats", monotonic(), reason)

    def probe(self, running: Sequence[str]) -> None:
        """Ask for the stats of some of these containers, others each time, as far as the endpoint may be asked."""
        session = self._session
        askable, _ = session.health.split("stats", running, monotonic())
        count = min(_PROBED_AT_ONCE if session.health.failure("stats") is None else 1, len(askable))
        self._turn += 1
        chosen = [askable[(self._turn + at) % len(askable)] for at in range(count)]
        deadline = Deadline.after(2 * session.options.read_timeout_seconds)
        for _ in session.query_stats(chosen, _PROBING, deadline):
            pass  # that they were answered, or not, is noted; what they say is not wanted
