"""What a drift rule is: a value."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.desired import DesiredProject
from bcon_exporter.model.findings import DriftType, ServiceDrift

LIKELY = 0.6
"""Of a difference that only the config hash shows, or that hangs on a variable which the asking shell does not have."""
LOW_CONFIDENCE = 0.3
"""Of one that hangs on a variable whose value is unknown here, or on hashes of two versions of Compose."""
FIRM = 0.5
"""From here on a difference is drift; below it is a doubt."""


def confidence_of_doubt(project: DesiredProject) -> float:
    """Return the confidence of a difference that hangs on a variable without a value."""
    return LIKELY if project.own_shell else LOW_CONFIDENCE


@dataclass(frozen=True)
class DriftRule:
    """One drift type and the pure function that finds it.

    Attributes:
        source: Where the rule is defined.
    """

    drift_type: DriftType
    source: str
    find: Callable[[ProjectPairing], Iterable[ServiceDrift]]
