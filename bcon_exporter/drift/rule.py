"""DriftRule, and the confidence of what the rules find."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.desired import DesiredProject
from bcon_exporter.model.findings import DriftType, ServiceDrift

LIKELY = 0.6
"""Confidence of a difference that only the config hash shows, or that depends on a variable unset in this shell."""
LOW_CONFIDENCE = 0.3
"""Confidence of one that depends on a variable unknown to the daemon, or on hashes of two versions of Compose."""
FIRM = 0.5
"""A difference of at least this confidence is drift; one below it is a doubt."""


def confidence_of_doubt(project: DesiredProject) -> float:
    """Return the confidence of a difference that depends on a variable without a value."""
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
