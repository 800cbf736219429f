"""What happens to a whole host: the first look at one that has lived for months, and a restart of the engine."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bcon_exporter.model.incidents import HOST_CODE
from tests.docker.test_dirty_host import STACKS, age, stack_labels
from tests.incidents_bench.judge import Verdict
from tests.incidents_bench.monitoring import Monitoring, monitoring
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

DIRTY = 100
RUNNING = 20
NOT_COMING_BACK = 6
WATCHED_SECONDS = 70.0
CODES = (0, 1, 2, 137, 143, 255)


@dataclass(frozen=True)
class Host:
    """What happens, and how many incidents of the host it is to be."""

    id: str
    incidents: int


HOSTS = (Host("dirty-host-of-100", 0), Host("reboot", 1))


def play_host(host: Host, engine: TestEngine, folder: Path, beside: Path | None) -> Verdict:
    """Play one of `HOSTS` on an engine without containers."""
    engine.remove_everything()
    projects = folder / "projects"
    projects.mkdir(parents=True)
    if host.id == "reboot":
        _run_services(engine)
        with monitoring(engine, folder / "watch", projects, beside=beside) as watching:
            began = time.time()
            _wait(10)
            engine.shut_down()
            _wait(8)
            engine.restart()
            return _judge(host, watching, began)
    _furnish(engine)
    began = time.time()
    with monitoring(engine, folder / "watch", projects, beside=beside) as watching:
        return _judge(host, watching, began)


def _wait(seconds: float) -> None:
    until = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() > until, "some seconds to pass", timeout_seconds=2 * seconds, every_seconds=0.2)


def _run(engine: TestEngine, starts: list[list[str]]) -> None:
    with ThreadPoolExecutor(4) as starters:
        list(starters.map(lambda start: engine.docker("run", "-d", "--name", *start), starts))


def _run_services(engine: TestEngine) -> None:
    """Start twenty, six without a restart policy: these do not come back with the engine."""
    policies = [[] if n < NOT_COMING_BACK else ["--restart", "always"] for n in range(RUNNING)]
    _run(engine, [[f"service-{n}", *policy, engine.image, "serve"] for n, policy in enumerate(policies)])


def _furnish(engine: TestEngine) -> None:
    """A hundred containers: most ended long ago, well or not; stacks whose files are elsewhere; a few that run."""
    running = [[f"{name}-app-1", "--restart", "always", *stack_labels(name), engine.image, "serve"] for name in STACKS]
    running += [[f"service-{n}", "--restart", "always", engine.image, "serve"] for n in range(8)]
    alone = ("--network", "none", engine.image, "sh", "-c")
    old = [
        [f"old-{n}", *alone, f"echo ERROR: connection refused by db:5432, giving up; exit {CODES[n % len(CODES)]}"]
        for n in range(DIRTY - len(running))
    ]
    _run(engine, [*running, *old])
    wait_until(
        lambda: len(engine.docker("ps", "-q").split()) == len(running), "the old ones to have ended", timeout_seconds=90
    )
    engine.kill()
    age(engine)
    engine.restart()
    ended = ("inspect", "-f", "{{.State.FinishedAt}}", "old-1")
    wait_until(lambda: engine.docker(*ended).startswith("2024-05-04"), "the old ones to be old")


def _judge(host: Host, watching: Monitoring, began: float) -> Verdict:
    _wait(WATCHED_SECONDS)
    answer = watching.daemon.ask("/api/v1/incidents?limit=100").json()["result"]["incidents"]
    incidents: list[dict[str, Any]] = [one for one in answer if one["merged_into"] is None]
    of_host = [one for one in incidents if one["root"]["code"] == HOST_CODE]
    heard = [one for one in watching.receiver.heard if one.at >= began and one.is_for_people]
    told, pushed = [one for one in heard if not one.is_pushed], [one for one in heard if one.is_pushed]
    beside = watching.beside
    right = len(incidents) == len(of_host) == host.incidents
    faults = [] if right else [f"incidents: {'; '.join(one['title'] for one in incidents) or 'none'}"]
    if len(told) > host.incidents:
        faults.append(f"messages: {'; '.join(map(str, told))}")
    if len(pushed) > host.incidents:
        faults.append(f"pushes: {'; '.join(map(str, pushed))}")
    return Verdict(
        id=host.id,
        half="cases",
        kind="quiet",
        told=len(told),
        pushed=len(pushed),
        beside=None if beside is None else sum(one.is_for_people and one.at >= began for one in beside.heard),
        one_message=len(told) <= host.incidents,
        one_push=len(pushed) <= host.incidents,
        right_incidents=right,
        root_right=None,
        change_named=None,
        members_right=None,
        faults=tuple(faults),
    )
