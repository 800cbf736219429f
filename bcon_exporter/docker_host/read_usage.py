"""Usage of the running containers: from cgroup files where they can be read, else one-shot stats of all at once."""

import logging
import threading
from collections.abc import Collection

from bcon_exporter.docker_host.cgroup import CgroupReader, KillCounts
from bcon_exporter.docker_host.decode import NotJsonError, decode_object
from bcon_exporter.docker_host.inventory import Inventory
from bcon_exporter.docker_host.pipeline import Outcome
from bcon_exporter.docker_host.scan import Scan
from bcon_exporter.docker_host.session import Deadline, EngineSession
from bcon_exporter.docker_host.stats import STATS_CAP_BYTES, parse_stats, stats_target
from bcon_exporter.docker_host.usage import UsageSample, UsageWindows
from bcon_exporter.docker_host.wire import Answer
from bcon_exporter.model.facts import EngineFacts, UsageFacts

_log = logging.getLogger(__name__)


class UsageReader:
    """Takes usage samples; to be used by one scan at a time."""

    def __init__(self, session: EngineSession) -> None:
        options = session.options
        self._session = session
        self._cgroups = CgroupReader(options.cgroup_root, options.proc_root)
        self._windows = UsageWindows(options.usage_window_seconds)
        self._failures: dict[str, str] = {}
        self._running: list[str] = []
        self._lacking: set[str] = set()
        self._networks: dict[str, UsageSample] = {}
        self.kill_counts: KillCounts | None = None
        self._thread: threading.Thread | None = None

    def begin(self, inventory: Inventory, scan: Scan) -> None:
        """Sample all running containers; what must be asked of the engine goes on beside the caller until `end`.

        The engine answers stats on a one-second tick, so asking in the background costs the scan nothing more.
        """
        self._failures, self._lacking, self._networks = {}, set(), {}
        running = self._running = [
            container_id for container_id in scan.present() if inventory.known[container_id].facts.is_running
        ]
        left = self._sample_cgroups(inventory, scan, running)
        if scan.wants.only is None:
            self._cgroups.retain(running)
            self.kill_counts = self._cgroups.count_kills()
            self._lacking = set()  # not worth a request for every container at every scan
        left += self._lacking
        if left:
            thread = threading.Thread(target=self._ask_stats, args=(scan, left), name="bcon-stats", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no thread is left to this process
                self._ask_stats(scan, left)
            else:
                self._thread = thread

    def end(self, scan: Scan) -> None:
        """Wait for what `begin` has asked."""
        if self._thread is not None:
            self._thread.join(scan.deadline.left() + 1.0)
            self._thread = None

    def sample_again(self, inventory: Inventory, scan: Scan, engine: EngineFacts | None) -> None:
        """Take a second sample, a second after the first, of those that have but one."""
        single = [
            container_id
            for container_id in self._present(scan)
            if (usage := self._facts(container_id, inventory, scan, engine)) is not None and usage.samples < 2  # noqa: PLR2004
        ]
        if single and not self._session.closed.wait(scan.deadline.left(at_most=1.0)):
            asked = self._lacking.copy()
            left = self._sample_cgroups(inventory, scan, single)
            self._lacking = asked
            if left:
                self._ask_stats(scan, left)

    def facts(self, inventory: Inventory, scan: Scan, engine: EngineFacts | None) -> dict[str, UsageFacts]:
        """Return each running container's usage; where its newest could not be read, the last known, marked stale."""
        found = {}
        for container_id in self._present(scan):
            reason = self._failures.get(container_id)
            usage = self._facts(container_id, inventory, scan, engine)
            if usage is not None and container_id in self._lacking:
                found[container_id] = self._with_network(usage, container_id, scan, reason)
                continue
            if usage is not None:
                found[container_id] = usage.model_copy(update={"stale": True}) if reason else usage
            if reason is not None:
                scan.miss(container_id, "usage", reason)
        return found

    def retain(self, ids: Collection[str]) -> None:
        """Forget all other containers."""
        self._windows.retain(ids)

    def close(self) -> None:
        """Give back the files that are kept open."""
        self._cgroups.retain(())

    def _with_network(self, usage: UsageFacts, container_id: str, scan: Scan, reason: str | None) -> UsageFacts:
        """Add what only the engine could tell of a container whose other counters came from files."""
        sample = self._networks.get(container_id)
        if sample is None:
            scan.unread.setdefault(container_id, {})["network"] = reason or "the engine gave no sample"
            return usage
        counters = {"network_rx_bytes": sample.network_rx_bytes, "network_tx_bytes": sample.network_tx_bytes}
        return usage.model_copy(update=counters)

    def _facts(
        self, container_id: str, inventory: Inventory, scan: Scan, engine: EngineFacts | None
    ) -> UsageFacts | None:
        return self._windows.facts(
            container_id,
            inventory.known[container_id].facts.limits,
            host_cpus=engine.cpu_count if engine else None,
            host_memory=engine.memory_bytes if engine else None,
            now=scan.now,
        )

    def _present(self, scan: Scan) -> list[str]:
        return [container_id for container_id in self._running if container_id not in scan.gone]

    def _sample_cgroups(self, inventory: Inventory, scan: Scan, ids: list[str]) -> list[str]:
        """Sample from files; return those that have none we can read, and note those that lack network counters."""
        left = []
        for container_id in ids:
            placement = inventory.known[container_id].placement
            sample = None
            if placement is not None and scan.deadline.left() > 0:
                sample = self._cgroups.read(
                    container_id,
                    placement.cgroup_parent,
                    placement.pid,
                    own_network=placement.own_network,
                )
            if sample is None:
                left.append(container_id)
                continue
            self._windows.add(container_id, sample)
            if sample.network_rx_bytes is None and placement is not None and placement.own_network:
                self._lacking.add(container_id)
        return left

    def _ask_stats(self, scan: Scan, ids: list[str]) -> None:
        try:
            self._failures.update(self._session.gate("stats", ids, lambda some: self._ask(scan, some)))
        except Exception as error:  # noqa: BLE001 - a job's boundary: who else would say that these were not read
            _log.exception("asking for stats failed")
            reason = f"asking for stats failed unexpectedly ({type(error).__name__})"
            self._failures.update(dict.fromkeys(ids, reason))

    def _ask(self, scan: Scan, ids: list[str]) -> None:
        session = self._session
        prefix = session.negotiate(scan.deadline)
        batch = session.batch(
            "reading stats",
            Deadline(scan.deadline.at),
            connections=session.options.stats_connections,
            body_cap_bytes=STATS_CAP_BYTES,
        )

        def path(container_id: str) -> str:
            return prefix + stats_target(container_id)

        session.ask_containers("stats", ids, path, batch, lambda *outcome: self._take(scan, *outcome))

    def _take(self, scan: Scan, container_id: str, outcome: Outcome) -> None:
        if scan.is_gone(container_id, outcome):
            return
        if not isinstance(outcome, Answer):
            self._failures[container_id] = outcome.message
            return
        if not outcome.body.strip():
            return  # removed or stopped meanwhile: 200 with an empty body
        try:
            sample = parse_stats(decode_object(outcome.body))
        except NotJsonError:
            self._failures[container_id] = "the engine's stats could not be read"
            return
        if sample is not None:  # None: it has exited meanwhile, and its stats are zeros
            self._failures.pop(container_id, None)
            if container_id in self._lacking:
                self._networks[container_id] = sample
            else:
                self._windows.add(container_id, sample)
