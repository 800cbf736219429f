"""Runs slow work in the background, so that one project that hangs does not delay the drift of the others.

Each piece of work is waited for briefly. If it takes longer, it goes on in the background, at most two at a time, and
the next scan uses its answer. Work that timed out is not started again for a pause that doubles each time, unless the
project's files change.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bcon_exporter import clock
from bcon_exporter.errors import BconError, DeadlineExceededError, InternalError

MOST_IN_BACKGROUND = 2
FIRST_PAUSE_SECONDS = 30.0
LONGEST_PAUSE_SECONDS = 600.0
_MOST_REMEMBERED = 256

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class _Attempt(Generic[_Answer]):
    """The newest attempt at one subject; only attempts that run or timed out are remembered.

    Attributes:
        content: Fingerprint of the files. Changed files are tried at once.
        pause_seconds: Pause before the next attempt if this one times out.
        wait_seconds: How long the caller waits for it.
        retry_at: Earliest time of the next attempt on the monotonic clock; None while this one runs.
    """

    content: str | None
    pause_seconds: float
    wait_seconds: float
    ended: threading.Event = field(default_factory=threading.Event)
    answer: "_Answer | BconError | None" = None
    retry_at: float | None = None


class BackgroundWork(Generic[_Answer]):
    """Runs work in background threads. Thread-safe.

    Args:
        on_answer: Called with the content and the answer when work ends.
        now: The monotonic clock.
    """

    def __init__(
        self,
        on_answer: "Callable[[str | None, _Answer | BconError], None]",
        now: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._on_answer = on_answer
        self._now = now
        self._lock = threading.Lock()
        self._attempts: OrderedDict[Hashable, _Attempt[_Answer]] = OrderedDict()
        self._running = 0
        self._has_late_answer = False

    def run(
        self,
        subject: Hashable,
        content: str | None,
        work: "Callable[[float | None], _Answer | BconError]",
        wait_seconds: float,
    ) -> "_Answer | BconError":
        """Return the work's answer, or a DeadlineExceededError while it still runs.

        Args:
            subject: Identifies the work.
            content: Fingerprint of its input. When it has changed, the work is started at once.
            work: Called with its deadline on the monotonic clock; None leaves it to its own limits.
            wait_seconds: How long to wait for the answer.
        """
        with self._lock:
            last = self._attempts.get(subject)
            if last is not None and last.content == content:
                if last.retry_at is None:
                    return _still_running()
                if self._now() < last.retry_at and last.answer is not None:
                    return last.answer
            deadline = None if self._running < MOST_IN_BACKGROUND else self._now() + wait_seconds
            self._running += 1
            pause = FIRST_PAUSE_SECONDS
            if last is not None and last.content == content:
                pause = min(2 * last.pause_seconds, LONGEST_PAUSE_SECONDS)
            attempt = _Attempt[_Answer](content, pause, wait_seconds)
            self._remember(subject, attempt)
        worker = threading.Thread(
            target=self._work, args=(subject, attempt, work, deadline), name="compose", daemon=True
        )
        worker.start()
        attempt.ended.wait(wait_seconds if deadline is None else None)
        return _still_running() if attempt.answer is None else attempt.answer

    def has_late_answer(self) -> bool:
        """Return whether work has ended late, after its caller had stopped waiting, since the last call."""
        with self._lock:
            has_late_answer, self._has_late_answer = self._has_late_answer, False
            return has_late_answer

    def _work(
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
            self._has_late_answer = self._has_late_answer or seconds >= attempt.wait_seconds
        self._on_answer(attempt.content, answer)
        attempt.ended.set()

    def _remember(self, subject: Hashable, attempt: "_Attempt[_Answer]") -> None:
        self._attempts[subject] = attempt
        self._attempts.move_to_end(subject)
        finished = [subject_of for subject_of, other in self._attempts.items() if other.retry_at is not None]
        for subject_of in finished[: max(0, len(self._attempts) - _MOST_REMEMBERED)]:
            del self._attempts[subject_of]


def _still_running() -> DeadlineExceededError:
    return DeadlineExceededError("Compose is still resolving it. The answer counts from the next look on.")
