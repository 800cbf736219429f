"""How much counters grew lately."""

from collections.abc import Mapping
from datetime import datetime, timedelta

COUNTED_FOR = timedelta(minutes=30)

Counters = tuple[tuple[datetime, Mapping[str, float]], ...]
"""Counters as they stood at earlier moments, oldest first. A restart of the exporter forgets them."""


def remember_counters(counters: Counters, values: Mapping[str, float], now: datetime) -> Counters:
    """Return the counters' past with this moment added and what no window reaches left out.

    Of moments in a row that say the same, the first and the last tell all.
    """
    kept = [moment for moment in counters if now - COUNTED_FOR <= moment[0] <= now]
    if [before for _, before in kept[-2:]] == [values, values]:
        kept.pop()
    return (*kept, (now, values))


def find_growth(counters: Counters, name: str, window: timedelta) -> float:
    """Return how much a counter grew within a window before the newest moment; one that shrank began anew."""
    grown, before = 0.0, None
    for at, values in counters:
        if at < counters[-1][0] - window or name not in values:
            continue
        if before is not None:
            grown += values[name] - before if values[name] >= before else values[name]
        before = values[name]
    return grown
