"""Pure diagnosis: facts in, symptoms, causes and suggestions out."""

from bcon_exporter.diagnosis.container_policy import Filter, Policy
from bcon_exporter.diagnosis.diagnose import diagnose_host, diagnose_one, status_of, summary_of
from bcon_exporter.diagnosis.explain import Surroundings, explain, find_last_words
from bcon_exporter.diagnosis.last_exit import is_well
from bcon_exporter.diagnosis.log_analysis import analyze
from bcon_exporter.diagnosis.log_cache import LogReader
from bcon_exporter.diagnosis.log_levels import level_of
from bcon_exporter.diagnosis.log_text import lines_of
from bcon_exporter.diagnosis.match_signatures import recognise
from bcon_exporter.diagnosis.rules import SYMPTOM_RULES
from bcon_exporter.model.hysteresis import HoldState

__all__ = [
    "SYMPTOM_RULES",
    "Filter",
    "HoldState",
    "LogReader",
    "Policy",
    "Surroundings",
    "analyze",
    "diagnose_host",
    "diagnose_one",
    "explain",
    "find_last_words",
    "is_well",
    "level_of",
    "lines_of",
    "recognise",
    "status_of",
    "summary_of",
]
