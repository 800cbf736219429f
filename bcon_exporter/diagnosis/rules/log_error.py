"""log_error: the log holds lines of level error or worse, exceptions, tracebacks or panics."""

from bcon_exporter.diagnosis.log_rule import LOG_AGES, judge_log, log_is_relevant
from bcon_exporter.diagnosis.rule import STARTED_ONCE, Advice, Case, Hysteresis, SymptomRule, Verdict
from bcon_exporter.model.findings import Severity, SymptomType, Urgency
from bcon_exporter.model.signatures import SuggestionText


def _judge(case: Case) -> Verdict:
    return judge_log(
        case, SymptomType.LOG_ERROR, Severity.ERROR, "error event", at_least=case.thresholds.log_error_count
    )


def _advise(case: Case) -> Advice:
    if case.has_advice_from_log:
        return Advice()
    return Advice(
        suggestions=(
            SuggestionText(
                urgency=Urgency.SHORT_TERM,
                action="Read the events that the evidence quotes, the most frequent first.",
                rationale="The program itself calls them errors.",
                check="docker logs --since 10m {name}",
            ),
        ),
    )


RULE = SymptomRule(
    type=SymptomType.LOG_ERROR,
    hysteresis=Hysteresis.EVENT,
    decides=False,
    from_log=True,
    is_failure=True,
    states=STARTED_ONCE,
    applies=log_is_relevant,
    judge=_judge,
    advise=_advise,
    description="thresholds.log_error_count events of level error or worse, or of the shape of a failure where lines "
    "carry no level, within thresholds.log_window_seconds; a stack trace is one event. A few "
    "failures of a start (what is missing, not permitted or not set) count no more once the program says that it is "
    "ready.",
    conditions=(("a line of level error or worse, an exception, a traceback, a panic in the log", Severity.ERROR),),
    ages=f"{LOG_AGES}, and when all of it is of level warning",
    unknown_when="when the log could not be read",
    source="docs/symptoms.md#log_error",
)
