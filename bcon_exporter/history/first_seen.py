"""Since when a symptom or drift has been there, over restarts of the exporter."""

from collections.abc import Collection
from datetime import datetime

from bcon_exporter.history.database import Database, Statement
from bcon_exporter.history.schema import from_micros, to_micros


class FirstSeen:
    """First-seen times by kind and key; the database holds the same."""

    def __init__(self, database: Database) -> None:
        self._since: dict[str, dict[str, datetime]] = {}
        for kind, key, since in database.query("SELECT kind, key, since FROM first_seen"):
            self._since.setdefault(kind, {})[key] = from_micros(since)

    def update(self, kind: str, present: Collection[str], now: datetime) -> tuple[dict[str, datetime], list[Statement]]:
        """Add what is new, drop what is gone; return since when each is there, and what is to be written."""
        known = self._since.setdefault(kind, {})
        wanted = set(present)
        gone = known.keys() - wanted
        new = wanted - known.keys()
        for key in gone:
            del known[key]
        known.update(dict.fromkeys(new, now))
        statements: list[Statement] = [
            ("DELETE FROM first_seen WHERE kind = ? AND key = ?", [(kind, key) for key in sorted(gone)]),
            (
                "INSERT OR REPLACE INTO first_seen VALUES (?, ?, ?)",
                [(kind, key, to_micros(now)) for key in sorted(new)],
            ),
        ]
        return {key: min(since, now) for key, since in known.items()}, statements

    def known(self, kind: str) -> dict[str, datetime]:
        """Return the keys that were present at the last update, each with since when."""
        return dict(self._since.get(kind, {}))

    def restate(self) -> Statement:
        """Return the statement that writes all of it once more."""
        rows = [(kind, key, to_micros(at)) for kind, known in self._since.items() for key, at in known.items()]
        return "INSERT OR REPLACE INTO first_seen VALUES (?, ?, ?)", rows
