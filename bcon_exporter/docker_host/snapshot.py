"""Takes snapshots: the steps of one scan in their order, and what is kept from one to the next."""

import threading
from datetime import datetime
from functools import partial
from typing import Any

from bcon_exporter.clock import monotonic
from bcon_exporter.docker_host.cgroup import KillCounts
from bcon_exporter.docker_host.decode import ElementMemory
from bcon_exporter.docker_host.disk import DiskReading, read_disks
from bcon_exporter.docker_host.event_log import EventLog
from bcon_exporter.docker_host.failures import busy_error
from bcon_exporter.docker_host.inventory import Inventory
from bcon_exporter.docker_host.logs import LogCursors
from bcon_exporter.docker_host.options import Wants
from bcon_exporter.docker_host.parse import parse_engine
from bcon_exporter.docker_host.parse_engine import parse_engine_start
from bcon_exporter.docker_host.read_config import ConfigReader, read_networks, read_volumes
from bcon_exporter.docker_host.read_logs import read_logs_of_all
from bcon_exporter.docker_host.read_state import inspect_containers, list_containers
from bcon_exporter.docker_host.read_usage import UsageReader
from bcon_exporter.docker_host.scan import Scan
from bcon_exporter.docker_host.session import Deadline, EngineSession
from bcon_exporter.errors import BconError
from bcon_exporter.model.facts import (
    ConfigFacts,
    ContainerFacts,
    DiskFacts,
    EngineFacts,
    HostSnapshot,
    LogFacts,
    UsageFacts,
)
from bcon_exporter.model.known_secrets import KnownSecrets
from bcon_exporter.model.masking import Sealer
from bcon_exporter.secret_book import SecretBook

_ENGINE_FACTS_SECONDS = 300.0
_ENGINE_RETRY_SECONDS = 25.0
_DISKS_SECONDS = 55.0
_NO_SAMPLE = "the engine gave no sample"
_NO_CGROUPS = "the engine runs without cgroups, so nothing counts what a container uses"


class SnapshotTaker:
    """Takes one snapshot after the other; a second caller waits its turn, within its own deadline."""

    def __init__(
        self, session: EngineSession, sealer: Sealer, events: EventLog, book: SecretBook | None = None
    ) -> None:
        options = session.options
        self._session, self._events = session, events
        self._turn = threading.Lock()
        self._book = book or SecretBook()
        self._inventory = Inventory(options, self._book)
        self._listed = ElementMemory()
        self._cursors = LogCursors(
            bytes_per_container=options.log_bytes_per_container, bytes_total=options.log_bytes_total
        )
        self._usage = UsageReader(session)
        self._configs = ConfigReader(session, sealer)
        self._touched: set[str] = set()
        self._distrusted = True
        self._engine: EngineFacts | None = None
        self._engine_read_at = float("-inf")
        self._engine_failure = ""
        self._start_read_in: int | None = None
        self._disks: DiskReading | None = None
        self._disks_read_at = float("-inf")

    def take(self, now: datetime, deadline: Deadline, wants: Wants, *, events_are_live: bool) -> HostSnapshot:
        """Read the host.

        Args:
            now: Wall clock, the snapshot's `taken_at`.
            deadline: What is not read by then is missing, with its reason.
            wants: What to read.
            events_are_live: Whether changes since the last scan are known from events; else all is inspected again.

        Raises:
            BconError: The list of containers could not be read.
        """
        if not self._turn.acquire(timeout=deadline.left()):
            raise busy_error(self._session.endpoint)
        try:
            return self._take(Scan(now, deadline, wants), monotonic(), events_are_live=events_are_live)
        finally:
            self._turn.release()

    def read_engine(self, deadline: Deadline) -> EngineFacts:
        """Ask the engine about itself.

        Raises:
            BconError: It did not answer.
        """
        session = self._session
        session.negotiate(deadline)
        version: Any = session.call("version", "asking for the version", deadline, lambda c: c.version())
        info: Any = session.call("info", "asking for the engine's info", deadline, lambda c: c.info())
        started_at = self._engine.started_at if self._engine is not None else None
        engine = parse_engine(info, version).model_copy(update={"started_at": started_at})
        self._engine, self._engine_read_at = engine, monotonic()
        return engine

    def known_facts(self, container_id: str) -> ContainerFacts | None:
        """Return what the last scan knew of a container."""
        known = self._inventory.known.get(container_id)
        return known.facts if known else None

    def all_known_facts(self) -> list[ContainerFacts]:
        """Return what the last scan knew of each container."""
        return [known.facts for known in list(self._inventory.known.values())]

    def kill_counts(self) -> KillCounts | None:
        """Return how many processes the kernel had killed for want of memory when usage was read last."""
        return self._usage.kill_counts

    def known_secrets(self, container_id: str) -> KnownSecrets:
        """Return the values that must not be shown of a container."""
        return self._book.of_container(container_id)

    def close(self, wait_seconds: float) -> None:
        """Give back what is held open, once no scan runs any more or `wait_seconds` have passed."""
        if self._turn.acquire(timeout=wait_seconds):
            try:
                self._usage.close()
            finally:
                self._turn.release()

    def _take(self, scan: Scan, started: float, *, events_are_live: bool) -> HostSnapshot:
        session, inventory, wants = self._session, self._inventory, scan.wants
        touched = self._take_touched(events_are_live=events_are_live)
        entries = list_containers(session, scan.deadline, wants.only, self._listed if wants.only is None else None)
        scan.ids = inventory.update(entries, "inspect was not read")
        engine = self._engine_facts(scan, events_are_live=events_are_live)
        if wants.config:
            self._configs.begin(inventory, scan)
        on_inspected = partial(self._configs.take, scan=scan) if wants.config else None
        inspect_containers(session, inventory, scan, scan.ids if touched is None else touched, on_inspected)
        inventory.hide_learned()
        usage: dict[str, UsageFacts] = {}
        reads_usage = wants.usage and (engine is None or engine.has_cgroups)
        if reads_usage:
            self._usage.begin(inventory, scan)
        logs = read_logs_of_all(session, inventory, self._cursors, scan) if wants.logs else {}
        configs = self._configs.finish(inventory, scan) if wants.config else {}
        networks = read_networks(session, scan) if wants.config else None
        volumes = read_volumes(session, scan) if wants.config else None
        if reads_usage:
            self._usage.end(scan)
            if wants.wait_for_usage:
                self._usage.sample_again(inventory, scan, engine)
            usage = self._usage.facts(inventory, scan, engine)
        self._touched -= set(scan.ids)
        self._forget(scan)
        self._note_endpoints(scan)
        no_usage = _NO_SAMPLE if reads_usage else _NO_CGROUPS
        containers = tuple(
            self._assemble(container_id, scan, usage, logs, configs, no_usage) for container_id in scan.present()
        )
        disks = self._read_disks(scan, containers, engine)
        return HostSnapshot(
            taken_at=scan.now,
            took_seconds=monotonic() - started,
            engine=engine,
            containers=containers,
            networks=networks,
            volumes=volumes,
            disks=disks,
            unread=scan.host_unread,
            incomplete=tuple(sorted(scan.incomplete - scan.gone)),
            partial=wants.only is not None,
        )

    def _take_touched(self, *, events_are_live: bool) -> set[str] | None:
        """Return which containers changed since they were last inspected; None when events cannot tell."""
        touched, lost = self._events.take_touched()
        self._session.stuck.ask_again(touched)
        self._touched |= touched
        self._distrusted = self._distrusted or lost or not events_are_live
        return None if self._distrusted else self._touched

    def _engine_facts(self, scan: Scan, *, events_are_live: bool) -> EngineFacts | None:
        if monotonic() - self._engine_read_at > _ENGINE_FACTS_SECONDS:
            try:
                self.read_engine(scan.deadline)
            except BconError as error:
                self._engine_failure = error.message
                self._engine_read_at = monotonic() - _ENGINE_FACTS_SECONDS + _ENGINE_RETRY_SECONDS
        if self._engine is None:
            scan.host_unread["engine"] = self._engine_failure
            return None
        streams = self._events.streams
        if self._start_read_in != streams or not events_are_live:  # no engine restarts under a stream that goes on
            started_at = self._read_engine_start(self._engine, scan.deadline)
            self._engine = self._engine.model_copy(update={"started_at": started_at})
            self._start_read_in = streams
        return self._engine

    def _read_engine_start(self, engine: EngineFacts, deadline: Deadline) -> datetime | None:
        if engine.is_podman or engine.keeps_containers:
            return None
        try:
            bridge = self._session.call(
                "networks", "asking when the engine started", deadline, lambda c: c.inspect_network("bridge")
            )
        except BconError:  # --bridge=none, or a proxy that lets no networks through
            return None
        return parse_engine_start(bridge)

    def _assemble(
        self,
        container_id: str,
        scan: Scan,
        usage: dict[str, UsageFacts],
        logs: dict[str, LogFacts],
        configs: dict[str, ConfigFacts],
        no_usage: str,
    ) -> ContainerFacts:
        facts = self._inventory.known[container_id].facts
        unread = {**facts.unread, **scan.unread.get(container_id, {})}
        if scan.wants.usage and facts.is_running and container_id not in usage:
            unread.setdefault("usage", no_usage)
        return facts.model_copy(
            update={
                "usage": usage.get(container_id),
                "logs": logs.get(container_id),
                "config": configs.get(container_id),
                "unread": unread,
            }
        )

    def _read_disks(
        self, scan: Scan, containers: tuple[ContainerFacts, ...], engine: EngineFacts | None
    ) -> tuple[DiskFacts, ...] | None:
        """Read the space of the file systems, now and then: it changes slowly, and mount tables are long."""
        if not scan.wants.usage or scan.wants.only is not None:
            return None
        if not self._session.endpoint.url.startswith("unix://"):
            scan.host_unread["disks"] = "the engine runs on another machine"
            return None
        if self._disks is None or monotonic() - self._disks_read_at > _DISKS_SECONDS:
            root_dir = engine.root_dir if engine else None
            self._disks = read_disks(root_dir, containers, proc=self._session.options.proc_root)
            self._disks_read_at = monotonic()
        for path, reason in self._disks.unread.items():
            scan.host_unread[f"disk {path}"] = reason
        return self._disks.disks

    def _forget(self, scan: Scan) -> None:
        """Forget removed containers; a scan of some says nothing about the others."""
        if scan.wants.only is None:
            self._distrusted = False
            self._touched.clear()
            present = set(scan.present())
            self._inventory.retain(present)
            self._cursors.retain(present)
            self._usage.retain(present)
            self._session.stuck.retain(present)

    def _note_endpoints(self, scan: Scan) -> None:
        for name in ("inspect", "stats", "logs", "events"):
            reason = self._session.breakers.reason(name)
            if reason is not None:
                scan.host_unread[name] = reason
