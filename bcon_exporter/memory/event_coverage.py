"""Since when the past is known, where it has gaps, and when the engine or its host was down."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bcon_exporter.memory.exit_reasons import Shutdown
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.lifecycle import EventBatch

FACTS_WINDOW = timedelta(hours=24)
"""Lifecycle facts look back so far: an older gap no longer makes them incomplete."""

_TOLERANCE = timedelta(seconds=5)
"""Between our clock and the engine's."""

_STALE = timedelta(minutes=3)
"""When no events could be read for so long, what happened since is not known."""

_COMING_UP = timedelta(minutes=1)
"""The engine is up a moment after its first events: first it ends what the one before it left running."""

_BREAK_PATIENCE = timedelta(minutes=10)
_BREAKS_AT_MOST = 100


@dataclass(frozen=True, slots=True)
class Gap:
    """Events between these times were lost."""

    began_at: datetime
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Break:
    """When contact was lost, and whether the engine proved, at `told_at`, that it has restarted since."""

    at: datetime
    told_at: datetime
    restarted: bool

    def with_start(self, engine_started_at: datetime | None, now: datetime) -> "Break":
        """Return the break, with the proof that an engine is which came up after it."""
        if self.restarted or engine_started_at is None or not self.at < engine_started_at <= now:
            return self
        return Break(self.at, now, restarted=True)

    def is_recent(self, now: datetime) -> bool:
        """A proof may come long after the break; without one, whatever happened in a long time may be the cause."""
        return now - _BREAK_PATIENCE < (self.told_at if self.restarted else self.at)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the event stream has covered, over restarts of the exporter.

    Attributes:
        observed_since: Nothing is known from before; None when no event could be read.
        observed_until: Everything until then is known, save gaps.
        gaps_total: Gaps since the exporter started.
        breaks: Losses of contact of which it is not decided yet whether the engine went down.
        is_first_batch: Nothing was read since the exporter started.
        knows_one_engine: All that is known stems from the memory of the engine that runs now.
    """

    observed_since: datetime | None = None
    observed_until: datetime | None = None
    gaps: tuple[Gap, ...] = ()
    shutdowns: tuple[Shutdown, ...] = ()
    gaps_total: int = 0
    breaks: tuple[Break, ...] = ()
    is_first_batch: bool = True
    knows_one_engine: bool = False

    @property
    def times(self) -> tuple[datetime | None, datetime | None]:
        """Since and until when events are known: what changes at every scan."""
        return self.observed_since, self.observed_until


def cover(coverage: Coverage, batch: EventBatch, now: datetime, *, overlaps: bool) -> tuple[Coverage, bool]:
    """Return the coverage with what a batch covers, and whether it has a new gap.

    Args:
        coverage: Before it.
        batch: What the stream brought.
        now: Our clock.
        overlaps: The batch holds events that were known before: nothing is missing between them and its end.
    """
    broken = tuple(Break(at, now, restarted=True) for at in batch.broken_at)
    if broken:
        coverage = replace(coverage, breaks=coverage.breaks + broken)
    if batch.covers_since is None:
        return coverage, False
    until = coverage.observed_until
    if until is not None and until > now + _TOLERANCE:
        until = now  # The clock stepped back.
    # The engine remembers events in memory only: when it still knows one of ours, it has not restarted since.
    unproven = coverage.is_first_batch and until is not None and not overlaps and batch.covers_since > until
    lost = batch.gap or (unproven and until is not None and batch.covers_since > until + _TOLERANCE)
    breaks = coverage.breaks
    if until is not None and (lost or unproven):
        breaks = (*breaks, Break(until, now, restarted=False))
    if lost:
        began_at = until or batch.covers_since
        coverage = add_gap(coverage, Gap(began_at, max(batch.covers_since, began_at)))
    since = coverage.observed_since
    return replace(
        coverage,
        breaks=breaks,
        observed_since=min(batch.covers_since, now) if since is None or since > now + _TOLERANCE else since,
        observed_until=min(now, batch.covered_until or now),
        is_first_batch=False,
        knows_one_engine=coverage.knows_one_engine or (coverage.is_first_batch and until is None),
    ), lost


def add_gap(coverage: Coverage, gap: Gap) -> Coverage:
    """Return the coverage with one more gap."""
    return replace(coverage, gaps=(*coverage.gaps, gap), gaps_total=coverage.gaps_total + 1)


def known_since(coverage: Coverage, now: datetime) -> tuple[datetime, tuple[Gap, ...]]:
    """Return since when the past is known, and the gaps since then that still matter."""
    horizon = now - FACTS_WINDOW
    since = coverage.observed_since or now
    since = max([since, *(gap.ended_at for gap in coverage.gaps if gap.ended_at <= horizon)])
    gaps = tuple(gap for gap in coverage.gaps if gap.ended_at > horizon)
    until = coverage.observed_until
    if until is not None and now - until > _STALE:
        gaps += (Gap(until, now),)
    return since, gaps


def note_engine_start(coverage: Coverage, started_at: datetime | None) -> Coverage:
    """Tell what a new engine ended before it was up: nobody could have asked for that.

    Only where all that is known stems from the memory of this very engine, which begins with its start.
    """
    if not coverage.knows_one_engine:
        return coverage
    since = coverage.observed_since
    coverage = replace(coverage, knows_one_engine=False)
    if started_at is None or since is None or not since < started_at <= since + _COMING_UP:
        return coverage
    return _add_shutdown(coverage, Shutdown(began_at=since - timedelta(milliseconds=1), ended_at=started_at))


def decide_breaks(
    coverage: Coverage, containers: Iterable[ContainerFacts], now: datetime, engine_started_at: datetime | None = None
) -> Coverage:
    """Decide whether the stream broke because the engine went down.

    It did when containers run, and all of them began after the break: one that outlived it proves the contrary.
    Where none runs, the engine's own forgetting is proof, or its start after the break.

    Args:
        coverage: With the breaks.
        containers: All of the host.
        now: Our clock.
        engine_started_at: When the engine came up last; None when unknown.
    """
    marked = (lost.with_start(engine_started_at, now) for lost in coverage.breaks)
    breaks = tuple(lost for lost in marked if lost.is_recent(now))[-_BREAKS_AT_MOST:]
    starts = [container.started_at for container in containers if container.is_running and container.started_at]
    decided = [lost for lost in breaks if starts or lost.restarted]
    breaks = tuple(lost for lost in breaks if lost not in decided)
    if breaks != coverage.breaks:
        coverage = replace(coverage, breaks=breaks)
    came_up = now if engine_started_at is None else min(engine_started_at, now)
    up = min(starts, default=came_up if all(lost.at < came_up for lost in decided) else now)
    confirmed = [lost.at for lost in decided if up > lost.at]
    return _add_shutdown(coverage, Shutdown(min(confirmed), up)) if confirmed else coverage


def _add_shutdown(coverage: Coverage, down: Shutdown) -> Coverage:
    return replace(coverage, shutdowns=(*coverage.shutdowns, down))


def join_coverage(stored: Coverage, current: Coverage) -> Coverage:
    """Return what a state file has covered, gone on from with what was observed while it could not be used."""
    joined = replace(
        stored,
        is_first_batch=False,
        gaps_total=current.gaps_total,
        gaps=stored.gaps + tuple(gap for gap in current.gaps if gap not in stored.gaps),
        shutdowns=stored.shutdowns + tuple(down for down in current.shutdowns if down not in stored.shutdowns),
        breaks=current.breaks,
        observed_since=stored.observed_since or current.observed_since,
        observed_until=current.observed_until or stored.observed_until,
    )
    unseen = current.observed_since
    if unseen and stored.observed_until and stored.observed_until + _TOLERANCE < unseen:
        joined = add_gap(joined, Gap(stored.observed_until, unseen))
    return joined


def join_told(stored: Coverage, current: Coverage) -> Coverage:
    """Return what either of two journals has told, so that neither's is told again."""
    return replace(stored, gaps=stored.gaps + current.gaps, shutdowns=stored.shutdowns + current.shutdowns)


def forget_before(coverage: Coverage, before: datetime) -> Coverage:
    """Forget old gaps and shutdowns."""
    gaps = tuple(gap for gap in coverage.gaps if gap.ended_at >= before)
    shutdowns = tuple(down for down in coverage.shutdowns if down.ended_at >= before)
    if (gaps, shutdowns) == (coverage.gaps, coverage.shutdowns):
        return coverage
    return replace(coverage, gaps=gaps, shutdowns=shutdowns)


def is_bridged(container: ContainerFacts, gap: Gap) -> bool:
    """Whether the container's own times prove that it neither ended nor started in a gap."""
    if container.is_running:
        return container.started_at is not None and container.started_at <= gap.began_at
    return container.finished_at is not None and container.finished_at <= gap.began_at
