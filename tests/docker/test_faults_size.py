"""Many containers: a scan ends within its interval and the daemon stays small.

1,000 containers in `make soak`; fewer here, with the limits that the figures at that size allow.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import docker
from tests.docker.daemon import Daemon
from tests.docker.scraping import scrape, wait_for_whole_scan

if TYPE_CHECKING:
    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = [pytest.mark.docker, pytest.mark.slow]

CONTAINERS = 1000 if os.environ.get("TEST_SOAK") else 100
INTERVAL_SECONDS = 30
MEMORY_BYTES = 200e6


def start_many(engine: TestEngine, number: int) -> None:
    """Start containers that write a line every ten seconds, without a network to set up."""
    client = docker.APIClient(base_url=engine.host, version="auto", timeout=300)
    config = client.create_host_config(network_mode="none")
    command = ["sh", "-c", "while :; do echo level=info msg=served; sleep 10; done"]

    def start(index: int) -> None:
        client.start(client.create_container(engine.image, command, name=f"many-{index}", host_config=config)["Id"])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(start, range(number)))
    client.close()


def peak_memory_bytes(pid: int) -> int:
    """The most memory that a process ever held."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) * 1024


@pytest.mark.promise("F6")
def test_many_containers_are_scanned_in_time_and_in_little_memory(
    engine: TestEngine, tmp_path: Path, figure: Figure
) -> None:
    start_many(engine, CONTAINERS)
    with Daemon(tmp_path, engine.host, f"--scan.diagnose-interval={INTERVAL_SECONDS}s") as daemon:
        daemon.wait_until_ready()
        wait_for_whole_scan(daemon, timeout_seconds=90)
        metrics = scrape(daemon)
        assert len(metrics.containers()) == CONTAINERS
        took = metrics.scan("last_duration_seconds")
        assert took is not None
        assert took < min(INTERVAL_SECONDS, 15)
        assert metrics.scan("incomplete_containers") == 0
        held = peak_memory_bytes(daemon.process.pid)
        figure(f"{CONTAINERS} containers: a scan {took:.1f} s, at most {held / 1e6:.0f} MB")
        assert held < MEMORY_BYTES
