"""A host with what is shipped on it: a copy of the files, the images, and the Compose stacks run from there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.docker import stand_ins
from tests.docker.conftest import TestEngine
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
SHIPPED = (
    *(".dockerignore", "LICENSE", "README.md", "pyproject.toml"),
    *("alerts", "bcon_exporter", "deploy", "docs", "grafana"),
)
OFFLINE = "--no-index --find-links=/wheels"
FILES = ("compose.agent.yaml", "compose.monitoring.yaml")
ASK = """
import sys, urllib.request, urllib.error
url, body = sys.argv[1:]
request = urllib.request.Request(url, body.encode() or None, {"content-type": "application/json"})
try:
    print(urllib.request.urlopen(request, timeout=20).read().decode())
except urllib.error.HTTPError as error:
    print(error.read().decode())
"""


@dataclass
class Site:
    """Where the stacks run.

    Attributes:
        folder: Holds the copy of the repository's shipped files, and the Compose projects in `stacks`.
        environment: What .env would say.
        broken_at: When the trouble began, in seconds since the epoch.
    """

    engine: TestEngine
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    broken_at: float = 0.0

    def __post_init__(self) -> None:
        for name in SHIPPED:
            target = self.folder / name
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__", "demo", "wheels"))
            else:
                shutil.copy(ROOT / name, target)
        self.stacks.mkdir()
        self.environment = {
            "DOCKER_SOCKET": str(self.engine.socket),
            "DOCKER_GID": str(self.engine.socket.stat().st_gid),
            "STACKS": str(self.stacks),
            "HEALTH_INTERVAL": "3s",
        }

    @property
    def stacks(self) -> Path:
        """The folder of the Compose projects."""
        return self.folder / "stacks"

    @property
    def deploy(self) -> Path:
        """The copy of deploy/."""
        return self.folder / "deploy"

    def build_images(self) -> None:
        """Build every image: the exporter's from its Dockerfile, without a network; the others are stand-ins."""
        subprocess.run([ROOT / ".ci" / "setup.sh", "wheels", self.deploy / "wheels"], cwd=ROOT, check=True)
        host = self.engine.host
        stand_ins.build_base(host)
        stand_ins.build_builder(host)
        self.build("slim", "--target=slim")
        self.build("latest", "--build-arg=VERSION=1.2.3", "--build-arg=REVISION=abc", "--build-arg=CREATED=2026-01-02")
        stand_ins.build_haproxy(host)
        stand_ins.build_prometheus(host)
        stand_ins.build_alertmanager(host)

    def build(self, tag: str, *options: str) -> None:
        """Build the exporter's image with the classic builder, as deploy/Dockerfile says where there is no network."""
        bases = [f"--build-arg=BUILD_IMAGE={stand_ins.BUILD}", f"--build-arg=BASE_IMAGE={stand_ins.BASE}"]
        offline = ["--network=none", f"--build-arg=PIP_OPTIONS={OFFLINE}"]
        named = ["-f", "deploy/Dockerfile", "-t", f"bcon-exporter:{tag}"]
        done = subprocess.run(
            ["docker", "build", *named, *bases, *offline, *options, "."],
            cwd=self.folder,
            env={**os.environ, "DOCKER_HOST": self.engine.host, "DOCKER_BUILDKIT": "0"},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]

    def inspect(self, kind: str, name: str) -> Any:
        """What the engine says of an image or a container."""
        return json.loads(self.engine.docker("inspect", f"--type={kind}", name))[0]

    def compose(self, *arguments: str, files: tuple[str | Path, ...] = FILES) -> str:
        """Run Compose on the stack, from deploy/ as its documents say."""
        binary = Path(sys.executable).parent / "docker-compose"
        named = [word for name in files for word in ("-f", str(name))]
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("DOCKER_", "COMPOSE_", "BCON_"))
        }
        done = subprocess.run(
            [binary, "--progress=plain", *named, *arguments],
            cwd=self.deploy,
            env={**kept, **self.environment, "DOCKER_HOST": self.engine.host},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def ask(self, path: str, body: Any = None, port: int = 19877) -> Any:
        """Ask the port that is published on the host's loopback; the host is the engine's network namespace."""
        inner = str(self.engine.processes()[0].pid)
        sent = "" if body is None else json.dumps(body)
        url = f"http://127.0.0.1:{port}{path}"
        enter = ["nsenter", "-t", inner, "-n", sys.executable, "-I", "-c", ASK, url, sent]
        text = subprocess.run(
            enter if os.getuid() == 0 else ["sudo", "-n", *enter],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        return json.loads(text) if text.startswith(("{", "[")) else text

    def notified(self) -> list[dict[str, Any]]:
        """What the receiver has taken, in order: one entry per alert of each notification."""
        lines = self.engine.docker("logs", "bcon-receiver-1").splitlines()
        messages = [json.loads(line) for line in lines]
        return [each | {"path": one["path"], "at": one["at"]} for one in messages for each in one["alerts"]]

    def wait_for(self, status: str, path: str, labels: dict[str, str], timeout_seconds: float = 60) -> dict[str, Any]:
        """Wait until an alert with these labels was received as firing or resolved."""

        def found() -> dict[str, Any] | None:
            mine = (each for each in self.notified() if each["path"] == path and each["status"] == status)
            return next((each for each in mine if labels.items() <= each["labels"].items()), None)

        return wait_until(found, f"{status} {labels} at {path}", timeout_seconds=timeout_seconds, every_seconds=0.5)


def in_seconds(rules: str) -> str:
    """Rules whose minutes are meant in seconds, though no wait is shorter than two scans."""
    return re.sub(
        r"^( +(?:for|keep_firing_for): )(\d+)m$",
        lambda found: f"{found[1]}{max(5, int(found[2]))}s",
        rules,
        flags=re.MULTILINE,
    )


def quick_routes(example: str, receiver: str) -> str:
    """The example's routes and inhibitions, its receivers at one address with a token, grouping within a second."""
    config = yaml.safe_load(example)
    for route in (config["route"], *config["route"]["routes"]):
        route |= {"group_wait": "1s", "group_interval": "1s"}
    for each in config["receivers"]:
        for hook in each["webhook_configs"]:
            hook["url"] = receiver
            hook["send_resolved"] = True
            hook["http_config"] = {"authorization": {"credentials_file": "/run/secrets/receiver_token"}}
    return yaml.safe_dump(config, sort_keys=False)
