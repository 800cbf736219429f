"""On a Swarm each node has one exporter that diagnoses that node; Prometheus finds them and learns nothing else."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import bcrypt
import pytest

from tests.docker import stand_ins
from tests.docker.e2e.swarm import ADDRESSES, Swarm, copy_images
from tests.docker.test_socket_proxy import LEAKS, TRICKS, WRITES
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.docker.conftest import TestEngine
    from tests.docker.e2e.site import Site

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.alone, pytest.mark.in_pairs]

ROOT = Path(__file__).parents[3]
IMAGES = ("bcon-exporter:slim", stand_ins.HAPROXY, stand_ins.PROMETHEUS)
SERVICES = {"exporter": 2, "socket-proxy": 2, "discovery-proxy": 1, "prometheus": 1}
OTHERS = (
    "GET /v1.41/services", "GET /v1.41/tasks", "GET /v1.41/networks", "GET /v1.41/nodes/self", "GET /v1.41/info",
    "GET /v1.41/version", "GET /v1.41/events", "GET /v1.41/containers/json", "POST /v1.41/nodes", "GET /v1.41/nodes/",
    "GET /v1.41/nodes/../services", "GET /v1.41/nodes%2f..%2fservices",
)  # fmt: skip
PROBE = """
import json, socket, sys
for line in json.load(sys.stdin):
    with socket.socket(socket.AF_UNIX) as asked:
        asked.settimeout(10)
        asked.connect("/sd/docker.sock")
        asked.sendall(f"{line} HTTP/1.1\\r\\nHost: engine\\r\\nConnection: close\\r\\n\\r\\n".encode("latin-1"))
        print(asked.makefile("rb").readline().split()[1].decode())
"""
STATUS = """
import sys, urllib.request, urllib.error
handler = urllib.request.HTTPBasicAuthHandler(urllib.request.HTTPPasswordMgrWithPriorAuth())
handler.passwd.add_password(None, sys.argv[1], "reader", sys.argv[2], is_authenticated=bool(sys.argv[2]))
try:
    print(urllib.request.build_opener(handler).open(sys.argv[1], timeout=10).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


class Deployment:
    """The stack on a Swarm, from a copy of the shipped files in which Prometheus asks and looks around often."""

    def __init__(self, swarm: Swarm, folder: Path) -> None:
        self.swarm = swarm
        self.folder = folder / "deploy"
        for name in ("deploy", "alerts"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("demo", "wheels", "__pycache__"))
        scraping = self.folder / "prometheus.swarm.yml"
        shipped = scraping.read_text()
        often = shipped.replace("scrape_interval: 30s", "scrape_interval: 1s")
        scraping.write_text(often.replace("refresh_interval: 15s", "refresh_interval: 2s"))
        self.environ = {
            "DOCKER_GID": str(swarm.manager.socket.stat().st_gid),
            "HEALTH_INTERVAL": "2s",
            "BCON_IMAGE": "bcon-exporter:slim",
            "HAPROXY_IMAGE": stand_ins.HAPROXY,
            "PROMETHEUS_IMAGE": stand_ins.PROMETHEUS,
        }

    def deploy(self, *files: str) -> None:
        """Deploy these files as the stack `bcon` and wait until all of it runs."""
        self.swarm.deploy("bcon", *(self.folder / name for name in files), environ=self.environ)
        self.swarm.wait_for("bcon", SERVICES)

    def query(self, expression: str) -> dict[tuple[str, str], float]:
        """What Prometheus says: value by (instance, container)."""
        prometheus = self.swarm.container(self.swarm.manager, "bcon_prometheus")["Id"]
        ask = ("promtool", "query", "instant", "--format=json", "http://127.0.0.1:9090", expression)
        found = json.loads(self.swarm.manager.docker("exec", prometheus, *ask))
        return {
            (each["metric"]["instance"], each["metric"].get("container", "")): float(each["value"][1]) for each in found
        }


@pytest.fixture(scope="module")
def deployment(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("swarm")
    swarm = Swarm()
    try:
        swarm.join()
        copy_images(site.engine, swarm.nodes, folder, IMAGES)
        for node, name in zip(swarm.nodes, ("ill-manager", "ill-worker"), strict=True):
            node.docker("run", "-d", "--name", name, node.image, "sh", "-c", "echo fatal: lost my way; exit 3")
        deployment = Deployment(swarm, folder)
        deployment.deploy("stack.yaml", "stack.monitoring.yaml")
        yield deployment
    finally:
        swarm.destroy()


def status(node: TestEngine, url: str, password: str = "") -> str:
    """The HTTP status that another machine on the network of the nodes gets."""
    return node.enter(sys.executable, "-c", STATUS, url, password)


def test_every_node_has_one_exporter_locked_in_and_away_from_every_network_of_the_swarm(deployment: Deployment) -> None:
    swarm = deployment.swarm
    for node in swarm.nodes:
        exporter = swarm.container(node, "bcon_exporter")
        host = exporter["HostConfig"]
        read = ("exec", exporter["Id"], "python3", "-c", "print(open('/proc/1/status').read())")
        inside = dict(line.split(":\t") for line in node.docker(*read).splitlines() if ":\t" in line)

        assert (host["ReadonlyRootfs"], host["CapDrop"], host["CapAdd"]) == (True, ["ALL"], None)
        assert (host["Memory"], host["NanoCpus"], host["PidsLimit"]) == (256 * 2**20, 10**9, 128)
        assert (inside["NoNewPrivs"], int(inside["CapBnd"], 16), inside["Uid"].split()[0]) == ("1", 0, "65532")
        assert list(exporter["NetworkSettings"]["Networks"]) == ["bridge"]
        for proxy in ("bcon_socket-proxy", *(["bcon_discovery-proxy"] if node is swarm.manager else [])):
            settings = swarm.container(node, proxy)["NetworkSettings"]
            assert (list(settings["Networks"]), settings["Ports"]) == (["bridge"], {})


def test_prometheus_finds_both_and_each_diagnoses_its_own_node(deployment: Deployment) -> None:
    manager, worker = (node.name for node in deployment.swarm.nodes)
    ill = {(manager, "ill-manager"): 1.0, (worker, "ill-worker"): 1.0}

    wait_until(
        lambda: deployment.query("up") == {(manager, ""): 1.0, (worker, ""): 1.0},
        "Prometheus to scrape both nodes",
        timeout_seconds=60,
        every_seconds=1,
    )
    symptom = 'bcon_container_symptom{symptom="exit_error",container=~"ill-.*"} == 1'
    wait_until(lambda: deployment.query(symptom) == ill, "each node's own trouble", timeout_seconds=60, every_seconds=1)

    assert deployment.query("bcon_up") == {(manager, ""): 1.0, (worker, ""): 1.0}


def test_the_discovery_proxy_lists_the_nodes_and_refuses_everything_else(deployment: Deployment) -> None:
    refused = [line for line in (*OTHERS, *WRITES, *LEAKS, *TRICKS) if line != "GET /v1.41/nodes"]
    lines = ["GET /_ping", "HEAD /_ping", "GET /v1.41/nodes", *refused]
    probe = ("run", "--rm", "-i", "--network=none", "-v", "bcon_sd:/sd", "--entrypoint=python3", "bcon-exporter:slim")

    answered = deployment.swarm.manager.docker(*probe, "-c", PROBE, given=json.dumps(lines)).split()

    assert answered[:3] == ["200", "200", "200"]
    passed = [line for line, code in zip(refused, answered[3:], strict=True) if code not in ("400", "403", "405")]
    assert passed == []


def test_reports_leave_a_node_only_for_its_users(deployment: Deployment) -> None:
    manager, worker = deployment.swarm.nodes
    url = f"http://{ADDRESSES[1]}:19877/api/v1/tools"
    assert (status(manager, url), status(manager, f"http://{ADDRESSES[1]}:19877/metrics")) == ("403", "200")

    hashed = bcrypt.hashpw(b"right", bcrypt.gensalt(4)).decode()
    (deployment.folder / "web.yml").write_text(f"basic_auth_users: {{reader: '{hashed}'}}\n")
    deployment.deploy("stack.yaml", "stack.monitoring.yaml", "stack.users.yaml")
    for asking, address in ((manager, ADDRESSES[1]), (worker, ADDRESSES[0])):
        wait_until(
            lambda asking=asking, address=address: status(asking, f"http://{address}:19877/api/v1/tools") == "401",  # type: ignore[misc]
            f"the exporter at {address} to ask for a password",
            timeout_seconds=60,
            every_seconds=1,
        )

    assert (status(manager, url, "wrong"), status(manager, url, "right")) == ("401", "200")
