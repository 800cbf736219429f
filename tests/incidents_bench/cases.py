"""A case as its YAML file says it: projects, scripted steps, and what is to be said of them. FORMAT.md tells how."""

from __future__ import annotations

import copy
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field

from bcon_exporter.model.base import Frozen
from tests.docker.cascades.table import Deployment, load_cascades
from tests.incidents_bench.image import BENCH

FOLDER = Path(__file__).parent
HALVES = ("cases", "cases_page", "cases_second_page")
"""Ours; and that of somebody who had the specification and FORMAT.md, and nothing of the product."""
Project = dict[str, Any]


class Place(Frozen):
    """A service of a project of the case; the project may be left out where there is one."""

    project: str | None = None
    service: str


class Change(Place):
    """What must stand in an incident's `changes`: one of the kinds at this service, or a deployment of the project."""

    kinds: tuple[str, ...]


class Expected(Frozen):
    """What is to be said of a case.

    Attributes:
        root: None for "unknown": no innocent container may be blamed.
        members: Who must be shown as suffering, besides the root.
        may: Who may be shown, and need not.
        root_of_host: The one incident is the host's.
    """

    incidents: int
    root: Place | Literal["unknown"] | None = None
    roots: tuple[Place, ...] = ()
    change: Change | Literal["none"] | None = None
    members: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


class Image(Frozen):
    """An image on top of bench:1."""

    environment: dict[str, Any] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)


class Case(Frozen):
    """One case; `half` is the folder that it stands in.

    Attributes:
        taken_from: A cascade of tests/docker/cascades, whose project and fault it plays.
        projects: By the name that steps and expectations call them.
        steps: `{at: SECONDS, DO: …}`.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=32)
    half: str = ""
    kind: Literal["cascade", "pair", "quiet"]
    story: str
    late_root: bool = False
    taken_from: str | None = None
    networks: tuple[str, ...] = ()
    images: dict[str, Image] = Field(default_factory=dict)
    projects: dict[str, Project]
    settle_seconds: float = 15.0
    steps: tuple[dict[str, Any], ...]
    expect: Expected

    def full_name(self, project: str) -> str:
        """The name of the Compose project on the engine."""
        return self.taken_from or f"{self.id}-{project}"

    def place(self, target: str | Place) -> Place:
        """The place that a step or an expectation names."""
        if isinstance(target, Place):
            project, service = target.project, target.service
        else:
            first, _, rest = target.partition("/")
            project, service = (first, rest) if rest else (None, first)
        if project is None:
            assert len(self.projects) == 1, f"{self.id}: of which project is {service}?"
            project = next(iter(self.projects))
        assert project in self.projects, f"{self.id}: there is no project {project}"
        return Place(project=project, service=service)

    def container(self, target: str) -> str:
        """The name of a container of a step: of the service's first replica, or of the one with a number."""
        place = self.place(target)
        project = str(place.project)
        if place.service in self.projects[project]["services"]:
            return f"{self.full_name(project)}-{place.service}-1"
        return f"{self.full_name(project)}-{place.service}"

    def network(self, name: str, project: str) -> str:
        """The engine's name of a network of the case or of a project."""
        return f"{self.id}-{name}" if name in self.networks else f"{self.full_name(project)}_{name}"

    def key(self, target: str | Place) -> tuple[str, str]:
        """Full name of the project and service, as the API tells them."""
        place = self.place(target)
        return self.full_name(str(place.project)), place.service


def render_project(case: Case, name: str, project: Project) -> str:
    """Return a project as a Compose file."""
    written = _escaped(copy.deepcopy(project))
    used = set()
    for service in written["services"].values():
        service.setdefault("image", BENCH)
        service.setdefault("stop_grace_period", "1s")
        if isinstance(service.get("command"), str):
            service["command"] = ["sh", "-c", service["command"]]
        used |= set(service.get("networks") or ()) & set(case.networks)
    for network in sorted(used):
        declared = written.setdefault("networks", {})
        declared[network] = {"external": True, "name": case.network(network, name)}
    return yaml.safe_dump({"name": case.full_name(name), **written}, sort_keys=False)


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("$", "$$")
    if isinstance(value, dict):
        return {key: _escaped(inner) for key, inner in value.items()}
    return [_escaped(inner) for inner in value] if isinstance(value, list) else value


def merged(project: Project, change: Project) -> Project:
    """Return a project with a change: folders of keys are merged, all else is replaced, None takes away."""
    result = dict(project)
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


@dataclass(frozen=True)
class _Taken:
    projects: dict[str, Project]
    steps: tuple[dict[str, Any], ...]


def _take(cascade_id: str) -> _Taken:
    cascade = next(each for each in load_cascades() if each.id == cascade_id)
    steps: list[dict[str, Any]] = []
    at = 0.0
    for step in cascade.fault:
        if isinstance(step, Deployment):
            steps.append({"at": at, "written": step.compose})
        elif step.startswith("sleep "):
            at += float(step.split()[1])
        elif step == "up":
            steps.append({"at": at, "written": None})
        else:
            steps.append({"at": at, "docker": shlex.split(step)[1:]})
    return _Taken({"it": yaml.safe_load(cascade.compose)}, tuple(steps))


def taken_compose(cascade_id: str) -> str:
    """The Compose file of a cascade, as it stands there."""
    return next(each for each in load_cascades() if each.id == cascade_id).compose


def read_case(path: Path) -> Case:
    """Return the case of a file."""
    raw = yaml.safe_load(path.read_text())
    if taken_from := raw.get("taken_from"):
        taken = _take(taken_from)
        raw = {**raw, "projects": taken.projects, "steps": taken.steps}
    case = Case(half=path.parent.name, **raw)
    assert case.id == path.stem, f"{path}: its id is {case.id}"
    return case


def read_cases(*names: str) -> list[Case]:
    """Return all cases, or those of halves, kinds, ids and files that are named."""
    files = [read_case(Path(name)) for name in names if name.endswith(".yaml")]
    if files:
        return files
    paths = [path for half in HALVES for path in sorted((FOLDER / half).glob("*.yaml"))]
    cases = [read_case(path) for path in paths]
    return [case for case in cases if not names or {case.id, case.half, case.kind} & set(names)]
