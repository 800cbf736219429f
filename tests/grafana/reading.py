"""Reads a dashboard's JSON: its panels, its queries, and what Grafana puts in for the variables in them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER = Path(__file__).parents[2] / "grafana"
Json = dict[str, Any]
_VARIABLE = re.compile(r"\$\{?([a-z_]\w*)\}?")


@dataclass(frozen=True)
class Span:
    """The time range of a dashboard, and what follows from it.

    Attributes:
        start, end: In seconds since 1970.
        points: How many steps a panel has room for.
        scrape_seconds: The data source's own interval.
    """

    start: float
    end: float
    points: int
    scrape_seconds: float

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.end - self.start

    @property
    def step_seconds(self) -> float:
        """The time between two points, at least one scrape."""
        return max(self.scrape_seconds, self.seconds / self.points)

    def variables(self) -> dict[str, str]:
        """Grafana's own variables."""
        rate = max(self.step_seconds + self.scrape_seconds, 4 * self.scrape_seconds)
        return {"__range": f"{self.seconds:.0f}s", "__rate_interval": f"{rate:.0f}s"}


def load(uid: str) -> Json:
    """The shipped dashboard of a uid."""
    loaded: Json = json.loads((FOLDER / f"{uid}.json").read_text())
    return loaded


def panels(dashboard: Json) -> Iterator[Json]:
    """Its panels without the rows' headings, from top to bottom."""
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            yield from panel["panels"]
        else:
            yield panel


def variables(dashboard: Json) -> dict[str, Json]:
    """Its variables by name."""
    return {each["name"]: each for each in dashboard["templating"]["list"]}


def all_chosen(dashboard: Json) -> dict[str, str]:
    """What the variables are when `All` is chosen wherever that can be."""
    return {name: each["allValue"] for name, each in variables(dashboard).items() if each.get("includeAll")}


def expand(text: str, values: Mapping[str, str]) -> str:
    """Put the values of variables in; KeyError for a variable without one."""
    return _VARIABLE.sub(lambda found: values[found[1]], text)
