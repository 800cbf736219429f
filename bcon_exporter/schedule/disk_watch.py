"""The daemon's look at who fills the disk, now and then, in a thread of its own."""

import logging
import threading
from collections.abc import Callable

from bcon_exporter.tools import Context
from bcon_exporter.tools.disk import ASKED_EVERY, REST_SHARE, ask_engine

EVERY_SECONDS = ASKED_EVERY.total_seconds()
_log = logging.getLogger(__name__)


class DiskWatch:
    """Looks at log files, and asks the engine for the rest: that may take minutes, and no scan waits for it.

    Args:
        context: Returns the daemon's.
    """

    def __init__(self, context: Callable[[], Context]) -> None:
        self._context = context
        self._reading = threading.Lock()
        self._stopped = threading.Event()
        self._look_at = float("-inf")
        self._ask_at: float | None = None

    def look(self) -> None:
        """Read where it is time, beside the caller; never two readings at once."""
        if self._stopped.is_set() or not self._reading.acquire(blocking=False):
            return
        context = self._context()
        if context.monotonic() < self._look_at:
            self._reading.release()
            return
        thread = threading.Thread(target=self._run, args=(context,), name="disk-usage", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no thread is left to this process: the next scan tries again
            self._reading.release()

    def stop(self) -> None:
        """Keep nothing of a reading that is under way: closing the engine's connections ends it."""
        self._stopped.set()

    def _wait_at_start(self, context: Context) -> float:
        """Return what is left of the rest that an earlier process began: who restarts often asks no more often."""
        asked_at = context.memory.memory.disk.asked_at
        if asked_at is None:
            return 0.0
        age_seconds = (context.now() - asked_at).total_seconds()
        return EVERY_SECONDS - age_seconds if 0 <= age_seconds < EVERY_SECONDS else 0.0

    def _run(self, context: Context) -> None:
        started = context.monotonic()
        self._look_at = started + EVERY_SECONDS
        try:
            with context.errors.contained("reading who fills the disk"):
                logs = context.host.read_log_files(context.now())
                context.memory.keep_disk(logs, logs.at)
                if self._may_ask(context):
                    self._ask(context, started)
        finally:
            self._reading.release()

    def _may_ask(self, context: Context) -> bool:
        if self._ask_at is None:
            self._ask_at = context.monotonic() + self._wait_at_start(context)
        return context.monotonic() >= self._ask_at

    def _ask(self, context: Context, started: float) -> None:
        try:
            answer = ask_engine(context)
        finally:
            took_seconds = context.monotonic() - started
            self._ask_at = started + max(EVERY_SECONDS, REST_SHARE * took_seconds)
        if self._stopped.is_set():
            return
        if isinstance(answer, str) and answer != context.memory.memory.disk.problem:
            _log.warning("the engine does not say what lies on its disk: %s", answer)
        context.memory.keep_disk(answer, context.now())
