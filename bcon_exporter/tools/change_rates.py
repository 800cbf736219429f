"""How often one caller may change what the daemon keeps: notes, quiets, acknowledgements."""

from threading import Lock

from bcon_exporter.callers import CALLER
from bcon_exporter.errors import RateLimitedError
from bcon_exporter.token_buckets import TokenBuckets

AGENT_CHANGES_AT_ONCE = 20
AGENT_CHANGES_PER_SECOND = 1 / 60
"""Notes of agents wait for a person, who reads no more of them than this."""
PERSON_CHANGES_AT_ONCE = 200
PERSON_CHANGES_PER_SECOND = 1 / 5


class ChangeRates:
    """Counts the changes of each caller. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._agents = TokenBuckets(AGENT_CHANGES_AT_ONCE, AGENT_CHANGES_PER_SECOND)
        self._people = TokenBuckets(PERSON_CHANGES_AT_ONCE, PERSON_CHANGES_PER_SECOND)

    def count(self, now: float, *, is_agent: bool) -> None:
        """Count one change of who asks.

        Args:
            now: Monotonic, in seconds.
            is_agent: A tool of agents makes it; their limit is the lower one, and takes nothing from people.

        Raises:
            RateLimitedError: It is one too many.
        """
        with self._lock:
            wait = (self._agents if is_agent else self._people).take(CALLER.get(), now)
        if wait:
            seconds = max(1, round(wait))
            msg = f"too many changes of one caller; the next one is taken in {seconds} s"
            raise RateLimitedError(msg, {"retry_after_seconds": seconds})
