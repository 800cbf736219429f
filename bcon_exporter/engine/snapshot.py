"""Takes snapshots: the steps of one scan in their order, and what is kept from one to the next."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.containers import (
    Inventory,
    InventoryEntry,
    inspect_containers,
    learn_secrets,
    list_containers,
)
from bcon_exporter.engine.disk import DiskReader
from bcon_exporter.engine.event_log import EventLog
from bcon_exporter.engine.failures import busy_error
from bcon_exporter.engine.log_cursors import OVERLAP_SECONDS, LogCursors
from bcon_exporter.engine.log_sizes import LogSizes
from bcon_exporter.engine.parse import ElementMemory
from bcon_exporter.engine.read_config import ConfigReader
from bcon_exporter.engine.read_engine import EngineReader, read_networks, read_volumes
from bcon_exporter.engine.read_logs import read_logs_of_all
from bcon_exporter.engine.read_usage import UsageReader
from bcon_exporter.engine.scan import Deadline, Scan, Wants
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.engine.stored_data import read_log_files
from bcon_exporter.engine.usage_windows import UsageWindows
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.model.container_facts import (
    ConfigFacts,
    ContainerFacts,
    DiskFacts,
    EngineFacts,
    HostSnapshot,
    LogFacts,
    NetworkFacts,
    UsageFacts,
    VolumeFacts,
)
from bcon_exporter.model.disk import LogReading
from bcon_exporter.readings import KillCounts, Observation, Readings
from bcon_exporter.secrets.known_secrets import KnownSecrets
from bcon_exporter.secrets.masking import Sealer

_CLOCK_SLACK_ELSEWHERE_SECONDS = 60.0
"""A clock elsewhere may be ahead of ours without having been set back: its logs would be read anew at each scan."""
_NO_SAMPLE = "the engine gave no sample"
_NO_CGROUPS = "the engine runs without cgroups, so nothing counts what a container uses"


@dataclass(frozen=True, slots=True)
class _Collected:
    """What was read of a host beyond its containers' state.

    Attributes:
        usage: By container; so are `logs` and `configs`.
        no_usage: Why a running container has no usage where nothing else says so.
    """

    usage: Mapping[str, UsageFacts]
    no_usage: str
    logs: Mapping[str, LogFacts]
    configs: Mapping[str, ConfigFacts]
    networks: tuple[NetworkFacts, ...] | None
    volumes: tuple[VolumeFacts, ...] | None


class SnapshotTaker:
    """Takes snapshots, one at a time; a second caller waits within its own deadline."""

    def __init__(
        self, session: EngineSession, sealer: Sealer, events: EventLog, book: HostSecrets | None = None
    ) -> None:
        options = session.options
        self._session, self._events = session, events
        self._turn = threading.RLock()
        self._book = book or HostSecrets()
        self._inventory = Inventory(options, self._book)
        self._listed = ElementMemory()
        self._usage = UsageReader(session)
        self._configs = ConfigReader(session, sealer)
        self._touched: set[str] = set()
        self._events_incomplete = True
        self._engine = EngineReader(session)
        self._disks = DiskReader(options.proc_root)
        self._log_sizes = LogSizes()

    def take(
        self, now: datetime, deadline: Deadline, wants: Wants, before: Readings, *, events_are_live: bool
    ) -> Observation:
        """Read the host.

        Args:
            now: Wall clock, the snapshot's `taken_at`.
            deadline: What is not read by then is missing, with its reason.
            wants: What to read.
            before: What logs and usage are read on from.
            events_are_live: Whether changes since the last scan are known from events; else all is inspected again.

        Raises:
            BconError: The list of containers could not be read.
        """
        with self.exclusive_access(deadline):
            return self._take(Scan(now, deadline, wants), before, events_are_live=events_are_live)

    @contextmanager
    def exclusive_access(self, deadline: Deadline) -> Iterator[None]:
        """Wait until nobody reads the host; within the block only this thread does.

        Raises:
            DeadlineExceededError: Somebody still read it at the deadline.
        """
        if not self._turn.acquire(timeout=deadline.left()):
            raise busy_error(self._session.endpoint)
        try:
            yield
        finally:
            self._turn.release()

    def read_engine(self, deadline: Deadline) -> EngineFacts:
        """Ask the engine about itself.

        Raises:
            BconError: It did not answer.
        """
        return self._engine.read(deadline)

    def known_facts(self, container_id: str) -> ContainerFacts | None:
        """Return what the last scan knew of a container."""
        entry = self._inventory.entries.get(container_id)
        return entry.facts if entry else None

    def all_known_facts(self) -> list[ContainerFacts]:
        """Return what the last scan knew of each container."""
        return [entry.facts for entry in list(self._inventory.entries.values())]

    def read_log_files(self, now: datetime) -> LogReading:
        """Return how large the log files are of the containers that the last scan knew."""
        entries = list(self._inventory.entries.values())
        return read_log_files(entries, self._engine.known_facts, self._session, now)

    def kill_counts(self) -> KillCounts | None:
        """Return how many processes the kernel had killed for want of memory when usage was read last."""
        return self._usage.kill_counts

    def learn_secrets(self, container_id: str, deadline: Deadline) -> KnownSecrets:
        """Return the values that must not be shown of a container.

        Raises:
            BconError: It was never inspected, and cannot be now.
        """
        return learn_secrets(self._session, self._book, container_id, deadline)

    def close(self, wait_seconds: float) -> None:
        """Give back what is held open, once no scan runs any more or `wait_seconds` have passed."""
        if self._turn.acquire(timeout=wait_seconds):
            try:
                self._usage.close()
            finally:
                self._turn.release()

    def _take(self, scan: Scan, before: Readings, *, events_are_live: bool) -> Observation:
        started = monotonic()
        touched = self._take_touched(events_are_live=events_are_live)
        self._list(scan)
        streams = self._events.streams
        engine = self._engine.read_for_scan(scan, streams=streams, events_are_live=events_are_live)
        self._inspect(scan, touched)
        collected, after = self._read(scan, engine, before)
        self._forget(scan)
        self._record_failing_endpoints(scan)
        self._log_sizes.begin_scan()
        containers = tuple(self._assemble(container_id, scan, collected) for container_id in scan.present())
        disks = self._read_disks(scan, containers, engine)
        snapshot = HostSnapshot(
            taken_at=scan.now,
            took_seconds=monotonic() - started,
            engine=engine,
            containers=containers,
            networks=collected.networks,
            volumes=collected.volumes,
            disks=disks,
            unread=scan.host_unread,
            incomplete=tuple(sorted(scan.incomplete - scan.gone)),
            partial=scan.wants.only is not None,
            pressure=self._usage.host_pressure if scan.wants.only is None else None,
            hidden_version=self._inventory.hidden_version,
        )
        return Observation(snapshot, after)

    def _list(self, scan: Scan) -> None:
        """List the containers that are wanted."""
        memory = self._listed if scan.wants.only is None else None
        entries = list_containers(self._session, scan.deadline, scan.wants.only, memory)
        scan.ids = self._inventory.update(entries)

    def _inspect(self, scan: Scan, touched: set[str] | None) -> None:
        """Inspect the changed containers (all if `touched` is None); read configurations from the same answers."""
        if scan.wants.config:
            self._configs.begin(self._inventory, scan)
        changed = set(scan.ids) if touched is None else touched
        for entry, inspected in inspect_containers(self._session, self._inventory, scan, changed):
            if scan.wants.config:
                self._configs.take(entry, inspected, scan)
        self._inventory.hide_learned()

    def _read(self, scan: Scan, engine: EngineFacts | None, before: Readings) -> tuple[_Collected, Readings | None]:
        """Read usage, logs and configurations; the engine's stats come in the background."""
        wants, inventory, options = scan.wants, self._inventory, self._session.options
        cursors = LogCursors(
            before.logs,
            bytes_per_container=options.log_bytes_per_container,
            bytes_total=options.log_bytes_total,
            clock_slack_seconds=OVERLAP_SECONDS if self._session.endpoint.is_local else _CLOCK_SLACK_ELSEWHERE_SECONDS,
            outlasts=wants.outlasts,
        )
        windows = UsageWindows(options.usage_window_seconds, before.usage)
        has_usage = wants.usage and (engine is None or engine.has_cgroups)
        sampling = self._usage.begin(inventory, scan, windows) if has_usage else None
        logs = read_logs_of_all(self._session, inventory, cursors, scan) if wants.logs else {}
        configs = self._configs.finish(inventory, scan) if wants.config else {}
        networks = read_networks(self._session, scan) if wants.config else None
        volumes = read_volumes(self._session, scan) if wants.config else None
        usage = self._usage.finish(sampling, engine) if sampling is not None else {}
        if wants.only is None:
            cursors.retain(scan.present())
            windows.retain(scan.present())
        collected = _Collected(usage, _NO_SAMPLE if has_usage else _NO_CGROUPS, logs, configs, networks, volumes)
        return collected, Readings(cursors.windows, windows.windows) if wants.logs or wants.usage else None

    def _take_touched(self, *, events_are_live: bool) -> set[str] | None:
        """Return the ids of containers changed since their last inspect; None when events were lost."""
        touched, lost = self._events.take_touched()
        self._session.health.ask_again(touched)
        self._touched |= touched
        self._events_incomplete = self._events_incomplete or lost or not events_are_live
        return None if self._events_incomplete else self._touched

    def _assemble(self, container_id: str, scan: Scan, collected: _Collected) -> ContainerFacts:
        entry = self._inventory.entries[container_id]
        facts = entry.facts
        unread = {**facts.unread, **scan.unread.get(container_id, {})}
        if scan.wants.usage and facts.is_running and container_id not in collected.usage:
            unread.setdefault("usage", collected.no_usage)
        log_bytes = self._read_unbounded_log(entry, unread)
        return facts.model_copy(
            update={
                "log_bytes": log_bytes,
                "usage": collected.usage.get(container_id),
                "logs": collected.logs.get(container_id),
                "config": collected.configs.get(container_id),
                "unread": unread,
            }
        )

    def _read_unbounded_log(self, entry: InventoryEntry, unread: dict[str, str]) -> int | None:
        """Return the size of a log that nothing bounds; None, with the reason, where it cannot be seen."""
        if entry.facts.log_is_bounded is not False or not self._session.options.log_files:
            return None
        is_here = self._session.endpoint.is_local
        size = self._log_sizes.read(entry.facts, entry.placement, is_here=is_here)
        if isinstance(size, str):
            unread["log_bytes"] = size
            return None
        return size

    def _read_disks(
        self, scan: Scan, containers: tuple[ContainerFacts, ...], engine: EngineFacts | None
    ) -> tuple[DiskFacts, ...] | None:
        if not scan.wants.usage or scan.wants.only is not None:
            return None
        if not self._session.endpoint.is_local:
            scan.host_unread["disks"] = "the engine runs on another machine"
            return None
        reading = self._disks.read(engine.root_dir if engine else None, containers)
        for path, reason in reading.unread.items():
            scan.host_unread[f"disk {path}"] = reason
        return reading.disks

    def _forget(self, scan: Scan) -> None:
        """Drop the changes that this scan has read, and removed containers; only a scan of all shows removals."""
        self._touched -= set(scan.ids)
        if scan.wants.only is None:
            self._events_incomplete = False
            self._touched.clear()
            present = set(scan.present())
            self._inventory.retain(present)
            self._session.health.retain(present)

    def _record_failing_endpoints(self, scan: Scan) -> None:
        for name in ("inspect", "stats", "logs", "events"):
            reason = self._session.health.failure(name)
            if reason is not None:
                scan.host_unread[name] = reason
