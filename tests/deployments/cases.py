"""A case as its YAML file says it: what is there before a deployment, the deployment, and what is to be said of it.

name: one sentence that says what is tested
project: app                    # the folder's name too
files: {PATH: TEXT}             # in the project's folder
host: [SHELL LINE]              # what is there before, run in the project's folder
processes: [SHELL LINE]         # processes of the host, which stay in the foreground; ended after the case
environment: {NAME: VALUE}      # for Compose and for bcon-exporter
before: {files: {PATH: TEXT}, settle_seconds: 5}    # the project as it runs already
words: [WORD]                   # check: given to it and to Compose
up, after, verify: ...          # verify: see its runner
expect: {...}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
_KEYS = frozenset(
    (
        *("name", "project", "files", "host", "processes", "environment"),
        *("before", "words", "up", "after", "verify", "expect"),
    )
)


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        id: Its file's name without the ending.
        before_files: The project as it runs already; None where nothing of it does.
        raw: The whole document, for what only one runner reads.
    """

    id: str
    name: str
    project: str
    files: Mapping[str, str]
    host: tuple[str, ...]
    processes: tuple[str, ...]
    environment: Mapping[str, str]
    before_files: Mapping[str, str] | None
    settle_seconds: float
    words: tuple[str, ...]
    raw: Mapping[str, Any]

    @property
    def expect(self) -> Mapping[str, Any]:
        """What is to be said of it."""
        expected: Mapping[str, Any] = self.raw["expect"]
        return expected


def read_cases(*folders: str) -> list[Case]:
    """Return the cases of folders beside this file, by name; a folder that is not there has none."""
    paths = [path for folder in folders for path in sorted((FOLDER / folder).glob("*.yaml"))]
    return [read_case(path) for path in paths]


def read_case(path: Path) -> Case:
    """Return the case of a file."""
    raw = yaml.safe_load(path.read_text())
    unknown = raw.keys() - _KEYS
    assert not unknown, f"{path.name}: unknown keys {sorted(unknown)}"
    before = raw.get("before") or {}
    return Case(
        id=path.stem,
        name=str(raw["name"]),
        project=str(raw.get("project") or "app"),
        files={str(name): text or "" for name, text in (raw.get("files") or {}).items()},
        host=tuple(raw.get("host") or ()),
        processes=tuple(raw.get("processes") or ()),
        environment={str(name): str(value) for name, value in (raw.get("environment") or {}).items()},
        before_files=before.get("files") if before else None,
        settle_seconds=float(before.get("settle_seconds") or 0.0),
        words=tuple(map(str, raw.get("words") or ())),
        raw=raw,
    )
