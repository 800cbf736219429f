"""Reads the usage of running containers: from cgroup files where possible, else from the engine's one-shot stats."""

import logging
import threading
from dataclasses import dataclass, field

from bcon_exporter.engine.cgroup import CgroupReader
from bcon_exporter.engine.containers import Inventory
from bcon_exporter.engine.http import Outcome
from bcon_exporter.engine.http_parser import Answer
from bcon_exporter.engine.parse import NotJsonError, decode_object, parse_stats
from bcon_exporter.engine.scan import Deadline, Scan
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.engine.usage_windows import UsageWindows
from bcon_exporter.model.container_facts import EngineFacts, Pressure, UsageFacts
from bcon_exporter.readings import KillCounts, UsageSample

SECOND_SAMPLE_AFTER_SECONDS = 1.0
"""So long a command waits for what it cannot know of one sample alone, as the use of CPU."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Sampling:
    """State of one scan's usage samples.

    Attributes:
        windows: With the samples of earlier scans.
        running: Ids of the running containers.
        without_network: Ids of containers whose cgroup files have all counters but the network's.
        network_samples: The engine's samples for those.
        failures: Container id → why the engine gave no sample.
        thread: Queries the engine in the background; None when no query runs.
    """

    inventory: Inventory
    scan: Scan
    windows: UsageWindows
    running: list[str]
    without_network: set[str] = field(default_factory=set)
    network_samples: dict[str, UsageSample] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    thread: threading.Thread | None = None

    def present(self) -> list[str]:
        """Return the running containers that were not removed meanwhile."""
        return [container_id for container_id in self.running if container_id not in self.scan.gone]


class UsageReader:
    """Takes usage samples; to be used by one scan at a time."""

    def __init__(self, session: EngineSession) -> None:
        options = session.options
        self._session = session
        self._cgroups = CgroupReader(options.cgroup_root, options.proc_root, wants=options.minute_wants)
        self.host_pressure: Pressure | None = None
        self.kill_counts: KillCounts | None = None

    def begin(self, inventory: Inventory, scan: Scan, windows: UsageWindows) -> Sampling:
        """Sample all running containers; queries to the engine go on in the background until `finish`.

        The engine answers stats on a one-second tick, so a query in the background does not make the scan longer.
        """
        sampling = Sampling(
            inventory,
            scan,
            windows,
            [container_id for container_id in scan.present() if inventory.entries[container_id].facts.is_running],
        )
        unsampled = self._sample_cgroups(sampling, sampling.running)
        if scan.wants.only is None:
            self._cgroups.retain(sampling.running)
            self.kill_counts = self._cgroups.count_kills()
            self.host_pressure = self._cgroups.read_host_pressure()
            sampling.without_network = set()  # not worth a request for every container at every scan
        unsampled += sampling.without_network
        if unsampled:
            thread = threading.Thread(
                target=self._query_stats, args=(sampling, unsampled), name="bcon-stats", daemon=True
            )
            try:
                thread.start()
            except RuntimeError:  # no thread is left to this process
                self._query_stats(sampling, unsampled)
            else:
                sampling.thread = thread
        return sampling

    def finish(self, sampling: Sampling, engine: EngineFacts | None) -> dict[str, UsageFacts]:
        """Wait for the running queries; return container id → usage.

        Where the newest sample could not be read, the usage is the last known one, marked stale.
        """
        scan = sampling.scan
        if sampling.thread is not None:
            sampling.thread.join(scan.deadline.left() + 1.0)
        if scan.wants.wait_for_usage:
            self._sample_again(sampling, engine)
        usages = {}
        for container_id in sampling.present():
            reason = sampling.failures.get(container_id)
            usage = self._facts(container_id, sampling, engine)
            if usage is not None and container_id in sampling.without_network:
                usages[container_id] = _with_network(usage, container_id, sampling)
                continue
            if usage is not None:
                usages[container_id] = usage.model_copy(update={"stale": True}) if reason else usage
            if reason is not None:
                scan.record_unread(container_id, "usage", reason)
        return usages

    def close(self) -> None:
        """Give back the files that are kept open."""
        self._cgroups.retain(())

    def _sample_again(self, sampling: Sampling, engine: EngineFacts | None) -> None:
        """Take a second sample of the containers that have only one, a moment after the first."""
        single = [
            container_id
            for container_id in sampling.present()
            if (usage := self._facts(container_id, sampling, engine)) is not None and usage.samples < 2  # noqa: PLR2004
        ]
        if single and not self._session.closed.wait(sampling.scan.deadline.left(at_most=SECOND_SAMPLE_AFTER_SECONDS)):
            without_network = sampling.without_network.copy()
            unsampled = self._sample_cgroups(sampling, single)
            sampling.without_network = without_network
            if unsampled:
                self._query_stats(sampling, unsampled)

    def _facts(self, container_id: str, sampling: Sampling, engine: EngineFacts | None) -> UsageFacts | None:
        return sampling.windows.facts(
            container_id,
            sampling.inventory.entries[container_id].facts.limits,
            host_cpus=engine.cpu_count if engine else None,
            host_memory=engine.memory_bytes if engine else None,
            now=sampling.scan.now,
        )

    def _sample_cgroups(self, sampling: Sampling, ids: list[str]) -> list[str]:
        """Sample from cgroup files; return the ids without readable files; record those without network counters."""
        unsampled = []
        for container_id in ids:
            placement = sampling.inventory.entries[container_id].placement
            sample = None
            if placement is not None and sampling.scan.deadline.left() > 0:
                sample = self._cgroups.read(
                    container_id,
                    placement.cgroup_parent,
                    placement.pid,
                    own_network=placement.own_network,
                )
            if sample is None:
                unsampled.append(container_id)
                continue
            sampling.windows.add(container_id, sample)
            if sample.network_rx_bytes is None and placement is not None and placement.own_network:
                sampling.without_network.add(container_id)
        return unsampled

    def _query_stats(self, sampling: Sampling, ids: list[str]) -> None:
        try:
            deadline = Deadline(sampling.scan.deadline.at)
            for container_id, outcome in self._session.query_stats(ids, "reading stats", deadline):
                self._take(sampling, container_id, outcome)
        except Exception as error:  # noqa: BLE001 - a job's boundary: who else would say that these were not read
            _log.exception("asking for stats failed")
            reason = f"asking for stats failed unexpectedly ({type(error).__name__})"
            sampling.failures.update(dict.fromkeys(ids, reason))

    def _take(self, sampling: Sampling, container_id: str, outcome: Outcome) -> None:
        if sampling.scan.is_gone(container_id, outcome):
            return
        if not isinstance(outcome, Answer):
            sampling.failures[container_id] = outcome.message
            return
        if not outcome.body.strip():
            return  # removed or stopped meanwhile: 200 with an empty body
        try:
            sample = parse_stats(decode_object(outcome.body))
        except NotJsonError:
            sampling.failures[container_id] = "the engine's stats could not be read"
            return
        if sample is not None:  # None: it has exited meanwhile, and its stats are zeros
            sampling.failures.pop(container_id, None)
            if container_id in sampling.without_network:
                sampling.network_samples[container_id] = sample
            else:
                sampling.windows.add(container_id, sample)


def _with_network(usage: UsageFacts, container_id: str, sampling: Sampling) -> UsageFacts:
    """Add the engine's network counters to usage from cgroup files."""
    sample = sampling.network_samples.get(container_id)
    if sample is None:
        reason = sampling.failures.get(container_id) or "the engine gave no sample"
        sampling.scan.unread.setdefault(container_id, {})["network"] = reason
        return usage
    counters = {
        "network_rx_bytes": sample.network_rx_bytes,
        "network_tx_bytes": sample.network_tx_bytes,
        "network": sample.network,
    }
    return usage.model_copy(update=counters)
