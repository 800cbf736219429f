"""How fast something grows."""

from bcon_exporter.model.base import Frozen


class Growth(Frozen):
    """How fast something grows; negative where it shrinks.

    Attributes:
        known_for_seconds: Over this time, a day at most.
    """

    bytes_per_hour: float
    known_for_seconds: float
