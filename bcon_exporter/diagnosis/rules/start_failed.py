"""start_failed: the engine could not start the container, or its program cannot be executed."""

from datetime import timedelta

from bcon_exporter.catalogue.causes import known_step
from bcon_exporter.diagnosis.exit_codes import cause_of_exit, explain_exit
from bcon_exporter.diagnosis.last_exit import EndKind, is_wanted
from bcon_exporter.diagnosis.log_rule import events_showing, evidence_of
from bcon_exporter.diagnosis.rule import PAUSED, PRESENT, RUNNING, Advice, Case, Hysteresis, SymptomRule, Verdict
from bcon_exporter.diagnosis.start_errors import start_error_of
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.findings import Severity, SymptomType

START = SymptomType.START_FAILED
START_CODES = (126, 127, 128)


def _judge(case: Case) -> Verdict:
    container = case.container
    severity = Severity.INFO if case.ending.aged else _severity(case)
    if container.error:
        kind = start_error_of(container.error)
        why = "" if kind is None else f" {kind.summary}"
        return case.symptom(START, severity, f"The engine could not start it.{why}", container.error)
    if container.started_at is None and container.exit_code in START_CODES:
        return case.symptom(START, severity, f"It never started: code {explain_exit(container.exit_code)}.")
    events = events_showing(case, START) if case.ending.kind is EndKind.FAILED else ()
    if events:
        return case.symptom(START, severity, "Its program cannot be executed.", *evidence_of(events))
    return None


def _severity(case: Case) -> Severity:
    """Return critical, or a warning for a container that never ran once its creator has had time to notice."""
    container = case.container
    if container.started_at is not None or is_wanted(container):
        return Severity.CRITICAL
    tried_at = container.finished_at or container.created_at
    fresh = case.now - max(tried_at, container.created_at) <= timedelta(seconds=case.thresholds.log_window_seconds)
    return Severity.CRITICAL if fresh else Severity.WARNING


def _advise(case: Case) -> Advice:
    container = case.container
    kind = start_error_of(container.error) if container.error else None
    if kind is not None:
        return Advice(causes=(kind.cause,))
    if container.error or container.started_at is None:
        code = container.exit_code
        return Advice(
            causes=(cause_of_exit(code),) if code in START_CODES else (), suggestions=(known_step("read_start_error"),)
        )
    return Advice()  # what the log shows brings its own


RULE = SymptomRule(
    type=START,
    hysteresis=Hysteresis.NONE,
    decides=True,
    from_log=False,
    is_failure=True,
    states=PRESENT - RUNNING - PAUSED - {ContainerState.DEAD},
    needs=("error", "exit_code"),
    judge=_judge,
    advise=_advise,
    description="State.Error is set, or exit 126-128 without a start, or the log says that the program cannot be "
    "executed.",
    conditions=(("the engine could not start it", Severity.CRITICAL),),
    ages="warning after {log_window_seconds} where it has never run and no restart policy starts it; info for an old "
    "one that nothing wants running",
    unknown_when="when inspect failed",
    source="docs/symptoms.md#start_failed; the reason of a refused start stands only in State.Error (engine 20.10)",
)
