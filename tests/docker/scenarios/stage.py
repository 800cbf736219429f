"""Puts every scenario onto a real engine at once and writes down what the running daemon says of each."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.docker.image import IMAGE, build
from tests.docker.scenarios.table import LOGS
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future

    from tests.docker.daemon import Daemon
    from tests.docker.engine import PrivateEngine
    from tests.docker.scenarios.table import Scenario

STARTERS = 4
INTERVAL = "3s"
SETTLE_SECONDS = 7.0
"""What looks right at once must still look so after two more scans."""
LONGEST_SECONDS = 600.0
Report = dict[str, Any]

FLAP = """\
#!/bin/sh
echo x >> /tmp/probes
n=$(wc -l < /tmp/probes)
[ "$n" -gt 14 ] && exit 0
[ $((n / 2 % 2)) -eq 0 ]
"""


@dataclass
class Seen:
    """What the daemon said of one container: the last report, the last one that called it ill, and each change."""

    report: Report | None = None
    changes: list[tuple[float, str, frozenset[str]]] = field(default_factory=list)
    ill: Report | None = None


def symptoms_of(report: Report) -> frozenset[str]:
    """The symptoms of a report that are not history."""
    return frozenset(one["type"] for one in report["symptoms"] if one["severity"] != "info")


def add_files_to_image(engine: PrivateEngine) -> None:
    """Put the logs to replay and a health check that flaps onto the test image."""
    files = {f"logs/{path.name}": (path.read_bytes(), 0o644) for path in sorted(LOGS.glob("*.log"))}
    files["bin/flap"] = (FLAP.encode(), 0o755)
    lines = [f"FROM {IMAGE}", *(f"COPY {name} /{name}" for name in files)]
    build(engine.host, IMAGE, {"Dockerfile": ("\n".join(lines).encode(), 0o644), **files})


def play(daemon: Daemon, engine: PrivateEngine, scenarios: Sequence[Scenario]) -> dict[str, Seen]:
    """Start all scenarios, groups in order, and read the daemon's reports until each fits or its time is up."""
    groups: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        groups.setdefault(scenario.group or scenario.id, []).append(scenario)
        _make_network(engine, scenario)
    started: dict[str, float] = {}
    with ThreadPoolExecutor(STARTERS) as starters:
        begun = [starters.submit(_start_group, engine, group, started) for group in groups.values()]
        seen = _watch(daemon, scenarios, started, begun)
        for each in begun:
            each.result()
    return seen


def start_all(engine: PrivateEngine, scenarios: Sequence[Scenario]) -> None:
    """Start all scenarios, groups in order, and come back when each has been started."""
    groups: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        groups.setdefault(scenario.group or scenario.id, []).append(scenario)
        _make_network(engine, scenario)
    with ThreadPoolExecutor(STARTERS) as starters:
        list(starters.map(lambda group: _start_group(engine, group, {}), groups.values()))


def _start_group(engine: PrivateEngine, group: Sequence[Scenario], started: dict[str, float]) -> None:
    for scenario in group:
        _start(engine, scenario)
        started[scenario.id] = time.monotonic()


def _make_network(engine: PrivateEngine, scenario: Scenario) -> None:
    if scenario.network in ("none", "nosuch"):
        return
    subnet = ["--subnet", scenario.subnet] if scenario.subnet else []
    engine.docker("network", "create", *subnet, scenario.network, check=False)


def _start(engine: PrivateEngine, scenario: Scenario) -> None:
    engine.docker(*scenario.arguments(), check=False)
    for step in scenario.after:
        verb, *rest = step.split()
        if verb == "await":
            _await_state(engine, scenario.id, rest[0])
        else:
            named = [word.replace("{}", scenario.id) for word in rest]
            insist(engine, verb, *(named if named != rest else [*rest, scenario.id]))


def insist(engine: PrivateEngine, *command: str) -> None:
    """Run a docker command until it succeeds: on a busy machine runc at times fails to freeze or to start."""

    def attempt() -> bool:
        try:
            engine.docker(*command)
        except AssertionError:
            return False
        return True

    wait_until(attempt, " ".join(command), every_seconds=1.0)


def _await_state(engine: PrivateEngine, name: str, wanted: str) -> None:
    """Wait until the container's state or its health is the wanted one."""
    asked = ("inspect", "-f", "{{.State.Status}} {{with .State.Health}}{{.Status}}{{end}}", name)
    wait_until(lambda: wanted in engine.docker(*asked).split(), f"{name} to be {wanted}", every_seconds=0.3)


def fits(scenario: Scenario, report: Report | None) -> bool:
    """Whether the daemon says of a container what it should."""
    if report is None:
        return scenario.absent
    return not find_faults(scenario, report)


def find_faults(scenario: Scenario, report: Report | None) -> list[str]:
    """What is wrong with a report; empty when all of it is right."""
    if report is None:
        return [] if scenario.absent else ["there is no report of it"]
    if scenario.absent:
        return ["it is reported although it should be left out"]
    found, causes = symptoms_of(report), report["likely_causes"]
    top = causes[0] if causes else {"id": None, "peer": None}
    faults = [] if report["status"] == scenario.status else [f"status {report['status']}, not {scenario.status}"]
    faults += [f"{name} is missing" for name in sorted(scenario.symptoms - found)]
    faults += [f"{name} is too much" for name in sorted(found - scenario.symptoms - scenario.may)]
    if scenario.cause and top["id"] not in scenario.cause:
        faults.append(f"likeliest cause {top['id']}, not {' or '.join(scenario.cause)}")
    if scenario.peer and top["peer"] != scenario.peer:
        faults.append(f"the likeliest cause points to {top['peer']}, not {scenario.peer}")
    if scenario.says and scenario.says not in str(report):
        faults.append(f"{scenario.says!r} is not said")
    return faults


def _watch(
    daemon: Daemon, scenarios: Sequence[Scenario], started: dict[str, float], begun: Sequence[Future[None]]
) -> dict[str, Seen]:
    seen = {scenario.id: Seen() for scenario in scenarios}

    def is_settled(scenario: Scenario, now: float) -> bool:
        at = started.get(scenario.id)
        if at is None:
            return False
        return now > at + scenario.within or (now > at + SETTLE_SECONDS and fits(scenario, seen[scenario.id].report))

    def look() -> bool:
        if all(each.done() for each in begun) and len(started) < len(scenarios):
            return True
        now = time.monotonic()
        _note(seen, scenarios, daemon.ask("/api/v1/diagnosis").json()["result"]["reports"], now)
        return all(is_settled(each, now) for each in scenarios)

    wait_until(look, "every scenario to be judged", timeout_seconds=LONGEST_SECONDS, every_seconds=0.5)
    return seen


def _note(seen: dict[str, Seen], scenarios: Sequence[Scenario], reports: Iterable[Report], now: float) -> None:
    """Write down the reports of one scan; what a busy engine did not answer in it is no news."""
    by_name = {report["container_name"]: report for report in reports}
    for scenario in scenarios:
        one, report = seen[scenario.id], by_name.get(scenario.id)
        if report is None:
            continue
        if one.report is None or one.report["not_evaluated"] or not report["not_evaluated"] or fits(scenario, report):
            one.report = report
        if report["status"] != "healthy":
            one.ill = report
        state = (report["status"], symptoms_of(report))
        if not one.changes or one.changes[-1][1:] != state:
            one.changes.append((now, *state))
