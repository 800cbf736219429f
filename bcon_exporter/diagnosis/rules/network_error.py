"""network_error: the log reports failed connections."""

from bcon_exporter.diagnosis.log_rule import LOG_AGES, events_showing, judge_log, log_is_relevant
from bcon_exporter.diagnosis.rule import STARTED_ONCE, Case, Hysteresis, SymptomRule, Verdict
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.signatures import Level

WARNINGS = 2
"""Warnings count from this number on: after a single one the next attempt mostly succeeds."""


def _judge(case: Case) -> Verdict:
    events = events_showing(case, SymptomType.NETWORK_ERROR)
    mere = case.is_running and all(event.level is Level.WARNING for event in events)
    return judge_log(
        case, SymptomType.NETWORK_ERROR, Severity.ERROR, "network failure", at_least=WARNINGS if mere else 1
    )


RULE = SymptomRule(
    type=SymptomType.NETWORK_ERROR,
    hysteresis=Hysteresis.EVENT,
    decides=False,
    from_log=True,
    is_failure=False,
    states=STARTED_ONCE,
    applies=log_is_relevant,
    judge=_judge,
    description="A signature of category network in a log event that counts: refused, DNS, connection time-out, "
    "reset, unreachable, TLS.",
    conditions=(
        ("refused, unknown name, time-out, reset, unreachable, TLS failure in the log", Severity.ERROR),
        ("the same in lines of level warning only, two or more", Severity.WARNING),
    ),
    ages=LOG_AGES,
    unknown_when="when the log could not be read",
    source="docs/symptoms.md#network_error",
)
