"""Since when the past is known, where it has gaps, and when the engine or its host was down."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from bcon_exporter.history.database import Database, Statement
from bcon_exporter.history.schema import from_micros, to_micros
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.model.lifecycle_rules import Shutdown

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


class _Break(NamedTuple):
    """When contact was lost, and whether the engine proved, at `told_at`, that it has restarted since."""

    at: datetime
    told_at: datetime
    forgot: bool

    def is_recent(self, now: datetime) -> bool:
        """A proof may come long after the break; without one, whatever happened in a long time may be the cause."""
        return now - _BREAK_PATIENCE < (self.told_at if self.forgot else self.at)


class Coverage:
    """What the event stream has covered, over restarts of the exporter."""

    def __init__(self) -> None:
        self.observed_since: datetime | None = None
        self.observed_until: datetime | None = None
        self.gaps: list[tuple[datetime, datetime]] = []
        self.shutdowns: tuple[Shutdown, ...] = ()
        self.gaps_total = 0
        self._first = True
        self._knows_one_engine = False
        self._breaks: list[_Break] = []
        self._pending: list[Statement] = []

    def load(self, database: Database) -> None:
        """Read what earlier runs have covered."""
        for key, value in database.query(
            "SELECT key, value FROM meta WHERE key IN ('observed_since', 'observed_until')"
        ):
            setattr(self, key, from_micros(int(value)))
        self.gaps = [(from_micros(b), from_micros(e)) for b, e in database.query("SELECT began, ended FROM gaps")]
        rows = database.query("SELECT began, ended FROM shutdowns ORDER BY began")
        self.shutdowns = tuple(Shutdown(from_micros(began), from_micros(ended)) for began, ended in rows)

    def take(self, batch: EventBatch, now: datetime, *, overlaps: bool) -> bool:
        """Note what a batch covers; True when there is a new gap.

        Args:
            batch: What the stream brought.
            now: Our clock.
            overlaps: The batch holds events that were known before: nothing is missing between them and its end.
        """
        self._breaks.extend(_Break(at, now, forgot=True) for at in batch.broken_at)
        if batch.covers_since is None:
            return False
        covered = min(now, batch.covered_until or now)
        until = self.observed_until
        if until is not None and until > now + _TOLERANCE:
            until = now  # The clock stepped back.
        # The engine remembers events in memory only: when it still knows one of ours, it has not restarted since.
        unproven = self._first and until is not None and not overlaps and batch.covers_since > until
        lost = batch.gap or (unproven and until is not None and batch.covers_since > until + _TOLERANCE)
        if until is not None and (lost or unproven):
            self._breaks.append(_Break(until, now, forgot=False))
        if lost:
            self._add_gap(until or batch.covers_since, max(batch.covers_since, until or batch.covers_since))
        self._knows_one_engine = self._knows_one_engine or (self._first and until is None)
        self._first = False
        if self.observed_since is None or self.observed_since > now + _TOLERANCE:
            self.observed_since = min(batch.covers_since, now)
        self.observed_until = covered
        return lost

    def _add_gap(self, began: datetime, ended: datetime) -> None:
        self.gaps.append((began, ended))
        self.gaps_total += 1
        self._pending.append(("INSERT OR REPLACE INTO gaps VALUES (?, ?)", [(to_micros(began), to_micros(ended))]))

    def judge(self, now: datetime) -> tuple[datetime, list[tuple[datetime, datetime]]]:
        """Return since when the past is known, and the gaps since then that still matter."""
        horizon = now - FACTS_WINDOW
        since = self.observed_since or now
        for _, ended in self.gaps:
            if ended <= horizon:
                since = max(since, ended)
        gaps = [gap for gap in self.gaps if gap[1] > horizon]
        until = self.observed_until
        if until is not None and now - until > _STALE:
            gaps.append((until, now))
        return since, gaps

    def note_engine_start(self, started_at: datetime | None) -> None:
        """Tell what a new engine ended before it was up: nobody could have asked for that.

        Only where all that is known stems from the memory of this very engine, which begins with its start.
        """
        since, knows_one_engine = self.observed_since, self._knows_one_engine
        self._knows_one_engine = False
        if not knows_one_engine or started_at is None or since is None:
            return
        if since < started_at <= since + _COMING_UP:
            self._add_shutdown(Shutdown(began_at=since - timedelta(milliseconds=1), ended_at=started_at))

    def confirm_shutdowns(self, containers: Iterable[ContainerFacts], now: datetime) -> bool:
        """Decide whether the stream broke because the engine went down; True when a new shutdown is known.

        It did when containers run, and all of them began after the break: one that outlived it proves the contrary.
        Where none runs, the engine's own forgetting is proof.
        """
        self._breaks = [each for each in self._breaks if each.is_recent(now)][-_BREAKS_AT_MOST:]
        starts = [container.started_at for container in containers if container.is_running and container.started_at]
        decided = [each for each in self._breaks if starts or each.forgot]
        if not decided:
            return False
        up = min(starts, default=now)
        self._breaks = [each for each in self._breaks if each not in decided]
        confirmed = [each.at for each in decided if up > each.at]
        if not confirmed:
            return False
        self._add_shutdown(Shutdown(began_at=min(confirmed), ended_at=up))
        return True

    def _add_shutdown(self, down: Shutdown) -> None:
        self.shutdowns = (*self.shutdowns, down)
        row = (to_micros(down.began_at), to_micros(down.ended_at))
        self._pending.append(("INSERT OR REPLACE INTO shutdowns VALUES (?, ?)", [row]))

    def go_on_from(self, earlier: "Coverage") -> None:
        """Go on from what was observed while the file could not be used."""
        self._first = False
        self.gaps_total = earlier.gaps_total
        unseen = earlier.observed_since
        if unseen and self.observed_until and self.observed_until + _TOLERANCE < unseen:
            self._add_gap(self.observed_until, unseen)
        if earlier.observed_until is not None:
            self.observed_until = earlier.observed_until
        if self.observed_since is None:
            self.observed_since = earlier.observed_since

    def restate(self) -> list[Statement]:
        """Return the statements that write all of it once more."""
        gaps = [(to_micros(began), to_micros(ended)) for began, ended in self.gaps]
        downs = [(to_micros(down.began_at), to_micros(down.ended_at)) for down in self.shutdowns]
        return [
            ("INSERT OR REPLACE INTO gaps VALUES (?, ?)", gaps),
            ("INSERT OR REPLACE INTO shutdowns VALUES (?, ?)", downs),
            *self.take_pending(),
        ]

    def take_pending(self) -> list[Statement]:
        """Return what is to be written."""
        pending, self._pending = self._pending, []
        times = (("observed_since", self.observed_since), ("observed_until", self.observed_until))
        rows = [(key, str(to_micros(at))) for key, at in times if at is not None]
        return [*pending, ("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)]

    def prune(self, before: datetime) -> list[Statement]:
        """Forget old gaps and shutdowns."""
        self.gaps = [gap for gap in self.gaps if gap[1] >= before]
        self.shutdowns = tuple(down for down in self.shutdowns if down.ended_at >= before)
        row = (to_micros(before),)
        return [("DELETE FROM gaps WHERE ended < ?", [row]), ("DELETE FROM shutdowns WHERE ended < ?", [row])]


def is_bridged(container: ContainerFacts, gap: tuple[datetime, datetime]) -> bool:
    """True when the container's own times prove that it neither ended nor started in a gap."""
    if container.is_running:
        return container.started_at is not None and container.started_at <= gap[0]
    return container.finished_at is not None and container.finished_at <= gap[0]
