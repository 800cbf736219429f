"""The past of one identity: its events and counters in memory, and the facts made of them (pure but for loading)."""

from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import takewhile

from bcon_exporter.history.event_rows import EVENTS_PER_IDENTITY
from bcon_exporter.model.facts import ContainerFacts, ContainerState
from bcon_exporter.model.lifecycle import ExitFacts, LifecycleEvent, LifecycleFacts
from bcon_exporter.model.lifecycle_restarts import INFERRED_RESTART, find_restarts
from bcon_exporter.model.lifecycle_rules import (
    CRASHED_HOST_CODE,
    SIGKILL,
    SIGNAL_BASE,
    STOP_SECONDS,
    Circumstances,
    ImageChange,
    classify_exits,
    find_health_changes,
    find_image_change,
    find_oom_kills,
    find_pause,
    find_shutdown,
    find_stopping,
    signal_of_exit,
)
from bcon_exporter.model.lifecycle_runs import Run, find_runs, order_of

DAY = timedelta(hours=24)
HOUR = timedelta(hours=1)
EXITS_AT_MOST = 50
TOLD_IN_WORDS = 5
"""Of so many ends, the newest, the last lines are kept: of all, a fleet that crashes would hold hundreds of MB."""

_SAME_END = timedelta(seconds=5)
"""The engine reports an end a little after FinishedAt, more on a busy host."""
_ENDS_WITHIN = timedelta(seconds=STOP_SECONDS)

_FUTURE = timedelta(hours=2)
"""Events further ahead of the clock stem from a time when it was wrong; they are kept, but not told."""


@dataclass(slots=True)
class Past:
    """Events of an identity, sorted, with what has been counted.

    Attributes:
        version: Grows with every change; facts made of an older one are stale.
        counted_restarts: Container id and time of those that the total holds; of OOM kills likewise.
        stop_signals, policies, images: Of its containers, also of removed ones that events still tell of, by id.
        lines: Last log lines by container id and time of the end; see `note_lines`.
    """

    identity: str
    events: list[LifecycleEvent] = field(default_factory=list)
    known: set[LifecycleEvent] = field(default_factory=set)
    restarts_total: int = 0
    oom_kills_total: int = 0
    counted_restarts: set[tuple[str, datetime]] = field(default_factory=set)
    counted_oom_kills: set[tuple[str, datetime]] = field(default_factory=set)
    stop_signals: dict[str, int] = field(default_factory=dict)
    policies: dict[str, str] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    lines: dict[tuple[str, datetime], tuple[str, ...]] = field(default_factory=dict)
    version: int = 0
    overflowed: bool = False

    def add(self, event: LifecycleEvent) -> bool:
        """Add an event in its place; False when it was known."""
        if event in self.known:
            return False
        self.known.add(event)
        insort(self.events, event, key=order_of)
        if len(self.events) > EVENTS_PER_IDENTITY:
            self._drop(self.events.pop(0))
            self.overflowed = True
        self.version += 1
        return True

    def _drop(self, event: LifecycleEvent) -> None:
        """Forget an event; it will not be told again, so that it was counted need not be known."""
        self.known.discard(event)
        counted = self.counted_oom_kills if event.action == "oom" else self.counted_restarts
        if event.action in ("oom", "start", INFERRED_RESTART):
            counted.discard((event.container_id, event.at))
        if all(other.container_id != event.container_id for other in self.events):
            for configured in (self.stop_signals, self.policies, self.images):
                configured.pop(event.container_id, None)

    def note_lines(self, container_id: str, at: datetime, lines: tuple[str, ...]) -> None:
        """Take the last lines before an end; now and then forget those of all but the newest."""
        self.lines[container_id, at] = lines
        if len(self.lines) > 2 * TOLD_IN_WORDS:
            newest = sorted(self.lines, key=lambda end: end[1])[-TOLD_IN_WORDS:]
            self.lines = {end: self.lines[end] for end in newest}


@dataclass(frozen=True, slots=True)
class Telling:
    """What the events of an identity tell, before it is cut to windows."""

    runs: tuple[Run, ...]
    exits: tuple[tuple[Run, ExitFacts], ...]
    restarts: tuple[tuple[str, datetime], ...]
    oom_kills: tuple[tuple[str, datetime], ...]
    health_changes: tuple[datetime, ...]
    image_change: ImageChange | None


def tell(events: Iterable[LifecycleEvent], circumstances: Circumstances, images: Mapping[str, str]) -> Telling:
    """Judge sorted events of one identity; `images` are the ids of the images of its containers, by container."""
    ordered = list(events)
    runs = find_runs(ordered)
    exits = classify_exits(runs, circumstances)
    return Telling(
        runs=runs,
        exits=exits,
        restarts=find_restarts(exits, runs, ordered, circumstances),
        oom_kills=find_oom_kills(ordered),
        health_changes=find_health_changes(ordered),
        image_change=find_image_change(ordered, images),
    )


def is_recent(at: datetime, now: datetime, window: timedelta) -> bool:
    """True within the window before `now`, and a little ahead of it: clocks step."""
    return now - window < at <= now + _FUTURE


def make_exits(
    past: Past, telling: Telling, container: ContainerFacts, down: Circumstances, now: datetime
) -> list[tuple[str, ExitFacts]]:
    """Return id and facts of the ends of the last day, and of the container's last one where it does not run."""
    exits = [
        (run.container_id, facts.model_copy(update={"last_lines": past.lines.get((run.container_id, facts.at), ())}))
        for run, facts in telling.exits
        if is_recent(facts.at, now, DAY)
    ][-EXITS_AT_MOST:]
    if container.is_running or container.finished_at is None:
        return exits
    last = find_last_exit(telling, container)
    if last is None:
        if not _fell_unseen(container, down):
            return exits
        last = _from_inspect(container)
    else:
        exits = [pair for pair in exits if pair[0] != container.id or pair[1].at != last.at]
    if container.oom_killed and not last.oom:
        last = last.model_copy(update={"oom": True})
    last = last.model_copy(update={"last_lines": past.lines.get((container.id, last.at), ())})
    merged = sorted([*exits, (container.id, last)], key=lambda pair: pair[1].at)
    return merged[-EXITS_AT_MOST:]


def find_last_exit(telling: Telling, container: ContainerFacts) -> ExitFacts | None:
    """Return the end that the container's own finish time speaks of, if an event told it."""
    if container.finished_at is None:
        return None
    own = [facts for run, facts in telling.exits if run.container_id == container.id]
    if own and abs(own[-1].at - container.finished_at) <= _SAME_END:
        return own[-1]
    return None


def _fell_unseen(container: ContainerFacts, down: Circumstances) -> bool:
    """True for an end without an event that is the engine's or host's.

    Of any other end without an event nobody knows whether it was asked for; it is left out.
    """
    finished = container.finished_at
    return finished is not None and find_shutdown(container.started_at, finished, down.shutdowns) is not None


def find_unseen_end(events: Iterable[LifecycleEvent], container: ContainerFacts) -> LifecycleEvent | None:
    """Return the end that inspect knows and no `die` has told, where other events tell what led to it.

    With containerd's image store the state may be known before the event is; the kernel tells of an OOM kill of which
    the engine remembers nothing. Of an end without any event nobody knows whether it was asked for.
    """
    finished = container.finished_at
    if container.is_running or finished is None:
        return None
    own = [event for event in events if event.container_id == container.id]
    if any(event.action == "die" and abs(event.at - finished) <= _SAME_END for event in own):
        return None
    asked = any(event.action in ("kill", "stop") and -_SAME_END <= finished - event.at <= _ENDS_WITHIN for event in own)
    by_kernel = any(event.action == "oom" and abs(finished - event.at) <= _SAME_END for event in own)
    if not asked and not (by_kernel and container.exit_code == SIGNAL_BASE + SIGKILL):
        return None
    return replace(own[-1], at=finished, action="die", exit_code=container.exit_code, signal=None, health=None)


def _from_inspect(container: ContainerFacts) -> ExitFacts:
    """Make an end with a shutdown of what the container itself says."""
    finished = container.finished_at or container.created_at
    lifetime = (finished - container.started_at).total_seconds() if container.started_at else None
    return ExitFacts(
        at=finished,
        exit_code=container.exit_code,
        signal=signal_of_exit(container.exit_code),
        oom=bool(container.oom_killed),
        lifetime_seconds=lifetime if lifetime is not None and lifetime >= 0 else None,
        shutdown=True,
        after_crash=container.exit_code == CRASHED_HOST_CODE,
        image=container.image,
    )


def was_stop_requested(
    telling: Telling, container: ContainerFacts, exits: Iterable[tuple[str, ExitFacts]]
) -> bool | None:
    """Return whether the last end of a container that does not run was asked for; None when no event tells."""
    if container.is_running or container.finished_at is None:
        return None
    told = find_last_exit(telling, container)
    if told is not None:
        return told.requested
    own = [facts for container_id, facts in exits if container_id == container.id]
    return False if own and own[-1].shutdown else None


def make_facts(
    past: Past,
    telling: Telling,
    container: ContainerFacts,
    exits: list[tuple[str, ExitFacts]],
    circumstances: Circumstances,
    now: datetime,
) -> LifecycleFacts:
    """Return what is known, save for the coverage (`observed_since` is `now`)."""
    change = telling.image_change
    restarts = [(container_id, at) for container_id, at in telling.restarts if is_recent(at, now, DAY)]
    return LifecycleFacts(
        observed_since=now,
        exits=tuple(facts for _, facts in exits),
        restarts=tuple(at for _, at in restarts),
        predecessors_restarts=sum(1 for _ in takewhile(lambda restart: restart[0] != container.id, restarts)),
        oom_kills=make_oom_kills(telling, exits, now),
        restarts_total=past.restarts_total,
        oom_kills_total=past.oom_kills_total,
        stop_requested=was_stop_requested(telling, container, exits),
        stopping_since=find_stopping(telling.runs, container.id, circumstances),
        paused_at=find_pause(past.events, container.id) if container.state is ContainerState.PAUSED else None,
        health_changes=tuple(at for at in telling.health_changes if is_recent(at, now, HOUR)),
        previous_image=change.previous if change else None,
        previous_image_id=change.previous_id if change else None,
        image_changed_at=change.at if change else None,
    )


def make_oom_kills(telling: Telling, exits: Iterable[tuple[str, ExitFacts]], now: datetime) -> tuple[datetime, ...]:
    """Return the times of OOM kills of the last day: told by events, or by the flag of an end without one."""
    told = [at for _, at in telling.oom_kills]
    flagged = [
        facts.at for _, facts in exits if facts.oom and not any(abs(facts.at - at) <= 2 * _SAME_END for at in told)
    ]
    return tuple(sorted(at for at in (*told, *flagged) if is_recent(at, now, DAY)))
