"""A fleet of real containers to scan: 94 % run, and each of those writes a log line every ten seconds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import docker
from tests.docker.engine import PrivateEngine, sweep_leftovers
from tests.docker.image import IMAGE, build_image
from tests.waiting import wait_until

RUNNING_SHARE = 0.94
STARTERS = 4
TALKER = (
    "trap 'exit 0' TERM; n=0; while :; do n=$((n+1)); "
    'echo "level=info msg=\\"request served\\" id=$n status=200 took=12ms"; sleep 10 & wait $!; done'
)


@dataclass
class Fleet:
    """A private engine and its containers.

    Attributes:
        talker: The shell script of those that run.
    """

    engine: PrivateEngine = field(default_factory=PrivateEngine)
    size: int = 0
    talker: str = TALKER

    def start(self) -> Fleet:
        """Start the engine with the image in it."""
        sweep_leftovers()
        self.engine.start()
        build_image(self.engine.host)
        return self

    def grow_to(self, size: int) -> None:
        """Add containers up to a number; of each hundred, six have exited."""
        client = docker.APIClient(base_url=self.engine.host, version="auto", timeout=300, num_pools=STARTERS)
        with ThreadPoolExecutor(STARTERS) as starters:
            list(starters.map(lambda number: _add(client, number, self.talker), range(self.size, size)))
        self.size = size
        expected = sum(is_running(number) for number in range(size))
        wait_until(lambda: len(client.containers(quiet=True)) == expected, f"{expected} running", timeout_seconds=120)
        client.close()

    def stop(self) -> None:
        """Kill the engine and everything in it."""
        self.engine.destroy()


def is_running(number: int) -> bool:
    """Whether the container of this number runs or has exited."""
    return number % 50 not in (7, 23, 41)


def _add(client: docker.APIClient, number: int, talker: str) -> None:
    command = ["sh", "-c", talker] if is_running(number) else ["sh", "-c", "echo done"]
    limits = client.create_host_config(mem_limit="64m", restart_policy={"Name": "no"})
    labels = {"com.docker.compose.project": f"fleet{number // 25}", "com.docker.compose.service": f"s{number % 25}"}
    created = client.create_container(IMAGE, command, name=f"fleet-{number}", host_config=limits, labels=labels)
    client.start(created["Id"])
