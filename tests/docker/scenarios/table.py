"""The table of scenarios as values: how each is started, and what the daemon must say of it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Literal

import yaml
from pydantic import model_validator

from bcon_exporter.model.base import Frozen
from bcon_exporter.model.findings import SymptomType
from tests.docker.image import IMAGE

FOLDER = Path(__file__).parent
TABLE = FOLDER / "table"
DAY_ONE = FOLDER / "day_one"
LOGS = FOLDER / "logs"


class Scenario(Frozen):
    """One container that fails in a known way, or only looks as if it did.

    Attributes:
        id: Also the container's name.
        options: Of `docker run`, as one would type them.
        command: What it runs; or `sh`, a shell script; or `replay`, a file of logs/ that it prints.
        ends: With `replay`: the exit code; without it the container goes on running.
        after: Docker commands, one after the other, with the container's name in place of `{}` or else at their end;
            `await STATE` waits for its health.
        group: Containers of a group are started one after the other, in the table's order.
        subnet: Of the network, where its containers have fixed addresses.
        symptoms: Exactly these, severities above info.
        may: Beside these, neither asked for nor held against it.
        cause: Ids that are right for the likeliest cause; empty where none is expected.
        peer: The container that the likeliest cause points to.
        says: Text that the report must hold somewhere.
        passing: It has been ill before; else a healthy one may never have been shown as anything else.
        within: Seconds after its start by which the daemon must say so.
        trap: What makes it easy to get wrong.
        why: What is wrong with it.
    """

    id: str
    kind: str
    options: str = ""
    command: str | None = None
    sh: str | None = None
    replay: str | None = None
    ends: int | None = None
    verb: Literal["run", "create"] = "run"
    after: tuple[str, ...] = ()
    group: str | None = None
    network: str = "none"
    subnet: str | None = None
    status: Literal["healthy", "warning", "error", "critical"] | None = None
    symptoms: frozenset[SymptomType] = frozenset()
    may: frozenset[SymptomType] = frozenset()
    cause: tuple[str, ...] = ()
    peer: str | None = None
    says: str | None = None
    passing: bool = False
    absent: bool = False
    within: float = 45.0
    trap: str = ""
    why: str = ""

    @model_validator(mode="after")
    def _check(self) -> Scenario:
        if sum(each is not None for each in (self.command, self.sh, self.replay)) != 1:
            msg = f"{self.id}: exactly one of command, sh and replay"
            raise ValueError(msg)
        if (self.status is None) != self.absent or (self.status == "healthy") != (
            not self.symptoms and not self.absent
        ):
            msg = f"{self.id}: status and symptoms contradict each other"
            raise ValueError(msg)
        return self

    def arguments(self) -> list[str]:
        """The docker command that starts it."""
        detached = ["-d"] if self.verb == "run" else []
        options = ["--name", self.id, "--network", self.network, *shlex.split(self.options)]
        return [self.verb, *detached, *options, IMAGE, *self._process()]

    def _process(self) -> list[str]:
        if self.command is not None:
            return shlex.split(self.command)
        if self.sh is not None:
            return ["sh", "-c", self.sh]
        end = "exec sleep 600" if self.ends is None else f"exit {self.ends}"
        return ["sh", "-c", f"cat /logs/{self.replay}; {end}"]


def load_table(folder: Path = TABLE) -> tuple[Scenario, ...]:
    """Every scenario, in the order of the files; ValueError when two share an id."""
    found = [
        Scenario(kind=path.stem, **row)
        for path in sorted(folder.glob("*.yaml"))
        for row in yaml.safe_load(path.read_text())["scenarios"]
    ]
    names = [scenario.id for scenario in found]
    if len(set(names)) != len(names):
        msg = f"ids given twice: {sorted({name for name in names if names.count(name) > 1})}"
        raise ValueError(msg)
    return tuple(found)
