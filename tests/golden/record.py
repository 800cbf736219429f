"""Records hosts for `tests/golden` on a real engine: `python -m tests.golden.record [HOST…]`, once.

What is recorded is not recorded again without need: every answer would become another.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import struct
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bench.fleet import Fleet
from tests.docker.cascades.play import deploy_and_break
from tests.docker.cascades.table import load_cascades
from tests.docker.conftest import make_engine
from tests.docker.image import IMAGE
from tests.docker.scenarios.stage import add_files_to_image, start_all
from tests.docker.scenarios.table import DAY_ONE, TABLE, load_table
from tests.golden.playing import INTERVAL_SECONDS, PROJECTS
from tests.golden.recording import HOSTS, NO_SUCH_PID, Host, Moment
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.docker.engine import PrivateEngine

NANO = 1_000_000_000
MOMENTS = 5
ASKERS = 4
HOUR = 3600
CASCADES = ("shop-db-killed", "media-db-tmpfs-full", "seed-vpn-crashed", "forum-pooler-db")


class Recorder:
    """Asks an engine for all that the daemon may ask, at some moments."""

    def __init__(self, engine: PrivateEngine) -> None:
        self.engine = engine
        self.host = Host()
        self._seen: set[str] = set()
        self._began = time.time()

    def take_moment(self, *, later_seconds: float = 0.0, restarted: bool = False) -> None:
        """Take down what the engine answers now; shown later than it was, where the same should be seen again."""
        at = time.time_ns()
        paths = ["/version", "/info", "/containers/json?all=1", "/networks", "/volumes", "/system/df"]
        answers = {path.partition("?")[0]: self._ask(path) for path in paths}
        listed = answers["/containers/json"]
        self._seen |= {entry["Id"] for entry in listed}
        with ThreadPoolExecutor(ASKERS) as askers:
            for found in askers.map(self._ask_about, listed):
                answers |= found
        for network in answers["/networks"]:
            answers[f"/networks/{network['Id']}"] = answers[f"/networks/{network['Name']}"] = network
        self.host.moments.append(Moment(at + int(later_seconds * NANO), _without_nulls(answers), restarted))

    def _ask_about(self, entry: dict[str, Any]) -> dict[str, Any]:
        path = f"/containers/{entry['Id']}"
        inspected = self._ask(f"{path}/json")
        found = {f"{path}/json": inspected, f"{path}/stats": None}
        if inspected and inspected["State"]["Pid"]:
            found[f"{path}/stats"] = self._ask(f"{path}/stats?stream=false&one-shot=true")
            inspected["State"]["Pid"] = NO_SUCH_PID
        for reference in {entry["ImageID"], entry["Image"]}:
            found[f"/images/{reference}/json"] = self._ask(f"/images/{quote(reference, safe=':/')}/json")
        return found

    def take_moments(self, number: int = MOMENTS) -> None:
        """Some in a row, as often as the daemon looks."""
        for _ in range(number):
            due = time.monotonic() + INTERVAL_SECONDS
            self.take_moment()
            _wait_until_time(due)

    def finish(self) -> Host:
        """Read the logs of all that were ever seen and are still there, and all events."""
        until = time.time() + 1
        raw = self._get(f"/events?since={self._began - 1:.0f}&until={until:.0f}")
        self.host.events = [json.loads(line) for line in raw.splitlines() if line.strip()]
        for container in sorted(self._seen):
            inspected = self._ask(f"/containers/{container}/json")
            if inspected is None:
                continue
            if inspected["Config"]["Tty"]:
                self.host.terminals.append(container)
            self.host.logs[container] = _read_log(
                self._get(f"/containers/{container}/logs?stdout=1&stderr=1&timestamps=1"),
                tty=inspected["Config"]["Tty"],
            )
        return self.host

    def _ask(self, path: str) -> Any:
        body = self._get(path)
        return json.loads(body) if body else None

    def _get(self, path: str) -> bytes:
        connection = http.client.HTTPConnection("docker", timeout=120)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.engine.socket))
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            return body if answer.status == 200 else b""
        finally:
            connection.close()


def _wait_until_time(due: float) -> None:
    wait_until(lambda: time.monotonic() >= due, "the next moment")


def _without_nulls(answers: dict[str, Any]) -> dict[str, Any]:
    return {path: answer for path, answer in answers.items() if answer is not None}


def _read_log(raw: bytes, *, tty: bool) -> list[tuple[int, int, str]]:
    """The lines of an answer; what the engine cut into pieces stays so."""
    lines: list[tuple[int, int, str]] = []
    while raw:
        stream, size = 1, len(raw.partition(b"\n")[0]) + 1
        if not tty:
            stream, size = struct.unpack(">BxxxL", raw[:8])
            raw = raw[8:]
        piece, raw = raw[:size], raw[size:]
        stamp, _, text = piece.partition(b" ")
        lines.append((_read_stamp(stamp.decode()), stream, text.decode("utf-8", "surrogateescape")))
    return lines


def _read_stamp(text: str) -> int:
    found = re.fullmatch(r"(.*?)(?:\.(\d+))?Z", text)
    assert found is not None, text
    seconds = datetime.fromisoformat(found[1]).replace(tzinfo=UTC).timestamp()
    return int(seconds) * NANO + int((found[2] or "").ljust(9, "0"))


@contextmanager
def recording() -> Iterator[Recorder]:
    """A recorder on an engine of its own."""
    engine = make_engine()
    try:
        yield Recorder(engine)
    finally:
        engine.destroy()


def record_empty() -> Host:
    """An engine without a container."""
    with recording() as recorder:
        recorder.take_moments(2)
        return recorder.finish()


def record_scenarios(table: Path) -> Host:
    """A table of scenarios, all at once, and an hour later, to a daemon started anew."""
    with recording() as recorder:
        add_files_to_image(recorder.engine)
        start_all(recorder.engine, load_table(table))
        recorder.take_moments()
        recorder.take_moment(later_seconds=HOUR, restarted=True)
        return recorder.finish()


def record_crowd(containers: int) -> Host:
    """A fleet of like containers, most of them well."""
    fleet = Fleet(engine=make_engine())
    try:
        fleet.grow_to(containers)
        recorder = Recorder(fleet.engine)
        recorder.take_moments(2)
        return recorder.finish()
    finally:
        fleet.stop()


def record_cascade(name: str) -> Host:
    """A project before, during and after its fault."""
    cascade = next(each for each in load_cascades() if each.id == name)
    with recording() as recorder:
        folder = _project_folder(recorder, cascade.id)
        steps = deploy_and_break(cascade, recorder.engine, folder)
        for _ in steps:
            _keep_files(recorder, folder)
            recorder.take_moments(3)
        return recorder.finish()


def record_project(compose: str, *acts: Callable[[PrivateEngine, Path], object]) -> Host:
    """A Compose project as it was brought up, and after each of some acts."""
    with recording() as recorder:
        folder = _project_folder(recorder, "shop")
        (folder / "compose.yaml").write_text(compose)
        recorder.engine.compose("up", "-d", "--pull", "never", cwd=folder)
        recorder.take_moments(2)
        for act in acts:
            act(recorder.engine, folder)
            recorder.take_moments(2)
        _keep_files(recorder, folder)
        return recorder.finish()


def _project_folder(recorder: Recorder, name: str) -> Path:
    del recorder
    folder = PROJECTS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _keep_files(recorder: Recorder, folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            recorder.host.files[str(path.relative_to(PROJECTS))] = path.read_text()


SHOP = f"""\
name: shop
services:
  web:
    image: {IMAGE}
    command: sleep 3600
    environment: {{MODE: prod, API_TOKEN: canary-4711-of-the-shop}}
    labels: {{tier: front}}
    mem_limit: 64m
    healthcheck: {{test: ["CMD", "true"], interval: 5s}}
  worker:
    image: {IMAGE}
    command: sh -c 'while true; do echo level=info msg=working; sleep 2; done'
    restart: unless-stopped
    deploy: {{replicas: 2}}
  job:
    image: {IMAGE}
    command: sh -c 'echo migrated; exit 0'
"""


def change_everything(engine: PrivateEngine, folder: Path) -> None:
    """Drift of most kinds: a changed file, a stopped, a removed and an untracked container."""
    changed = SHOP.replace("MODE: prod", "MODE: test").replace("mem_limit: 64m", "mem_limit: 128m")
    (folder / "compose.yaml").write_text(changed.replace("replicas: 2", "replicas: 3") + SHOP_ALSO)
    engine.docker("stop", "-t", "0", "shop-web-1")
    engine.docker("run", "-d", "--name", "stray", "--network=none", IMAGE, "sleep", "3600")


SHOP_ALSO = f"""\
  cache:
    image: {IMAGE}
    command: sleep 3600
"""


def crash(engine: PrivateEngine, _folder: Path) -> None:
    """A kill, an end by itself, a restart on request and a pause."""
    engine.docker("kill", "shop-worker-1")
    engine.docker("restart", "-t", "0", "shop-worker-2")
    engine.docker("pause", "shop-web-1")
    engine.docker(
        "run", "--name", "failed", "--network=none", IMAGE, "sh", "-c", "echo fatal: no space; exit 3", check=False
    )


def restart_engine(engine: PrivateEngine, _folder: Path) -> None:
    """The engine is killed and comes back."""
    engine.kill_and_restart()


RECORDED: dict[str, Callable[[], Host]] = {
    "empty": record_empty,
    "scenarios": lambda: record_scenarios(TABLE),
    "day-one": lambda: record_scenarios(DAY_ONE),
    "crowd": lambda: record_crowd(500),
    "shop": lambda: record_project(SHOP),
    "shop-drifting": lambda: record_project(SHOP, change_everything),
    "shop-crashing": lambda: record_project(SHOP, crash),
    "shop-engine-restarted": lambda: record_project(SHOP, restart_engine),
    **{f"cascade-{name}": partial(record_cascade, name) for name in CASCADES},
}


def main(names: list[str]) -> int:
    """Record hosts, all that are not there or those named."""
    HOSTS.mkdir(exist_ok=True)
    for name in names or [name for name in RECORDED if not (HOSTS / f"{name}.json.gz").exists()]:
        host = RECORDED[name]()
        host.write(HOSTS / f"{name}.json.gz")
        containers = len(host.moments[-1].answers["/containers/json"])
        sys.stdout.write(f"{name}: {len(host.moments)} moments, {containers} containers at the last\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
