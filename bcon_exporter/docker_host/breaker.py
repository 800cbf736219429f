"""One circuit breaker per engine endpoint: hangs are partial, and one hanging endpoint must leave the rest fresh.

The same for one that a proxy before the engine refuses: it is asked once an interval, not for every container.
"""

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

EndpointName = Literal["list", "inspect", "stats", "logs", "events"]
ENDPOINT_NAMES: tuple[EndpointName, ...] = get_args(EndpointName)

_WHAT = {"inspect": "descriptions of containers", "stats": "stats", "logs": "logs", "events": "events"}
_log = logging.getLogger(__name__)

Permission = Literal["all", "probe", "none"]


@dataclass(slots=True)
class Breaker:
    """Whether one endpoint may be asked.

    Closed it lets everything through. A time-out or a proxy's refusal opens it; while it is open, one probe passes
    per `probe_interval_seconds`, and its success closes it again. Any other answer, also an error, is no hang.

    Attributes:
        reason: Why it is open; None while closed.
    """

    probe_interval_seconds: float
    reason: str | None = None
    _last_probe: float = float("-inf")

    def ask(self, now: float) -> Permission:
        """Return what may be sent now, on a monotonic clock; a returned "probe" counts as sent."""
        if self.reason is None:
            return "all"
        if now - self._last_probe < self.probe_interval_seconds:
            return "none"
        self._last_probe = now
        return "probe"

    def report(self, now: float, failure: str | None) -> None:
        """Note the outcome of what was sent: None for an answer, else why there was none."""
        if failure is not None:
            self._last_probe = now
        self.reason = failure


@dataclass
class Breakers:
    """The breakers of one engine; safe to use from several threads."""

    probe_interval_seconds: float
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _by_name: Mapping[EndpointName, Breaker] = field(init=False)

    def __post_init__(self) -> None:
        self._by_name = {name: Breaker(self.probe_interval_seconds) for name in ENDPOINT_NAMES}

    def set_probe_interval(self, seconds: float) -> None:
        """Let a probe pass this often from now on."""
        with self._lock:
            for breaker in self._by_name.values():
                breaker.probe_interval_seconds = seconds

    def ask(self, name: EndpointName, now: float) -> Permission:
        """Return what may be sent to an endpoint now."""
        with self._lock:
            return self._by_name[name].ask(now)

    def report(self, name: EndpointName, now: float, failure: str | None) -> None:
        """Note the outcome of what was sent to an endpoint; a change is logged, since no scan fails by it."""
        with self._lock:
            before = self._by_name[name].reason
            self._by_name[name].report(now, failure)
        if name == "list":
            return  # without it a scan fails, and says so itself
        if before is None and failure is not None:
            _log.warning("the engine's %s are not read: %s", _WHAT[name], failure)
        elif before is not None and failure is None:
            _log.info("the engine's %s are read again", _WHAT[name])

    def reason(self, name: EndpointName) -> str | None:
        """Return why an endpoint is taken for hanging; None when it is not."""
        with self._lock:
            return self._by_name[name].reason

    def up(self) -> dict[str, bool]:
        """Return for each endpoint whether its last contact was answered."""
        with self._lock:
            return {name: breaker.reason is None for name, breaker in self._by_name.items()}
