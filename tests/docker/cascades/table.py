"""The table of cascades as values: a project, a fault, who must be red and why, and what mends it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field

from bcon_exporter.model.base import Frozen

TABLE = Path(__file__).parent / "cascades.yaml"


class Deployment(Frozen):
    """A changed Compose file that is brought up."""

    compose: str


class Root(Frozen):
    """What explains the others.

    Attributes:
        service: Of the project; None for what is no container here.
        what: What it is then.
        cause: Ids that are right as the root's own cause, or as the one at a sufferer that names it; empty: not said.
        explains: Where there are two roots, the services of this one.
    """

    service: str | None = None
    what: str = ""
    cause: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    note: str = ""


Step = Annotated[str | Deployment, Field(union_mode="left_to_right")]


class Cascade(Frozen):
    """One project that fails from one root, or from two.

    Attributes:
        id: Also the project's name.
        red: Service → ids that are right as its likeliest cause; empty: not said.
        well: Bystanders that must never be shown as ill.
        after_repair: Services that must be well within three minutes after the repair.
    """

    id: str
    compose: str
    fault: tuple[Step, ...]
    root: Root | None = None
    roots: tuple[Root, ...] = ()
    red: dict[str, tuple[str, ...]]
    well: tuple[str, ...] = ()
    repair: tuple[Step, ...]
    after_repair: tuple[str, ...] = ()
    trap: str = ""

    def root_of(self, service: str) -> Root:
        """The root that must explain a service."""
        if self.root is not None:
            return self.root
        return next((one for one in self.roots if service in (one.service, *one.explains)), self.roots[0])


def load_cascades(path: Path = TABLE) -> tuple[Cascade, ...]:
    """Every cascade, in the file's order."""
    rows: list[dict[str, Any]] = yaml.load(path.read_text(), yaml.CSafeLoader)["cascades"]
    return tuple(Cascade(**row) for row in rows)
