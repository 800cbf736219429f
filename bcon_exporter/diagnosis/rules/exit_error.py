"""exit_error: the main process ended with a code other than 0, and nobody had asked it to end."""

from datetime import timedelta

from bcon_exporter.catalogue.causes import known_cause, known_step
from bcon_exporter.diagnosis.exit_codes import cause_of_exit, explain_exit
from bcon_exporter.diagnosis.finding import quote
from bcon_exporter.diagnosis.last_exit import KEEPS_RUNNING, EndKind, ended_by_oom, ended_while_read, last_crash
from bcon_exporter.diagnosis.rule import PRESENT, Advice, Case, Hysteresis, SymptomRule, Verdict, missing_facts, unknown
from bcon_exporter.diagnosis.usage_in_words import in_bytes, lasted
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.exit_codes import CRASHED_HOST_CODE
from bcon_exporter.model.findings import Severity, Symptom, SymptomType
from bcon_exporter.model.lifecycle import ExitFacts
from bcon_exporter.model.quantities import show_duration
from bcon_exporter.model.signatures import CauseText, SuggestionText

EXIT = SymptomType.EXIT_ERROR
LAST_LINES = 3
TOLD_WITHIN_SECONDS = 2
"""The engine lists a container as ended before it tells of the end, and of who had asked for it."""


def _judge(case: Case) -> Verdict:
    if case.container.is_running:
        return _came_back(case)
    missing = missing_facts(case.container, ("exit_code",))
    if missing:
        return unknown(case, EXIT, missing)
    if _is_still_to_be_told(case):
        return unknown(case, EXIT, ("lifecycle",), "it ended a moment ago, and no event tells yet who asked for it")
    match case.ending.kind:
        case EndKind.FAILED:
            return _failed(case)
        case EndKind.REQUESTED | EndKind.SHUTDOWN:
            return _requested(case)
        case EndKind.UNKNOWN:
            return _unclear(case)
        case EndKind.NONE | EndKind.DONE | EndKind.LEFT_DOWN:
            return _not_removed(case)


def _is_still_to_be_told(case: Case) -> bool:
    ending = case.ending
    if ending.certain or ending.at is None or ending.kind not in (EndKind.FAILED, EndKind.UNKNOWN):
        return False
    return abs((case.now - ending.at).total_seconds()) < TOLD_WITHIN_SECONDS


def _failed(case: Case) -> Symptom:
    ending = case.ending
    severity = case.down_for_good or (Severity.INFO if ending.aged else Severity.ERROR)
    code = explain_exit(ending.exit_code or 0)
    if case.container.state is ContainerState.CREATED:
        return case.symptom(EXIT, severity, f"Its start failed with code {code}{_when(case)}; it never ran.")
    by = _by_whom(case)
    stays = f" Its restarts are used up ({case.container.restart_policy}): it stays down." if case.down_for_good else ""
    description = f"It exited with code {code}{_when(case)}{by}.{stays}"
    symptom = case.symptom(EXIT, severity, description, *_evidence(case, ending.exit))
    return symptom if ending.certain else symptom.model_copy(update={"confidence": 0.8})


def _by_whom(case: Case) -> str:
    """Return who ended it, as far as events tell: that nobody asked is known of an end whose events were seen only."""
    if _was_killed(case):
        return "; somebody killed it without asking it to stop"
    past = case.container.lifecycle
    is_told = case.ending.exit is not None or (past is not None and past.stop_requested is False)
    return "; nobody asked it to" if is_told else "; no event tells whether somebody asked it to"


def _not_removed(case: Case) -> Symptom | None:
    """Report a container that the engine could not remove: it neither runs nor can be started."""
    if case.container.state is not ContainerState.DEAD:
        return None
    engine_error = (f"the engine says: {case.container.error}",) if case.container.error else ()
    return case.symptom(
        EXIT, Severity.WARNING, "It is dead: the engine began to remove it and could not finish.", *engine_error
    )


def _requested(case: Case) -> Symptom | None:
    end = case.ending.exit
    if end is not None and end.forced:
        description = f"It was stopped as asked{_when(case)}; only SIGKILL ended it."
        return case.symptom(EXIT, Severity.INFO, description, f"exit code {explain_exit(case.ending.exit_code or 0)}")
    if case.ending.certain or not case.ending.exit_code:
        return _not_removed(case)
    by, evidence = "stopped by hand", "it is the code that a stop leaves behind; no event tells who ended it"
    if case.container.restart_policy in KEEPS_RUNNING:
        evidence = f"restart policy {case.container.restart_policy}: the engine would have started it again"
    if case.ending.kind is EndKind.SHUTDOWN:
        by, evidence = "by a shutdown of engine or host", "everything that ran on this host ended at that moment"
    description = f"It exited with code {explain_exit(case.ending.exit_code)}{_when(case)}, probably {by}."
    return case.symptom(EXIT, Severity.INFO, description, evidence).model_copy(update={"confidence": 0.6})


def _unclear(case: Case) -> Symptom:
    """Report an end by SIGKILL of unknown origin: a stop that took too long, `docker kill`, the OOM killer."""
    description = (
        f"It exited with code {explain_exit(case.ending.exit_code or 0)}{_when(case)}; "
        "it is not known whether somebody asked for it."
    )
    if case.may_be_oom:
        limits = case.container.limits
        description += f" It was probably out of memory: its limit is {in_bytes(limits.memory_bytes if limits else 0)}."
    severity = case.down_for_good or (Severity.INFO if case.ending.aged else Severity.WARNING)
    symptom = case.symptom(EXIT, severity, description, "no event tells who ended it", *_evidence(case, None))
    return symptom.model_copy(update={"confidence": 0.5})


def _came_back(case: Case) -> Verdict:
    """Report a failed exit after which it runs again: an error while it loops or is fresh, then a warning."""
    crash = last_crash(case.container)
    if crash is None or not crash.exit_code:
        return None
    if ended_while_read(case.container):
        return unknown(case, EXIT, ("state",), "it ended while the host was read")
    fresh = case.now - crash.at <= timedelta(seconds=case.thresholds.hold_seconds)
    if not (fresh or case.looping):
        return None
    severity = Severity.WARNING if case.well else Severity.ERROR
    ago = show_duration((case.now - crash.at).total_seconds())
    description = f"It exited with code {explain_exit(crash.exit_code)}, {ago} ago, and was started again."
    return case.symptom(EXIT, severity, description, *_evidence(case, crash))


def _when(case: Case) -> str:
    at = case.ending.at
    return "" if at is None else f", {show_duration((case.now - at).total_seconds())} ago"


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
        return Advice(causes=(known_cause("removal_failed"),))
    if ending.kind in (EndKind.REQUESTED, EndKind.SHUTDOWN):
        was_forced = ending.exit is not None and ending.exit.forced
        return Advice(causes=(known_cause("stop_signal_ignored"),)) if was_forced else Advice()
    if ending.kind is EndKind.LEFT_DOWN:
        return Advice()  # not_started_again tells why
    if _was_killed(case):
        return Advice(causes=(known_cause("killed_from_outside"),))
    if container.error or container.state is ContainerState.CREATED:
        return Advice()  # it never ran: start_failed tells why
    return Advice(causes=_causes(case), suggestions=() if case.looping else _suggestions(case))


def _causes(case: Case) -> tuple[CauseText, ...]:
    """Return the cause for the exit code, unless the OOM killer explains it; and that the engine gave up.

    An engine that told of an end with 255 when it came was not down: the program itself ended so.
    """
    crash = case.ending.exit or last_crash(case.container)
    code = case.ending.exit_code if case.ending.exit_code is not None else crash.exit_code if crash else None
    given_up = (_given_up(case, code),) if case.down_for_good else ()
    given_up = (*given_up, known_cause("memory_limit_too_low.probable")) if case.may_be_oom else given_up
    if not code or ended_by_oom(case.container, crash):
        return given_up
    if code == CRASHED_HOST_CODE and crash is not None and not crash.shutdown:
        return (*given_up, known_cause("program_error.ended_with_minus_one"))
    return (*given_up, cause_of_exit(code))


def _given_up(case: Case, code: int | None) -> CauseText:
    last = "" if code is None else f", the last time with code {explain_exit(code)}"
    return known_cause("restarts_used_up", policy=case.container.restart_policy, last=last)


def _suggestions(case: Case) -> tuple[SuggestionText, ...]:
    if case.has_advice_from_log or ended_by_oom(case.container, case.ending.exit or last_crash(case.container)):
        return ()
    return (known_step("read_log_of_exit" if "logs" not in case.container.unread else "make_logs_readable"),)


RULE = SymptomRule(
    type=EXIT,
    hysteresis=Hysteresis.EVENT,
    decides=True,
    from_log=False,
    is_failure=True,
    states=PRESENT,
    judge=_judge,
    advise=_advise,
    description="The exit code is not 0 and nobody asked for the end: no stop, removal or recreation, no shutdown of "
    "engine or host. History after thresholds.exit_age_seconds where the restart policy is no.",
    conditions=(
        ("the restarts of its policy (on-failure:N) are used up: it is down for good", Severity.CRITICAL),
        ("exit code other than 0 that nobody asked for", Severity.ERROR),
        ("exit code 137 of which no event tells whether somebody asked for it", Severity.WARNING),
        ("a removal that the engine could not finish (state dead)", Severity.WARNING),
    ),
    ages="warning once it was started again and runs, and for used-up restarts that were older than a day when it was "
    "first looked at; info for an old exit that nothing wants undone, for a requested stop that needed SIGKILL, and "
    "for codes that a stop leaves behind (130, 143, its own stop signal's) when no event tells who ended it",
    unknown_when=f"without an exit code, for {TOLD_WITHIN_SECONDS} s after an end that no event tells of yet, and "
    "where it ended while the host was read",
    source="docs/symptoms.md#exit_error; one-shots that ended with 0 are done (docker/compose)",
)
