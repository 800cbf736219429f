"""Did a deployment succeed, and if not, which service, why, and since which change. Pure."""

from bcon_exporter.deployments.verify.begin import NEWEST_WITHIN
from bcon_exporter.deployments.verify.judge import Look, judge, overall, replicas_of
from bcon_exporter.deployments.verify.rules import VERIFY_RULES
from bcon_exporter.deployments.verify.watch import Watch, find_since, give_up, note, observe

__all__ = [
    "NEWEST_WITHIN",
    "VERIFY_RULES",
    "Look",
    "Watch",
    "find_since",
    "give_up",
    "judge",
    "note",
    "observe",
    "overall",
    "replicas_of",
]
