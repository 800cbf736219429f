"""256 MB of memory for the daemon and every Compose binary that it starts, on a host full of containers and huge logs.

500 containers and a log of 1 GB in `make chaos` and `make soak`, fewer and less here.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import docker
from tests.docker.daemon import Daemon
from tests.docker.scraping import scrape, wait_for_whole_scan
from tests.docker.test_faults_logs import WRITERS, start
from tests.docker.test_faults_size import peak_memory_bytes, start_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = [
    pytest.mark.docker,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a cgroup"),
]

LIMIT_BYTES = 256 * 1024 * 1024
CONTAINERS = 500 if os.environ.get("TEST_SOAK") else 60
PROJECTS = 10


class Cage:
    """A cgroup of its own with a limit on memory, of either version."""

    def __init__(self, name: str, limit_bytes: int) -> None:
        root = Path("/sys/fs/cgroup")
        self._is_v2 = (root / "cgroup.controllers").exists()
        self.folder = (root if self._is_v2 else root / "memory") / name
        self.folder.mkdir()
        limit = "memory.max" if self._is_v2 else "memory.limit_in_bytes"
        (self.folder / limit).write_text(str(limit_bytes))

    @property
    def below(self) -> tuple[str, ...]:
        """The command that runs another one in it."""
        return ("sh", "-c", f'echo $$ >{self.folder}/cgroup.procs && exec "$0" "$@"')

    @property
    def killed(self) -> int:
        """How many processes the kernel has killed in it for want of memory."""
        events = (self.folder / ("memory.events" if self._is_v2 else "memory.oom_control")).read_text().split()
        return int(events[events.index("oom_kill") + 1])


@contextmanager
def cage(limit_bytes: int) -> Iterator[Cage]:
    made = Cage(f"bcon-test-{os.getpid()}", limit_bytes)
    try:
        yield made
    finally:
        made.folder.rmdir()


def start_projects(engine: TestEngine, folder: Path, number: int) -> None:
    """Containers that say of which Compose file they are, so that the binary is run for each file."""
    client = docker.APIClient(base_url=engine.host, version="auto", timeout=60)
    for index in range(number):
        file = folder / f"project{index}" / "compose.yaml"
        file.parent.mkdir()
        file.write_text(f"name: project{index}\nservices: {{web: {{image: '{engine.image}', command: serve}}}}\n")
        labels = {
            "com.docker.compose.project": f"project{index}",
            "com.docker.compose.service": "web",
            "com.docker.compose.config-hash": "0" * 64,
            "com.docker.compose.project.config_files": str(file),
            "com.docker.compose.project.working_dir": str(file.parent),
        }
        made = client.create_container(engine.image, ["serve"], name=f"project{index}-web-1", labels=labels)
        client.start(made["Id"])
    client.close()


@pytest.mark.promise("F15")
def test_nothing_is_killed_for_memory_in_256_mb(engine: TestEngine, tmp_path: Path, figure: Figure) -> None:
    stacks = tmp_path / "stacks"
    stacks.mkdir()
    start_many(engine, CONTAINERS)
    start_projects(engine, stacks, PROJECTS)
    start(engine, WRITERS)
    engine.docker("wait", *WRITERS, timeout_seconds=600)
    flags = ("--scan.diagnose-interval=5s", "--scan.drift-interval=5s", f"--compose.roots={stacks}")
    with cage(LIMIT_BYTES) as memory:
        with Daemon(tmp_path, engine.host, *flags, below=memory.below) as daemon:
            daemon.wait_until_ready()
            for _ in range(3):
                wait_for_whole_scan(daemon, timeout_seconds=90)
                calls: list[tuple[str, dict[str, object]]]
                calls = [("diagnose_all", {"include_healthy": True}), ("list_containers", {"all": True})]
                calls += [("get_container_logs", {"container_id": name, "tail": 5000}) for name in WRITERS]
                calls += [("detect_drift", {"compose_file": str(stacks / "project0" / "compose.yaml")})]
                statuses = [daemon.ask(f"/api/v1/tools/{tool}", "POST", payload).status for tool, payload in calls]
                assert statuses == [200] * len(calls)
            daemon.wait_for_sample('bcon_scan_success{scan="drift"}', 1)
            seen = len(scrape(daemon).containers())
            peak = peak_memory_bytes(daemon.process.pid)
            code, _ = daemon.end()
        killed = memory.killed

    figure(f"{seen} containers: the daemon took {peak / 1e6:.0f} MB at most, {killed} processes killed")
    assert seen == CONTAINERS + PROJECTS + len(WRITERS)
    assert (killed, code) == (0, 0)
