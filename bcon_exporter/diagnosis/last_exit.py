"""Classifies how a container's last run ended: done, requested, with the engine, failed, or unknown.

Where no event tells (no daemon's memory, and the engine's ring of 256 events does not reach back), its code decides:
0 is fine; 130, 143 and the code of its own stop signal were most likely asked for; of 137 nobody knows; 255 at the
engine's start is what an engine notes that finds a container dead; anything else is a failure.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bcon_exporter.diagnosis.host_outages import InferredShutdown
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.exit_codes import CRASHED_HOST_CODE, SIGNAL_BASE, parse_signal
from bcon_exporter.model.lifecycle import ExitFacts
from bcon_exporter.model.thresholds import Thresholds

MATCH_SECONDS = 5
"""The engine's `die` event and `State.FinishedAt` differ by less than this."""
SAME_RUN_SECONDS = 2
"""`State.StartedAt` and the event of the start differ by less than this."""
WELL_SECONDS = 10
"""A shorter run does not count as running well."""
ENGINE_START_SECONDS = 5
"""An end with code 255 this close to the engine's start is the engine's or host's crash."""
COME_UP_SECONDS, COME_UP_RUNS = 90, 3
"""It has stabilised after running longer than the engine's longest wait (a minute) and than three of its last runs."""
KILL_CODE = 137
STOP_CODES = frozenset({130, 143})
"""Exit codes of INT and TERM, one of which every stop sends."""
KEEPS_RUNNING = frozenset({"always", "unless-stopped"})
_STOPPED = frozenset({ContainerState.EXITED, ContainerState.DEAD, ContainerState.RESTARTING, ContainerState.CREATED})


class EndKind(StrEnum):
    """What the last end was.

    SHUTDOWN: with the engine or host, which start it again by its policy, or probably so. LEFT_DOWN: with the engine or
    host, and nothing has started it since.
    """

    NONE = "none"
    DONE = "done"
    REQUESTED = "requested"
    SHUTDOWN = "shutdown"
    LEFT_DOWN = "left_down"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Ending:
    """How the last run of a stopped container ended.

    Attributes:
        kind: NONE for a container that runs or never ran.
        exit: The end as the history has it; None where it does not know it.
        aged: History: older than `exit_age_seconds`, and nothing wants it undone or nobody was watching then.
        certain: False when it was inferred without history.
    """

    kind: EndKind
    at: datetime | None = None
    exit_code: int | None = None
    exit: ExitFacts | None = None
    aged: bool = False
    certain: bool = True


NOT_ENDED = Ending(EndKind.NONE)


def classify_ending(
    container: ContainerFacts,
    now: datetime,
    thresholds: Thresholds,
    shutdowns: tuple[InferredShutdown, ...] = (),
    engine_started_at: datetime | None = None,
) -> Ending:
    """Classify the end of a container that does not run ("Requested" in docs/symptoms.md).

    Args:
        container: A running one gives `NOT_ENDED`.
        now: When the facts were read.
        thresholds: Has the age from which an end is history.
        shutdowns: Moments at which everything ended together, for ends that history does not know.
        engine_started_at: When the engine came up last; None when unknown.
    """
    if container.state not in _STOPPED:
        return NOT_ENDED
    code = container.exit_code
    if code is None:
        return NOT_ENDED if container.state is ContainerState.CREATED else Ending(EndKind.UNKNOWN)
    exit_facts = _matching_exit(container)
    at = container.finished_at or (exit_facts.at if exit_facts else None)
    if container.state is ContainerState.CREATED:
        at = at or container.created_at
    kind, certain = _classify(container, code, exit_facts)
    if at is not None and not certain and container.restart_policy not in KEEPS_RUNNING:
        crashed = code == CRASHED_HOST_CODE
        if crashed and _was_found_dead(container, at, engine_started_at):
            kind = _down_with_engine(container, code)
        elif shutdown := next((shutdown for shutdown in shutdowns if shutdown.includes(at)), None):
            is_of_engine = crashed or shutdown.is_of_engine
            kind = _down_with_engine(container, code) if is_of_engine else EndKind.SHUTDOWN
    return Ending(kind, at, code, exit_facts, _is_aged(container, exit_facts, at, now, thresholds), certain)


def _classify(container: ContainerFacts, code: int, exit_facts: ExitFacts | None) -> tuple[EndKind, bool]:
    if container.state is ContainerState.CREATED:
        return (EndKind.FAILED if code else EndKind.NONE), True
    if container.state is ContainerState.RESTARTING:
        return (EndKind.FAILED if code else EndKind.DONE), True
    if exit_facts is not None and exit_facts.killed and container.state is ContainerState.DEAD:
        return EndKind.REQUESTED, True  # `docker rm -f` that killed it and could not remove it
    if exit_facts is not None and exit_facts.requested:
        return EndKind.REQUESTED, True
    if exit_facts is not None and exit_facts.shutdown:
        return _down_with_engine(container, code), True
    if code == 0:
        return EndKind.DONE, True
    if exit_facts is not None or (container.error and not _is_left_by_stop(container, code)):
        return EndKind.FAILED, True
    return _without_history(container, code)


def _is_left_by_stop(container: ContainerFacts, code: int) -> bool:
    """Whether a stop leaves this code behind: a start that the engine refuses later does not change it."""
    own = parse_signal(container.stop_signal)
    return code in STOP_CODES | {KILL_CODE} or (own is not None and code == SIGNAL_BASE + own)


def _down_with_engine(container: ContainerFacts, code: int) -> EndKind:
    """Classify an end with the engine: SHUTDOWN where the engine will start it again by its policy."""
    policy = container.restart_policy or ""
    starts_again = policy in KEEPS_RUNNING or (code != 0 and policy.startswith("on-failure"))
    return EndKind.SHUTDOWN if starts_again else EndKind.LEFT_DOWN


def _was_found_dead(container: ContainerFacts, at: datetime, engine_started_at: datetime | None) -> bool:
    """Whether it ended at the engine's start, and had been started before."""
    if engine_started_at is None or (container.started_at is not None and container.started_at > engine_started_at):
        return False
    return abs(at - engine_started_at) <= timedelta(seconds=ENGINE_START_SECONDS)


def _without_history(container: ContainerFacts, code: int) -> tuple[EndKind, bool]:
    requested = container.lifecycle.stop_requested if container.lifecycle is not None else None
    if requested is not None:
        return (EndKind.REQUESTED if requested else EndKind.FAILED), True
    if container.oom_killed:
        return EndKind.FAILED, True
    if code == KILL_CODE:
        return EndKind.UNKNOWN, False
    requested = _is_left_by_stop(container, code) or container.restart_policy in KEEPS_RUNNING
    return (EndKind.REQUESTED if requested else EndKind.FAILED), False


def _matching_exit(container: ContainerFacts) -> ExitFacts | None:
    if container.lifecycle is None or not container.lifecycle.exits:
        return None
    last = container.lifecycle.exits[-1]
    if container.finished_at is None or abs(last.at - container.finished_at) <= timedelta(seconds=MATCH_SECONDS):
        return last
    return None


def _is_aged(
    container: ContainerFacts, exit_facts: ExitFacts | None, at: datetime | None, now: datetime, thresholds: Thresholds
) -> bool:
    if at is None or (exit_facts is not None and is_wanted(container)):
        return False
    return now - at > timedelta(seconds=thresholds.exit_age_seconds)


def has_used_up_restarts(container: ContainerFacts, ending: Ending) -> bool:
    """Whether it failed until all restarts of its policy ("on-failure:3") were used up."""
    granted = (container.restart_policy or "").rpartition("on-failure:")[2]
    if container.state is not ContainerState.EXITED or not granted.isdecimal():
        return False
    failed = ending.kind in (EndKind.FAILED, EndKind.UNKNOWN)
    return failed and bool(ending.exit_code) and (container.restart_count or 0) >= int(granted)


def was_fresh_at_first_sight(container: ContainerFacts, ending: Ending, now: datetime, thresholds: Thresholds) -> bool:
    """Whether its end was observed, or was recent when the container was first seen."""
    if ending.exit is not None or ending.at is None:
        return True
    since = container.lifecycle.observed_since if container.lifecycle is not None else now
    return since - ending.at <= timedelta(seconds=thresholds.exit_age_seconds)


def is_wanted(container: ContainerFacts) -> bool:
    """Whether its restart policy says that it should run."""
    return container.restart_policy not in (None, "", "no")


def probably_oom(container: ContainerFacts, end: ExitFacts) -> bool:
    """Whether an end looks like the OOM killer's although flag and event are missing: both get lost at times."""
    limited = container.limits is not None and bool(container.limits.memory_bytes)
    return limited and end.exit_code == KILL_CODE and not (end.requested or end.shutdown or end.killed or end.oom)


def ended_by_oom(container: ContainerFacts, end: ExitFacts | None) -> bool:
    """Whether the OOM killer ended it, by flag, by event or by inference."""
    if end is None:
        return not container.is_running and container.oom_killed is True
    flagged = not container.is_running and container.oom_killed is True
    return end.oom or flagged or probably_oom(container, end)


def last_crash(container: ContainerFacts) -> ExitFacts | None:
    """Return the newest end in the history if it failed and was not requested.

    The end of a predecessor that this container replaced does not count: somebody has dealt with it.
    """
    if container.lifecycle is None or not container.lifecycle.exits:
        return None
    last = container.lifecycle.exits[-1]
    if last.at < _created_by(container) and _is_fresh_replacement(container):
        return None
    return None if last.requested or last.shutdown or not (last.exit_code or last.oom) else last


def ended_while_read(container: ContainerFacts) -> bool:
    """Whether the engine listed it as running and told of its end right after: nobody knows yet that it runs again.

    The end of a predecessor is another one: Compose starts the new container before it stops the old one.
    """
    lifecycle, started_at = container.lifecycle, container.started_at
    if not container.is_running or started_at is None or lifecycle is None or not lifecycle.exits:
        return False
    end = lifecycle.exits[-1]
    if end.at <= started_at or end.lifetime_seconds is None or any(at >= end.at for at in lifecycle.restarts):
        return False
    return abs((end.at - started_at).total_seconds() - end.lifetime_seconds) <= SAME_RUN_SECONDS


def _is_fresh_replacement(container: ContainerFacts) -> bool:
    """Whether it has not been restarted since it was created, and a supervisor's restart did not create it.

    The engine may have restarted the predecessor after this one was created: Compose creates the new one first.
    """
    lifecycle = container.lifecycle
    return lifecycle is not None and all(
        at < _created_by(container) for at in lifecycle.restarts[lifecycle.predecessors_restarts :]
    )


def was_recreated(container: ContainerFacts) -> bool:
    """Whether a container of the same identity ran before this one was created.

    Compose creates the new one before it stops the old one, so the start of that run is compared, not its end.
    """
    ends = container.lifecycle.exits if container.lifecycle is not None else ()
    return any(end.at - timedelta(seconds=end.lifetime_seconds or 0) < container.created_at for end in ends)


def _created_by(container: ContainerFacts) -> datetime:
    """Return the latest time at which it was created: without inspect the time is known to the second only."""
    return container.created_at + timedelta(seconds=1 if container.created_at.microsecond == 0 else 0)


def recent_restarts(container: ContainerFacts, now: datetime, thresholds: Thresholds) -> tuple[datetime, ...]:
    """Return the restarts within the window that nobody requested, oldest first.

    Restarts of a predecessor count only once this container was restarted as well.
    """
    if container.lifecycle is None or _is_fresh_replacement(container):
        return ()
    since = now - timedelta(seconds=thresholds.restart_window_seconds)
    return tuple(at for at in container.lifecycle.restarts if since <= at <= now + timedelta(seconds=MATCH_SECONDS))


def is_looping(container: ContainerFacts, now: datetime, thresholds: Thresholds) -> bool:
    """Whether it restarted often enough, the last time recently enough."""
    if container.state is ContainerState.RESTARTING and (container.restart_count or 0) >= thresholds.restart_count:
        return True
    restarts = recent_restarts(container, now, thresholds)
    if len(restarts) < thresholds.restart_count:
        return False
    return now - restarts[-1] <= timedelta(seconds=thresholds.restart_quiet_seconds)


def has_stabilised(container: ContainerFacts, now: datetime) -> bool:
    """Whether a container that looped has run longer than the engine's longest wait, and than its runs before."""
    if not runs_well(container, now) or container.started_at is None or container.lifecycle is None:
        return False
    lived = [end.lifetime_seconds for end in container.lifecycle.exits if end.lifetime_seconds is not None]
    return (now - container.started_at).total_seconds() >= max(
        COME_UP_SECONDS, COME_UP_RUNS * max(lived[-5:], default=0)
    )


def outlived_last_crash(container: ContainerFacts, now: datetime) -> bool:
    """Whether it has run so much longer than before its last crash that the crash is history."""
    crash = last_crash(container)
    return crash is not None and crash.lifetime_seconds is not None and has_stabilised(container, now)


def is_well(container: ContainerFacts, now: datetime, thresholds: Thresholds) -> bool:
    """Whether it runs well and does not loop."""
    return not is_looping(container, now, thresholds) and runs_well(container, now)


def runs_well(container: ContainerFacts, now: datetime) -> bool:
    """Whether it runs, is not unhealthy, and has been up for `WELL_SECONDS`."""
    if container.state is not ContainerState.RUNNING or container.started_at is None:
        return False
    if container.health is not None and container.health.status is HealthStatus.UNHEALTHY:
        return False
    return now - container.started_at >= timedelta(seconds=WELL_SECONDS)
