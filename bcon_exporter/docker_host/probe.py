"""Asks for stats now and then where usage comes from cgroup files: hanging stats are how a dead containerd shows."""

import logging
import threading
from collections.abc import Sequence

from bcon_exporter.clock import monotonic
from bcon_exporter.docker_host.breaker import Permission
from bcon_exporter.docker_host.failures import translate
from bcon_exporter.docker_host.session import Deadline, EngineSession
from bcon_exporter.docker_host.stats import STATS_CAP_BYTES, stats_target
from bcon_exporter.errors import BconError

_DOING = "probing stats"
_ASKED: dict[Permission, int] = {"all": 2, "probe": 1, "none": 0}
"""Containers asked at once: two, so that one which is stuck says nothing about the endpoint while the other answers."""
_log = logging.getLogger(__name__)


class StatsProbe:
    """A thread of its own, since a probe may hang: at most one at a time; not started by its constructor."""

    def __init__(self, session: EngineSession) -> None:
        self._session = session
        self._wanted, self._closed = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._running: Sequence[str] = ()
        self._turn = 0

    def start(self) -> None:
        """Begin to probe when asked to."""
        if self._thread is None and not self._closed.is_set():
            self._thread = threading.Thread(target=self._run, name="bcon-probe", daemon=True)
            self._thread.start()

    def plan(self, running: Sequence[str]) -> None:
        """Have some of these containers asked for, if the breaker allows it; after a probe that runs already."""
        self._running = running
        self._wanted.set()

    def signal(self) -> None:
        """Ask the thread to stop."""
        self._closed.set()
        self._wanted.set()

    def close(self, wait_seconds: float) -> None:
        """Stop probing; returns when the thread has ended or `wait_seconds` have passed."""
        self.signal()
        if self._thread is not None:
            self._thread.join(wait_seconds)

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()  # before the look at `_closed`: `signal` sets both
            if self._closed.is_set():
                return
            self._run_once()
            self._closed.wait(self._session.options.heartbeat_seconds)  # tools may scan many times a second

    def _run_once(self) -> None:
        try:
            self.probe()
        except BconError:
            return  # every scan tells it
        except Exception as error:  # noqa: BLE001 - a job's boundary: its end would hide all later hangs
            _log.exception("the probe of the engine's stats failed")
            reason = translate(error, self._session.endpoint, _DOING).message
            self._session.breakers.report("stats", monotonic(), reason)

    def probe(self) -> None:
        """Ask for the stats of those that were planned, as far as the breaker allows it.

        Raises:
            BconError: No API version could be negotiated.
        """
        if not (ids := self._choose()):
            return
        session = self._session
        deadline = Deadline.after(2 * session.options.read_timeout_seconds)
        prefix = session.negotiate(deadline)
        batch = session.batch(_DOING, deadline, connections=len(ids), body_cap_bytes=STATS_CAP_BYTES)
        session.ask_containers(
            "stats", ids, lambda container_id: prefix + stats_target(container_id), batch, lambda _id, _outcome: None
        )

    def _choose(self) -> list[str]:
        """Choose others each time: one that is stuck for ever must not keep the breaker open."""
        now = monotonic()
        askable, _ = self._session.stuck.split("stats", self._running, now)
        if not askable:
            return []
        count = min(_ASKED[self._session.breakers.ask("stats", now)], len(askable))
        self._turn += 1
        return [askable[(self._turn + at) % len(askable)] for at in range(count)]
