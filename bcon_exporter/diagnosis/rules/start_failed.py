"""start_failed: the engine could not start the container, or its program cannot be executed."""

from bcon_exporter.diagnosis.endings import EndKind
from bcon_exporter.diagnosis.exit_codes import cause_of_exit, explain_exit
from bcon_exporter.diagnosis.log_symptom import evidence_of, showing
from bcon_exporter.diagnosis.rule import PAUSED, PRESENT, RUNNING, Advice, Case, SymptomRule, Verdict
from bcon_exporter.model.findings import Severity, SymptomType, Urgency
from bcon_exporter.model.signatures import SuggestionText

START = SymptomType.START_FAILED
START_CODES = (126, 127, 128)


def _judge(case: Case) -> Verdict:
    container = case.container
    severity = Severity.INFO if case.ending.aged else Severity.CRITICAL
    if container.error:
        return case.symptom(START, severity, "The engine could not start it.", container.error)
    if container.started_at is None and container.exit_code in START_CODES:
        return case.symptom(START, severity, f"It never started: code {explain_exit(container.exit_code)}.")
    events = showing(case, START) if case.ending.kind is EndKind.FAILED else ()
    if events:
        return case.symptom(START, severity, "Its program cannot be executed.", *evidence_of(events))
    return None


def _advise(case: Case) -> Advice:
    code = case.container.exit_code
    return Advice(
        causes=(cause_of_exit(code),) if code in START_CODES else (),
        suggestions=(_CORRECT_THE_COMMAND, _READ_THE_ERROR) if code in (126, 127) else (_READ_THE_ERROR,),
    )


_CORRECT_THE_COMMAND = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Correct the command or entrypoint, or install the program in the image.",
    rationale="Exit code {exit_code}: the first word of the command must be an executable file of the image.",
    check="docker inspect -f '{{.Path}} {{.Args}}' {name}",
)
_READ_THE_ERROR = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Read the engine's own message; the container never wrote a log.",
    rationale="Nothing restarts a container whose start failed.",
    check="docker inspect -f '{{.State.Error}}' {name}",
)


RULE = SymptomRule(
    type=START,
    states=PRESENT - RUNNING - PAUSED,
    needs=("error", "exit_code"),
    judge=_judge,
    advise=_advise,
    description="State.Error is set, or exit 126-128 without a start, or the log says that the program cannot be "
    "executed.",
    source="docs/symptoms.md#start_failed; the reason of a refused start stands only in State.Error (engine 20.10)",
)
