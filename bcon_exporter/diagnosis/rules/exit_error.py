"""exit_error: the main process ended with a code other than 0, and nobody had asked it to end."""

from datetime import timedelta

from bcon_exporter.diagnosis.endings import EndKind, ended_by_oom, last_crash
from bcon_exporter.diagnosis.exit_codes import cause_of_exit, explain_exit
from bcon_exporter.diagnosis.finding import quote
from bcon_exporter.diagnosis.numbers import in_seconds, lasted
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
            return _dead(case)


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


def _dead(case: Case) -> Symptom | None:
    """The engine could not take it away: it neither runs nor can be started."""
    if case.container.state is not ContainerState.DEAD:
        return None
    said = (f"the engine says: {case.container.error}",) if case.container.error else ()
    return case.symptom(
        EXIT, Severity.WARNING, "It is dead: the engine began to remove it and could not finish.", *said
    )


def _asked(case: Case) -> Symptom | None:
    end = case.ending.exit
    if end is not None and end.forced:
        description = f"It was stopped as asked{_when(case)}; only SIGKILL ended it."
        return case.symptom(EXIT, Severity.INFO, description, f"exit code {explain_exit(case.ending.exit_code or 0)}")
    if case.ending.certain or not case.ending.exit_code:
        return _dead(case)
    by, sign = (
        "stopped by hand",
        f"restart policy {case.container.restart_policy}: the engine would have started it again",
    )
    if case.ending.kind is EndKind.SHUTDOWN:
        by, sign = "by a shutdown of engine or host", "everything that ran on this host ended at that moment"
    description = f"It exited with code {explain_exit(case.ending.exit_code)}{_when(case)}, probably {by}."
    return case.symptom(EXIT, Severity.INFO, description, sign).model_copy(update={"confidence": 0.6})


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
    lifetime = () if end is None or end.lifetime_seconds is None else (f"it had run {lasted(end.lifetime_seconds)}",)
    error = (f"the engine says: {case.container.error}",) if case.container.error else ()
    return (*lifetime, *error, *_last_lines(case, end))


def _last_lines(case: Case, end: ExitFacts | None) -> tuple[str, ...]:
    if end is not None and end.last_lines:
        return end.last_lines[-LAST_LINES:]
    logs = case.container.logs
    if logs is None or case.container.is_running or not case.use_logs:
        return ()
    return tuple(quote(line.text) for line in logs.lines[-LAST_LINES:])


def _advise(case: Case) -> Advice:
    ending, container = case.ending, case.container
    if container.state is ContainerState.DEAD:
        return Advice(causes=(_NOT_REMOVED,), suggestions=(_FIND_WHAT_HOLDS_IT,))
    if ending.kind in (EndKind.REQUESTED, EndKind.SHUTDOWN):
        was_forced = ending.exit is not None and ending.exit.forced
        return Advice(causes=(_DEAF,), suggestions=(_HEAR_THE_SIGNAL,)) if was_forced else Advice()
    if _was_killed(case):
        return Advice(causes=(_KILLED,), suggestions=(_FIND_THE_KILLER,))
    if container.error or container.state is ContainerState.CREATED:
        return Advice()  # it never ran: start_failed tells why
    return Advice(causes=_causes(case), suggestions=() if case.looping else _suggestions(case))


def _causes(case: Case) -> tuple[CauseText, ...]:
    """What the code tells, unless the OOM killer's being there tells more; and that the engine gave up."""
    crash = case.ending.exit or last_crash(case.container)
    code = case.ending.exit_code if case.ending.exit_code is not None else crash.exit_code if crash else None
    given_up = (_given_up(case, code),) if _has_given_up(case) else ()
    if not code or ended_by_oom(case.container, crash):
        return given_up
    return (*given_up, cause_of_exit(code))


def _given_up(case: Case, code: int | None) -> CauseText:
    last = "" if code is None else f", the last time with code {explain_exit(code)}"
    return CauseText(
        id="restarts_used_up",
        text=f"It failed at each start until its restarts were used up ({case.container.restart_policy}){last}.",
        confidence=0.55,
    )


def _has_given_up(case: Case) -> bool:
    """Whether the engine has used up the restarts that its policy grants ("on-failure:3")."""
    container = case.container
    granted = (container.restart_policy or "").rpartition("on-failure:")[2]
    if container.state is not ContainerState.EXITED or not granted.isdigit():
        return False
    return (container.restart_count or 0) >= int(granted)


def _suggestions(case: Case) -> tuple[SuggestionText, ...]:
    if case.has_advice_from_log or ended_by_oom(case.container, case.ending.exit or last_crash(case.container)):
        return ()
    return (_READ_THE_LOG,) if "logs" not in case.container.unread else (_MAKE_LOGS_READABLE,)


_NOT_REMOVED = CauseText(
    id="removal_failed",
    text="Its files were in use when it was to be removed, by a mount in another place.",
    confidence=0.7,
)
_FIND_WHAT_HOLDS_IT = SuggestionText(
    urgency=Urgency.SHORT_TERM,
    action="Find the process or container that holds its files, then remove it once more.",
    rationale="A dead container cannot be started; its name stays taken until it is gone.",
    check="docker inspect -f '{{.State.Dead}} {{.State.Error}}' {name}",
)
_MAKE_LOGS_READABLE = SuggestionText(
    urgency=Urgency.SHORT_TERM,
    action="Give it a log driver that can be read (json-file, local, journald) beside or instead of its own.",
    rationale="Exit code {exit_code}; with log driver {log_driver} nobody can read here what it said last.",
    check="docker inspect -f '{{.HostConfig.LogConfig.Type}}' {name}",
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
    conditions=(
        ("exit code other than 0 that nobody asked for", Severity.ERROR),
        ("a removal that the engine could not finish (state dead)", Severity.WARNING),
    ),
    ages="warning once it was started again and runs; info for an old exit that nothing wants undone, and for a "
    "requested stop that needed SIGKILL",
    unknown_when="without an exit code; and for codes that a stop leaves behind too (130, 137, 143, 255) when history "
    "does not know who ended it",
    causes=(
        "restarts_used_up",
        "removal_failed",
        "stop_signal_ignored",
        "killed_from_outside",
    ),
    source="docs/symptoms.md#exit_error; one-shots that ended with 0 are done (docker/compose)",
)
