"""Pure diagnosis: facts in, symptoms, causes and suggestions out."""

from bcon_exporter.diagnosis.engine import diagnose_host, diagnose_one, status_of, summary_of
from bcon_exporter.diagnosis.explain import explain
from bcon_exporter.diagnosis.policy import Filter, Policy
from bcon_exporter.diagnosis.rules import SYMPTOM_RULES
from bcon_exporter.model.holds import HoldState

__all__ = [
    "SYMPTOM_RULES",
    "Filter",
    "HoldState",
    "Policy",
    "diagnose_host",
    "diagnose_one",
    "explain",
    "status_of",
    "summary_of",
]
