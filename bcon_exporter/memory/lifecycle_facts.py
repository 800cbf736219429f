"""What a past tells of one container now: `ContainerFacts.lifecycle`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import takewhile

from bcon_exporter.memory.exit_reasons import (
    STOP_SECONDS,
    Circumstances,
    Shutdown,
    find_pause,
    find_shutdown,
    find_stopping,
)
from bcon_exporter.memory.runs import sort_events
from bcon_exporter.memory.timeline import EXITS_WITH_LINES, Past, Timeline, keep_lines, make_timeline, with_timeline
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, LogLine
from bcon_exporter.model.exit_codes import CRASHED_HOST_CODE, SIGKILL, SIGNAL_BASE, signal_of_exit
from bcon_exporter.model.lifecycle import ExitFacts, LifecycleEvent, LifecycleFacts

DAY = timedelta(hours=24)
HOUR = timedelta(hours=1)
EXITS_AT_MOST = 50
LINES_AT_MOST = 20
CHARS_A_LINE = 400

_SAME_END = timedelta(seconds=5)
"""The engine reports an end a little after FinishedAt, more on a busy host."""
_ENDS_WITHIN = timedelta(seconds=STOP_SECONDS)

_FUTURE = timedelta(hours=2)
"""Events further ahead of the clock stem from a time when it was wrong; they are kept, but not told."""

_LATE_LINE = timedelta(seconds=1)
"""Output may be stamped a little after the end was reported."""

_EARLY_LINE = timedelta(minutes=10)
_LIFECYCLES_KEPT = 64

OwnedExit = tuple[str, ExitFacts]
"""Full id of the container that ended, and the facts of its end."""


@dataclass(frozen=True, slots=True)
class KnownLifecycle:
    """Facts of one container, and for how long they hold.

    Attributes:
        basis: All that they were made of but for the log and the time.
        newest_line: Of the log as it was then; None when it was not read: the last lines of ends may still be found.
    """

    basis: tuple[object, ...]
    facts: LifecycleFacts
    made_at: datetime
    holds_until: datetime
    newest_line: datetime | None

    def holds(self, basis: tuple[object, ...], newest_line: datetime | None, now: datetime) -> bool:
        """Whether facts made now would be the same."""
        if self.basis != basis or not self.made_at <= now < self.holds_until:
            return False
        if newest_line in (None, self.newest_line):
            return True
        ends = self.facts.exits[-EXITS_WITH_LINES:] if self.newest_line is None else self.facts.exits[-1:]
        return all(end.last_lines for end in ends)


@dataclass(frozen=True, slots=True)
class ScanKnowledge:
    """What one scan knows beside a container and its past.

    Attributes:
        since: Since when the past is known.
        is_observed: Whether any event was ever read.
        complete: Whether no gap may hide an end or start of the container.
        rivals: Full ids of other containers that are there and claim the same identity.
    """

    now: datetime
    shutdowns: tuple[Shutdown, ...]
    since: datetime
    is_observed: bool
    complete: bool
    rivals: tuple[str, ...]


def find_lifecycle(
    past: Past, container: ContainerFacts, knowledge: ScanKnowledge, known: KnownLifecycle | None
) -> tuple[Past, KnownLifecycle]:
    """Return the container's lifecycle, the one made before as long as it holds, and the past with what was learned."""
    past, timeline = with_timeline(past, knowledge.shutdowns)
    basis = (
        timeline,
        knowledge.rivals,
        container.state,
        container.finished_at,
        container.exit_code,
        container.oom_killed,
        knowledge.since if knowledge.is_observed else None,
        knowledge.complete,
    )
    newest_line = container.logs.lines[-1].at if container.logs and container.logs.lines else None
    if known is not None and known.holds(basis, newest_line, knowledge.now):
        return past, known
    past, facts = _make_facts(past, timeline, container, knowledge)
    return past, KnownLifecycle(basis, facts, knowledge.now, _holds_until(facts, knowledge.now), newest_line)


def _make_facts(
    past: Past, timeline: Timeline, container: ContainerFacts, knowledge: ScanKnowledge
) -> tuple[Past, LifecycleFacts]:
    if container.is_running and not past.events:
        return past, _without_events(
            knowledge.since, past.restarts_total, past.oom_kills_total, complete=knowledge.complete
        )
    now, circumstances = knowledge.now, past.circumstances(knowledge.shutdowns)
    unseen = _find_unseen_end(past.events, container)
    if knowledge.rivals or unseen is not None:
        # Labels are claims: what another container that is there now has suffered is not this one's past.
        own = [event for event in past.events if event.container_id not in knowledge.rivals]
        own = sort_events([*own, unseen]) if unseen is not None else own
        timeline = make_timeline(own, past, knowledge.shutdowns)
    exits = _find_exits(past, timeline, container, circumstances, now)
    past, exits = _add_lines(past, container, exits)
    change = timeline.image_change
    restarts = [(container_id, at) for container_id, at in timeline.restarts if _is_recent(at, now, DAY)]
    return past, LifecycleFacts(
        observed_since=knowledge.since,
        complete=knowledge.complete,
        exits=tuple(facts for _, facts in exits),
        restarts=tuple(at for _, at in restarts),
        predecessors_restarts=sum(1 for _ in takewhile(lambda restart: restart[0] != container.id, restarts)),
        oom_kills=_find_oom_kills(timeline, exits, now),
        restarts_total=past.restarts_total,
        oom_kills_total=past.oom_kills_total,
        stop_requested=_was_stop_requested(timeline, container, exits),
        stopping_since=find_stopping(timeline.runs, container.id, circumstances),
        paused_at=find_pause(past.events, container.id) if container.state is ContainerState.PAUSED else None,
        health_changes=tuple(at for at in timeline.health_changes if _is_recent(at, now, HOUR)),
        previous_image=change.previous if change else None,
        previous_image_id=change.previous_id if change else None,
        previous_image_version=change.previous_version if change else None,
        image_changed_at=change.at if change else None,
    )


@lru_cache(maxsize=_LIFECYCLES_KEPT)
def _without_events(since: datetime, restarts_total: int, oom_kills_total: int, *, complete: bool) -> LifecycleFacts:
    """Return the lifecycle of a container that runs and of which no event tells: one value for all that are alike."""
    return LifecycleFacts(
        observed_since=since, complete=complete, restarts_total=restarts_total, oom_kills_total=oom_kills_total
    )


def _find_exits(
    past: Past, timeline: Timeline, container: ContainerFacts, circumstances: Circumstances, now: datetime
) -> list[OwnedExit]:
    """Return the ends of the last day, and the container's last one where it does not run."""
    exits = [
        (run.container_id, _with_lines(past, run.container_id, facts))
        for run, facts in timeline.exits
        if _is_recent(facts.at, now, DAY)
    ][-EXITS_AT_MOST:]
    if container.is_running or container.finished_at is None:
        return exits
    last = _find_last_exit(timeline, container)
    if last is None:
        if not _fell_unseen(container, circumstances):
            return exits
        last = _from_inspect(container)
    else:
        exits = [pair for pair in exits if pair[0] != container.id or pair[1].at != last.at]
    if container.oom_killed and not last.oom:
        last = last.model_copy(update={"oom": True})
    merged = sorted([*exits, (container.id, _with_lines(past, container.id, last))], key=lambda pair: pair[1].at)
    return merged[-EXITS_AT_MOST:]


def _with_lines(past: Past, container_id: str, end: ExitFacts) -> ExitFacts:
    return end.model_copy(update={"last_lines": past.last_lines.get((container_id, end.at), ())})


def _is_recent(at: datetime, now: datetime, window: timedelta) -> bool:
    """Whether a time is within the window before `now`, or a little ahead of it: clocks step."""
    return now - window < at <= now + _FUTURE


def _find_last_exit(timeline: Timeline, container: ContainerFacts) -> ExitFacts | None:
    """Return the end that the container's own finish time speaks of, if an event told it."""
    if container.finished_at is None:
        return None
    own = [facts for run, facts in timeline.exits if run.container_id == container.id]
    if own and abs(own[-1].at - container.finished_at) <= _SAME_END:
        return own[-1]
    return None


def _fell_unseen(container: ContainerFacts, circumstances: Circumstances) -> bool:
    """Whether an end without an event is the engine's or host's.

    Of any other end without an event nobody knows whether it was asked for; it is left out.
    """
    finished = container.finished_at
    return finished is not None and find_shutdown(container.started_at, finished, circumstances.shutdowns) is not None


def _find_unseen_end(events: Iterable[LifecycleEvent], container: ContainerFacts) -> LifecycleEvent | None:
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


def _was_stop_requested(timeline: Timeline, container: ContainerFacts, exits: Iterable[OwnedExit]) -> bool | None:
    """Return whether the last end of a container that does not run was asked for; None when no event tells."""
    if container.is_running or container.finished_at is None:
        return None
    last = _find_last_exit(timeline, container)
    if last is not None:
        return last.requested
    own = [facts for container_id, facts in exits if container_id == container.id]
    return False if own and own[-1].shutdown else None


def _find_oom_kills(timeline: Timeline, exits: Iterable[OwnedExit], now: datetime) -> tuple[datetime, ...]:
    """Return the times of OOM kills of the last day: told by events, or by the flag of an end without one."""
    told = [at for _, at in timeline.oom_kills]
    flagged = [
        facts.at for _, facts in exits if facts.oom and not any(abs(facts.at - at) <= 2 * _SAME_END for at in told)
    ]
    return tuple(sorted(at for at in (*told, *flagged) if _is_recent(at, now, DAY)))


def _add_lines(past: Past, container: ContainerFacts, exits: list[OwnedExit]) -> tuple[Past, list[OwnedExit]]:
    """Give the container's own ends their last log lines, where the log still has them."""
    if container.logs is None or not container.logs.lines:
        return past, exits
    filled = exits[:-EXITS_WITH_LINES]
    for container_id, facts in exits[-EXITS_WITH_LINES:]:
        lines = facts.last_lines
        if container_id == container.id and not lines:
            lines = _find_last_lines(container.logs.lines, facts)
        if lines and not facts.last_lines:
            past = keep_lines(past, container_id, facts.at, lines)
            filled.append((container_id, facts.model_copy(update={"last_lines": lines})))
        else:
            filled.append((container_id, facts))
    return past, filled


def _find_last_lines(lines: Sequence[LogLine], end: ExitFacts) -> tuple[str, ...]:
    """Return the newest lines of the run that ended, oldest first; empty when the log does not reach back to it."""
    lifetime = end.lifetime_seconds
    began = end.at - (_EARLY_LINE if lifetime is None else min(timedelta(seconds=lifetime) + _LATE_LINE, _EARLY_LINE))
    own = [
        line.text[:CHARS_A_LINE] for line in lines if line.at is not None and began <= line.at <= end.at + _LATE_LINE
    ]
    return tuple(own[-LINES_AT_MOST:])


def _holds_until(facts: LifecycleFacts, now: datetime) -> datetime:
    """Return when the first thing leaves its window, at most an hour from now."""
    oldest = [*(end.at for end in facts.exits[:1]), *facts.restarts[:1], *facts.oom_kills[:1]]
    ends = [at + DAY for at in oldest] + [at + HOUR for at in facts.health_changes[:1]]
    return min([*(at for at in ends if at > now), now + timedelta(hours=1)])
