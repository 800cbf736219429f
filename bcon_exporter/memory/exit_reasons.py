"""Which ends were asked for, which restarts were not: pure rules over the events of one identity.

Recorded on Docker 20.10 (times in seconds):
    docker stop          kill 15 · die · stop                 needing force: kill 15 · kill 9 · die 137 · stop
    docker restart       kill 15 · die · stop · start · restart (start and restart at once)
    docker rm -f         kill 9 · die 137 · destroy           docker kill: kill 9 · die 137, and no policy restart
    policy restart       die · start, after 0.1 s doubling up to a minute
    stop of a looping    die · stop, without a kill           --rm: die · destroy, without a kill
    OOM kill             oom · die 137 within 0.1 s           of a child: oom alone
    engine stopped       like docker stop, of all at once; its starts afterwards are bare
    engine killed        after its restart: kill 15 · die · stop of what was left, then bare starts
    host crashed         no end at all: exit code 255 in inspect, FinishedAt is the engine's start
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from bcon_exporter.memory.runs import Run, is_near
from bcon_exporter.model.exit_codes import JITTER_SECONDS, SIGKILL, SIGNAL_BASE, STOPPING_SECONDS, signal_of_exit
from bcon_exporter.model.lifecycle import ExitFacts, LifecycleEvent

STOP_SIGNALS = frozenset((2, 3, 15))
# A stop gives ten seconds by default; the end itself is reported a little later on a busy host.
STOP_SECONDS = 30.0
# An end with 0 or with the signal's own code may follow a stop signal after long graceful work.
GRACEFUL_STOP_SECONDS = 600.0
REMOVAL_SECONDS = 10.0
KILL_SECONDS = 10.0
OOM_SECONDS = 10.0
OOM_OTHER_CODE_SECONDS = 2.0
# The engine gives its containers 15 s when it stops.
SHUTDOWN_LEAD_SECONDS = 20.0
SHUTDOWN_TAIL_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The engine or its host went down and came back.

    Attributes:
        began_at: When contact was lost.
        ended_at: When the first container ran again.
        stopping_at: When the engine began to end its containers, as far as that can be told: what was asked to stop, or
            ended, before that did so by itself. None where nothing tells.
    """

    began_at: datetime
    ended_at: datetime
    stopping_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What else is known about an identity's containers.

    Attributes:
        stop_signals: Container id → number of its own stop signal.
        policies: Container id → restart policy; an absent id is unknown.
        shutdowns: Of the engine or host.
    """

    stop_signals: Mapping[str, int] = field(default_factory=dict)
    policies: Mapping[str, str] = field(default_factory=dict)
    shutdowns: tuple[Shutdown, ...] = ()


def classify_exits(runs: Sequence[Run], circumstances: Circumstances) -> tuple[tuple[Run, ExitFacts], ...]:
    """Return each ended run with the facts of its end, by time of the end."""
    next_starts: dict[str, datetime | None] = {}
    ends = []
    for run in reversed(runs):
        if run.end:
            ends.append((run, _judge_end(run, run.end, next_starts.get(run.container_id), circumstances)))
        next_starts[run.container_id] = run.started_at
    return tuple(sorted(ends, key=lambda pair: (pair[1].at, pair[0].container_id)))


def _judge_end(run: Run, end: LifecycleEvent, next_start: datetime | None, circumstances: Circumstances) -> ExitFacts:
    stop_signals = STOP_SIGNALS | {circumstances.stop_signals.get(run.container_id, 15)}
    asked = _find_stop_kill(run, end, stop_signals)
    asked_at = end.at if asked is None else asked.at
    down = find_shutdown(run.started_at, end.at, circumstances.shutdowns, next_start, asked_at)
    requested = down is None and (asked is not None or run.stopped_at is not None or _was_removed(run, end))
    forced = requested and asked is not None and any(k.signal == SIGKILL and k.at >= asked.at for k in run.kills)
    return ExitFacts(
        at=end.at,
        exit_code=end.exit_code,
        signal=signal_of_exit(end.exit_code),
        oom=_was_oom(run, end),
        lifetime_seconds=max((end.at - run.started_at).total_seconds(), 0.0) if run.started_at else None,
        requested=requested,
        shutdown=down is not None,
        # Nobody can ask while the engine is away: what it tells of that time was its own doing when it came up.
        after_crash=down is not None and end.at > down.began_at,
        forced=forced,
        killed=not requested and any(_ended_it(kill, end) for kill in run.kills),
        image=end.image,
    )


def _find_stop_kill(run: Run, end: LifecycleEvent, stop_signals: frozenset[int]) -> LifecycleEvent | None:
    """Return the kill that asked for this end, if one did; a reload (HUP, USR1) is none, nor is SIGKILL alone."""
    for kill in reversed(run.kills):
        if kill.signal not in stop_signals:
            continue
        waited = (end.at - kill.at).total_seconds()
        graceful = end.exit_code in (0, SIGNAL_BASE + (kill.signal or 0))
        limit = GRACEFUL_STOP_SECONDS if graceful or run.stopped_at else STOP_SECONDS
        if -JITTER_SECONDS <= waited <= limit:
            return kill
    return None


def find_stopping(runs: Sequence[Run], container_id: str, circumstances: Circumstances) -> datetime | None:
    """Return when a container's newest run was asked to stop, whether it has ended since or not; None when it was not.

    Signals that follow each other closely are one request, made with the first. The engine reports a signal after it
    has sent it.
    """
    run = next((each for each in reversed(runs) if each.container_id == container_id), None)
    if run is None:
        return None
    stop_signals = STOP_SIGNALS | {circumstances.stop_signals.get(container_id, 15)}
    since = None
    for kill in reversed(run.kills):
        if kill.signal in stop_signals and (since is None or is_near(kill.at, since, STOPPING_SECONDS)):
            since = kill.at
    return since


def _ended_it(kill: LifecycleEvent, end: LifecycleEvent) -> bool:
    """Whether a signal sent through the engine is what the program died of; one that it handles (a reload) is not."""
    deadly = kill.signal == SIGKILL or kill.signal == signal_of_exit(end.exit_code)
    return deadly and -JITTER_SECONDS <= (end.at - kill.at).total_seconds() <= KILL_SECONDS


def _was_removed(run: Run, end: LifecycleEvent) -> bool:
    """True for `docker rm -f`: killed and destroyed at once; `--rm` destroys as soon, but without a kill."""
    killed = any(is_near(kill.at, end.at, REMOVAL_SECONDS) for kill in run.kills if kill.signal == SIGKILL)
    return killed and is_near(run.destroyed_at, end.at, REMOVAL_SECONDS)


def _was_oom(run: Run, end: LifecycleEvent) -> bool:
    if any(kill.signal == SIGKILL for kill in run.kills):
        return False
    limit = OOM_SECONDS if end.exit_code == SIGNAL_BASE + SIGKILL else OOM_OTHER_CODE_SECONDS
    return any(-JITTER_SECONDS <= (end.at - oom).total_seconds() <= limit for oom in run.ooms)


def find_shutdown(
    started_at: datetime | None,
    ended_at: datetime,
    shutdowns: Iterable[Shutdown],
    next_start: datetime | None = None,
    asked_at: datetime | None = None,
) -> Shutdown | None:
    """Return the shutdown with which a run from before it ended, if it was not started again or asked to end before it.

    Args:
        started_at: When the run began.
        ended_at: When it ended.
        shutdowns: All that are known.
        next_start: Of the same container.
        asked_at: When it was sent its stop signal; None where it is not known to have been.
    """
    lead, tail = timedelta(seconds=SHUTDOWN_LEAD_SECONDS), timedelta(seconds=SHUTDOWN_TAIL_SECONDS)
    for down in shutdowns:
        was_running = started_at is None or started_at <= down.began_at
        stayed_down = next_start is None or next_start >= down.began_at
        if down.stopping_at is not None and (asked_at or ended_at) < down.stopping_at:
            continue
        if was_running and stayed_down and down.began_at - lead <= ended_at <= down.ended_at + tail:
            return down
    return None


def find_oom_kills(events: Iterable[LifecycleEvent]) -> tuple[tuple[str, datetime], ...]:
    """Return container id and time of each OOM kill, of a main or a child process, oldest first."""
    return tuple((event.container_id, event.at) for event in events if event.action == "oom")


def find_health_changes(events: Iterable[LifecycleEvent]) -> tuple[datetime, ...]:
    """Return when health flipped between healthy and unhealthy; a start begins anew."""
    last: dict[str, str] = {}
    changes = []
    for event in events:
        if event.action == "start":
            last.pop(event.container_id, None)
        elif event.action == "health_status" and event.health in ("healthy", "unhealthy"):
            if last.get(event.container_id, event.health) != event.health:
                changes.append(event.at)
            last[event.container_id] = event.health
    return tuple(changes)


def find_pause(events: Iterable[LifecycleEvent], container_id: str) -> datetime | None:
    """Return since when a container that is paused has been; None when no event tells."""
    since = None
    for event in events:
        if event.container_id != container_id:
            continue
        if event.action == "pause":
            since = event.at
        elif event.action in ("unpause", "start", "die"):
            since = None
    return since


class ImageChange(NamedTuple):
    """The image before a change of it, what is known of it, and when the container with the new one was made.

    Attributes:
        version: Of the new one.
    """

    previous: str
    previous_id: str | None
    at: datetime
    previous_version: str | None = None
    version: str | None = None


def find_image_change(
    events: Iterable[LifecycleEvent], images: Mapping[str, str], versions: Mapping[str, str | None]
) -> ImageChange | None:
    """Return the newest change of image: of its name, or of its id under the same name (a tag that was moved).

    Args:
        events: Of one identity, oldest first.
        images: Ids of images by container, as far as they were read.
        versions: Versions of images by container, likewise.
    """
    image, image_id, version, change = "", None, None, None
    seen: set[str] = set()
    for event in events:
        if event.container_id in seen or not event.image:
            continue
        seen.add(event.container_id)
        own_id = images.get(event.container_id)
        moved = None not in (image_id, own_id) and image_id != own_id
        if image and (event.image != image or moved):
            change = ImageChange(image, image_id, event.at, version, versions.get(event.container_id))
        version = versions.get(event.container_id) or (version if event.image == image and not moved else None)
        image, image_id = event.image, own_id or (image_id if event.image == image else None)
    return change
