"""One engine and how we speak with it: version, breakers, counts, and errors translated in one place."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bcon_exporter.clock import monotonic
from bcon_exporter.docker_host.address import Dialer
from bcon_exporter.docker_host.api_version import choose_version, format_version, parse_version
from bcon_exporter.docker_host.breaker import Breakers, EndpointName
from bcon_exporter.docker_host.failures import (
    OverdueError,
    VersionRefusedError,
    foreign_errors,
    is_refused,
    is_unreachable,
    status_error,
    stuck_reason,
    timeout_error,
    too_old_error,
    translate,
)
from bcon_exporter.docker_host.locate import Endpoint
from bcon_exporter.docker_host.options import HostOptions
from bcon_exporter.docker_host.pipeline import Batch, Outcome, fetch, fetch_one
from bcon_exporter.docker_host.requests_count import RequestTally
from bcon_exporter.docker_host.stuck import StuckContainers
from bcon_exporter.docker_host.wire import Answer
from bcon_exporter.errors import BconError, DeadlineExceededError

if TYPE_CHECKING:
    from bcon_exporter.docker_host.client import ReadOnlyClient

T = TypeVar("T")
_OK = 200
_SHARE_OF_ONE = 1 / 3
"""Of the time left: what one of many containers may take."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the moment this many seconds from now."""
        return cls(monotonic() + seconds)

    def left(self, at_most: float = float("inf")) -> float:
        """Return the seconds left, never negative."""
        return max(0.0, min(self.at - monotonic(), at_most))


class EngineSession:
    """Everything shared by the threads that ask one engine. Making one does no I/O."""

    def __init__(self, endpoint: Endpoint, options: HostOptions) -> None:
        self.endpoint = endpoint
        self.options = options
        self.dialer = Dialer(endpoint)
        self.breakers = Breakers(options.probe_interval_seconds)
        self.tally = RequestTally()
        self.closed = threading.Event()
        self._client: ReadOnlyClient | None = None
        self._version: tuple[int, int] | None = None
        self._offered: str | None = None
        self._lock = threading.Lock()
        self.stuck = StuckContainers()
        self.last_contact_ok: bool | None = None
        self._asked_at: dict[EndpointName, float] = {}

    def batch(self, doing: str, deadline: Deadline, **changes: Any) -> Batch:
        """Return how to send requests before a deadline; `changes` are fields of Batch."""
        seconds = deadline.left()
        limit = min(seconds, self.options.read_timeout_seconds)
        return Batch(doing, seconds, limit, is_cancelled=self.closed.is_set, **changes)

    def bulk_batch(self, doing: str, deadline: Deadline, *, body_cap_bytes: int) -> Batch:
        """Return how to send many requests that the engine answers from what it has.

        Others wait behind each on its connection, so a container that hangs may take a part of the time only.
        """
        options = self.options
        batch = self.batch(
            doing,
            deadline,
            connections=options.parallel,
            patience_seconds=options.patience_seconds,
            depth=options.depth,
            body_cap_bytes=body_cap_bytes,
        )
        return replace(batch, request_seconds=min(batch.request_seconds, _SHARE_OF_ONE * batch.seconds))

    def client(self) -> "ReadOnlyClient":
        """Return docker-py's client for this engine, made at the first call."""
        with self._lock:
            if self._client is None:
                # docker-py and requests take a third of a second to load; `--help` must not pay for them
                from bcon_exporter.docker_host.client import ReadOnlyClient

                self._client = ReadOnlyClient(self.dialer, self.batch("asking the engine", Deadline.after(60.0)))
            return self._client

    def negotiate(self, deadline: Deadline) -> str:
        """Return the path prefix of the API version in use, "/v1.41", asking the engine for its own if need be.

        Raises:
            BconError: The engine did not say, or is too old.
        """
        version = self._version  # read once: other threads forget it at any time
        if version is None:
            version = self._ask_version(deadline)
            self.client().use_version(version)
            self._version = version
        return f"/v{format_version(version)}"

    def _ask_version(self, deadline: Deadline) -> tuple[int, int]:
        """Choose by what /_ping says: it is answered while containerd hangs, which /version is not.

        /version alone names the oldest version that an engine accepts, which counts for one newer than all we know.
        """
        offered = self.ping(deadline).header("api-version")  # None also where a proxy forbids pings
        by_ping = choose_version(offered, None)
        if by_ping is not None and by_ping == parse_version(offered):
            return by_ping
        try:
            said: Any = self.call("version", "asking for versions", deadline, lambda c: c.version(api_version=False))
        except DeadlineExceededError:
            if by_ping is None:
                raise
            return by_ping
        said = said if isinstance(said, dict) else {}
        if (version := choose_version(said.get("ApiVersion"), said.get("MinAPIVersion"))) is None:
            raise too_old_error(self.endpoint)
        return version

    def ping(self, deadline: Deadline) -> Answer:
        """Return a ping's answer of any status.

        Raises:
            BconError: There was none.
        """
        started, answer = monotonic(), None
        try:
            answer = fetch_one(self.dialer, "/_ping", self.batch("pinging", deadline, body_cap_bytes=4096))
        finally:
            self.tally.add("ping", monotonic() - started, failed=answer is None or answer.status != _OK)
            if answer is None:
                self.last_contact_ok = False
        self.note_offered(answer.header("api-version"))
        return answer

    def forget_version(self) -> None:
        """Negotiate again before the next request: the engine may have been replaced."""
        self._version = None

    def note_return(self) -> None:
        """Note that the engine answers again after it did not: it counts as up, and may be another version."""
        self.forget_version()
        self.stuck.forget()
        self.breakers.report("list", monotonic(), None)
        self.last_contact_ok = True

    def note_offered(self, api_version: str | None) -> None:
        """Take the Api-Version header of an answer; another one than before means another engine."""
        if parse_version(api_version) is None or api_version == self._offered:
            return
        if self._offered is not None:
            self.forget_version()
        self._offered = api_version

    def call(self, name: str, doing: str, deadline: Deadline, function: Callable[["ReadOnlyClient"], T]) -> T:
        """Run one call of docker-py within the deadline, counted, its errors translated.

        Raises:
            BconError: What went wrong.
        """
        started = monotonic()
        error: BconError | None = None
        try:
            with self.client().limit(deadline.left(self.options.read_timeout_seconds)) as client:
                return function(client)
        except BconError as ours:
            error = ours
            raise
        except foreign_errors() as foreign:
            error = translate(foreign, self.endpoint, doing)
            raise error from None
        finally:
            self.tally.add(name, monotonic() - started, failed=error is not None)
            if error is None or "status" in error.details:
                self.last_contact_ok = True
            elif is_unreachable(error):  # info and version hang with containerd, the engine is up
                self.last_contact_ok = False

    def get(self, name: EndpointName, doing: str, target: str, deadline: Deadline, *, body_cap_bytes: int) -> Answer:
        """Send one raw GET and return its 200 answer; its endpoint's breaker is told.

        Raises:
            BconError: No answer, or another status.
        """
        outcomes: list[Outcome] = []
        limit = Deadline.after(deadline.left(self.options.read_timeout_seconds))
        batch = self.batch(doing, limit, body_cap_bytes=body_cap_bytes)
        self.bulk(name, [target], batch, lambda _index, outcome: outcomes.append(outcome))
        outcome = outcomes[0]
        if isinstance(outcome, BconError):
            raise outcome
        return outcome

    def bulk(
        self,
        name: EndpointName,
        targets: Sequence[str],
        batch: Batch,
        on_outcome: Callable[[int, Outcome], None],
        *,
        suspects: bool = False,
    ) -> list[int]:
        """Send raw GETs; each outcome is a 200 answer or an error.

        The endpoint counts as hanging when nothing was answered and something timed out: one stuck container does not
        close it for the others, and neither do `suspects`. It counts as refused when a proxy refused all.

        Returns:
            Those that seem stuck: suspects, and those beside answered ones, that were not answered in their own time.
        """
        answered, hung, unreachable = 0, 0, 0
        errors: list[BconError] = []
        overdue: list[int] = []

        def note(index: int, outcome: Outcome, seconds: float) -> None:
            nonlocal answered, hung, unreachable
            failed = False
            if isinstance(outcome, Answer):
                answered += 1
                if outcome.status != _OK:
                    outcome, failed = self._refused(outcome, batch.doing), True
                    errors.append(outcome)
            else:
                failed = True
                hung += isinstance(outcome, DeadlineExceededError)
                unreachable += is_unreachable(outcome)
                if isinstance(outcome, OverdueError):
                    overdue.append(index)
            self.tally.add(name, seconds, failed=failed)
            on_outcome(index, outcome)

        if not targets:
            return []
        self._asked_at[name] = monotonic()
        fetch(self.dialer, targets, batch, note)
        if answered or unreachable or name == "list":  # all else may hang alone while the engine is up
            self.last_contact_ok = answered > 0
        if self.closed.is_set():
            return []
        if answered:
            self.breakers.report(name, monotonic(), _refusal_of_all(errors, answered))
        elif hung and not suspects:
            self.breakers.report(name, monotonic(), timeout_error(self.endpoint, batch.doing).message)
        return overdue if answered or suspects else []

    def ask_containers(
        self,
        name: EndpointName,
        ids: Sequence[str],
        path: Callable[[str], str],
        batch: Batch,
        take: Callable[[str, Outcome], None],
    ) -> None:
        """Send one raw GET for each container, and remember who is stuck.

        Args:
            name: The endpoint.
            ids: Full ids.
            path: Returns a container's target.
            batch: How to send.
            take: Called with each id and its outcome.
        """
        targets = [path(container_id) for container_id in ids]

        def note(index: int, outcome: Outcome) -> None:
            self.stuck.note_answer(name, ids[index])
            take(ids[index], outcome)

        # inspect is as a rule asked of the one container that has changed: its silence says nothing about the endpoint
        lone = name == "inspect" and len(ids) == 1 and self.breakers.reason(name) is None
        suspects = lone or self.stuck.knows_all(name, ids)
        for index in self.bulk(name, targets, batch, note, suspects=suspects):
            self.stuck.note(name, ids[index], stuck_reason(batch.doing), monotonic())

    def last_asked(self, name: EndpointName) -> float:
        """Return when an endpoint was last asked, on the monotonic clock."""
        return self._asked_at.get(name, float("-inf"))

    def gate(self, name: EndpointName, ids: Sequence[str], send: Callable[[list[str]], None]) -> dict[str, str]:
        """Ask for those containers that the endpoint's breaker lets through; return why the others were not asked for.

        Args:
            name: The endpoint.
            ids: Whom to ask for; those that were stuck a moment ago are left alone.
            send: Asks for some of them, through `ask_containers`; an error of ours says why they were not asked. While
                the breaker is open it is called with the first alone, as a probe, and with the rest only when that was
                answered.
        """
        rest, left_alone = self.stuck.split(name, ids, monotonic())
        if not rest:
            return left_alone
        permission = self.breakers.ask(name, monotonic())
        if permission == "probe":
            left_alone |= _try(send, [rest.pop(0)])
        if (reason := self.breakers.reason(name)) is not None:
            return left_alone | dict.fromkeys(rest, reason)
        return left_alone | _try(send, rest) if rest else left_alone

    def _refused(self, answer: Answer, doing: str) -> BconError:
        error = status_error(answer.status, answer.body, self.endpoint, doing)
        if isinstance(error, VersionRefusedError):
            self.forget_version()
        return error


def _refusal_of_all(errors: list[BconError], answered: int) -> str | None:
    """Return why a proxy refuses an endpoint; None when something else was answered too."""
    return errors[0].message if len(errors) == answered and all(map(is_refused, errors)) else None


def _try(send: Callable[[list[str]], None], ids: list[str]) -> dict[str, str]:
    """Ask; return why that was not possible (no version could be negotiated): it must not cost the whole scan."""
    try:
        send(ids)
    except BconError as error:
        return dict.fromkeys(ids, error.message)
    return {}
