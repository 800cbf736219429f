"""Plays cascades on a real engine, a few side by side, and writes down what the running daemon says of them."""

from __future__ import annotations

import shlex
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.docker.cascades.table import Deployment
from tests.docker.scenarios.stage import insist
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.docker.cascades.table import Cascade, Step
    from tests.docker.daemon import Daemon
    from tests.docker.engine import PrivateEngine

SIDE_BY_SIDE = 6
SETTLE_SECONDS = 12.0
SETTLED_WITHIN_SECONDS = 60.0
RED_WITHIN_SECONDS = 60.0
WELL_WITHIN_SECONDS = 180.0
STAYS_WELL_SECONDS = 7.0
Report = dict[str, Any]


@dataclass
class Seen:
    """What the daemon said of one cascade; reports by service.

    Attributes:
        before: Services that were ill before the fault: the examination's own trouble.
        ever_ill: Services that were shown as ill at any time after the fault and before the repair.
        after_fault: At the end of that time.
        well_after: Seconds from the repair until all were well; None when they were not in time.
        still_ill: Those that were not.
    """

    before: list[str] = field(default_factory=list)
    ever_ill: set[str] = field(default_factory=set)
    after_fault: dict[str, Report] = field(default_factory=dict)
    well_after: float | None = None
    still_ill: dict[str, Report] = field(default_factory=dict)
    trouble: str = ""


class Watch:
    """The newest reports of the daemon, asked for once a second by a thread of its own."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._over = threading.Event()
        self.reports: dict[str, Report] = {}

    def _run(self) -> None:
        while not self._over.wait(1.0):
            reports = self._daemon.ask("/api/v1/diagnosis").json()["result"]["reports"]
            self.reports = {report["container_name"]: report for report in reports}

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """Ask until the end of the block."""
        thread = threading.Thread(target=self._run, name="watch")
        thread.start()
        try:
            yield self
        finally:
            self._over.set()
            thread.join()

    def of(self, project: str) -> dict[str, Report]:
        """Reports of a project's containers by service."""
        named = [report for report in self.reports.values() if report["project"] == project]
        return {report["service"]: report for report in named}


def play(daemon: Daemon, engine: PrivateEngine, cascades: Sequence[Cascade], folder: Path) -> dict[str, Seen]:
    """Play all cascades and return what was seen, by id."""
    with Watch(daemon).watching() as watch, ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        found = {each.id: pool.submit(_play_one, each, engine, watch, folder / each.id) for each in cascades}
        return {name: future.result() for name, future in found.items()}


def _play_one(cascade: Cascade, engine: PrivateEngine, watch: Watch, folder: Path) -> Seen:
    folder.mkdir()
    seen = Seen()
    try:
        _do(cascade, Deployment(compose=cascade.compose), engine, folder)
        _settle(cascade, watch, seen)
        for step in cascade.fault:
            _do(cascade, step, engine, folder)
        _watch_fault(cascade, watch, seen)
        for step in cascade.repair:
            _do(cascade, step, engine, folder)
        _watch_repair(cascade, watch, seen)
    except AssertionError as error:
        seen.trouble = str(error)[:500]
    finally:
        engine.compose("down", "-v", "-t", "1", "--remove-orphans", cwd=folder, check=False)
    return seen


def deploy_and_break(cascade: Cascade, engine: PrivateEngine, folder: Path) -> Iterator[str]:
    """Deploy, break and repair it, and tell after each that it is done."""
    _do(cascade, Deployment(compose=cascade.compose), engine, folder)
    yield "deployed"
    for step in cascade.fault:
        _do(cascade, step, engine, folder)
    yield "broken"
    for step in cascade.repair:
        _do(cascade, step, engine, folder)
    yield "repaired"


def _do(cascade: Cascade, step: Step, engine: PrivateEngine, folder: Path) -> None:
    if isinstance(step, Deployment):
        (folder / "compose.yaml").write_text(f"name: {cascade.id}\n{step.compose}")
    if isinstance(step, Deployment) or step == "up":
        # One whose dependency fails on purpose ends with 1.
        engine.compose("up", "-d", "--remove-orphans", "--pull", "never", cwd=folder, check=False)
        return
    verb, *rest = shlex.split(step)
    if verb == "sleep":
        until = time.monotonic() + float(rest[0])
        wait_until(lambda: time.monotonic() >= until, step, every_seconds=0.2)
    elif rest[0] == "compose":
        engine.compose(*rest[1:], cwd=folder)
    else:
        insist(engine, *rest)


def _settle(cascade: Cascade, watch: Watch, seen: Seen) -> None:
    began = time.monotonic()

    def is_settled() -> bool:
        seen.before = sorted(_ill(watch.of(cascade.id)))
        waited = time.monotonic() - began
        return waited > SETTLED_WITHIN_SECONDS or (waited > SETTLE_SECONDS and not seen.before)

    wait_until(is_settled, "the project to settle", timeout_seconds=2 * SETTLED_WITHIN_SECONDS, every_seconds=0.5)


def _watch_fault(cascade: Cascade, watch: Watch, seen: Seen) -> None:
    began = time.monotonic()

    def look() -> bool:
        seen.after_fault = watch.of(cascade.id)
        seen.ever_ill |= _ill(seen.after_fault)
        return time.monotonic() - began > RED_WITHIN_SECONDS

    wait_until(look, "the fault to be seen", timeout_seconds=2 * RED_WITHIN_SECONDS, every_seconds=0.5)


def _watch_repair(cascade: Cascade, watch: Watch, seen: Seen) -> None:
    began = time.monotonic()
    well_since: list[float] = []

    def look() -> bool:
        now, reports = time.monotonic(), watch.of(cascade.id)
        missing = {name: reports.get(name, {}) for name in cascade.after_repair if name not in reports}
        seen.still_ill = missing | {name: reports[name] for name in _ill(reports) & set(cascade.after_repair)}
        if seen.still_ill:
            well_since.clear()
        elif not well_since:
            well_since.append(now)
        if well_since and now - well_since[0] > STAYS_WELL_SECONDS:
            seen.well_after = well_since[0] - began
            return True
        return now - began > WELL_WITHIN_SECONDS + STAYS_WELL_SECONDS

    wait_until(look, "the repair to be seen", timeout_seconds=2 * WELL_WITHIN_SECONDS, every_seconds=0.5)


def _ill(reports: dict[str, Report]) -> set[str]:
    return {name for name, report in reports.items() if report["status"] != "healthy"}


@dataclass(frozen=True)
class Verdict:
    """One cascade: what was right, and in words what was not.

    Attributes:
        root_right: The root that most of its sufferers name is the right one, and the root itself names no other.
        explained: Each red container names the right root, or its own right cause where the root is no container.
        well_again: All were well in time after the repair.
    """

    id: str
    root_right: bool
    explained: bool
    well_again: bool
    faults: tuple[str, ...]


def judge(cascade: Cascade, seen: Seen) -> Verdict:
    """Compare what was seen with what the table expects."""
    faults = [f"could not be played: {seen.trouble}"] if seen.trouble else []
    faults += [f"before the fault {name} was ill already" for name in seen.before]
    faults += [f"{name} was never shown as ill" for name in cascade.red if name not in seen.ever_ill]
    faults += [f"the bystander {name} was shown as ill" for name in cascade.well if name in seen.ever_ill]
    votes: dict[str, Counter[str]] = {}
    unexplained = []
    for service, report in seen.after_fault.items():
        if report["status"] == "healthy":
            continue
        root = cascade.root_of(service)
        if service == root.service:
            if report["root"] is not None:
                faults.append(f"the root {service} names {report['root']} as its root")
                votes.setdefault(str(root.service), Counter())[report["root"]] += 1
            continue
        names = names_of(cascade, root.service)
        causes = [one["id"] for one in report["likely_causes"]]
        right_cause = bool(causes) and causes[0] in (*cascade.red.get(service, ()), *root.cause)
        if report["root"] in names or (report["root"] is None and right_cause and _is_gone(root.service, seen)):
            votes.setdefault(str(root.service), Counter())["right"] += 1
        else:
            unexplained.append(service)
            if report["root"] is not None or causes:
                votes.setdefault(str(root.service), Counter())[str(report["root"] or causes[0])] += 1
            faults.append(f"{service} is not explained by {root.service or root.what}: {_say(report)}")
    expected = {str(root.service) for root in (cascade.roots or (cascade.root,)) if root is not None}
    right = all(votes.get(one, Counter()).most_common(1)[:1] and _leads(votes[one]) for one in expected)
    if seen.well_after is None:
        faults += [f"after the repair {name} is still ill: {_say(report)}" for name, report in seen.still_ill.items()]
    played = not seen.trouble
    return Verdict(cascade.id, right and played, not unexplained and played, seen.well_after is not None, tuple(faults))


def names_of(cascade: Cascade, service: str | None) -> tuple[str, ...]:
    """Names under which a root may be told: its container, and where that was renamed, the new name."""
    renamed = [step.split()[-1] for step in cascade.fault if isinstance(step, str) and " rename " in step]
    return (f"{cascade.id}-{service}-1", *renamed) if service else ()


def _is_gone(service: str | None, seen: Seen) -> bool:
    """Whether the root is no container (any more), so that only a cause can name it."""
    return service is None or service not in seen.after_fault


def _leads(votes: Counter[str]) -> bool:
    return votes["right"] > sum(votes.values()) - votes["right"]


def _say(report: Report) -> str:
    if not report:
        return "no report"
    causes = ", ".join(
        f"{one['id']} {one['confidence']:.2f} {one['peer'] or ''}" for one in report["likely_causes"][:3]
    )
    symptoms = ", ".join(f"{one['type']} {one['severity']}" for one in report["symptoms"])
    return f"{report['status']} [{symptoms}] root {report['root']} [{causes}]"


def render(verdicts: Sequence[Verdict]) -> str:
    """The figures and every cascade that is not right, as text."""
    total, within = len(verdicts), f"{WELL_WITHIN_SECONDS:.0f} s"
    lines = [
        f"{total} cascades: root right {_share(sum(one.root_right for one in verdicts), total)}, "
        f"no red container unexplained {_share(sum(one.explained for one in verdicts), total)}, "
        f"well within {within} after the repair {_share(sum(one.well_again for one in verdicts), total)}"
    ]
    for one in verdicts:
        if one.faults:
            lines += ["", f"{one.id}:", *(f"  {fault}" for fault in one.faults)]
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else "0"
