"""Building the client of a test's engine, closed again at the end."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from bcon_exporter.clock import utc_now
from bcon_exporter.engine import DockerHost, Endpoint, HostOptions, Wants
from bcon_exporter.readings import NOTHING_READ, Readings
from bcon_exporter.secrets.masking import Sealer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot

NOWHERE = Path("/nonexistent")
_READINGS: WeakKeyDictionary[DockerHost, Readings] = WeakKeyDictionary()
BY_API_ONLY = HostOptions(cgroup_root=NOWHERE, kernel_log=NOWHERE, log_files=False, probe_interval_seconds=0.0)


@contextmanager
def open_host(url: str, options: HostOptions = BY_API_ONLY, *, started: bool = False) -> Iterator[DockerHost]:
    """A client of the engine at `url`."""
    host = DockerHost(Endpoint(url), options, Sealer(b"0123456789abcdef"))
    try:
        if started:
            host.start()
        yield host
    finally:
        host.close()


def scan(host: DockerHost, wants: Wants | None = None, *, deadline_seconds: float = 15.0) -> HostSnapshot:
    """One snapshot, now; logs and usage are read on from the last one of this host."""
    before = _READINGS.get(host, NOTHING_READ)
    observation = host.observe(utc_now(), deadline_seconds, wants or Wants(), before)
    _READINGS[host] = observation.readings or before
    return observation.snapshot


def by_name(snapshot: HostSnapshot) -> dict[str, ContainerFacts]:
    """The containers of a snapshot by name."""
    return {container.name: container for container in snapshot.containers}
