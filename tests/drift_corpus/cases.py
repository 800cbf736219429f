"""The corpus as values: each folder of `projects` is one Compose project, its `expect.yaml` says what to expect of it.

All keys of expect.yaml are optional:

    files, profiles, project, environment: how it is brought up; else as Compose does it without flags and variables
    before: [COMMAND]           what must be there first (external networks)
    finished: [SERVICE]         one-shots that end with 0; Compose would start them again, and that is no drift
    after: [COMMAND]            run once it is up and changes nothing (`compose run`); {p} is the project's name
    daemon: unknown             the daemon, without the user's shell, cannot know and says so
    scale: SERVICE=N            scaled by hand: one replica_mismatch, gone after the next `up`
    requires: [cgroup1]         what the machine must offer
    miss: REASON                it is not judged right yet, and the tests fail when it is
    plain: [REFORMATTING]       rewritings that this project cannot bear, with the reason in a comment
    changes:
      - what: a sentence        names the kind of change
        edit: {FILE: {OLD: NEW}} | write: {FILE: TEXT} | environment: {NAME: VALUE} | run: [COMMAND]
        found: ["SERVICE TYPE [FIELD]"]      every difference to be reported, and no other; field *: any, one or more
        up: {SERVICE: recreate | create | start | stop | remove | orphan | nothing}   what Compose would do, where it
                                 does not follow from the types and from whether the change is one of the files;
                                 stop: it is started again, in a new network or after what it depends on
        status: unknown, error: CODE         instead of `found`
        miss: REASON

`docker` and `compose` at the beginning of a COMMAND are the clients of the private engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PROJECTS = Path(__file__).with_name("projects")
_FOUND = re.compile(r"(\S+) (\w+)(?: (.+))?")
_FOLLOWS = {
    "config_mismatch": "recreate",
    "image_mismatch": "recreate",
    "missing_service": "create",
    "replica_mismatch": "create",
    "not_running": "start",
    "extra_container": "orphan",
}

Found = tuple[str, str, str | None]
"""Service, drift type, field path."""


@dataclass(frozen=True)
class Change:
    """One change of a project and what must be said of it.

    Attributes:
        found: Every difference, sorted.
        up: Service → what Compose would do about it.
        status: The report's status.
        error: The code of the error, where there is no report.
        miss: Why it is not judged right yet; None for most.
    """

    what: str
    edits: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    writes: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    found: tuple[Found, ...] = ()
    up: Mapping[str, str] = field(default_factory=dict)
    status: str = "drifted"
    error: str | None = None
    miss: str | None = None

    @property
    def is_of_engine(self) -> bool:
        """Whether it needs the engine to be changed, not only files and variables."""
        return bool(self.commands)


@dataclass(frozen=True)
class Case:
    """One project of the corpus."""

    name: str
    folder: Path
    files: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    project: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    finished: frozenset[str] = frozenset()
    after: tuple[str, ...] = ()
    daemon: str = "synced"
    scale: str | None = None
    requires: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    miss: str | None = None
    changes: tuple[Change, ...] = ()

    @property
    def main_file(self) -> str:
        """The file that a user would give."""
        if self.files:
            return self.files[0]
        return next(
            name for name in ("compose.yaml", "compose.yml", "docker-compose.yml") if (self.folder / name).exists()
        )

    @property
    def compose_files(self) -> tuple[str, ...]:
        """Every Compose file of the folder, included and extended ones as well."""
        found = (
            path
            for path in self.folder.rglob("*.y*ml")
            if re.search(r"^(include|services|x-\w+):", path.read_text(), re.M)
        )
        return tuple(sorted(str(path.relative_to(self.folder)) for path in found if path.name != "expect.yaml"))

    @property
    def flags(self) -> tuple[str, ...]:
        """Compose's global flags."""
        given = [flag for name in self.files for flag in ("-f", name)]
        given += [flag for name in self.profiles for flag in ("--profile", name)]
        return (*given, *(("-p", self.project) if self.project else ()))


def kinds_of(case: Case) -> frozenset[tuple[str, ...]]:
    """What a project is there to show: each field on each side, each outcome, each way to be brought up."""
    kinds: set[tuple[str, ...]] = {("needs", need) for need in case.requires}
    for change in case.changes:
        side = "engine" if change.is_of_engine else "file"
        kinds |= {(side, drift_type, (path or "").partition(".")[0]) for _, drift_type, path in change.found}
        kinds.add(("ends", change.status, change.error or ""))
    ways = {"profiles": case.profiles, "before": case.before, "after": case.after, "finished": case.finished}
    kinds |= {("way", way) for way, given in {**ways, "scale": case.scale, "miss": case.miss}.items() if given}
    return frozenset({*kinds, ("daemon", case.daemon)})


def choose_sample(cases: Iterable[Case]) -> tuple[Case, ...]:
    """The few projects that together show every kind: always the one next that shows most of what is left."""
    others, chosen = list(cases), list[Case]()
    left = frozenset[tuple[str, ...]]().union(*map(kinds_of, others))
    while left:
        best = max(others, key=lambda case: len(kinds_of(case) & left))
        others.remove(best)
        chosen.append(best)
        left -= kinds_of(best)
    return tuple(sorted(chosen, key=lambda case: case.name))


@cache
def read_cases() -> tuple[Case, ...]:
    """Every project, by name."""
    return tuple(_read_case(folder) for folder in sorted(PROJECTS.iterdir()) if folder.is_dir())


def _read_case(folder: Path) -> Case:
    file = folder / "expect.yaml"
    said: dict[str, Any] = (yaml.safe_load(file.read_text()) if file.exists() else None) or {}
    changes = tuple(_read_change(dict(one)) for one in said.pop("changes", ()))
    for key in ("files", "profiles", "before", "after"):
        said[key] = tuple(said.get(key, ()))
    for key in ("finished", "requires", "plain"):
        said[key] = frozenset(said.get(key, ()))
    return Case(name=folder.name, folder=folder, changes=changes, **said)


def _read_change(said: dict[str, Any]) -> Change:
    found = tuple(sorted((_read_found(one) for one in said.pop("found", ())), key=str))
    commands = tuple(said.pop("run", ()))
    follows = {service: _FOLLOWS[kind] for service, kind, _ in found if not (commands and kind == "config_mismatch")}
    change = Change(
        what=said.pop("what"),
        edits=said.pop("edit", {}),
        writes=said.pop("write", {}),
        environment=said.pop("environment", {}),
        commands=commands,
        found=found,
        up={service: action for service, action in {**follows, **said.pop("up", {})}.items() if action != "nothing"},
        error=said.pop("error", None),
        miss=said.pop("miss", None),
        status=said.pop("status", "drifted" if found else "synced"),
    )
    assert not said, f"unknown keys: {said}"
    return change


def _read_found(text: str) -> Found:
    parsed = _FOUND.fullmatch(text)
    assert parsed, text
    return parsed[1], parsed[2], parsed[3]
