"""A day of planned work on a real engine raises nothing above info, at no moment, in the running daemon."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.docker.image import build_image
from tests.docker.scenarios.stage import symptoms_of
from tests.docker.scraping import wait_for_whole_scan
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.slow]

FILE = """\
name: shop
x-common: &common {{image: "{image}", stop_grace_period: 2s, network_mode: none}}
services:
  db:
    <<: *common
    command: [serve]
    restart: unless-stopped
    healthcheck: {{test: "true", interval: 1s}}
  migrate:
    <<: *common
    command: [sh, -c, "echo migrated 12 rows, 0 errors"]
    depends_on: {{db: {{condition: service_healthy}}}}
  web:
    <<: *common
    command: [sh, -c, "trap 'echo ERROR: closing 3 open requests; exit 2' TERM; while :; do sleep 60 & wait $$!; done"]
    restart: always
    depends_on: {{migrate: {{condition: service_completed_successfully}}}}
  deaf:
    <<: *common
    command: [sh, -c, "trap '' TERM; while :; do sleep 1; done"]
    restart: unless-stopped
    mem_limit: 32m
"""


class Witness:
    """Reads the daemon's reports all the time and writes down whatever is not healthy, with what was being done."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.doing = ""
        self.seen: set[tuple[str, str, str, frozenset[str]]] = set()
        self.reports = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            self.look()

    def look(self) -> None:
        """Read the last scan once."""
        for report in self.daemon.ask("/api/v1/diagnosis").json()["result"]["reports"]:
            self.reports += 1
            if report["status"] != "healthy":
                self.seen.add((self.doing, report["container_name"], report["status"], symptoms_of(report)))

    def __enter__(self) -> Witness:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def during(self, doing: str) -> None:
        """Say what is done from now on, once the daemon has seen the end of what was done before."""
        wait_for_whole_scan(self.daemon, timeout_seconds=60)
        self.look()
        self.doing = doing


@pytest.fixture
def daemon(engine: TestEngine, tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval=1s", f"--compose.roots={tmp_path}") as started:
        started.wait_until_ready()
        yield started


def test_a_day_of_planned_work_raises_nothing(engine: TestEngine, daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(FILE.format(image=engine.image))
    newer = "bcon-test:2"
    build_image(engine.host, newer, {"RELEASE": "2"})
    job = ("sh", "-c", "echo backup finished, errors=0")

    with Witness(daemon) as witness:
        witness.doing = "compose up"
        engine.compose("up", "-d", cwd=tmp_path)

        witness.during("docker stop and start")
        engine.docker("stop", "shop-web-1", "shop-deaf-1")
        witness.during("docker start")
        engine.docker("start", "shop-web-1", "shop-deaf-1")

        witness.during("docker restart, four times")
        for _ in range(4):
            engine.docker("restart", "-t", "1", "shop-db-1", "shop-deaf-1")

        witness.during("compose restart and a larger scale")
        engine.compose("restart", "-t", "1", cwd=tmp_path)
        engine.compose("up", "-d", "--scale", "db=2", cwd=tmp_path)

        witness.during("compose up with a new image")
        (tmp_path / "compose.yaml").write_text(FILE.format(image=newer))
        engine.compose("up", "-d", cwd=tmp_path)

        witness.during("one-shots and cron jobs")
        engine.docker("run", "-d", "--name", "job", "--network", "none", engine.image, *job)
        for _ in range(4):
            engine.docker("run", "--rm", "--network", "none", engine.image, *job)
            engine.docker("start", "job")
        engine.compose("run", "--rm", "migrate", cwd=tmp_path)

        witness.during("a restart of the engine")
        engine.docker("run", "-d", "--name", "no-policy", "--network", "none", engine.image, "sleep", "600")
        wait_for_whole_scan(daemon)
        engine.shut_down()
        engine.restart()
        wait_until(lambda: daemon.sample("bcon_up") == 1, "the daemon to be back")
        witness.during("a crash of the engine")
        engine.kill_and_restart()
        wait_until(lambda: daemon.sample("bcon_up") == 1, "the daemon to be back")

        witness.during("compose down")
        engine.compose("down", "-t", "1", cwd=tmp_path)
        witness.during("the evening")

    told = {(name, status, symptoms) for _, name, status, symptoms in witness.seen}
    assert told == {("no-policy", "warning", frozenset({"not_started_again"}))}, (
        "what the engine left down, and no other"
    )
    assert witness.reports > 100, "the witness has read reports"
