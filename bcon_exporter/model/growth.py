"""How fast something grows."""

from bcon_exporter.model.base import Frozen
from bcon_exporter.model.quantities import show_duration, show_size


class Growth(Frozen):
    """How fast something grows; negative where it shrinks.

    Attributes:
        known_for_seconds: Over this time, a day at most.
    """

    bytes_per_hour: float
    known_for_seconds: float


_STEADY_BYTES = 1024
_LONG_KNOWN_SECONDS = 6 * 3600


def show_growth(growth: Growth | None) -> str:
    """Return "+1.5 MiB/h", with since when it is known where that is not long; a dash where it is not known."""
    if growth is None:
        return "-"
    rate = growth.bytes_per_hour
    shown = "steady" if abs(rate) < _STEADY_BYTES else f"{'+' if rate > 0 else '-'}{show_size(abs(rate))}/h"
    since = growth.known_for_seconds
    return shown if since >= _LONG_KNOWN_SECONDS else f"{shown} for {show_duration(since)}"
