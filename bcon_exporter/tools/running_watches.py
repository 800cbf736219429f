"""The watches that go on between calls, for people and agents: who asks for the same shares one."""

import threading
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Protocol

from bcon_exporter.callers import CALLER
from bcon_exporter.errors import RateLimitedError

MOST_WATCHES = 4
MOST_WATCHES_OF_ONE = 2
"""Of one caller; whoever starts more waits, and leaves places for others."""
MOST_KEPT = 50
"""What came of them. Beyond, the oldest goes of the caller who has most."""
KEPT_FOR = timedelta(minutes=30)
UNTOLD_FOR = timedelta(minutes=1)
"""Who asks later than this after the end, with something new on the host, is likely to mean what is new."""


class RunningWatch(Protocol):
    """One watch.

    Attributes:
        ended: Set once it is over.
        ended_at: When that was.
        changes: How often something had happened on the host by then.
        was_told: Somebody has been told what came of it.
    """

    ended: threading.Event
    ended_at: datetime | None
    changes: int
    was_told: bool


class Watches:
    """Keeps what runs, and what came of it until that is told. Thread-safe."""

    def __init__(self, most: int = MOST_WATCHES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._runs: dict[str, RunningWatch] = {}
        self._callers: dict[str, str] = {}

    def find(self, key: str, now: datetime, changes: int) -> Any | None:
        """Return the watch of this key that runs, or has ended and is still true; None where a new one is wanted."""
        with self._lock:
            return self._find(key, now, changes)

    def _find(self, key: str, now: datetime, changes: int) -> RunningWatch | None:
        self._forget(now)
        known = self._runs.get(key)
        return None if known is None or _is_outdated(known, now, changes) else known

    def join(self, key: str, made: RunningWatch, run: Callable[[], None], now: datetime, changes: int) -> Any:
        """Return the watch that `find` would find; else `made`, which is started.

        Args:
            key: What is asked for.
            made: The watch to start.
            run: Its work, for a thread of its own.
            now: The time.
            changes: How often something has happened on the host.

        Raises:
            RateLimitedError: Too many others are running, or no thread is left to this process.
        """
        with self._lock:
            if (known := self._find(key, now, changes)) is not None:
                return known
            running = [other for other, one in self._runs.items() if not one.ended.is_set()]
            caller = CALLER.get()
            own = sum(self._callers.get(other, "") == caller for other in running)
            if len(running) >= self._most or (caller and own >= MOST_WATCHES_OF_ONE):
                whose = "" if len(running) >= self._most else " of yours"
                most = self._most if not whose else MOST_WATCHES_OF_ONE
                msg = f"{most} watches{whose} are running, and no more may: ask again when one of them has ended"
                raise RateLimitedError(msg, {"max_running": most, "retry_after_seconds": 30})
            try:
                threading.Thread(target=run, name="watch", daemon=True).start()
            except RuntimeError:
                msg = "no thread is left to this process; ask again in a moment"
                raise RateLimitedError(msg, {"max_running": self._most, "retry_after_seconds": 30}) from None
            self._runs[key] = made
            self._callers[key] = caller
        return made

    def _forget(self, now: datetime) -> None:
        ended = sorted((run.ended_at, key) for key, run in self._runs.items() if run.ended_at is not None)
        for at, key in list(ended):
            if now - at > KEPT_FOR:
                self._drop(key)
                ended.remove((at, key))
        while len(ended) > MOST_KEPT:
            counts = Counter(self._callers.get(key, "") for _, key in ended)
            whose = max(counts, key=lambda caller: counts[caller])
            oldest = next(run for run in ended if self._callers.get(run[1], "") == whose)
            self._drop(oldest[1])
            ended.remove(oldest)

    def _drop(self, key: str) -> None:
        del self._runs[key]
        self._callers.pop(key, None)


def _is_outdated(run: RunningWatch, now: datetime, changes: int) -> bool:
    """Return whether something has happened since its end, and that was told or is long over: it is asked anew."""
    if run.ended_at is None or not run.ended.is_set() or run.changes == changes:
        return False
    return run.was_told or now - run.ended_at > UNTOLD_FOR
