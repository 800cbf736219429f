"""Plays cases on a private engine, some side by side, and writes down what was told of each."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.docker.scenarios.stage import insist
from tests.incidents_bench.cases import Place, merged, render_project, taken_compose
from tests.incidents_bench.image import BENCH, build_on
from tests.incidents_bench.monitoring import Notification
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.docker.engine import PrivateEngine
    from tests.incidents_bench.cases import Case
    from tests.incidents_bench.monitoring import Monitoring

COMPOSE = Path(sys.executable).parent / "docker-compose"
SIDE_BY_SIDE = 8
DEPLOYED_TOGETHER = 3
PAGE = 100
WATCHED_SECONDS = 85.0
"""From the first step on: 14 minutes of the rules' time, so that nobody who is explained speaks for himself yet."""
DEPLOYMENT_OVER_SECONDS = 75.0
"""From its end the exporter watches a deployment for a minute, which is not shortened: the fault is to come later."""
SETTLED_WITHIN_SECONDS = 120.0
STARTS_APART_SECONDS = 4.0
"""So that cases do not fail together: more than ten roots in one scan are the host's failure."""
_WORKED = re.compile(r"INFO 12 (?:rows|requests) (?:read|served|done)")
_FAILED = re.compile(r"ERROR|Error|FATAL")
_WORKED_TIMES = 3


@dataclass
class Seen:
    """What was told of one case.

    Attributes:
        before: Incidents and messages before the first step: the case's own trouble.
        incidents: Whole, as the API tells them; not those that were merged into another, or were over before.
        told, pushed, digest: Messages for people by Prometheus' rules; of incidents that the exporter pushed; the rest.
        beside: Messages of the other version.
        trouble: Why it could not be played.
    """

    before: list[str] = field(default_factory=list)
    incidents: list[dict[str, Any]] = field(default_factory=list)
    told: list[Notification] = field(default_factory=list)
    pushed: list[Notification] = field(default_factory=list)
    digest: list[Notification] = field(default_factory=list)
    beside: list[Notification] | None = None
    merged: int = 0
    trouble: str = ""


class Stage:
    """An engine with the exporter, Prometheus and Alertmanager beside it; `folder` holds the projects.

    Attributes:
        watched: Seconds from the first step on.
        watched_at_most: While less is told than should be, so long: a busy machine may be late.
        deployed: Seconds between a deployment and the first step, at least.
    """

    def __init__(
        self,
        engine: PrivateEngine,
        monitoring: Monitoring,
        folder: Path,
        watched: float = WATCHED_SECONDS,
        deployed: float = DEPLOYMENT_OVER_SECONDS,
        watched_at_most: float = 0.0,
    ) -> None:
        self.engine, self.monitoring, self.folder = engine, monitoring, folder
        self.watched, self.deployed, self.watched_at_most = watched, deployed, watched_at_most
        self._starts, self._deploys = threading.Lock(), threading.Semaphore(DEPLOYED_TOGETHER)

    def play(self, cases: Sequence[Case], side_by_side: int = SIDE_BY_SIDE) -> dict[str, Seen]:
        """Play all, some side by side, and return what was seen by id."""
        with ThreadPoolExecutor(side_by_side) as pool:
            found = {case.id: pool.submit(self._play_one, case) for case in cases}
            return {name: future.result() for name, future in found.items()}

    def _play_one(self, case: Case) -> Seen:
        played = Played(case, self.engine, self.folder / case.id)
        try:
            with self._deploys:
                played.deploy()
        except (AssertionError, subprocess.TimeoutExpired) as error:
            played.clear()
            return Seen(trouble=str(error)[:700])
        return self.go_on(played)

    def go_on(self, played: Played) -> Seen:
        """Let a case that is deployed settle, do its steps, and return what was told of it; take it away."""
        case, seen = played.case, Seen()
        try:
            self._settle(case, time.time(), seen)
            with self._starts:
                first = time.time()
                wait_until(lambda: time.time() - first > STARTS_APART_SECONDS, "its turn", every_seconds=0.2)
            began = time.time()
            played.run_steps()
            wait_until(
                lambda: self._is_over(case, began), "the case to be over",
                timeout_seconds=2 * max(self.watched, self.watched_at_most), every_seconds=0.5,
            )  # fmt: skip
            self._write_down(case, began, seen)
        except (AssertionError, OSError, KeyError, subprocess.TimeoutExpired) as error:
            seen.trouble = f"{type(error).__name__}: {error}"[:700]
        finally:
            played.clear()
        return seen

    def _is_over(self, case: Case, began: float) -> bool:
        seconds = time.time() - began
        if seconds <= self.watched:
            return False
        seen = Seen()
        self._write_down(case, began, seen)
        fewest = min(len(seen.incidents), len(seen.told), len(seen.pushed))
        return fewest >= case.expect.incidents or seconds > self.watched_at_most

    def _settle(self, case: Case, deployed: float, seen: Seen) -> None:
        """Wait until nothing is wrong with it for its time; one that stays ill goes on, and it is written down."""
        began, well_since = time.time(), time.time()

        def is_settled() -> bool:
            nonlocal well_since
            now = time.time()
            if self._list_open(case):
                well_since = now
            is_well = now - well_since > case.settle_seconds and now - began > self.deployed
            return is_well or now - began > SETTLED_WITHIN_SECONDS

        wait_until(is_settled, "the case to settle", timeout_seconds=2 * SETTLED_WITHIN_SECONDS, every_seconds=1)
        seen.before += [f"the incident {one['id']}" for one in self._list_all(case)]
        heard = self._heard(self.monitoring.receiver.heard, case, deployed, time.time())
        seen.before += [f"the message {one}" for one in heard if one.is_for_people]

    def _list_all(self, case: Case) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            answer = self.monitoring.daemon.ask(f"/api/v1/incidents?limit={PAGE}&offset={len(found)}")
            assert answer.status == 200, answer.text
            page = answer.json()["result"]
            found += page["incidents"]
            if not page["incidents"] or len(found) >= page["total"]:
                return [one for one in found if _is_of(case, one)]

    def _list_open(self, case: Case) -> list[dict[str, Any]]:
        return [one for one in self._list_all(case) if one["ended_at"] is None and one["merged_into"] is None]

    def _write_down(self, case: Case, began: float, seen: Seen) -> None:
        now = time.time()
        listed = self._list_all(case)
        seen.merged = sum(one["merged_into"] is not None for one in listed)
        for one in listed:
            is_before = one["ended_at"] is not None and datetime.fromisoformat(one["ended_at"]).timestamp() < began
            if one["merged_into"] is None and not is_before:
                answer = self.monitoring.daemon.ask(f"/api/v1/incidents/{one['id']}")
                seen.incidents.append(answer.json()["result"])
        heard = self._heard(self.monitoring.receiver.heard, case, began, now)
        seen.pushed = [one for one in heard if one.is_pushed]
        seen.told = [one for one in heard if one.is_for_people and not one.is_pushed]
        seen.digest = [one for one in heard if not one.is_for_people]
        if self.monitoring.beside is not None:
            other = self._heard(self.monitoring.beside.heard, case, began, now)
            seen.beside = [one for one in other if one.is_for_people]

    def _heard(self, heard: Sequence[Notification], case: Case, began: float, until: float) -> list[Notification]:
        names = [case.full_name(project) for project in case.projects]

        def is_of(labels: dict[str, str]) -> bool:
            if labels.get("project"):
                return labels["project"] in names
            return any(labels.get("container", "").startswith(f"{name}-") for name in names)

        told = [one for one in list(heard) if began <= one.at <= until]
        return [one for one in told if any(map(is_of, one.news if one.is_pushed else one.firing))]


def _is_of(case: Case, incident: dict[str, Any]) -> bool:
    names = [case.full_name(project) for project in case.projects]
    containers = [incident["root"]["container"] or "", *incident["suffers"]]
    return incident["root"]["project"] in names or any(one.startswith(f"{n}-") for one in containers for n in names)


class Played:
    """One case on an engine."""

    def __init__(self, case: Case, engine: PrivateEngine, folder: Path) -> None:
        self.case, self._engine, self._folder = case, engine, folder
        self._now = {name: dict(project) for name, project in case.projects.items()}
        self._running: list[subprocess.Popen[bytes]] = []

    def deploy(self) -> None:
        """Make networks and images, and bring the projects up."""
        case = self.case
        for network in case.networks:
            self._engine.docker("network", "create", f"{case.id}-{network}")
        for tag, image in case.images.items():
            build_on(self._engine, BENCH, tag, image.environment, image.files)
        for name in case.projects:
            self._write(name)
            self._up(name)

    def has_worked(self) -> bool:
        """Whether every service that logs its work has done so a few times since it failed last."""
        for project in self.case.projects:
            for service, written in self.case.projects[project]["services"].items():
                if not _WORKED.search(str(written.get("command"))):
                    continue
                container = f"{self.case.full_name(project)}-{service}-1"
                since_failure = _FAILED.split(self._engine.docker("logs", container))[-1]
                if len(_WORKED.findall(since_failure)) < _WORKED_TIMES:
                    return False
        return True

    def run_steps(self) -> None:
        """Do each when its time has come."""
        began = time.monotonic()
        for step in self.case.steps:
            wait_until(lambda at=step["at"]: time.monotonic() - began >= at, "a step", timeout_seconds=120)  # type: ignore[misc]
            ((verb, what),) = [(key, value) for key, value in step.items() if key != "at"]
            self._do(verb, what)

    def clear(self) -> None:
        """Take everything away."""
        for process in self._running:
            if process.poll() is None:
                process.terminate()
            process.wait(30)
        for name in self.case.projects:
            if (self._folder / name).exists():
                flags = ("--profile", "*", "down", "-v", "-t", "1", "--remove-orphans")
                self._engine.compose(*flags, cwd=self._folder / name, check=False)
            full = self.case.full_name(name)
            labelled = ("ps", "-aq", "--filter", f"label=com.docker.compose.project={full}")
            if left := self._engine.docker(*labelled).split():
                self._engine.docker("rm", "-f", "-v", *left, check=False)
        for network in self.case.networks:
            self._engine.docker("network", "rm", f"{self.case.id}-{network}", check=False)

    def _write(self, name: str) -> None:
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        if self.case.taken_from:
            text = f"name: {self.case.taken_from}\n{taken_compose(self.case.taken_from)}"
        else:
            text = render_project(self.case, name, self._now[name])
        (folder / "compose.yaml").write_text(text)

    def _up(self, name: str, *flags: str) -> None:
        # One whose dependency fails on purpose ends with 1.
        up = ("up", "-d", "--remove-orphans", "--pull", "never", *flags)
        self._engine.compose(*up, cwd=self._folder / name, check=False)

    def _do(self, verb: str, what: Any) -> None:
        case = self.case

        def docker(*words: str) -> None:
            insist(self._engine, *words)

        match verb:
            case "exec":
                docker("exec", case.container(what["service"]), "sh", "-c", what["command"])
            case "stop" | "start" | "restart" | "pause" | "unpause":
                docker(verb, case.container(what))
            case "kill":
                target, number = (what, "KILL") if isinstance(what, str) else (what["service"], what["signal"])
                docker("kill", "--signal", number, case.container(target))
            case "remove":
                docker("rm", "-f", case.container(what))
            case "disconnect" | "connect":
                place = case.place(what["service"])
                aliases = [word for alias in what.get("aliases", ()) for word in ("--alias", alias)]
                network = case.network(what["network"], str(place.project))
                docker("network", verb, *aliases, network, case.container(what["service"]))
            case "rename":
                docker("rename", case.container(what["service"]), what["to"])
            case "tag":
                docker("tag", what["image"], what["as"])
            case "docker":
                docker(*(self._filled(word) for word in what))
            case _:
                self._do_with_compose(verb, what)

    def _do_with_compose(self, verb: str, what: Any) -> None:
        case = self.case
        match verb:
            case "deploy":
                name = what.get("project") or next(iter(case.projects))
                self._now[name] = merged(self._now[name], what.get("change") or {})
                self._write(name)
                if what.get("up", True):
                    again = ("--force-recreate",) if what.get("recreate") else ()
                    self._up(name, *again, *what.get("services", ()))
            case "scale":
                place = case.place(what["service"])
                scale = ("--no-recreate", "--scale", f"{place.service}={what['to']}")
                self._up(str(place.project), *scale)
            case "run":
                folder = self._folder / str(what["project"])
                self._running.append(
                    subprocess.Popen(
                        [str(COMPOSE), "run", "--rm", "-T", what["service"]],
                        cwd=folder,
                        env=self._engine.environment(),
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                    )
                )
            case "written":
                folder = self._folder / "it"
                if what is not None:
                    (folder / "compose.yaml").write_text(f"name: {case.taken_from}\n{what}")
                self._up("it")
            case _:
                message = f"{case.id}: no step is called {verb}"
                raise AssertionError(message)

    def _filled(self, word: str) -> str:
        parts = word.split("@")
        if len(parts) != 3:
            return word
        return f"{parts[0]}{self.case.container(parts[1])}{parts[2]}"


def check_steps(case: Case) -> None:
    """Say with an AssertionError that a step or an expectation names what is not there."""
    known = {"exec", "stop", "start", "restart", "pause", "unpause", "kill", "remove", "disconnect", "connect"}
    known |= {"rename", "tag", "docker", "deploy", "scale", "run", "written", "at"}
    for step in case.steps:
        assert step.keys() <= known, f"{case.id}: {sorted(step.keys() - known)}"
        assert len(step) == 2, f"{case.id}: {step}"
    for project in case.projects.values():
        yaml.safe_dump(project)
    names: list[str | Place] = [*case.expect.members, *case.expect.may, *case.expect.roots]
    for name in names:
        place = case.place(name)
        assert place.service in _all_services(case, str(place.project)), f"{case.id}: no service {place}"


def _all_services(case: Case, project: str) -> set[str]:
    services = set(case.projects[project]["services"])
    for step in case.steps:
        change = (step.get("deploy") or {}).get("change") or {}
        services |= set(change.get("services") or ())
        if isinstance(step.get("written"), str):
            services |= set(yaml.safe_load(step["written"])["services"])
    return services
