"""Draws what a container used in the last day, as paths of an SVG."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.memory import Spread, UsageSlot
from bcon_exporter.model.quantities import show_percent, show_size

WIDTH, HEIGHT = 600, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 8, 14, 20
_DAY = timedelta(days=1)
_GAP = timedelta(minutes=11)
"""Between two points: what lies further apart is not joined, since nothing is known of the time between."""
_TICK_HOURS = 6
_NICE = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0)


@dataclass(frozen=True, slots=True)
class Tick:
    """A line across, or a time below."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """One quantity over a day.

    Attributes:
        mean, maximum: Paths.
        across: Lines across with what they stand for, from below.
        hours: Times below.
        limit: Height of the limit, where it is near enough to be seen.
        newest, highest: In words.
    """

    mean: str
    maximum: str
    across: tuple[Tick, ...]
    hours: tuple[Tick, ...]
    limit: float | None
    newest: str
    highest: str


def draw_cpu(slots: Sequence[UsageSlot], now: datetime) -> Chart | None:
    """Return the share of its CPUs; None where nothing is known."""
    return _draw([(slot.at, slot.cpu_ratio) for slot in slots], now, show_percent, ceiling=1.0)


def draw_memory(slots: Sequence[UsageSlot], now: datetime, limit_bytes: float | None) -> Chart | None:
    """Return the memory; None where nothing is known."""
    return _draw([(slot.at, slot.memory_bytes) for slot in slots], now, show_size, limit=limit_bytes, base=1024.0)


def _draw(
    points: Sequence[tuple[datetime, Spread]],
    now: datetime,
    show: Callable[[float], str],
    *,
    ceiling: float | None = None,
    limit: float | None = None,
    base: float = 10.0,
) -> Chart | None:
    known = [(at, one.mean, one.maximum) for at, one in points if one.mean is not None and one.maximum is not None]
    if not known:
        return None
    highest = max(maximum for _, _, maximum in known)
    shown_limit = limit if limit is not None and limit <= 2 * highest else None
    top = _nice(max(highest, shown_limit or 0.0), base)
    if ceiling is not None and top > ceiling / 2:
        top = max(ceiling, highest)
    begins = now - _DAY

    def x(at: datetime) -> float:
        return _LEFT + (at - begins) / _DAY * (WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return HEIGHT - _BOTTOM - value / top * (HEIGHT - _TOP - _BOTTOM)

    runs: list[list[tuple[float, float, float]]] = []
    last: datetime | None = None
    for at, mean, maximum in known:
        if last is None or at - last > _GAP:
            runs.append([])
        runs[-1].append((x(at), y(mean), y(maximum)))
        last = at
    floor = y(0.0)
    return Chart(
        mean="".join(_line([(left, height) for left, height, _ in run]) for run in runs),
        maximum="".join(_area([(left, height) for left, _, height in run], floor) for run in runs),
        across=tuple(Tick(round(y(part * top), 1), show(part * top)) for part in (0.0, 0.5, 1.0)),
        hours=tuple(_hours(now, x)),
        limit=None if shown_limit is None else round(y(shown_limit), 1),
        newest=show(known[-1][1]),
        highest=show(highest),
    )


def _hours(now: datetime, x: Callable[[datetime], float]) -> list[Tick]:
    spans = range(24 - _TICK_HOURS, 0, -_TICK_HOURS)
    return [Tick(round(x(now - timedelta(hours=hours)), 1), f"{hours} h ago") for hours in spans]


def _nice(value: float, base: float) -> float:
    """Return a round number that is not smaller."""
    if value <= 0:
        return 1.0
    scale = 1.0
    while scale * base <= value:
        scale *= base
    while scale > value:
        scale /= base
    for factor in (*_NICE, 16, 25, 32, 50, 64, 100, 128, 200, 256, 400, 512, 640, 800, 1024):
        if scale * factor >= value:
            return scale * factor
    return scale * base


def _line(points: Sequence[tuple[float, float]]) -> str:
    if len(points) == 1:
        points = (points[0], (points[0][0] + 2, points[0][1]))
    return "M" + "L".join(f"{left:.1f} {height:.1f}" for left, height in points)


def _area(points: Sequence[tuple[float, float]], floor: float) -> str:
    if len(points) == 1:
        points = (points[0], (points[0][0] + 2, points[0][1]))
    return f"{_line(points)}L{points[-1][0]:.1f} {floor:.1f}L{points[0][0]:.1f} {floor:.1f}Z"
