"""What a drift rule is: a value."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.findings import DriftType, ServiceDrift

LOW_CONFIDENCE = 0.3
"""Of a difference that hangs on an unresolved variable, or that only a hash shows."""


@dataclass(frozen=True)
class DriftRule:
    """One drift type and the pure function that finds it.

    Attributes:
        source: Where the rule is defined.
    """

    drift_type: DriftType
    source: str
    find: Callable[[ProjectPairing], Iterable[ServiceDrift]]
