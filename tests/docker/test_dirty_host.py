"""Day one on a host that has lived, with months of dead containers, stacks without files, a reboot: nobody is paged."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.docker.daemon import Daemon
from tests.docker.scenarios.stage import symptoms_of
from tests.docker.scraping import wait_for_whole_scan
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.slow]

CODES = (0, 1, 2, 3, 126, 127, 137, 139, 143, 255)
OLD = 30
WARNINGS_AT_MOST = 3
LABEL = "com.docker.compose"
STACKS = {
    "portainer": {
        "project.config_files": "/data/compose/7/docker-compose.yml",
        "project.working_dir": "/data/compose/7",
    },
    "stdin": {"project.config_files": "-", "project.working_dir": "/root"},
    "ci": {"project.config_files": "/builds/group/app/compose.yaml", "project.working_dir": "/builds/group/app"},
    "watchtower": {"project.config_files": "/srv/app/compose.yaml", "image": f"sha256:{'0' * 64}"},
}
SET_BACK = r"""
grep -lE '"Name":"/old-[0-9]+"' "$1"/data/containers/*/config.v2.json |
xargs sed -E -i 's/"(StartedAt|FinishedAt|Created)":"20[0-9]{2}-[0-9]{2}-[0-9]{2}T/"\1":"2024-05-04T/g'
"""


def stack_labels(name: str) -> list[str]:
    """The labels of a container that a Compose of long ago has made, far from any file of this host."""
    labels = {"project": name, "service": "app", "container-number": "1", "oneoff": "False", "config-hash": "0" * 64}
    labels |= {"version": "2.17.2", **STACKS[name]}
    return [part for key, value in labels.items() for part in ("-l", f"{LABEL}.{key}={value}")]


def list_starts(image: str) -> list[list[str]]:
    """The arguments of every `docker run`, names first."""
    alone = ["--network", "none"]
    starts = [
        [f"old-{number}", *alone, image, "sh", "-c", f"echo ERROR: giving up; exit {CODES[number % len(CODES)]}"]
        for number in range(OLD)
    ]
    starts += [[f"{name}-app-1", "--restart", "always", *stack_labels(name), image, "serve"] for name in STACKS]
    limits = ["-m", "64m", "--memory-swap", "64m", "--restart", "always"]
    starts += [["jvm", *alone, *limits, image, "sh", "-c", "(head -c 59m /dev/zero; sleep 600) | tail -c 64m"]]
    return [*starts, ["no-policy", *alone, image, "sleep", "600"]]


def furnish(engine: TestEngine) -> None:
    """Put on the host what gathers over months."""
    with ThreadPoolExecutor(4) as starters:
        done = starters.map(lambda start: engine.docker("run", "-d", "--name", *start), list_starts(engine.image))
        assert len(list(done)) == OLD + len(STACKS) + 2
    wait_until(lambda: len(engine.docker("ps", "-q").split()) == len(STACKS) + 2, "the old ones to have ended")


def age(engine: TestEngine) -> None:
    """Set the times of the old containers back in the files of an engine that is down."""
    as_root = [] if os.getuid() == 0 else ["sudo", "-n"]
    subprocess.run([*as_root, "sh", "-c", SET_BACK, "sh", str(engine.state)], check=True)


def reports_of(daemon: Daemon) -> dict[str, dict[str, Any]]:
    """The reports of the last scan by name."""
    reports = daemon.ask("/api/v1/diagnosis").json()["result"]["reports"]
    return {report["container_name"]: report for report in reports}


def test_a_host_that_has_lived_pages_nobody_on_day_one(engine: TestEngine, tmp_path: Path) -> None:
    furnish(engine)
    engine.kill()
    age(engine)
    engine.restart()
    ended = ("inspect", "-f", "{{.State.FinishedAt}}", "old-1")
    wait_until(lambda: engine.docker(*ended).startswith("2024-05-04"), "the old ones to be old")

    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval", "2s") as daemon:
        daemon.wait_until_ready()
        for _ in range(3):
            wait_for_whole_scan(daemon)
            found = reports_of(daemon)
            ill = {
                name: (one["status"], sorted(symptoms_of(one)))
                for name, one in found.items()
                if one["status"] != "healthy"
            }
            assert len(found) == OLD + len(STACKS) + 2
            assert {status for status, _ in ill.values()} <= {"warning"}, ill
            assert len(ill) <= WARNINGS_AT_MOST, ill

        def heap_is_seen() -> bool:
            return symptoms_of(reports_of(daemon)["jvm"]) == {"high_memory"}

        wait_until(heap_is_seen, "the full heap to be seen: the host is judged, not passed over")
