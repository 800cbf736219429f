"""How a container's last run ended: done, as asked, with the engine, badly, or nobody knows.

Where no event tells (no daemon's memory, and the engine's ring of 256 events does not reach back), its code decides:
0 is fine; 130, 143 and the code of its own stop signal were most likely asked for; of 137 nobody knows; 255 at the
engine's start is what an engine notes that finds a container dead; anything else is a failure.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bcon_exporter.diagnosis.shutdowns import Moment
from bcon_exporter.model.facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.lifecycle import ExitFacts
from bcon_exporter.model.lifecycle_rules import CRASHED_HOST_CODE, SIGNAL_BASE, parse_signal
from bcon_exporter.model.thresholds import Thresholds

MATCH_SECONDS = 5
"""The engine's `die` event and `State.FinishedAt` differ by less than this."""
WELL_SECONDS = 10
"""A run shorter than this says nothing yet."""
ENGINE_START_SECONDS = 5
"""An end with code 255 this close to the engine's start is the engine's or host's crash."""
COME_UP_SECONDS, COME_UP_RUNS = 90, 3
"""One that has run for longer than the engine's longest wait of a minute, and than three of its last runs, is up."""
KILL_CODE = 137
STOP_CODES = frozenset({130, 143})
"""What INT and TERM leave behind: whoever stops a container sends one of them."""
KEEPS_RUNNING = frozenset({"always", "unless-stopped"})
_STOPPED = frozenset({ContainerState.EXITED, ContainerState.DEAD, ContainerState.RESTARTING, ContainerState.CREATED})


class EndKind(StrEnum):
    """What the last end was. FELL: with the engine's or host's crash, and nothing has started it since."""

    NONE = "none"
    DONE = "done"
    REQUESTED = "requested"
    SHUTDOWN = "shutdown"
    FELL = "fell"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Ending:
    """The end that a container which does not run stands at.

    Attributes:
        kind: NONE for a container that runs or never ran.
        exit: What history knows of it.
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


def ending_of(
    container: ContainerFacts,
    now: datetime,
    thresholds: Thresholds,
    shutdowns: tuple[Moment, ...] = (),
    engine_started_at: datetime | None = None,
) -> Ending:
    """Classify the end of a container that does not run ("Requested" in docs/symptoms.md).

    Args:
        container: Any; one that runs has no end.
        now: When the facts were read.
        thresholds: For the age at which an end is history.
        shutdowns: Moments at which everything ended together, for ends that history does not know.
        engine_started_at: When the engine came up last; None when unknown.
    """
    if container.state not in _STOPPED:
        return NOT_ENDED
    code = container.exit_code
    if code is None:
        return NOT_ENDED if container.state is ContainerState.CREATED else Ending(EndKind.UNKNOWN)
    known = _known_exit(container)
    at = container.finished_at or (known.at if known else None)
    if container.state is ContainerState.CREATED:
        at = at or container.created_at
    kind, certain = _kind(container, code, known)
    if at is not None and not certain and container.restart_policy not in KEEPS_RUNNING:
        crashed = code == CRASHED_HOST_CODE
        if crashed and _was_found_dead(container, at, engine_started_at):
            kind = _down_with_engine(container, code)
        elif any(moment.holds(at) for moment in shutdowns):
            kind = _down_with_engine(container, code) if crashed else EndKind.SHUTDOWN
    return Ending(kind, at, code, known, _is_aged(container, known, at, now, thresholds), certain)


def _kind(container: ContainerFacts, code: int, known: ExitFacts | None) -> tuple[EndKind, bool]:
    if container.state is ContainerState.CREATED:
        return (EndKind.FAILED if code else EndKind.NONE), True
    if container.state is ContainerState.RESTARTING:
        return (EndKind.FAILED if code else EndKind.DONE), True
    if known is not None and known.killed and container.state is ContainerState.DEAD:
        return EndKind.REQUESTED, True  # `docker rm -f`, of which nothing but the kill was done
    if known is not None and known.requested:
        return EndKind.REQUESTED, True
    if known is not None and known.shutdown:
        return (_down_with_engine(container, code) if known.after_crash else EndKind.SHUTDOWN), True
    if code == 0:
        return EndKind.DONE, True
    if known is not None or container.error:
        return EndKind.FAILED, True
    return _without_history(container, code)


def _down_with_engine(container: ContainerFacts, code: int) -> EndKind:
    """What a crash of the engine has ended: one that the engine starts again by its policy is under way."""
    policy = container.restart_policy or ""
    starts_again = policy in KEEPS_RUNNING or (code != 0 and policy.startswith("on-failure"))
    return EndKind.SHUTDOWN if starts_again else EndKind.FELL


def _was_found_dead(container: ContainerFacts, at: datetime, engine_started_at: datetime | None) -> bool:
    """Whether it ended at the engine's start, and had run before."""
    if engine_started_at is None or (container.started_at is not None and container.started_at > engine_started_at):
        return False
    return abs(at - engine_started_at) <= timedelta(seconds=ENGINE_START_SECONDS)


def _without_history(container: ContainerFacts, code: int) -> tuple[EndKind, bool]:
    asked = container.lifecycle.stop_requested if container.lifecycle is not None else None
    if asked is not None:
        return (EndKind.REQUESTED if asked else EndKind.FAILED), True
    if container.oom_killed:
        return EndKind.FAILED, True
    if code == KILL_CODE:
        return EndKind.UNKNOWN, False
    own = parse_signal(container.stop_signal)
    by_own_signal = own is not None and code == SIGNAL_BASE + own
    asked = code in STOP_CODES or by_own_signal or container.restart_policy in KEEPS_RUNNING
    return (EndKind.REQUESTED if asked else EndKind.FAILED), False


def _known_exit(container: ContainerFacts) -> ExitFacts | None:
    if container.lifecycle is None or not container.lifecycle.exits:
        return None
    last = container.lifecycle.exits[-1]
    if container.finished_at is None or abs(last.at - container.finished_at) <= timedelta(seconds=MATCH_SECONDS):
        return last
    return None


def _is_aged(
    container: ContainerFacts, known: ExitFacts | None, at: datetime | None, now: datetime, thresholds: Thresholds
) -> bool:
    if at is None or (known is not None and is_wanted(container)):
        return False
    return now - at > timedelta(seconds=thresholds.exit_age_seconds)


def has_used_up_restarts(container: ContainerFacts, ending: Ending) -> bool:
    """Whether it failed until the engine had granted it all the restarts of its policy ("on-failure:3")."""
    granted = (container.restart_policy or "").rpartition("on-failure:")[2]
    if container.state is not ContainerState.EXITED or not granted.isdigit():
        return False
    failed = ending.kind in (EndKind.FAILED, EndKind.UNKNOWN)
    return failed and bool(ending.exit_code) and (container.restart_count or 0) >= int(granted)


def was_fresh_at_first_sight(container: ContainerFacts, ending: Ending, now: datetime, thresholds: Thresholds) -> bool:
    """Whether an end was seen to happen, or was no history yet when the container was first looked at."""
    if ending.exit is not None or ending.at is None:
        return True
    since = container.lifecycle.observed_since if container.lifecycle is not None else now
    return since - ending.at <= timedelta(seconds=thresholds.exit_age_seconds)


def is_wanted(container: ContainerFacts) -> bool:
    """Whether its restart policy says that it should run."""
    return container.restart_policy not in (None, "", "no")


def probably_oom(container: ContainerFacts, end: ExitFacts) -> bool:
    """Whether an end looks like the OOM killer's although neither flag nor event says so: both get lost at times."""
    limited = container.limits is not None and bool(container.limits.memory_bytes)
    return limited and end.exit_code == KILL_CODE and not (end.requested or end.shutdown or end.killed or end.oom)


def ended_by_oom(container: ContainerFacts, end: ExitFacts | None) -> bool:
    """Whether an end is the OOM killer's by flag, by event or by inference."""
    if end is None:
        return not container.is_running and container.oom_killed is True
    flagged = not container.is_running and container.oom_killed is True
    return end.oom or flagged or probably_oom(container, end)


def last_crash(container: ContainerFacts) -> ExitFacts | None:
    """The newest end that history knows, when nobody asked for it and it failed.

    That of a container in whose place this one was put is over: somebody saw to it.
    """
    if container.lifecycle is None or not container.lifecycle.exits:
        return None
    last = container.lifecycle.exits[-1]
    if last.at < _made_by(container) and _was_put_in_place(container):
        return None
    return None if last.requested or last.shutdown or not (last.exit_code or last.oom) else last


def _was_put_in_place(container: ContainerFacts) -> bool:
    """Whether nothing has restarted it since it was made, and it was not made by a supervisor's restart.

    The engine may have restarted the old one once more when it was there already: Compose makes the new one first.
    """
    past = container.lifecycle
    return past is not None and all(at < _made_by(container) for at in past.restarts[past.predecessors_restarts :])


def was_made_anew(container: ContainerFacts) -> bool:
    """Whether an earlier container of its identity ran before it was made.

    Compose makes the new one before it stops the old one: that run began before this container was there.
    """
    ends = container.lifecycle.exits if container.lifecycle is not None else ()
    return any(end.at - timedelta(seconds=end.lifetime_seconds or 0) < container.created_at for end in ends)


def _made_by(container: ContainerFacts) -> datetime:
    """When it was there for sure: without its inspect, the second in which it was made is all that is known."""
    return container.created_at + timedelta(seconds=1 if container.created_at.microsecond == 0 else 0)


def recent_restarts(container: ContainerFacts, now: datetime, thresholds: Thresholds) -> tuple[datetime, ...]:
    """Restarts within the window that nobody asked for, oldest first.

    Those of a container in whose place this one was put count once this one has to be restarted as well.
    """
    if container.lifecycle is None or _was_put_in_place(container):
        return ()
    since = now - timedelta(seconds=thresholds.restart_window_seconds)
    return tuple(at for at in container.lifecycle.restarts if since <= at <= now + timedelta(seconds=MATCH_SECONDS))


def is_looping(container: ContainerFacts, now: datetime, thresholds: Thresholds) -> bool:
    """Whether it restarted often enough, and a short while ago."""
    if container.state is ContainerState.RESTARTING and (container.restart_count or 0) >= thresholds.restart_count:
        return True
    restarts = recent_restarts(container, now, thresholds)
    if len(restarts) < thresholds.restart_count:
        return False
    return now - restarts[-1] <= timedelta(seconds=thresholds.restart_quiet_seconds)


def has_come_up(container: ContainerFacts, now: datetime) -> bool:
    """Whether a container that looped has run for longer than the engine's longest wait, and than its runs before."""
    if not runs_well(container, now) or container.started_at is None or container.lifecycle is None:
        return False
    lived = [end.lifetime_seconds for end in container.lifecycle.exits if end.lifetime_seconds is not None]
    return (now - container.started_at).total_seconds() >= max(
        COME_UP_SECONDS, COME_UP_RUNS * max(lived[-5:], default=0)
    )


def has_outlived(container: ContainerFacts, now: datetime) -> bool:
    """Whether it has run for so much longer than before its last crash that this is over."""
    crash = last_crash(container)
    return crash is not None and crash.lifetime_seconds is not None and has_come_up(container, now)


def is_well(container: ContainerFacts, now: datetime, thresholds: Thresholds) -> bool:
    """Whether it runs, and has done so without a crash for long enough to say so."""
    return not is_looping(container, now, thresholds) and runs_well(container, now)


def runs_well(container: ContainerFacts, now: datetime) -> bool:
    """Whether it runs, is not unhealthy, and has been up for more than a moment."""
    if container.state is not ContainerState.RUNNING or container.started_at is None:
        return False
    if container.health is not None and container.health.status is HealthStatus.UNHEALTHY:
        return False
    return now - container.started_at >= timedelta(seconds=WELL_SECONDS)
