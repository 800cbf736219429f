"""Asks a Prometheus what Grafana would ask it for a panel, a variable or an annotation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tests.grafana.reading import Json, Span, expand

_LABEL = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")


class Prometheus(Protocol):
    """What answers the HTTP API."""

    def get(self, path: str, /, **query: str) -> Any:
        """The data of one answer; raises where the query is refused."""


@dataclass(frozen=True)
class Series:
    """One series of an answer: as the legend names it, with its points of (time, value) in order."""

    name: str
    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]

    @property
    def last(self) -> float:
        """The newest value."""
        return self.points[-1][1]


def ask(prometheus: Prometheus, target: Json, values: Mapping[str, str], span: Span) -> list[Series]:
    """The answer to one query of a panel: at the end of the range for an instant query, else over all of it."""
    query = expand(target["expr"], {**values, **span.variables()})
    if target.get("instant"):
        found = prometheus.get("query", query=query, time=f"{span.end:.3f}")["result"]
    else:
        step = span.step_seconds
        start = span.start // step * step  # as Grafana does, so that the points stay where they are on a refresh
        found = prometheus.get(
            "query_range", query=query, start=f"{start:.3f}", end=f"{span.end:.3f}", step=f"{step:.3f}"
        )["result"]
    answered = (_series(target.get("legendFormat", ""), each) for each in found)
    return [each for each in answered if each.points]


def _series(legend: str, told: Json) -> Series:
    labels: dict[str, str] = told["metric"]
    points = told["values"] if "values" in told else [told["value"]]
    name = _LABEL.sub(lambda found: labels.get(found[1], ""), legend)
    return Series(name, labels, tuple((float(time), float(value)) for time, value in points if value != "NaN"))


def ask_moments(prometheus: Prometheus, note: Json, values: Mapping[str, str], span: Span) -> list[float]:
    """The moments of an annotation whose values are times in milliseconds, within the range, in seconds."""
    told = {value / 1000 for series in ask(prometheus, note, values, span) for _, value in series.points}
    return sorted(at for at in told if span.start <= at <= span.end)


def ask_values(prometheus: Prometheus, variable: Json, values: Mapping[str, str], span: Span) -> list[str]:
    """The values that a variable offers."""
    found = _LABEL_VALUES.fullmatch(expand(variable["query"]["query"], values))
    if found is None:
        msg = f"not a query for label values: {variable['query']['query']}"
        raise ValueError(msg)
    selector, label = found.groups()
    within = {"start": f"{span.start:.3f}", "end": f"{span.end:.3f}"}
    told: list[str] = prometheus.get(f"label/{label}/values", **{"match[]": selector}, **within)
    return told
