"""oom_killed: the kernel's OOM kill by flag, by event or by inference, or an OOM message in the log."""

from datetime import datetime, timedelta

from bcon_exporter.diagnosis.endings import EndKind, last_crash
from bcon_exporter.diagnosis.log_symptom import evidence_of, log_symptom, showing
from bcon_exporter.diagnosis.numbers import in_bytes, in_seconds
from bcon_exporter.diagnosis.rule import STARTED_ONCE, Advice, Case, SymptomRule, Verdict, unknown
from bcon_exporter.model.findings import Severity, Symptom, SymptomType, Urgency
from bcon_exporter.model.signatures import CauseText, SuggestionText

OOM = SymptomType.OOM_KILLED
SAME_KILL_SECONDS = 5
KILL_CODE = 137
NEAR_LIMIT_RATIO = 0.8


def _judge(case: Case) -> Verdict:
    if _is_quiet(case):
        return None
    found = [symptom for symptom in (_ended(case), _came_back(case), _child(case), _log(case)) if symptom is not None]
    if found:
        return max(found, key=lambda symptom: symptom.severity.rank)
    probable = _probable(case)
    if probable is not None:
        return probable
    missing = _missing(case)
    return unknown(case, OOM, missing) if missing else None


def _is_quiet(case: Case) -> bool:
    """A cheap look at what most containers are: running, with a known past, a clean log, and no kill in it."""
    container, past = case.container, case.container.lifecycle
    if not case.is_running or container.oom_killed or past is None or case.events:
        return False
    return not past.oom_kills and not past.exits


def _missing(case: Case) -> tuple[str, ...]:
    container = case.container
    if container.is_running:
        return () if container.lifecycle is not None else ("lifecycle",)
    return () if container.oom_killed is not None else ("oom_killed",)


def _ended(case: Case) -> Symptom | None:
    """The container stands at an end that the OOM killer made."""
    ending, container = case.ending, case.container
    if ending.kind is EndKind.NONE:
        return None
    flagged, seen = container.oom_killed is True, ending.exit is not None and ending.exit.oom
    if not (flagged or seen):
        return None
    evidence = _sources(flagged=flagged, seen=seen)
    if ending.kind is EndKind.DONE or ending.exit_code == 0:
        return case.symptom(
            OOM, Severity.ERROR, "The kernel killed one of its child processes; it ended itself.", *evidence
        )
    severity = Severity.INFO if ending.aged or ending.kind is EndKind.REQUESTED else Severity.CRITICAL
    when = f" {in_seconds((case.now - ending.at).total_seconds())} ago" if ending.at else ""
    return case.symptom(OOM, severity, f"The kernel killed it{when}: out of memory{_limit(case)}.", *evidence)


def _sources(*, flagged: bool, seen: bool) -> tuple[str, ...]:
    flag = "State.OOMKilled is set" if flagged else "State.OOMKilled is not set (it is unreliable)"
    return (flag, "the engine sent an oom event") if seen else (flag,)


def _limit(case: Case) -> str:
    limits = case.container.limits
    return f", limit {in_bytes(limits.memory_bytes)}" if limits and limits.memory_bytes else ""


def _came_back(case: Case) -> Symptom | None:
    """It was killed and restarted: critical while fresh or looping, then a warning, then history."""
    crash = last_crash(case.container)
    if crash is None or not crash.oom or case.ending.kind is not EndKind.NONE:
        return None
    age = (case.now - crash.at).total_seconds()
    if age > case.thresholds.restart_window_seconds:
        return None
    fresh = case.looping or age <= case.thresholds.hold_seconds
    recent = age <= case.thresholds.log_window_seconds
    severity = Severity.CRITICAL if fresh else Severity.WARNING if recent else Severity.INFO
    description = f"The kernel killed it {in_seconds(age)} ago: out of memory{_limit(case)}. It was started again."
    return case.symptom(OOM, severity, description, f"oom event, exit {crash.exit_code} at {crash.at:%H:%M:%S} UTC")


def _child(case: Case) -> Symptom | None:
    """A child process was killed while the main process lived on."""
    if case.ending.kind is not EndKind.NONE or case.container.lifecycle is None:
        return None
    since = case.now - timedelta(seconds=case.thresholds.log_window_seconds)
    ends = [end.at for end in case.container.lifecycle.exits]
    kills = [at for at in case.container.lifecycle.oom_kills if at >= since and not _near_any(at, ends)]
    if not kills and not case.container.oom_killed:
        return None
    times = (
        f"{len(kills)} oom event{'' if len(kills) == 1 else 's'}" if kills else "State.OOMKilled is set while it runs"
    )
    description = f"The kernel killed a child process{_limit(case)}; the container itself runs on."
    return case.symptom(OOM, Severity.ERROR, description, times)


def _near_any(at: datetime, ends: list[datetime]) -> bool:
    return any(abs((at - end).total_seconds()) <= SAME_KILL_SECONDS for end in ends)


def _log(case: Case) -> Symptom | None:
    events = showing(case, OOM)
    return log_symptom(case, OOM, Severity.ERROR, "out-of-memory message", events) if events else None


def _probable(case: Case) -> Symptom | None:
    """Exit 137 with a memory limit and no kill before it: flag and event are both known to be lost at times."""
    ending, limits = case.ending, case.container.limits
    if ending.kind is not EndKind.FAILED or ending.exit_code != KILL_CODE or ending.exit is None:
        return None
    if ending.exit.killed or limits is None or not limits.memory_bytes:
        return None
    last = case.container.last_usage
    near = last is not None and last.memory_ratio is not None and last.memory_ratio >= NEAR_LIMIT_RATIO
    complete = case.container.lifecycle is not None and case.container.lifecycle.complete
    confidence = (0.85 if near else 0.7) if complete else 0.5
    description = (
        f"Probably out of memory: exit 137 with a limit of {in_bytes(limits.memory_bytes)} and no kill request."
    )
    evidence = ["no kill event stood before the exit"]
    if last is not None and last.memory_usage_bytes is not None:
        evidence.append(f"last known working set {in_bytes(last.memory_usage_bytes)}")
    severity = Severity.INFO if ending.aged else Severity.CRITICAL
    symptom = case.symptom(OOM, severity, description, *evidence, *evidence_of(showing(case, OOM)))
    return symptom.model_copy(update={"confidence": confidence})


def _advise(_case: Case) -> Advice:
    return Advice(
        causes=(
            CauseText(id="memory_limit_too_low", text="The memory limit is below what the work needs.", confidence=0.7),
            CauseText(id="memory_leak", text="The process keeps more and more memory.", confidence=0.4),
        ),
        suggestions=(
            SuggestionText(
                urgency=Urgency.IMMEDIATE,
                action="Raise the memory limit above the peak, or give it less work at once.",
                rationale="Limit {memory_limit}, working set {memory_usage}, OOM kills in the last day: {oom_kills}.",
                check="docker inspect -f '{{.HostConfig.Memory}} {{.State.OOMKilled}}' {name}",
            ),
        ),
    )


RULE = SymptomRule(
    type=OOM,
    states=STARTED_ONCE,
    judge=_judge,
    advise=_advise,
    description="The state flag, an oom event, an out-of-memory message in the log, or exit 137 with a memory limit "
    "and no kill request (then with a confidence below 1).",
    source="docs/symptoms.md#oom_killed; State.OOMKilled is set in some of identical kills only (engine 20.10)",
)
