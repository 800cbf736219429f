"""The corpus as values: what real software said, what was done to it, and the labels that follow from that."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "excerpts"

SYMPTOMS = ("LOG_ERROR", "NETWORK_ERROR", "OOM_KILLED", "DISK_PRESSURE")
CAUSES = ("auth_failure", "permission", "config_error", "missing_dependency", "port_in_use")
JUDGED = (*SYMPTOMS, *CAUSES)
HEALTHY = "healthy"
SPLITS = ("dev", "held-out")


@dataclass(frozen=True)
class Excerpt:
    """A piece of a log.

    Attributes:
        id: Recipe and name.
        software: The program that speaks.
        labels: `healthy`, or judged labels and finer ones (`net:refused`, `crash`), which only inform.
        done: What the recipe did, in a clause.
        split: `dev`, or `held-out`: never looked at while rules are made.
    """

    id: str
    software: str
    labels: frozenset[str]
    done: str
    split: str
    lines: tuple[str, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether nothing was wrong."""
        return HEALTHY in self.labels

    @property
    def expected(self) -> frozenset[str]:
        """The judged labels; empty for a healthy one."""
        return self.labels & frozenset(JUDGED)


@cache
def load_corpus() -> tuple[Excerpt, ...]:
    """Read all excerpts, in the order of their recipes."""
    return tuple(
        _excerpt(line)
        for path in sorted(FOLDER.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    )


def _excerpt(line: str) -> Excerpt:
    raw = json.loads(line)
    return Excerpt(
        id=raw["id"],
        software=raw["software"],
        labels=frozenset(raw["labels"]),
        done=raw["done"],
        split=raw["split"],
        lines=tuple(raw["lines"]),
    )
