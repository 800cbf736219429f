"""network_error: the log reports failed connections."""

from bcon_exporter.diagnosis.log_symptom import LOG_AGES, judge_log, log_counts
from bcon_exporter.diagnosis.rule import STARTED_ONCE, Case, SymptomRule, Verdict
from bcon_exporter.model.findings import Severity, SymptomType


def _judge(case: Case) -> Verdict:
    return judge_log(case, SymptomType.NETWORK_ERROR, Severity.ERROR, "network failure")


RULE = SymptomRule(
    type=SymptomType.NETWORK_ERROR,
    states=STARTED_ONCE,
    applies=log_counts,
    judge=_judge,
    description="A signature of category network in a log event that counts: refused, DNS, connection time-out, "
    "reset, unreachable, TLS.",
    conditions=(("refused, unknown name, time-out, reset, unreachable, TLS failure in the log", Severity.ERROR),),
    ages=LOG_AGES,
    unknown_when="when the log could not be read",
    source="docs/symptoms.md#network_error",
)
