"""Waits for slow work for a moment only, so that one project that hangs makes the others' drift no older.

What takes longer goes on beside the scan, two at a time, and its answer counts from the next scan on. What has timed
out is left alone for a while, the longer the more often it did, until its files are others.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bcon_exporter import clock
from bcon_exporter.errors import BconError, DeadlineExceededError, InternalError

MOST_BESIDE = 2
FIRST_PAUSE_SECONDS = 30.0
LONGEST_PAUSE_SECONDS = 600.0
_MOST_REMEMBERED = 256

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class _Attempt(Generic[_Answer]):
    """The newest attempt at one subject; only those that ran long or timed out are remembered.

    Attributes:
        content: What the files were: other files are tried at once.
        pause_seconds: How long to leave it alone when it times out.
        wait_seconds: How long somebody waits for it.
        retry_at: On the monotonic clock; None while it runs.
    """

    content: str | None
    pause_seconds: float
    wait_seconds: float
    ended: threading.Event = field(default_factory=threading.Event)
    answer: "_Answer | BconError | None" = None
    retry_at: float | None = None


class Patience(Generic[_Answer]):
    """Runs work in threads of its own. Thread-safe.

    Args:
        keep: Is given the answers of work that took too long to wait for.
        now: The monotonic clock.
    """

    def __init__(
        self,
        keep: "Callable[[str | None, _Answer | BconError], None]",
        now: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._keep = keep
        self._now = now
        self._lock = threading.Lock()
        self._attempts: OrderedDict[Hashable, _Attempt[_Answer]] = OrderedDict()
        self._running = 0
        self._has_news = False

    def ask(
        self,
        subject: Hashable,
        content: str | None,
        work: "Callable[[float | None], _Answer | BconError]",
        wait_seconds: float,
    ) -> "_Answer | BconError":
        """Return the work's answer, or the error that tells that it takes long.

        Args:
            subject: Whose work it is.
            content: What it hangs on: where this has changed, it is tried at once.
            work: Is given the time by which it must end on the monotonic clock, None for its own limits.
            wait_seconds: How long to wait for it.
        """
        with self._lock:
            last = self._attempts.get(subject)
            if last is not None and last.content == content:
                if last.retry_at is None:
                    return _still_running()
                if self._now() < last.retry_at and last.answer is not None:
                    return last.answer
            deadline = None if self._running < MOST_BESIDE else self._now() + wait_seconds
            self._running += 1
            pause = FIRST_PAUSE_SECONDS
            if last is not None and last.content == content:
                pause = min(2 * last.pause_seconds, LONGEST_PAUSE_SECONDS)
            attempt = _Attempt[_Answer](content, pause, wait_seconds)
            self._remember(subject, attempt)
        worker = threading.Thread(
            target=self._run, args=(subject, attempt, work, deadline), name="compose", daemon=True
        )
        worker.start()
        attempt.ended.wait(wait_seconds if deadline is None else None)
        return _still_running() if attempt.answer is None else attempt.answer

    def has_news(self) -> bool:
        """Return whether work that nobody waited for has ended; each time is told once."""
        with self._lock:
            news, self._has_news = self._has_news, False
            return news

    def _run(
        self,
        subject: Hashable,
        attempt: "_Attempt[_Answer]",
        work: "Callable[[float | None], _Answer | BconError]",
        deadline: float | None,
    ) -> None:
        started = self._now()
        answer: _Answer | BconError = InternalError("Resolving it has failed; the log has the details.")
        try:
            answer = work(deadline)
        except BconError as error:
            answer = error
        finally:
            self._end(subject, attempt, answer, self._now() - started)

    def _end(
        self, subject: Hashable, attempt: "_Attempt[_Answer]", answer: "_Answer | BconError", seconds: float
    ) -> None:
        with self._lock:
            self._running -= 1
            attempt.answer = answer
            attempt.retry_at = self._now()
            if isinstance(answer, DeadlineExceededError):
                attempt.retry_at += attempt.pause_seconds
            elif self._attempts.get(subject) is attempt:
                del self._attempts[subject]
            self._has_news = self._has_news or seconds >= attempt.wait_seconds
        self._keep(attempt.content, answer)
        attempt.ended.set()

    def _remember(self, subject: Hashable, attempt: "_Attempt[_Answer]") -> None:
        self._attempts[subject] = attempt
        self._attempts.move_to_end(subject)
        idle = [known for known, one in self._attempts.items() if one.retry_at is not None]
        for known in idle[: max(0, len(self._attempts) - _MOST_REMEMBERED)]:
            del self._attempts[known]


def _still_running() -> DeadlineExceededError:
    return DeadlineExceededError("Compose is still resolving it. The answer counts from the next look on.")
