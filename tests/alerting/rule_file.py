"""The shipped rules as tests look at them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
RULES = ROOT / "alerts" / "bcon.rules.yml"
TESTS = ROOT / "alerts" / "bcon.rules.test.yml"
OPT_IN = "BconUntrackedContainers"
"""The one alert that stands in the file as a comment."""


@dataclass(frozen=True)
class ShippedAlert:
    """One alert of the file."""

    name: str
    severity: str
    expr: str
    waits: str
    kept: str
    annotations: dict[str, str]

    @property
    def is_of_container(self) -> bool:
        """Whether it speaks of one container."""
        return "$labels.container" in self.annotations["summary"]

    @property
    def is_of_service(self) -> bool:
        """Whether it speaks of one service of a project."""
        return "$labels.service" in self.annotations["summary"]


def uncomment(text: str) -> str:
    """The rules with the opt-in alert put in force."""
    start = text.index(f"  # - alert: {OPT_IN}")
    return text[:start] + re.sub(r"(?m)^  # ", "  ", text[start:])


@cache
def read_rules() -> tuple[dict[str, Any], ...]:
    """All rules in order, the opt-in alert too."""
    return tuple(yaml.safe_load(uncomment(RULES.read_text()))["groups"][0]["rules"])


@cache
def read_alerts() -> tuple[ShippedAlert, ...]:
    """All alerts in order, the opt-in alert too."""
    return tuple(
        ShippedAlert(
            rule["alert"],
            rule["labels"]["severity"],
            rule["expr"],
            rule.get("for", ""),
            rule.get("keep_firing_for", ""),
            rule["annotations"],
        )
        for rule in read_rules()
        if "alert" in rule
    )
