"""Pure diagnosis: facts in, symptoms, causes and suggestions out."""

from bcon_exporter.diagnosis.analysis import analyze
from bcon_exporter.diagnosis.endings import is_well
from bcon_exporter.diagnosis.engine import diagnose_host, diagnose_one, status_of, summary_of
from bcon_exporter.diagnosis.explain import Beside, explain
from bcon_exporter.diagnosis.log_reader import LogReader
from bcon_exporter.diagnosis.log_text import lines_of
from bcon_exporter.diagnosis.policy import Filter, Policy
from bcon_exporter.diagnosis.rules import SYMPTOM_RULES
from bcon_exporter.model.holds import HoldState

__all__ = [
    "SYMPTOM_RULES",
    "Beside",
    "Filter",
    "HoldState",
    "LogReader",
    "Policy",
    "analyze",
    "diagnose_host",
    "diagnose_one",
    "explain",
    "is_well",
    "lines_of",
    "status_of",
    "summary_of",
]
