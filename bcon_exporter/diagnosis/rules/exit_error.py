"""exit_error: the main process ended with a code other than 0, and nobody had asked it to end."""

from datetime import timedelta

from bcon_exporter.diagnosis.endings import EndKind, last_crash
from bcon_exporter.diagnosis.exit_codes import cause_of_exit, explain_exit
from bcon_exporter.diagnosis.numbers import in_seconds
from bcon_exporter.diagnosis.rule import PRESENT, Advice, Case, SymptomRule, Verdict, missing_facts, unknown
from bcon_exporter.model.facts import ContainerState
from bcon_exporter.model.findings import Severity, Symptom, SymptomType, Urgency
from bcon_exporter.model.lifecycle import ExitFacts
from bcon_exporter.model.signatures import CauseText, SuggestionText

EXIT = SymptomType.EXIT_ERROR
LAST_LINES = 3


def _judge(case: Case) -> Verdict:
    if case.container.is_running:
        return _came_back(case)
    missing = missing_facts(case.container, ("exit_code",))
    if missing:
        return unknown(case, EXIT, missing)
    match case.ending.kind:
        case EndKind.FAILED:
            return _failed(case)
        case EndKind.REQUESTED | EndKind.SHUTDOWN:
            return _asked(case)
        case EndKind.UNKNOWN:
            return _unclear(case)
        case EndKind.NONE | EndKind.DONE:
            return None


def _failed(case: Case) -> Symptom:
    ending = case.ending
    severity = Severity.INFO if ending.aged else Severity.ERROR
    code = explain_exit(ending.exit_code or 0)
    if case.container.state is ContainerState.CREATED:
        return case.symptom(EXIT, severity, f"Its start failed with code {code}{_when(case)}; it never ran.")
    by = "somebody killed it without asking it to stop" if _was_killed(case) else "nobody asked it to"
    description = f"It exited with code {code}{_when(case)}; {by}."
    symptom = case.symptom(EXIT, severity, description, *_evidence(case, ending.exit))
    return symptom if ending.certain else symptom.model_copy(update={"confidence": 0.8})


def _asked(case: Case) -> Symptom | None:
    end = case.ending.exit
    if end is not None and end.forced:
        description = f"It was stopped as asked{_when(case)}; only SIGKILL ended it."
        return case.symptom(EXIT, Severity.INFO, description, f"exit code {explain_exit(case.ending.exit_code or 0)}")
    if case.ending.certain or not case.ending.exit_code:
        return None
    description = f"It exited with code {explain_exit(case.ending.exit_code)}{_when(case)}, probably stopped by hand."
    policy = f"restart policy {case.container.restart_policy}: the engine would have started it again"
    return case.symptom(EXIT, Severity.INFO, description, policy).model_copy(update={"confidence": 0.6})


def _unclear(case: Case) -> Verdict:
    """A code that a stop leaves behind as well as a crash, and no history of it."""
    if not case.ending.aged:
        return unknown(case, EXIT, ("lifecycle",), "history does not tell whether its stop was asked for")
    description = f"It exited with code {explain_exit(case.ending.exit_code or 0)}{_when(case)}."
    return case.symptom(EXIT, Severity.INFO, description, "older than its history").model_copy(
        update={"confidence": 0.5}
    )


def _came_back(case: Case) -> Symptom | None:
    """It runs again after a failed exit: an error while it loops or has just come up, then a warning for a while."""
    crash = last_crash(case.container)
    if crash is None or not crash.exit_code:
        return None
    fresh = case.now - crash.at <= timedelta(seconds=case.thresholds.hold_seconds)
    if not (fresh or case.looping):
        return None
    severity = Severity.WARNING if case.well else Severity.ERROR
    ago = in_seconds((case.now - crash.at).total_seconds())
    description = f"It exited with code {explain_exit(crash.exit_code)}, {ago} ago, and was started again."
    return case.symptom(EXIT, severity, description, *_evidence(case, crash))


def _when(case: Case) -> str:
    at = case.ending.at
    return "" if at is None else f", {in_seconds((case.now - at).total_seconds())} ago"


def _was_killed(case: Case) -> bool:
    return case.ending.exit is not None and case.ending.exit.killed


def _evidence(case: Case, end: ExitFacts | None) -> tuple[str, ...]:
    lifetime = (
        () if end is None or end.lifetime_seconds is None else (f"it had run {in_seconds(end.lifetime_seconds)}",)
    )
    error = (f"the engine says: {case.container.error}",) if case.container.error else ()
    return (*lifetime, *error, *_last_lines(case, end))


def _last_lines(case: Case, end: ExitFacts | None) -> tuple[str, ...]:
    if end is not None and end.last_lines:
        return end.last_lines[-LAST_LINES:]
    logs = case.container.logs
    if logs is None or case.container.is_running or not case.use_logs:
        return ()
    return tuple(line.text[:240] for line in logs.lines[-LAST_LINES:])


def _advise(case: Case) -> Advice:
    crash = last_crash(case.container)
    code = case.ending.exit_code if case.ending.exit_code is not None else crash.exit_code if crash else None
    if case.ending.kind in (EndKind.REQUESTED, EndKind.SHUTDOWN):
        was_forced = case.ending.exit is not None and case.ending.exit.forced
        return Advice(causes=(_DEAF,), suggestions=(_HEAR_THE_SIGNAL,)) if was_forced else Advice()
    if _was_killed(case):
        return Advice(causes=(_KILLED,), suggestions=(_FIND_THE_KILLER,))
    told_elsewhere = case.looping or case.container.state is ContainerState.CREATED
    return Advice(
        causes=(cause_of_exit(code),) if code else (),
        suggestions=() if told_elsewhere or case.has_advice_from_log else (_READ_THE_LOG,),
    )


_DEAF = CauseText(
    id="stop_signal_ignored",
    text="The main process does not act on the stop signal, or needs longer than it is given.",
    confidence=0.85,
)
_HEAR_THE_SIGNAL = SuggestionText(
    urgency=Urgency.LONG_TERM,
    action="Let the main process handle the stop signal (exec form of the command, `init: true`), or give it longer.",
    rationale="Every stop and every deployment waits for the time-out, and work in hand is lost.",
    check="docker inspect -f '{{.Config.StopSignal}} {{.Path}} {{.Args}}' {name}",
)
_KILLED = CauseText(
    id="killed_from_outside",
    text="Somebody killed it through the engine (docker kill), without a stop signal before.",
    confidence=0.95,
)
_FIND_THE_KILLER = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Find out who or what killed it, and start it again if it is needed.",
    rationale="A kill loses what the program had not written yet; `docker stop` asks first.",
    check="docker events --since 24h --until 0s --filter container={name} --filter event=kill",
)
_READ_THE_LOG = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Read the last lines of its log and what the engine says about the exit.",
    rationale="Exit code {exit_code}, restart policy {restart_policy}.",
    check="docker logs --tail 100 {name}",
)


RULE = SymptomRule(
    type=EXIT,
    states=PRESENT,
    judge=_judge,
    advise=_advise,
    description="The exit code is not 0 and nobody asked for the end: no stop, removal or recreation, no shutdown of "
    "engine or host. History after thresholds.exit_age_seconds where the restart policy is no.",
    source="docs/symptoms.md#exit_error; one-shots that ended with 0 are done (docker/compose)",
)
