"""`make demo ONCE=1` shows what it promises, on an engine of its own or on yours, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.docker.engine import CGROUPS, PrivateEngine

if TYPE_CHECKING:
    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.alone, pytest.mark.in_pairs]

ROOT = Path(__file__).parents[2]
SECONDS = 240
DIAGNOSED = {  # service → what its part of the diagnosis says
    "importer": ("CRITICAL", "out of memory", "oom_killed"),
    "worker": ("CRITICAL", "restart_loop", "cannot read /etc/worker/config.yml"),
    "api": ("ERROR", "unhealthy", "127.0.0.1:8080"),
    "orders": ("ERROR", "network_error", "ENOTFOUND database"),
    "cache": ("WARNING", "high_memory"),
    "encoder": ("WARNING", "cpu_throttled"),
}
HEALTHY = ("billing", "gateway", "legacy", "migrate", "queue", "shop")
DRIFTED = {  # service → what its part of the drift says
    "legacy": ("extra_container", "would remove it"),
    "mailer": ("missing_service", "would create it"),
    "importer": ("not_running", "code 137"),
    "queue": ("replica_mismatch", "1 of 2 replicas"),
    "billing": ("image_mismatch", "bcon-demo:2", "environment.CURRENCY", "environment.PAYMENT_TOKEN"),
    "gateway": ("config_mismatch", "mem_limit", "64m", "48m", "behind Compose's back"),
}
HEADING = r"^ *(?=(?:CRITICAL|ERROR|WARNING|HEALTHY) )"
SERVICE_HEADING = rf"^ *(?=(?:{'|'.join(DRIFTED)})\b)"


@dataclass
class Demo:
    """One run of the demonstration in a state folder of its own."""

    folder: Path
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, folder: Path, host: str) -> Demo:
        """Start it with the virtual environment of this run; `host` is what its DOCKER_HOST says."""
        folder.mkdir()
        with socket.socket() as free:  # each its own: two that look for the usual one at once both find it free
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        own = {"DEMO_STATE": str(folder), "DEMO_PORT": port, "DOCKER_HOST": host}
        process = subprocess.Popen(
            ["make", "--no-print-directory", "-o", "venv", "demo", "ONCE=1"],
            cwd=ROOT,
            env={**os.environ, **own, "MAKEFLAGS": "", "MAKELEVEL": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return cls(folder, process)

    def finish(self) -> str:
        """What it printed, when it has ended by itself or its time is up."""
        try:
            return self.process.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            self.process.terminate()
            return self.process.communicate(timeout=60)[0]

    def remains(self) -> list[str]:
        """Processes, mounts and files that it has left, by what names its folder."""
        name = str(self.folder)
        mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if name in line]
        files = [str(path) for path in self.folder.rglob("*") if not path.name.startswith(("state.db", "daemon.log"))]
        return [*mounts, *files, *(command for command in commands() if name in command)]


def commands() -> list[str]:
    """The command line of every process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def inventory(engine: TestEngine) -> dict[str, list[str]]:
    """All that an engine holds, ids included."""
    return {
        "containers": sorted(engine.docker("ps", "-a", "--no-trunc", "--format", "{{.ID}} {{.Names}}").splitlines()),
        "images": sorted(
            engine.docker("images", "--no-trunc", "--format", "{{.ID}} {{.Repository}}:{{.Tag}}").split("\n")
        ),
        "networks": sorted(engine.docker("network", "ls", "--no-trunc", "--format", "{{.ID}} {{.Name}}").splitlines()),
        "volumes": sorted(engine.docker("volume", "ls", "-q").split()),
    }


def test_it_shows_every_ailment_and_drift_and_leaves_nothing(engine: TestEngine, tmp_path: Path) -> None:
    # both ways at once: without an engine, and with one that holds other people's things
    engine.docker(
        "run", "-d", "--name", "bystander", "--label", "com.docker.compose.project=other", engine.image, "serve"
    )
    engine.docker("volume", "create", "precious")
    before, since = inventory(engine), engine.docker("info", "--format", "{{.SystemTime}}")

    runs = {
        "private": Demo.start(tmp_path / "p", f"unix://{tmp_path}/nobody.sock"),
        "yours": Demo.start(tmp_path / "y", engine.host),
    }
    printed = {name: run.finish() for name, run in runs.items()}

    assert [run.process.returncode for run in runs.values()] == [0, 0], printed
    for text in printed.values():
        diagnosis, _, drift = text.partition("$ bcon-exporter drift")
        *parts, last = re.split(HEADING, diagnosis, flags=re.MULTILINE)[1:]
        for service, words in DIAGNOSED.items():
            assert says(next(part for part in parts if f"bcon-demo-{service}-1" in part.partition("\n")[0]), words)
        assert says(last, ("HEALTHY", *(f"bcon-demo-{service}-1" for service in HEALTHY)))
        parts = re.split(SERVICE_HEADING, drift, flags=re.MULTILINE)[1:]
        for service, words in DRIFTED.items():
            assert says(next(part for part in parts if part.startswith(service)), words)
        assert "not-shown-anywhere" not in text
        assert "/metrics" in text
    assert "starting a private one" in printed["private"]
    assert f"using the engine at {engine.host}" in printed["yours"]

    assert [each for run in runs.values() for each in run.remains()] == []
    found = re.search(r"DOCKER_HOST=unix://(\S+)/docker\.sock", printed["private"])
    assert found
    private = PrivateEngine(Path(found[1]))
    assert not private.state.exists()
    assert list(CGROUPS.glob(f"*/{private.name}")) == []
    assert inventory(engine) == before
    # building an image has containers and layers of random names; what stood there before is nobody's business
    assert touched(engine, since).isdisjoint({"bystander", "precious", engine.image})


def touched(engine: TestEngine, since: str) -> set[str]:
    """Names of what events tell about since a moment and is none of the demonstration's."""
    until = engine.docker("info", "--format", "{{.SystemTime}}")
    lines = engine.docker("events", "--since", since, "--until", until, "--format", "{{json .}}").splitlines()
    attributes: list[dict[str, Any]] = [json.loads(line)["Actor"]["Attributes"] for line in lines]
    names = {str(each.get("name", "")) for each in attributes if each.get("com.docker.compose.project") != "bcon-demo"}
    return {name for name in names if not name.startswith("bcon-demo")}


def says(part: str, words: tuple[str, ...]) -> bool:
    """Whether each of the words stands in a part, however it is wrapped; AssertionError with the part otherwise."""
    flat = " ".join(part.split())
    assert [word for word in words if word not in flat] == [], part
    return True
