"""Single flight: identical requests share one run; a few runs at once, more are refused."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, TypeVar

from bcon_exporter.errors import DeadlineExceededError, RateLimitedError

T = TypeVar("T")


class SingleFlight:
    """Runs work in the caller's thread, once for all callers that ask for the same at the same time.

    Args:
        max_running: So many different runs at once.
        slot_wait_seconds: How long a request may wait for a free slot before it is refused.
        share_wait_seconds: How long a request waits for the answer of another's run.
    """

    def __init__(self, max_running: int = 4, slot_wait_seconds: float = 1.0, share_wait_seconds: float = 60.0) -> None:
        self._max_running = max_running
        self._slots = threading.BoundedSemaphore(max_running)
        self._slot_wait_seconds = slot_wait_seconds
        self._share_wait_seconds = share_wait_seconds
        self._lock = threading.Lock()
        self._running: dict[Hashable, Future[Any]] = {}

    def run(self, key: Hashable, work: Callable[[], T]) -> tuple[T, bool]:
        """Return the result, and whether it was another request's run.

        Raises:
            RateLimitedError: No slot became free in time.
            DeadlineExceededError: The other request's run took too long.
        """
        own: Future[Any] = Future()
        with self._lock:
            run = self._running.setdefault(key, own)
        if run is own:
            return self._lead(key, own, work), False
        return self._follow(run), True

    def _lead(self, key: Hashable, own: Future[Any], work: Callable[[], T]) -> T:
        try:
            value = self._with_slot(work)
        except BaseException as error:  # or followers would wait for ever
            self._end(key)
            own.set_exception(error)
            raise
        self._end(key)
        own.set_result(value)
        return value

    def _with_slot(self, work: Callable[[], T]) -> T:
        if not self._slots.acquire(timeout=self._slot_wait_seconds):
            msg = f"{self._max_running} other requests are being worked on; try again in a few seconds"
            raise RateLimitedError(msg, {"max_running": self._max_running, "retry_after_seconds": 5})
        try:
            return work()
        finally:
            self._slots.release()

    def _end(self, key: Hashable) -> None:
        with self._lock:
            del self._running[key]

    def _follow(self, run: Future[Any]) -> Any:
        try:
            return run.result(timeout=self._share_wait_seconds)
        except FutureTimeoutError as error:
            if run.done():  # the work itself raised a TimeoutError
                raise
            msg = "an identical request has been running for too long; try again later"
            raise DeadlineExceededError(msg, {"waited_seconds": self._share_wait_seconds}) from error
