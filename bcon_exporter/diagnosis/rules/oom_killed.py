"""oom_killed: the kernel's OOM kill by flag, by event or by inference, or an OOM message in the log."""

from datetime import datetime, timedelta

from bcon_exporter.catalogue.causes import known_cause, known_step
from bcon_exporter.diagnosis.exit_codes import explain_exit
from bcon_exporter.diagnosis.last_exit import EndKind, ended_while_read, last_crash, probably_oom
from bcon_exporter.diagnosis.log_rule import events_showing, evidence_of, log_symptom
from bcon_exporter.diagnosis.rule import STARTED_ONCE, Advice, Case, Hysteresis, SymptomRule, Verdict, unknown
from bcon_exporter.diagnosis.usage_in_words import cause_of_growth, in_bytes
from bcon_exporter.model.findings import Severity, Symptom, SymptomType
from bcon_exporter.model.quantities import show_count, show_duration

OOM = SymptomType.OOM_KILLED
SAME_KILL_SECONDS = 5
ENDED_WITHIN_SECONDS = 1
"""The kernel tells of a kill before the engine tells of an end by it: whom a younger one hit is not known yet."""
KILL_CODE = 137
NEAR_LIMIT_RATIO = 0.8
_SEEN = "an oom event: the engine's own, or of the kernel's log or counters"
LEAK_SECONDS = 3600
"""Runs that last longer than this before each OOM kill look like a leak."""


def _judge(case: Case) -> Verdict:
    if _is_quiet(case):
        return None
    symptoms = [
        symptom for symptom in (_ended(case), _came_back(case), _child(case), _log(case)) if symptom is not None
    ]
    if symptoms:
        return max(symptoms, key=lambda symptom: symptom.severity.rank)
    probable = _probable(case)
    if probable is not None:
        return probable
    missing = _missing(case)
    if missing:
        return unknown(case, OOM, missing)
    if case.may_be_oom and not case.ending.aged:
        return unknown(case, OOM, ("lifecycle",), "no event tells who sent SIGKILL")
    return None


def _is_quiet(case: Case) -> bool:
    """Whether a container runs and has no trace of a kill: a cheap check that is enough for most containers."""
    container, lifecycle = case.container, case.container.lifecycle
    if not case.is_running or container.oom_killed or lifecycle is None or case.events:
        return False
    return not lifecycle.oom_kills and not lifecycle.exits


def _missing(case: Case) -> tuple[str, ...]:
    container = case.container
    if container.is_running:
        return () if container.lifecycle is not None else ("lifecycle",)
    return () if container.oom_killed is not None else ("oom_killed",)


def _ended(case: Case) -> Symptom | None:
    """Report a stopped container whose last run the OOM killer ended, or a kill of one of its children."""
    ending, container = case.ending, case.container
    if ending.kind is EndKind.NONE:
        return None
    flagged, seen = container.oom_killed is True, ending.exit is not None and ending.exit.oom
    if not (flagged or seen):
        return None
    evidence, confidence = _evidence_and_confidence(flagged=flagged, seen=seen)
    when = f" {show_duration((case.now - ending.at).total_seconds())} ago" if ending.at else ""
    if ending.kind is EndKind.DONE or ending.exit_code == 0:
        severity = Severity.INFO if ending.aged else Severity.ERROR
        text = f"The kernel killed one of its child processes{_limit(case)}; it ended itself{when}."
    elif ending.kind in (EndKind.REQUESTED, EndKind.SHUTDOWN, EndKind.LEFT_DOWN):
        severity = Severity.INFO
        text = f"The kernel had killed one of its processes{_limit(case)} before it was stopped{when}."
    elif ending.exit_code == KILL_CODE:
        severity = Severity.INFO if ending.aged else Severity.CRITICAL
        text = f"The kernel killed it{when}: out of memory{_limit(case)}."
    else:
        severity = Severity.INFO if ending.aged else Severity.CRITICAL
        code = explain_exit(ending.exit_code or 0)
        text = f"The kernel killed one of its processes{_limit(case)}, and it ended with code {code}{when}."
        confidence = min(confidence, 0.9)
    return case.symptom(OOM, severity, text, *evidence).model_copy(update={"confidence": confidence})


def _evidence_and_confidence(*, flagged: bool, seen: bool) -> tuple[tuple[str, ...], float]:
    """Return the evidence and its confidence: flag and event are both lost at times, and never wrong."""
    if flagged and seen:
        return ("State.OOMKilled is set", _SEEN), 1.0
    if flagged:
        return ("State.OOMKilled is set",), 0.98
    return ("State.OOMKilled is not set (it is unreliable)", _SEEN), 0.97


def _limit(case: Case) -> str:
    limits = case.container.limits
    return f", limit {in_bytes(limits.memory_bytes)}" if limits and limits.memory_bytes else ""


def _came_back(case: Case) -> Symptom | None:
    """Report a kill after which it was restarted: critical while fresh or looping, then a warning, then history."""
    crash = last_crash(case.container)
    if crash is None or case.ending.kind is not EndKind.NONE or ended_while_read(case.container):
        return None
    probable = probably_oom(case.container, crash)
    if not (crash.oom or probable):
        return None
    age = (case.now - crash.at).total_seconds()
    if age > case.thresholds.restart_window_seconds:
        return None
    fresh = case.looping or age <= case.thresholds.hold_seconds
    recent = age <= case.thresholds.log_window_seconds
    severity = Severity.CRITICAL if fresh else Severity.WARNING if recent else Severity.INFO
    by = "Something, probably the kernel's OOM killer," if probable else "The kernel"
    description = f"{by} killed it {show_duration(age)} ago: out of memory{_limit(case)}. It was started again."
    sign = "no kill request and no oom event" if probable else "oom event"
    symptom = case.symptom(OOM, severity, description, f"{sign}, exit {crash.exit_code} at {crash.at:%H:%M:%S} UTC")
    return symptom.model_copy(update={"confidence": _confidence(case) if probable else 0.97})


def _child(case: Case) -> Symptom | None:
    """Report the kill of a child process that the main process survived."""
    if case.ending.kind is not EndKind.NONE or case.container.lifecycle is None:
        return None
    since = case.now - timedelta(seconds=case.thresholds.log_window_seconds)
    ends = [end.at for end in case.container.lifecycle.exits]
    survived = [at for at in case.container.lifecycle.oom_kills if at >= since and not _near_any(at, ends)]
    kills = [at for at in survived if (case.now - at).total_seconds() >= ENDED_WITHIN_SECONDS]
    if not kills and (survived or not case.container.oom_killed or _is_of_an_earlier_run(case)):
        return None
    times = show_count(len(kills), "oom event") if kills else "State.OOMKilled is set while it runs"
    description = f"The kernel killed a child process{_limit(case)}; the container itself runs on."
    symptom = case.symptom(OOM, Severity.ERROR, description, times)
    return symptom.model_copy(update={"confidence": 0.97 if kills else 0.9})


def _is_of_an_earlier_run(case: Case) -> bool:
    """Whether the flag is left over from an earlier run: engine 20.10 keeps it over `docker start`."""
    container = case.container
    started, ended = container.started_at, container.finished_at
    return started is not None and ended is not None and ended <= started


def _near_any(at: datetime, ends: list[datetime]) -> bool:
    return any(abs((at - end).total_seconds()) <= SAME_KILL_SECONDS for end in ends)


def _log(case: Case) -> Symptom | None:
    events = events_showing(case, OOM)
    return log_symptom(case, OOM, Severity.ERROR, "out-of-memory message", events) if events else None


def _probable(case: Case) -> Symptom | None:
    """Report exit 137 with a memory limit and no requested kill: flag and event are both lost at times."""
    ending, limits = case.ending, case.container.limits
    if ending.kind is not EndKind.FAILED or ending.exit is None or not probably_oom(case.container, ending.exit):
        return None
    last = case.container.last_usage
    description = (
        f"Probably out of memory: exit 137 with a limit of {in_bytes(limits.memory_bytes if limits else None)} "
        "and no kill request."
    )
    evidence = ["no kill event stood before the exit"]
    if last is not None and last.memory_usage_bytes is not None:
        evidence.append(f"last known working set {in_bytes(last.memory_usage_bytes)}")
    severity = Severity.INFO if ending.aged else Severity.CRITICAL
    symptom = case.symptom(OOM, severity, description, *evidence, *evidence_of(events_showing(case, OOM)))
    return symptom.model_copy(update={"confidence": _confidence(case)})


def _confidence(case: Case) -> float:
    """Return the confidence of an OOM kill that only its exit code shows."""
    last = case.container.last_usage or case.container.usage
    near = last is not None and last.memory_ratio is not None and last.memory_ratio >= NEAR_LIMIT_RATIO
    complete = case.container.lifecycle is not None and case.container.lifecycle.complete
    return (0.85 if near else 0.7) if complete else 0.5


def _advise(case: Case) -> Advice:
    """Advise after a kill by the kernel; signatures in the log bring advice of their own."""
    if not was_killed_by_kernel(case):
        return Advice()
    limited = case.container.limits is not None and bool(case.container.limits.memory_bytes)
    if not limited:
        return Advice(causes=(known_cause("host_memory_exhausted"),))
    lived = _lifetimes(case)
    slowly = bool(lived) and min(lived) >= LEAK_SECONDS
    likely, possible = "memory_limit_too_low", "memory_leak"
    if slowly and len(lived) > 1:
        likely, possible = "memory_leak.steady", "memory_limit_too_low.possible"
    growth = case.container.memory_growth
    causes = (known_cause(likely), known_cause(possible))
    if growth is not None:
        causes = (cause_of_growth(growth), known_cause("memory_limit_too_low.possible"))
    watch = (known_step("watch_memory"),) if slowly or growth is not None else ()
    return Advice(causes=causes, suggestions=watch)


def was_killed_by_kernel(case: Case) -> bool:
    """Whether the kernel's OOM killer is seen or inferred, and not just mentioned in the log."""
    return any(symptom is not None for symptom in (_ended(case), _came_back(case), _child(case), _probable(case)))


def _lifetimes(case: Case) -> list[float]:
    """Return how long the runs lasted that ended in an OOM kill."""
    lifecycle = case.container.lifecycle
    return [end.lifetime_seconds for end in (lifecycle.exits if lifecycle else ()) if end.oom and end.lifetime_seconds]


RULE = SymptomRule(
    type=OOM,
    hysteresis=Hysteresis.EVENT,
    decides=True,
    from_log=True,
    is_failure=True,
    states=STARTED_ONCE,
    judge=_judge,
    advise=_advise,
    description="The state flag, an oom event of the engine or of the kernel's log or counters (memory.events), an "
    "out-of-memory message in the log, or exit 137 with a memory limit "
    "and no kill request (then with a confidence below 1).",
    conditions=(
        ("the kernel's OOM kill ended it", Severity.CRITICAL),
        ("the kernel killed a child of it, or a managed heap is full", Severity.ERROR),
    ),
    ages="warning, then info, once the container runs again",
    unknown_when="for a stopped container without its state flag, for one below a limit that ended with 137 while no "
    "event tells why, for a running one without history",
    source="docs/symptoms.md#oom_killed; State.OOMKilled is set in some of identical kills only (engine 20.10)",
)
