"""From a failure to its message on the shipped time-outs, and a kill of the exporter between: `make notify-delay`.

Exporter, Prometheus and Alertmanager run as shipped, nothing shortened. Five projects fail in the same moment, each in
its way. Prints for each the seconds until Alertmanager's receiver was told, by Prometheus' rules and by a push.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.docker.conftest import make_engine
from tests.docker.engines import use_wanted_engine
from tests.incidents_bench.cases import Case, Expected
from tests.incidents_bench.image import build_bench_image
from tests.incidents_bench.monitoring import Monitoring, monitoring
from tests.incidents_bench.play import Played
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.docker.engine import PrivateEngine
    from tests.incidents_bench.monitoring import Notification

SETTLED_SECONDS = 75.0
LONGEST_SECONDS = 1500.0
KILLED_AFTER_SECONDS = 330.0
"""When those that fail at once have been told, and their incidents go on."""
SERVICE = "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done"
FAILING = "trap 'exit 0' TERM; while [ ! -e /tmp/now ]; do sleep 1 & wait $!; done; "
TOUCH = {"at": 0, "exec": {"service": "app", "command": "touch /tmp/now"}}


@dataclass(frozen=True)
class Failure:
    """One project that fails, in words, with its service and its step."""

    id: str
    what: str
    service: dict[str, Any]
    step: dict[str, Any]

    @property
    def case(self) -> Case:
        """It as a case."""
        expected = Expected(incidents=1)
        projects = {"it": {"services": {"app": self.service}}}
        return Case(
            id=f"delay-{self.id}",
            kind="cascade",
            story=self.what,
            projects=projects,
            steps=(self.step,),
            expect=expected,
        )


FAILURES = (
    Failure("oom", "OOM-killed, and down", {"mem_limit": "24m", "command": f"{FAILING}exec eat-memory"}, TOUCH),
    Failure(
        "loop",
        "crashes in a loop (restart: always)",
        {"restart": "always", "command": f"{FAILING}echo 'FATAL: no such table'; exit 1"},
        TOUCH,
    ),
    Failure("exit", "ends with an error, once", {"command": f"{FAILING}echo 'FATAL: no such table'; exit 1"}, TOUCH),
    Failure(
        "unhealthy",
        "its health check fails (interval 5 s, 3 retries)",
        {
            "command": SERVICE,
            "healthcheck": {
                "test": ["CMD-SHELL", "[ ! -e /tmp/now ]"],
                "interval": "5s",
                "timeout": "3s",
                "retries": 3,
            },
        },
        TOUCH,
    ),
    Failure(
        "drift",
        "the Compose file was changed, and not brought up",
        {"command": SERVICE},
        {"at": 0, "deploy": {"change": {"services": {"app": {"environment": {"LEVEL": "2"}}}}, "up": False}},
    ),
)

PROJECTS = tuple(failure.case.full_name("it") for failure in FAILURES)


def main(names: list[str]) -> int:
    """Print the table, and return 1 when one was not told, or the restart was noticed.

    Args:
        names: Ids of the failures that are measured; all without any.
    """
    use_wanted_engine()
    engine = make_engine()
    try:
        build_bench_image(engine)
        return measure(engine, names)
    finally:
        engine.destroy()


def measure(engine: PrivateEngine, names: Sequence[str] = ()) -> int:
    """Measure on an engine, on which others may be watched too; see `main`."""
    with tempfile.TemporaryDirectory(prefix="bcon-delay-") as folder:
        projects = Path(folder) / "projects"
        chosen = [failure for failure in FAILURES if not names or failure.id in names]
        played = [Played(failure.case, engine, projects / failure.id) for failure in chosen]
        for one in played:
            one.deploy()
        only = f"--filter.include-projects={','.join(PROJECTS)}"
        with monitoring(engine, Path(folder) / "watch", projects, only, by=1) as watching:
            return _measure(watching, chosen, played)


def _measure(watching: Monitoring, chosen: list[Failure], played: list[Played]) -> int:
    _wait(SETTLED_SECONDS)
    began = time.time()
    for one in played:
        one.run_steps()
    _wait(KILLED_AFTER_SECONDS - (time.time() - began))
    restart = _kill_and_restart(watching)
    try:
        wait_until(
            lambda: all(_first(watching, failure, began, pushed=False) for failure in chosen),
            "all to be told",
            timeout_seconds=LONGEST_SECONDS - (time.time() - began),
            every_seconds=2,
        )
        _wait(30)
    except AssertionError:
        sys.stderr.write("not all were told\n")
    return _report(watching, chosen, began, restart)


def _wait(seconds: float) -> None:
    until = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() > until, "time to pass", timeout_seconds=2 * seconds + 5, every_seconds=0.5)


def _of(watching: Monitoring, failure: Failure, began: float, *, pushed: bool) -> list[Notification]:
    project = failure.case.full_name("it")

    def is_of(labels: dict[str, str]) -> bool:
        return labels.get("project") == project or f"{project}-app" in labels.get("container", "")

    heard = [one for one in watching.receiver.heard if one.at >= began and one.is_for_people]
    return [one for one in heard if one.is_pushed == pushed and any(map(is_of, one.firing))]


def _first(watching: Monitoring, failure: Failure, began: float, *, pushed: bool) -> Notification | None:
    return next(iter(_of(watching, failure, began, pushed=pushed)), None)


@dataclass(frozen=True)
class Identity:
    """What must outlive a kill: ids of the open incidents, and the fingerprints of the alerts that tell of them."""

    incidents: frozenset[str]
    fingerprints: frozenset[str]


def _identity(watching: Monitoring) -> Identity:
    answer = wait_until(lambda: _ask(watching), "the exporter to answer", timeout_seconds=60, every_seconds=1)
    alerts = [one for one in watching.alertmanager.alerts() if one["labels"]["alertname"] == "BconIncident"]
    active = [one["fingerprint"] for one in alerts if one["status"]["state"] == "active"]
    return Identity(frozenset(one["id"] for one in answer), frozenset(active))


def _ask(watching: Monitoring) -> list[dict[str, Any]] | None:
    try:
        answer = watching.daemon.ask("/api/v1/incidents?open=true").json()
    except OSError:  # a busy machine
        return None
    found: list[dict[str, Any]] = answer["result"]["incidents"]
    return found


def _kill_and_restart(watching: Monitoring) -> tuple[Identity, Identity, float]:
    before = _identity(watching)
    at = time.time()
    watching.daemon.process.kill()
    watching.daemon.process.wait(10)
    _wait(20)
    watching.daemon.__enter__()
    watching.daemon.wait_until_ready()
    _wait(100)
    return before, _identity(watching), at


def _report(
    watching: Monitoring, chosen: list[Failure], began: float, restart: tuple[Identity, Identity, float]
) -> int:
    lines = ["| failure | by Prometheus' rules | alert | pushed by the exporter | messages by rules, pushed |"]
    lines.append("|---|---|---|---|---|")
    missing = False
    for failure in chosen:
        told, pushed = (_of(watching, failure, began, pushed=kind) for kind in (False, True))
        seconds = [f"{one[0].at - began:.0f} s" if one else "-" for one in (told, pushed)]
        name = ", ".join(dict.fromkeys(one.firing[0]["alertname"] for one in told)) or "-"
        lines.append(f"| {failure.what} | {seconds[0]} | {name} | {seconds[1]} | {len(told)}, {len(pushed)} |")
        missing = missing or not told
    before, after, at = restart
    again = [one for one in watching.receiver.heard if one.at > at and one.is_pushed]
    lines += [
        "",
        f"killed (-9) {at - began:.0f} s after the failures, started again 20 s later",
        f"incidents before: {', '.join(sorted(before.incidents))}",
        f"incidents after:  {', '.join(sorted(after.incidents))}",
        f"fingerprints before: {', '.join(sorted(before.fingerprints))}",
        f"fingerprints after:  {', '.join(sorted(after.fingerprints))}",
        f"pushed after the kill: {'; '.join(map(str, again)) or 'none'}",
    ]
    sys.stdout.write("\n".join([*lines, ""]))
    return int(missing or before != after or bool(again))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
