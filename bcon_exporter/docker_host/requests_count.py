"""What watching costs the engine: requests, failures and durations per endpoint."""

import bisect
import threading
from dataclasses import dataclass, field

DURATION_BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class EndpointCounts:
    """The requests to one endpoint since the start of the process.

    Attributes:
        buckets: Requests per duration bucket, not cumulative; one more than DURATION_BUCKETS_SECONDS, the last is +Inf.
    """

    requests: int
    failures: int
    seconds: float
    buckets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """Requests per endpoint ("list", "inspect", "stats", "logs", "events", "ping", "version", ...)."""

    endpoints: dict[str, EndpointCounts]

    @property
    def total(self) -> int:
        """All requests to the engine."""
        return sum(counts.requests for counts in self.endpoints.values())


@dataclass(slots=True)
class _Tally:
    requests: int = 0
    failures: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(DURATION_BUCKETS_SECONDS) + 1))


class RequestTally:
    """Counts requests; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tallies: dict[str, _Tally] = {}

    def add(self, endpoint: str, seconds: float, *, failed: bool) -> None:
        """Count one finished request."""
        bucket = bisect.bisect_left(DURATION_BUCKETS_SECONDS, seconds)
        with self._lock:
            tally = self._tallies.setdefault(endpoint, _Tally())
            tally.requests += 1
            tally.failures += failed
            tally.seconds += seconds
            tally.buckets[bucket] += 1

    def counts(self) -> RequestCounts:
        """Return the counts so far."""
        with self._lock:
            return RequestCounts(
                {
                    name: EndpointCounts(tally.requests, tally.failures, tally.seconds, tuple(tally.buckets))
                    for name, tally in sorted(self._tallies.items())
                }
            )
