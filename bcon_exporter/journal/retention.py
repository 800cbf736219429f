"""When old rows may go."""

from datetime import UTC, datetime, timedelta

from bcon_exporter.journal.event_rows import Statement
from bcon_exporter.journal.schema import from_micros, to_micros
from bcon_exporter.journal.state_file import StateFile

EVERY = timedelta(hours=1)
PROBATION = timedelta(hours=4)
"""A clock that has leapt must go on from there for so long before anything is deleted by it."""


class Retention:
    """Decides from the wall clock, and mistrusts it: a leap of years must not delete the history.

    Deleting goes on when the clock has advanced in ordinary steps (of two hours at most between two scans) for a
    few hours. So a wrong clock that is soon set right costs nothing; after a long stop of the exporter old rows stay
    a little longer.
    """

    def __init__(self, keep: timedelta, state: StateFile, newest: datetime | None) -> None:
        """Go on from what the state file says.

        Args:
            keep: How long rows are kept.
            state: Read once.
            newest: Until when events were known at the last run; None at the first.
        """
        self._keep = keep
        self._dirty = False
        rows = state.query_if_readable("SELECT key, value FROM meta WHERE key IN ('pruned_at', 'trusted_since')")
        known = {key: from_micros(int(value)) for key, value in rows}
        self._pruned_at, self._trusted_since = known.get("pruned_at"), known.get("trusted_since")
        self.newest = newest or datetime(1970, 1, 1, tzinfo=UTC)

    def decide(self, now: datetime) -> datetime | None:
        """Return the time before which rows go now; None when it is not the hour for it."""
        step = now - self.newest
        self.newest = now
        if not -EVERY <= step <= 2 * EVERY:
            self._trusted_since, self._dirty = now, True
        trusted = self._trusted_since is None or now - self._trusted_since >= PROBATION
        due = self._pruned_at is None or abs(now - self._pruned_at) >= EVERY
        if not trusted or not due:
            return None
        self._pruned_at, self._dirty = now, True
        return now - self._keep

    def take_pending(self) -> list[Statement]:
        """Return what is to be written."""
        if not self._dirty:
            return []
        self._dirty = False
        times = (("pruned_at", self._pruned_at), ("trusted_since", self._trusted_since))
        rows = [(key, str(to_micros(at))) for key, at in times if at is not None]
        return [("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)]
