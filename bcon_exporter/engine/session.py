"""EngineSession: requests to one engine, with its API version, health, request counts and translated errors."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.address import Dialer
from bcon_exporter.engine.api_version import choose_version, format_version, parse_version
from bcon_exporter.engine.endpoint_health import EndpointName, EngineHealth, RequestTally
from bcon_exporter.engine.failures import (
    NotQueriedError,
    OverdueError,
    VersionRefusedError,
    foreign_errors,
    is_refused,
    is_unreachable,
    silence_reason,
    status_error,
    timeout_error,
    too_old_error,
    translate,
)
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.engine.http import Batch, Outcome, fetch, fetch_one
from bcon_exporter.engine.http_parser import Answer
from bcon_exporter.engine.scan import Deadline, HostOptions
from bcon_exporter.errors import BconError, DeadlineExceededError

if TYPE_CHECKING:
    from bcon_exporter.engine.client import ReadOnlyClient

T = TypeVar("T")
_OK = 200
_STATS_CAP_BYTES = 1024 * 1024
_ONE_SHOT = "stream=false&one-shot=true"
_SHARE_PER_REQUEST = 1 / 3
"""The share of the remaining time that one of many requests may take."""

_SILENT_SECONDS = 1.0
"""So long an engine that did not answer in time is not asked for its version again."""
_NEARLY = 0.9


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """One request to the same endpoint for each of many containers.

    Attributes:
        doing: For messages: "reading logs".
        targets: Full id → request target, without the API version.
        deadline: For all of them together.
        body_cap_bytes: Longer answers are cut.
    """

    endpoint: EndpointName
    doing: str
    targets: Mapping[str, str]
    deadline: Deadline
    body_cap_bytes: int


@dataclass(slots=True)
class _BatchResult:
    """Counts and errors of a batch of requests to one endpoint.

    Attributes:
        are_suspects: The containers were silent before, so their silence says nothing about the endpoint.
        answered: Number of answers with any status.
        overdue: Indexes of requests that were not answered within their own time limit.
    """

    are_suspects: bool = False
    asked: int = 0
    answered: int = 0
    hung: int = 0
    unreachable: int = 0
    overdue: list[int] = field(default_factory=list)
    errors: list[BconError] = field(default_factory=list)

    def note(self, index: int, answer: Outcome, outcome: Outcome) -> None:
        """Count one outcome: `answer` as it came, `outcome` with an error status turned into an error."""
        self.asked += 1
        if isinstance(answer, Answer):
            self.answered += 1
            if isinstance(outcome, BconError):
                self.errors.append(outcome)
            return
        self.hung += isinstance(answer, DeadlineExceededError)
        self.unreachable += is_unreachable(answer)
        if isinstance(answer, OverdueError):
            self.overdue.append(index)

    def refusal_of_all(self) -> str | None:
        """Return the message of the proxy that refused all requests; None when it did not refuse all."""
        is_refusal = len(self.errors) == self.answered and all(map(is_refused, self.errors))
        return self.errors[0].message if is_refusal else None


class EngineSession:
    """Shared by all threads that query one engine. The constructor does no I/O."""

    def __init__(self, endpoint: Endpoint, options: HostOptions) -> None:
        self.endpoint = endpoint
        self.options = options
        self.dialer = Dialer(endpoint)
        self.health = EngineHealth(options.probe_interval_seconds)
        self.tally = RequestTally()
        self.closed = threading.Event()
        self._client: ReadOnlyClient | None = None
        self._version: tuple[int, int] | None = None
        self._offered: str | None = None
        self._silent: tuple[DeadlineExceededError, float] | None = None
        self._lock = threading.Lock()

    def batch(self, doing: str, deadline: Deadline, **changes: Any) -> Batch:
        """Return the settings for a batch of requests; `changes` are fields of Batch."""
        seconds = deadline.left()
        limit = min(seconds, self.options.read_timeout_seconds)
        return Batch(doing, seconds, limit, is_cancelled=self.closed.is_set, **changes)

    def bulk_batch(self, doing: str, deadline: Deadline, *, body_cap_bytes: int) -> Batch:
        """Return the settings for many requests that the engine answers at once.

        Requests wait behind each other on a connection, so each gets only a share of the time.
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
        return replace(batch, request_seconds=min(batch.request_seconds, _SHARE_PER_REQUEST * batch.seconds))

    def client(self) -> "ReadOnlyClient":
        """Return docker-py's client for this engine, made at the first call."""
        with self._lock:
            if self._client is None:
                # docker-py and requests take a third of a second to load; `--help` must not pay for them
                from bcon_exporter.engine.client import ReadOnlyClient

                self._client = ReadOnlyClient(self.dialer, self.batch("asking the engine", Deadline.after(60.0)))
            return self._client

    def negotiate(self, deadline: Deadline) -> str:
        """Return the path prefix of the API version in use, "/v1.41", asking the engine for its own if need be.

        Raises:
            BconError: The engine did not say, or is too old.
        """
        version = self._version  # read once: other threads forget it at any time
        if version is None:
            version = self._query_unless_silent(deadline)
            self.client().use_version(version)
            self._version = version
        return f"/v{format_version(version)}"

    def _query_unless_silent(self, deadline: Deadline) -> tuple[int, int]:
        """Ask for the version, unless nothing answered a moment ago.

        Events are read before containers: an engine that hangs would hold a caller for two time limits instead of one.

        Raises:
            BconError: The engine did not say, or is too old.
        """
        silent, started = self._silent, monotonic()
        if silent is not None and started < silent[1] + _SILENT_SECONDS:
            raise DeadlineExceededError(silent[0].message, silent[0].details)
        try:
            return self._query_version(deadline)
        except DeadlineExceededError as error:
            if monotonic() - started >= _NEARLY * self.options.read_timeout_seconds:  # not where a caller was hasty
                self._silent = error, monotonic()
            raise

    def _query_version(self, deadline: Deadline) -> tuple[int, int]:
        """Choose the version by the header of /_ping, which answers even while containerd hangs; /version does not.

        Only /version names the oldest version that an engine accepts, which matters for an engine newer than ours.
        """
        offered = self.ping(deadline).header("api-version")  # None also where a proxy forbids pings
        by_ping = choose_version(offered, None)
        if by_ping is not None and by_ping == parse_version(offered):
            return by_ping
        try:
            versions: Any = self.call(
                "version", "asking for versions", deadline, lambda c: c.version(api_version=False)
            )
        except DeadlineExceededError:
            if by_ping is None:
                raise
            return by_ping
        versions = versions if isinstance(versions, dict) else {}
        if (version := choose_version(versions.get("ApiVersion"), versions.get("MinAPIVersion"))) is None:
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
                self.health.is_reached = False
        self.note_offered(answer.header("api-version"))
        return answer

    def forget_version(self) -> None:
        """Negotiate again before the next request: the engine may have been replaced."""
        self._version = None

    def note_ping(self, failure: BconError | None) -> None:
        """Record the outcome of a heartbeat's ping; an engine that answers again may be of another version."""
        if self.health.ping_failure is not None and failure is None:
            self.forget_version()
            self.health.note_return(monotonic())
        # a proxy that lets no ping through says nothing about the engine behind it
        self.health.ping_failure = None if failure is not None and is_refused(failure) else failure

    def note_offered(self, api_version: str | None) -> None:
        """Record the Api-Version header of an answer; a changed one means that the engine was replaced."""
        if parse_version(api_version) is None or api_version == self._offered:
            return
        if self._offered is not None:
            self.forget_version()
        self._offered = api_version

    def call(
        self,
        name: str,
        doing: str,
        deadline: Deadline,
        function: Callable[["ReadOnlyClient"], T],
        *,
        may_take_seconds: float | None = None,
    ) -> T:
        """Run one call of docker-py within the deadline, counted, its errors translated.

        Args:
            name: For the count.
            doing: For messages.
            deadline: When to give up.
            function: The call.
            may_take_seconds: None for as long as any request.

        Raises:
            BconError: What went wrong.
        """
        started = monotonic()
        error: BconError | None = None
        try:
            limit_seconds = self.options.read_timeout_seconds if may_take_seconds is None else may_take_seconds
            with self.client().limit(deadline.left(limit_seconds)) as client:
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
                self.health.is_reached = True
            elif is_unreachable(error):  # info and version hang with containerd, the engine is up
                self.health.is_reached = False

    def get(self, name: EndpointName, doing: str, target: str, deadline: Deadline, *, body_cap_bytes: int) -> Answer:
        """Send one raw GET and return its 200 answer.

        Raises:
            BconError: No answer, or another status.
        """
        limit = Deadline.after(deadline.left(self.options.read_timeout_seconds))
        [(_, outcome)] = self.fetch(name, [target], self.batch(doing, limit, body_cap_bytes=body_cap_bytes))
        if isinstance(outcome, BconError):
            raise outcome
        return outcome

    def fetch(self, name: EndpointName, targets: Sequence[str], batch: Batch) -> Iterator[tuple[int, Outcome]]:
        """Send raw GETs to an endpoint; yield (index, 200 answer or error) as they come.

        The endpoint's health is updated at the end.
        """
        result = _BatchResult()
        yield from self._fetch(name, targets, batch, result)
        self._record_result(name, result, batch.doing)

    def query_stats(self, ids: Iterable[str], doing: str, deadline: Deadline) -> Iterator[tuple[str, Outcome]]:
        """Query the one-shot stats of containers, as `query_containers` does."""
        targets = {container_id: f"/containers/{container_id}/stats?{_ONE_SHOT}" for container_id in ids}
        return self.query_containers(BulkRequest("stats", doing, targets, deadline, _STATS_CAP_BYTES))

    def query_containers(self, request: BulkRequest) -> Iterator[tuple[str, Outcome]]:
        """Query an endpoint for containers; yield (container id, 200 answer or error) as they come.

        Containers that were silent a moment ago are skipped. While the endpoint fails, at most one container is
        queried, as a probe, and the others once it was answered. Skipped containers get a NotQueriedError.
        """
        name = request.endpoint
        to_query, skipped = self.health.split(name, list(request.targets), monotonic())
        for container_id, reason in skipped.items():
            yield container_id, NotQueriedError(reason)
        if to_query and self.health.permit(name, monotonic()) == "probe":
            yield from self._query_group(request, [to_query.pop(0)])
        if (failure := self.health.failure(name)) is not None:
            for container_id in to_query:
                yield container_id, NotQueriedError(failure)
        elif to_query:
            yield from self._query_group(request, to_query)

    def _query_group(self, request: BulkRequest, ids: Sequence[str]) -> Iterator[tuple[str, Outcome]]:
        name, deadline = request.endpoint, request.deadline
        try:
            prefix = self.negotiate(deadline)
        except BconError as error:  # it must not cost the whole scan
            for container_id in ids:
                yield container_id, NotQueriedError(error.message)
            return
        # inspect is as a rule asked of the one container that has changed: its silence says nothing about the endpoint
        is_alone = name == "inspect" and len(ids) == 1 and self.health.failure(name) is None
        result = _BatchResult(are_suspects=is_alone or self.health.were_all_silent(name, ids))
        targets = [prefix + request.targets[container_id] for container_id in ids]
        for index, outcome in self._fetch(name, targets, self._batch_for(request), result):
            if not isinstance(outcome, DeadlineExceededError):
                self.health.note_answer(name, ids[index])
            yield ids[index], outcome
        for index in self._record_result(name, result, request.doing):
            self.health.note_silence(name, ids[index], silence_reason(request.doing), monotonic())

    def _batch_for(self, request: BulkRequest) -> Batch:
        doing, deadline, body_cap_bytes = request.doing, request.deadline, request.body_cap_bytes
        if request.endpoint != "stats":
            return self.bulk_batch(doing, deadline, body_cap_bytes=body_cap_bytes)
        # the engine answers each on a tick of one second: the next on its connection would wait for another
        connections = self.options.stats_connections
        return self.batch(doing, deadline, connections=connections, body_cap_bytes=body_cap_bytes)

    def _fetch(
        self, name: EndpointName, targets: Sequence[str], batch: Batch, result: _BatchResult
    ) -> Iterator[tuple[int, Outcome]]:
        if not targets:
            return
        self.health.note_asked(name, monotonic())
        for index, answer, seconds in fetch(self.dialer, targets, batch):
            outcome = answer
            if isinstance(answer, Answer) and answer.status != _OK:
                outcome = status_error(answer.status, answer.body, self.endpoint, batch.doing)
            if isinstance(outcome, VersionRefusedError):
                self.forget_version()
            self.tally.add(name, seconds, failed=isinstance(outcome, BconError))
            result.note(index, answer, outcome)
            yield index, outcome

    def _record_result(self, name: EndpointName, result: _BatchResult, doing: str) -> list[int]:
        """Update the engine's health from a batch; return the indexes of requests that exceeded their own time limit.

        The endpoint counts as hanging when nothing was answered and something timed out: one silent container does not
        block it for the others, and neither do suspects. It counts as refused when a proxy refused all requests.
        """
        if result.answered or result.unreachable or (name == "list" and result.asked):
            self.health.is_reached = result.answered > 0  # all else may hang alone while the engine is up
        if self.closed.is_set():
            return []
        if result.answered:
            self.health.report(name, monotonic(), result.refusal_of_all())
        elif result.hung and not result.are_suspects:
            self.health.report(name, monotonic(), timeout_error(self.endpoint, doing).message)
        return result.overdue if result.answered or result.are_suspects else []
