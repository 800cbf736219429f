"""Whether an engine answers, as a whole, at each endpoint, about each container; what asking has cost it. No I/O.

Hangs are partial. A dead containerd leaves lists and descriptions fresh and holds all stats; one container whose shim
or log driver hangs holds whoever asks for it, since one lock in the engine is held (moby/moby#39523), and nobody else.
What hangs is asked ever more rarely, so that it slows no scan, and what answers is asked as before. The same goes for
an endpoint that a proxy before the engine refuses.
"""

import bisect
import logging
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from bcon_exporter.errors import BconError

EndpointName = Literal["list", "inspect", "stats", "logs", "events"]
ENDPOINT_NAMES: tuple[EndpointName, ...] = get_args(EndpointName)
Permission = Literal["all", "probe", "none"]

AGAIN_AFTER_SECONDS = (5.0, 15.0, 60.0)
"""How long a container is left alone after it did not answer once, twice, three times or more.

A busy engine holds its lock for seconds while it starts or stops a container, so the first waits are short: a scan that
met such a moment must not leave the container unread for long.
"""
DURATION_BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_WHAT = {"inspect": "descriptions of containers", "stats": "stats", "logs": "logs", "events": "events"}
_log = logging.getLogger(__name__)


class _Silence(NamedTuple):
    """A container that did not answer though others did: since when, how often in a row, and the reason to tell."""

    since: float
    times: int
    reason: str

    def is_over(self, now: float) -> bool:
        """Whether it is to be asked again."""
        return now - self.since >= AGAIN_AFTER_SECONDS[min(self.times, len(AGAIN_AFTER_SECONDS)) - 1]


@dataclass(slots=True)
class EndpointHealth:
    """What is known of one endpoint; all times are on a monotonic clock.

    A time-out or a proxy's refusal makes it fail. While it fails, one probe passes an interval, and its success ends
    that. Any other answer, also an error, is no hang.

    Attributes:
        failure: Why it is not asked but for probes; None while it answers.
        asked_at: When it was last asked.
        silences: The containers that are left alone, by id.
    """

    failure: str | None = None
    asked_at: float = float("-inf")
    silences: dict[str, _Silence] = field(default_factory=dict)
    _probed_at: float = float("-inf")

    def permit(self, now: float, probe_interval_seconds: float) -> Permission:
        """Return what may be sent now; a returned "probe" counts as sent."""
        if self.failure is None:
            return "all"
        if now - self._probed_at < probe_interval_seconds:
            return "none"
        self._probed_at = now
        return "probe"

    def report(self, now: float, failure: str | None) -> None:
        """Note the outcome of what was sent: None for an answer, else why there was none."""
        if failure is not None:
            self._probed_at = now
        self.failure = failure


class EngineHealth:
    """The health of one engine; safe to use from several threads.

    Attributes:
        is_reached: Whether the last contact that tells of the engine as a whole was answered; None before the first.
        ping_failure: Why the last ping of the heartbeat failed; None when it was answered, or there was none yet.
    """

    def __init__(self, probe_interval_seconds: float) -> None:
        self.is_reached: bool | None = None
        self.ping_failure: BconError | None = None
        self._probe_interval_seconds = probe_interval_seconds
        self._lock = threading.Lock()
        self._endpoints = {name: EndpointHealth() for name in ENDPOINT_NAMES}

    def is_up(self) -> bool:
        """Return whether the engine answered last.

        A ping is no health check (it is answered while containerd hangs), so it only ever adds bad news.
        """
        return self.is_reached is True and self.ping_failure is None and self.failure("list") is None

    def endpoints_up(self) -> dict[str, bool]:
        """Return whether each endpoint answers: none does of an engine that is not up."""
        is_up = self.is_up()
        return {name: is_up and self.failure(name) is None for name in ENDPOINT_NAMES}

    def failure(self, name: EndpointName) -> str | None:
        """Return why an endpoint is taken for hanging or refused; None when it is not."""
        with self._lock:
            return self._endpoints[name].failure

    def last_asked(self, name: EndpointName) -> float:
        """Return when an endpoint was last asked."""
        with self._lock:
            return self._endpoints[name].asked_at

    def note_asked(self, name: EndpointName, now: float) -> None:
        """Note that an endpoint is being asked."""
        with self._lock:
            self._endpoints[name].asked_at = now

    def set_probe_interval(self, seconds: float) -> None:
        """Let a probe pass this often from now on."""
        with self._lock:
            self._probe_interval_seconds = seconds

    def permit(self, name: EndpointName, now: float) -> Permission:
        """Return what may be sent to an endpoint now; a returned "probe" counts as sent."""
        with self._lock:
            return self._endpoints[name].permit(now, self._probe_interval_seconds)

    def report(self, name: EndpointName, now: float, failure: str | None) -> None:
        """Note the outcome of what was sent to an endpoint; a change is logged, since no scan fails by it."""
        with self._lock:
            before = self._endpoints[name].failure
            self._endpoints[name].report(now, failure)
        if name == "list":
            return  # without it a scan fails, and says so itself
        if before is None and failure is not None:
            _log.warning("the engine's %s are not read: %s", _WHAT[name], failure)
        elif before is not None and failure is None:
            _log.info("the engine's %s are read again", _WHAT[name])

    def note_return(self, now: float) -> None:
        """Note that the engine answers again after it did not: what held single containers was the engine itself."""
        with self._lock:
            for endpoint in self._endpoints.values():
                endpoint.silences.clear()
        self.report("list", now, None)
        self.is_reached = True

    def split(self, name: EndpointName, ids: Sequence[str], now: float) -> tuple[list[str], dict[str, str]]:
        """Return the containers to ask an endpoint about, and the others with the reason why not."""
        with self._lock:
            silences = self._endpoints[name].silences
            quiet = {of: silence.reason for of, silence in silences.items() if not silence.is_over(now)}
        asked = [container_id for container_id in ids if container_id not in quiet]
        return asked, {container_id: quiet[container_id] for container_id in ids if container_id in quiet}

    def were_all_silent(self, name: EndpointName, ids: Sequence[str]) -> bool:
        """Return whether none of these answered when last asked about."""
        with self._lock:
            silences = self._endpoints[name].silences
            return bool(silences) and all(container_id in silences for container_id in ids)

    def note_silence(self, name: EndpointName, container_id: str, reason: str, now: float) -> None:
        """Note that a container did not answer, though others did."""
        with self._lock:
            silences = self._endpoints[name].silences
            before = silences.get(container_id)
            silences[container_id] = _Silence(now, before.times + 1 if before else 1, reason)

    def note_answer(self, name: EndpointName, container_id: str) -> None:
        """Note that a container has answered."""
        if self._endpoints[name].silences:
            with self._lock:
                self._endpoints[name].silences.pop(container_id, None)

    def ask_again(self, ids: Collection[str]) -> None:
        """Leave these alone no longer: the engine has told of them, so it has let go of their lock meanwhile."""
        with self._lock:
            for endpoint in self._endpoints.values():
                for container_id in endpoint.silences.keys() & set(ids):
                    silence = endpoint.silences[container_id]
                    endpoint.silences[container_id] = _Silence(float("-inf"), 0, silence.reason)

    def retain(self, ids: Collection[str]) -> None:
        """Forget all other containers."""
        with self._lock:
            for endpoint in self._endpoints.values():
                for gone in endpoint.silences.keys() - set(ids):
                    del endpoint.silences[gone]


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
            tally = self._tallies.get(endpoint)
            if tally is None:
                tally = self._tallies[endpoint] = _Tally()
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
