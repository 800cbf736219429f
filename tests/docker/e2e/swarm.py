"""Two engines as the nodes of one Swarm: a manager and a worker, joined by a pair of virtual network devices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.docker.conftest import TestEngine, make_engine
from tests.programs import need
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SOCKET = "/run/docker.sock"
FLAGS = (f"--host=unix://{SOCKET}", "--no-new-privileges")
"""Where the stack expects the engine, and what a stack cannot ask for: it is the engine's to say."""
ADDRESSES = ("10.99.0.1", "10.99.0.2")


class Swarm:
    """A manager and a worker; both are gone after `destroy`."""

    def __init__(self) -> None:
        self.manager = make_engine(*FLAGS)
        try:
            self.worker = make_engine(*FLAGS)
        except BaseException:
            self.manager.destroy()
            raise
        self.nodes = (self.manager, self.worker)

    def join(self) -> None:
        """Connect the nodes and make them one Swarm."""
        connect(self.manager, self.worker)
        self.manager.docker("swarm", "init", f"--advertise-addr={ADDRESSES[0]}")
        token = self.manager.docker("swarm", "join-token", "-q", "worker")
        self.worker.docker(
            "swarm", "join", f"--advertise-addr={ADDRESSES[1]}", f"--token={token}", f"{ADDRESSES[0]}:2377"
        )

    def destroy(self) -> None:
        """Remove both."""
        for node in self.nodes:
            node.destroy()

    def deploy(self, stack: str, *files: Path, environ: Mapping[str, str]) -> None:
        """Deploy a stack of images that every node has."""
        named = [f"--compose-file={file}" for file in files]
        self.manager.docker("stack", "deploy", "--resolve-image=never", *named, stack, environ=environ)

    def wait_for(self, stack: str, services: Mapping[str, int], *, timeout_seconds: float = 90.0) -> None:
        """Wait until as many tasks as wanted of each service run, by its short name."""
        wanted = {f"{stack}_{name}": f"{count}/{count}" for name, count in services.items()}

        def run() -> bool:
            listed = self.manager.docker("service", "ls", "--format={{.Name}} {{.Replicas}}").splitlines()
            return dict(line.split()[:2] for line in listed) == wanted

        try:
            wait_until(run, f"the services {wanted}", timeout_seconds=timeout_seconds, every_seconds=0.5)
        except AssertionError as error:
            shape = "--format={{.Name}} {{.Node}} {{.CurrentState}} {{.Error}}"
            tasks = self.manager.docker("stack", "ps", "--no-trunc", shape, stack)
            message = f"{error}\n{tasks}"
            raise AssertionError(message) from None

    def container(self, node: TestEngine, service: str) -> Any:
        """What the engine says of the one running container of a service on a node."""
        label = f"label=com.docker.swarm.service.name={service}"
        (identity,) = node.docker("ps", "-q", "--filter", label, "--filter", "status=running").split()
        return json.loads(node.docker("inspect", identity))[0]


def connect(first: TestEngine, second: TestEngine) -> None:
    """Lay a cable between the network namespaces of two engines."""
    ip = need("ip")
    peer = str(second.init_pid())
    first.enter(ip, "link", "add", "swarm0", "type", "veth", "peer", "name", "swarm0", "netns", peer)
    for node, address in zip((first, second), ADDRESSES, strict=True):
        node.enter(ip, "address", "add", f"{address}/24", "dev", "swarm0")
        node.enter(ip, "link", "set", "swarm0", "up")


def copy_images(source: TestEngine, targets: tuple[TestEngine, ...], folder: Path, images: tuple[str, ...]) -> None:
    """Give every target the images of another engine."""
    file = folder / "images.tar"
    source.docker("save", "-o", str(file), *images)
    for target in targets:
        target.docker("load", "-i", str(file), timeout_seconds=300)
    file.unlink()
