"""One Docker host as the rest of the program sees it: snapshots, events, logs, and whether it answers."""

import threading
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import datetime

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.background_checks import Heartbeat, StatsProbe
from bcon_exporter.engine.container_names import check_reference, find_container, read_names
from bcon_exporter.engine.containers import list_containers
from bcon_exporter.engine.endpoint_health import RequestCounts
from bcon_exporter.engine.event_log import EventLog
from bcon_exporter.engine.events import EventStream, read_backfill, read_latest
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.engine.host_load import is_in_container, read_host_load
from bcon_exporter.engine.host_view import look_at_host
from bcon_exporter.engine.kernel_log import KernelLog
from bcon_exporter.engine.read_images import read_images
from bcon_exporter.engine.read_logs import LogQuery, query_logs
from bcon_exporter.engine.scan import Deadline, HostOptions, Wants
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.engine.snapshot import SnapshotTaker
from bcon_exporter.engine.stored_data import read_stored_data
from bcon_exporter.errors import BconError
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.model.container_facts import EngineFacts, HostSnapshot, LogFacts
from bcon_exporter.model.deployment import HostFacts, ImageFacts
from bcon_exporter.model.disk import LogReading, StoredData
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.model.system_status import HostLoad
from bcon_exporter.readings import NOTHING_READ, KillReadings, Observation, Readings
from bcon_exporter.secrets.masking import Sealer

_CLOSE_SECONDS = 0.9
_LATEST_SECONDS = 3.0


class DockerHost:
    """One engine, read only. Making one does no I/O; all methods may be called from any thread."""

    def __init__(
        self, endpoint: Endpoint, options: HostOptions, sealer: Sealer, book: HostSecrets | None = None
    ) -> None:
        self._options = options
        self._session = EngineSession(endpoint, options)
        self._book = book or HostSecrets()
        self._log = EventLog()
        self._taker = SnapshotTaker(self._session, sealer, self._log, self._book)
        self._stream = EventStream(self._session, self._log)
        self._kernel_log = KernelLog(options.kernel_log, options.proc_root)
        self._kernel_log_lock = threading.Lock()
        self._heartbeat = Heartbeat(self._session)
        self._probe = StatsProbe(self._session)

    @property
    def endpoint(self) -> Endpoint:
        """The engine's address."""
        return self._session.endpoint

    def start(self) -> None:
        """Follow events, watch the engine's pulse and probe its stats until `close`, in threads."""
        self._stream.start()
        self._heartbeat.start()

    def exclusive_access(self, deadline_seconds: float) -> AbstractContextManager[None]:
        """Wait until nobody reads the host; within the block only this thread does, and it may `observe`.

        Raises:
            DeadlineExceededError: Somebody still read it at the deadline.
        """
        return self._taker.exclusive_access(Deadline.after(deadline_seconds))

    def observe(
        self, now: datetime, deadline_seconds: float, wants: Wants, before: Readings = NOTHING_READ
    ) -> Observation:
        """Read the host; everything but `lifecycle` and `last_usage`, which the memory adds.

        Args:
            now: Wall clock, the snapshot's `taken_at`.
            deadline_seconds: What is not read within is missing, with its reason in `unread` and `incomplete`.
            wants: What to read.
            before: What logs and usage are read on from: without it logs are read anew, and usage has no means.

        Raises:
            DockerConnectionError: The list of containers could not be read.
            PermissionDeniedError: It is forbidden.
            DeadlineExceededError: It did not come in time.
        """
        started = monotonic()
        live = self._stream.is_live
        deadline = Deadline.after(deadline_seconds)
        observation = self._taker.take(now, deadline, wants, before, events_are_live=live)
        self._probe_stats(observation.snapshot, wants, started)
        if live and wants.logs:
            with suppress(BconError):  # then the live stream brings them a little later
                read_latest(self._session, self._log, Deadline.after(_LATEST_SECONDS))
        return observation

    def changes(self) -> int:
        """Return how often a container has been made, started, ended, removed or altered since we follow events."""
        return self._log.changes

    def drain_events(self) -> EventBatch:
        """Return what the event stream brought since the last call; without `start`, what the daemon remembers."""
        if self._stream.is_started:
            self._stream.first_backfill.wait(self._options.event_wait_seconds)
            return self._log.drain()
        try:
            read_backfill(self._session, self._log, Deadline.after(self._options.read_timeout_seconds))
        except BconError:
            return EventBatch(events=(), covers_since=None)
        return self._log.drain()

    def read_kills(self) -> KillReadings | None:
        """Return what the kernel says of its OOM kills since the last call; None of an engine elsewhere."""
        if not self.endpoint.is_local:
            return None
        with self._kernel_log_lock:
            logged = tuple(self._kernel_log.read_kills())
        return KillReadings(logged, self._taker.kill_counts(), tuple(self._taker.all_known_facts()))

    def resolve(self, container: str) -> str:
        """Return the full id that an id, a unique id prefix or a name means.

        Raises:
            ContainerNotFoundError: There is none; `details["near_matches"]`.
            InvalidInputError: It is malformed or ambiguous; `details["matches"]`.
            BconError: The list of containers could not be read.
        """
        check_reference(container)
        listed = list_containers(self._session, self._deadline(), None)
        return find_container(container, (entry.read() for entry in listed))

    def list_names(self, deadline_seconds: float) -> dict[str, str | None]:
        """Return the Compose project of each container by its name, from one list call; None without a project.

        Raises:
            BconError: The list of containers could not be read.
        """
        return read_names(
            entry.read() for entry in list_containers(self._session, Deadline.after(deadline_seconds), None)
        )

    def read_logs(self, container_id: str, *, tail: int, since: datetime | None, until: datetime | None) -> LogFacts:
        """Return a container's newest `tail` lines at or after `since` and before `until`, oldest first, masked.

        Raises:
            ContainerNotFoundError: It is gone.
            InvalidInputError: Its log driver keeps nothing to read back.
            BconError: Its log cannot be read; the message says why.
        """
        check_reference(container_id)
        facts = self._taker.known_facts(container_id)
        name, tty, driver = (facts.name, facts.tty, facts.log_driver) if facts else (container_id[:12], None, None)
        deadline = Deadline.after(2 * self._options.read_timeout_seconds)
        secrets = self._taker.learn_secrets(container_id, deadline)
        query = LogQuery(container_id, name, tty, driver, tail, since, until, secrets)
        return query_logs(self._session, query, deadline)

    def engine(self) -> EngineFacts:
        """Ask the engine about itself.

        Raises:
            BconError: It did not answer.
        """
        return self._taker.read_engine(self._deadline())

    def read_images(self, references: Iterable[str]) -> dict[str, ImageFacts | None]:
        """Return reference → image, None for one that is not there; what could not be read is left out."""
        return read_images(self._session, references, self._deadline())

    def read_log_files(self, now: datetime) -> LogReading:
        """Return how large the log files are of the containers that the last snapshot had, and the space around."""
        return self._taker.read_log_files(now)

    def read_stored_data(self, now: datetime) -> StoredData:
        """Return what the engine says of its disk usage; it may take minutes.

        Raises:
            BconError: It did not answer in time, or refuses.
        """
        return read_stored_data(self._session, self._book, now, self._options.df_timeout_seconds)

    def look_at_host(self, snapshot: HostSnapshot, paths: Mapping[str, str]) -> HostFacts:
        """Return what is seen of the engine's host; `paths` as `look_at_host` wants them."""
        return look_at_host(self.endpoint.url, self._options.proc_root, snapshot.engine, snapshot.networks, paths)

    def read_load(self, engine: EngineFacts) -> HostLoad | str:
        """Return how busy the engine's machine is, or why that cannot be seen from here."""
        return read_host_load(self.endpoint.url, self._options.proc_root, engine)

    def is_in_container(self) -> bool:
        """Return whether this process runs in a container."""
        return is_in_container()

    def is_up(self) -> bool:
        """Return whether the engine answered last, with `start` within six seconds of the truth; False before."""
        return self._session.health.is_up()

    def endpoints_up(self) -> dict[str, bool]:
        """Return for list, inspect, stats, logs and events whether it answers: none does of an engine out of reach."""
        return self._session.health.endpoints_up()

    def requests(self) -> RequestCounts:
        """Return what watching has cost the engine so far."""
        return self._session.tally.counts()

    def set_probe_interval(self, seconds: float) -> None:
        """Probe hanging endpoints this often from now on."""
        self._session.health.set_probe_interval(seconds)

    def close(self) -> None:
        """End the threads and all running calls; returns within a second, also while the engine hangs."""
        self._session.closed.set()
        deadline = Deadline.after(_CLOSE_SECONDS)
        self._heartbeat.signal()
        self._stream.close(deadline.left())
        self._heartbeat.close(deadline.left())
        self._probe.close(deadline.left())
        self._taker.close(deadline.left())
        if self._kernel_log_lock.acquire(timeout=max(0.0, deadline.left())):
            try:
                self._kernel_log.close()
            finally:
                self._kernel_log_lock.release()

    def _deadline(self) -> Deadline:
        return Deadline.after(self._options.read_timeout_seconds)

    def _probe_stats(self, snapshot: HostSnapshot, wants: Wants, started: float) -> None:
        """Probe stats when this scan did not need the engine for usage."""
        if self._stream.is_started and wants.usage and self._session.health.last_asked("stats") < started:
            self._probe.begin([container.id for container in snapshot.containers if container.is_running])
