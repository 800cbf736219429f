"""restart_loop: several restarts within the window that nobody asked for."""

from datetime import timedelta

from bcon_exporter.catalogue.causes import known_cause, known_step
from bcon_exporter.diagnosis.exit_codes import explain_exit
from bcon_exporter.diagnosis.last_exit import EndKind, last_crash, recent_restarts
from bcon_exporter.diagnosis.rule import (
    STARTED_ONCE,
    Advice,
    Case,
    Hysteresis,
    SymptomRule,
    Verdict,
    missing_facts,
    unknown,
)
from bcon_exporter.diagnosis.usage_in_words import lasted
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.findings import Severity, Symptom, SymptomType
from bcon_exporter.model.quantities import show_duration

LOOP = SymptomType.RESTART_LOOP
SHOWN = 5
STEADY_SECONDS = 90
"""A container that has run longer than the engine's longest wait, and some more, has come up for now."""


def _judge(case: Case) -> Verdict:
    restarts = recent_restarts(case.container, case.now, case.thresholds)
    if len(restarts) >= case.thresholds.restart_count:
        if missing_facts(case.container, ("restart_policy",)) and case.container.state is not ContainerState.RESTARTING:
            # Starts by hand of a container without a policy look the same until the policy is known.
            return unknown(case, LOOP, ("restart_policy",))
        return _counted(case, max(len(restarts), _counted_by_engine(case)))
    if (case.container.restart_count or 0) >= case.thresholds.restart_count and case.down_for_good:
        return _used_up(case, case.down_for_good)
    if _covers_window(case):
        return None
    return _hint(case)


def _covers_window(case: Case) -> bool:
    """Whether the history covers the whole window, or the container's whole life."""
    lifecycle = case.container.lifecycle
    if lifecycle is None:
        return False
    since = case.now - timedelta(seconds=case.thresholds.restart_window_seconds)
    return lifecycle.complete and lifecycle.observed_since <= max(since, case.container.created_at)


def _counted_by_engine(case: Case) -> int:
    """Return the engine's own count of restarts; 0 where it may include restarts before the window."""
    return (case.container.restart_count or 0) if _is_young(case) else 0


def _is_young(case: Case) -> bool:
    return case.now - case.container.created_at <= timedelta(seconds=case.thresholds.restart_window_seconds)


def _counted(case: Case, count: int) -> Symptom:
    codes = _exit_codes(case)
    last = recent_restarts(case.container, case.now, case.thresholds)[-1]
    quiet = case.loop_is_over or case.now - last > timedelta(seconds=case.thresholds.restart_quiet_seconds)
    over = quiet or case.ending.kind in (EndKind.REQUESTED, EndKind.SHUTDOWN, EndKind.LEFT_DOWN)
    severity = Severity.INFO if over else Severity.CRITICAL if any(codes) else Severity.ERROR
    severity = case.down_for_good or severity
    hour = show_duration(case.thresholds.restart_window_seconds)
    ago = show_duration((case.now - last).total_seconds())
    times = f"{count} times" if _covers_window(case) else f"at least {count} times"
    description = f"It restarted {times} within {hour} without being asked to, the last time {ago} ago."
    shown = ", ".join(explain_exit(code) for code in codes[-SHOWN:])
    evidence = (f"exit codes, newest last: {shown}",) if codes else ()
    return case.symptom(LOOP, severity, description, *evidence, *_rhythm(case))


def _rhythm(case: Case) -> tuple[str, ...]:
    """Tell how long it lived each time, and how long the engine waits before the next start."""
    lifecycle = case.container.lifecycle
    ends = [end for end in (lifecycle.exits if lifecycle is not None else ()) if not (end.requested or end.shutdown)]
    lived = [end.lifetime_seconds for end in ends[-SHOWN:] if end.lifetime_seconds is not None]
    evidence = [f"it lived {lasted(min(lived), max(lived))} each time"] if lived else []
    starts = lifecycle.restarts if lifecycle is not None else ()
    waits = [(at - end.at).total_seconds() for at in starts[-1:] for end in ends if end.at <= at]
    if waits and not case.down_for_good:
        evidence.append(f"the engine waited {waits[-1]:.1f} s before the last start; it doubles that up to a minute")
    if case.down_for_good:
        evidence.append(f"the engine has given up: restart policy {case.container.restart_policy}")
    return tuple(evidence)


def _exit_codes(case: Case) -> list[int]:
    lifecycle = case.container.lifecycle
    since = case.now - timedelta(seconds=case.thresholds.restart_window_seconds)
    ends = lifecycle.exits if lifecycle is not None else ()
    codes = [end.exit_code for end in ends if end.at >= since and not end.requested and end.exit_code is not None]
    if not codes and not case.is_running and case.container.exit_code is not None:
        codes = [case.container.exit_code]
    return codes


def _hint(case: Case) -> Verdict:
    """Report a loop by the engine's own count, which has no times, where the history is too short."""
    container, count = case.container, case.container.restart_count
    if container.restart_policy in ("no", "") and not count:
        return None
    if container.state is ContainerState.EXITED and not count:
        return None
    if count is None:
        return unknown(case, LOOP, ("restart_count",))
    if _is_quiet(case) or case.ending.kind in (EndKind.REQUESTED, EndKind.SHUTDOWN, EndKind.LEFT_DOWN):
        return None
    if count < case.thresholds.restart_count:
        # None since its last start by hand, or none to come: that is no loop. One or two just now may be its beginning.
        if not count or container.state is ContainerState.EXITED:
            return None
        return unknown(case, LOOP, ("lifecycle",), "history does not reach back over the window yet")
    return _from_count(case, count)


def _used_up(case: Case, severity: Severity) -> Symptom:
    """Report a loop after which the engine gave up, longer ago than the window."""
    container = case.container
    ago = "" if case.ending.at is None else f", {show_duration((case.now - case.ending.at).total_seconds())} ago"
    description = f"It failed at each start until its {container.restart_count} restarts were used up{ago}."
    return case.symptom(LOOP, severity, description, f"restart policy {container.restart_policy}", *_rhythm(case))


def _is_quiet(case: Case) -> bool:
    """Whether the last start and end lie so far back that a loop would be over."""
    container = case.container
    if container.state is ContainerState.RESTARTING:
        return False
    last = max((at for at in (container.started_at, container.finished_at) if at is not None), default=None)
    return last is None or case.now - last > timedelta(seconds=case.thresholds.restart_quiet_seconds)


def _from_count(case: Case, count: int) -> Symptom:
    crash = last_crash(case.container)
    code = crash.exit_code if crash is not None else None if case.is_running else case.container.exit_code
    severity = Severity.ERROR if code == 0 else Severity.CRITICAL
    started = case.container.started_at
    if case.well and started is not None and case.now - started >= timedelta(seconds=STEADY_SECONDS):
        severity = Severity.WARNING  # as services do after a reboot, until what they need is there
    last = "a short while" if started is None else show_duration((case.now - started).total_seconds())
    description = f"The engine restarted it {count} times since its last start by hand, the last time {last} ago."
    evidence = (f"RestartCount {count}", "" if code is None else f"last exit code {explain_exit(code)}")
    symptom = case.symptom(LOOP, severity, description, *(text for text in evidence if text))
    confidence = 0.95 if _is_young(case) else 0.8 if case.container.state is ContainerState.RESTARTING else 0.6
    return symptom.model_copy(update={"confidence": confidence})


def _advise(case: Case) -> Advice:
    codes = _exit_codes(case)
    cause = known_cause("main_process_ends" if codes and not any(codes) else "crash_loop")
    return Advice(causes=(cause,), suggestions=() if case.has_advice_from_log else (known_step("read_log_of_loop"),))


RULE = SymptomRule(
    type=LOOP,
    hysteresis=Hysteresis.EVENT,
    decides=True,
    from_log=False,
    is_failure=True,
    states=STARTED_ONCE,
    judge=_judge,
    advise=_advise,
    description="thresholds.restart_count restarts or more within thresholds.restart_window_seconds that nobody asked "
    "for; history once none happened for thresholds.restart_quiet_seconds.",
    conditions=(
        (
            "{restart_count} restarts that nobody asked for within {restart_window_seconds}, with failing exits",
            Severity.CRITICAL,
        ),
        ("the same with exits of 0", Severity.ERROR),
    ),
    ages="warning where only the engine's own count tells of it and it has run well for a while; info without a "
    "restart for {restart_quiet_seconds}, once somebody stopped it, or once what it lacked is back and it has run for "
    "90 seconds; never where its restarts are used up",
    unknown_when="when history does not reach back over the window and the engine itself has restarted it once or "
    "twice within thresholds.restart_quiet_seconds",
    source="docs/symptoms.md#restart_loop; RestartCount begins anew with each manual start (engine 20.10)",
)
