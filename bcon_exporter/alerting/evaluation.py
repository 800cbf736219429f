"""Evaluates conditions over the samples of one moment, as Prometheus would on a scrape of that moment."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bcon_exporter.alerting.expressions import (
    Age,
    Always,
    AnyOnHost,
    Both,
    Compared,
    Either,
    Expr,
    Increase,
    Names,
    OnlyPrometheus,
    Scaled,
    Series,
    Sign,
    Without,
)

Labels = tuple[tuple[str, str], ...]
"""Sorted pairs; `job` and `instance` are not among them."""
Vector = Mapping[Labels, float]
Counters = tuple[tuple[float, Mapping[str, Vector]], ...]
"""Counters as they stood at earlier moments: (seconds since 1970, metric → samples), oldest first."""

_SIGNS: dict[Sign, Callable[[float, float], bool]] = {"==": operator.eq, ">": operator.gt, "<": operator.lt}
_ALWAYS: Vector = {(): 1.0}


@dataclass(frozen=True, slots=True)
class World:
    """Everything that conditions look at.

    Attributes:
        now: Seconds since 1970.
        vectors: Metric or recording → its samples; what is withheld is absent.
        counters: The past of the counters; the present is in `vectors`.
    """

    now: float
    vectors: Mapping[str, Vector]
    counters: Counters = field(default=())


def evaluate(expr: Expr, world: World) -> Vector:  # noqa: C901, PLR0911, PLR0912 -- a branch for each kind
    """Return the samples for which a condition holds."""
    match expr:
        case Series():
            return _select(expr, world)
        case Compared(left, sign, right):
            return _compare(evaluate(left, world), _SIGNS[sign], right, world)
        case Age(of):
            return {labels: world.now - value for labels, value in evaluate(of, world).items()}
        case Scaled(factor, of):
            return {labels: factor * value for labels, value in evaluate(of, world).items()}
        case Increase(counter, minutes):
            return _increase(counter, minutes * 60, world)
        case Both(left, right, on):
            return _match(evaluate(left, world), evaluate(right, world), on, partnered=True)
        case Without(left, right, on):
            return _match(evaluate(left, world), evaluate(right, world), on, partnered=False)
        case Either(parts):
            return _unite(parts, world)
        case AnyOnHost(of):
            return _ALWAYS if evaluate(of, world) else {}
        case Always():
            return _ALWAYS
        case OnlyPrometheus():
            return {}


def _select(one: Series, world: World) -> Vector:
    return _having(one, world.vectors.get(one.name, {}))


def _having(one: Series, samples: Vector) -> Vector:
    if not one.where:
        return samples
    return {
        labels: value
        for labels, value in samples.items()
        if all(dict(labels).get(label, "") in accepted for label, accepted in one.where)
    }


def _compare(left: Vector, holds: Callable[[float, float], bool], right: Expr | float, world: World) -> Vector:
    if isinstance(right, float | int):
        return {labels: value for labels, value in left.items() if holds(value, right)}
    limits = evaluate(right, world)
    return {labels: value for labels, value in left.items() if labels in limits and holds(value, limits[labels])}


def _match(left: Vector, right: Vector, on: Names | None, *, partnered: bool) -> Vector:
    if not left or not right:
        return {} if partnered else left
    if on is None:
        return {labels: value for labels, value in left.items() if (labels in right) is partnered}
    keys = {_chosen(labels, on) for labels in right}
    return {labels: value for labels, value in left.items() if (_chosen(labels, on) in keys) is partnered}


def _chosen(labels: Labels, on: Names) -> Names:
    have = dict(labels)
    return tuple(have.get(name, "") for name in on)


def _unite(parts: tuple[Expr, ...], world: World) -> Vector:
    united: dict[Labels, float] = {}
    for part in parts:
        for labels, value in evaluate(part, world).items():
            united.setdefault(labels, value)
    return united


def _increase(counter: Series, seconds: float, world: World) -> Vector:
    """Add up the growth from one moment of the window to the next; a counter that shrank began anew."""
    grown: dict[Labels, float] = {}
    before: dict[Labels, float] = {}
    moments = [(at, vectors.get(counter.name, {})) for at, vectors in world.counters if at >= world.now - seconds]
    for _, samples in (*moments, (world.now, world.vectors.get(counter.name, {}))):
        for labels, value in _having(counter, samples).items():
            if labels in before:
                grown[labels] = grown.get(labels, 0.0) + (value - before[labels] if value >= before[labels] else value)
            before[labels] = value
    return grown
