"""The last known usage of containers: what a stopped one used when it was last seen running."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from pydantic import ValidationError

from bcon_exporter.history.database import Database, Statement
from bcon_exporter.history.schema import to_micros
from bcon_exporter.model.facts import ContainerFacts, UsageFacts

WRITE_EVERY = timedelta(minutes=5)
"""Usage changes at every scan; the disk hears of it when a container stops, and else this often."""


class UsageMemory:
    """Newest usage by container id; in the database a while later."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._newest: dict[str, UsageFacts] = {}
        self._unwritten: set[str] = set()
        self._unknown: set[str] = set()
        self._written_at: datetime | None = None

    def last(self, container_id: str) -> UsageFacts | None:
        """Return the last known usage of a container; None when it was never seen."""
        known = self._newest.get(container_id)
        if known is None and container_id not in self._unknown:
            known = self._load(container_id)
            if known is None:
                self._unknown.add(container_id)
            else:
                self._newest[container_id] = known
        return known

    def _load(self, container_id: str) -> UsageFacts | None:
        for (text,) in self._database.query("SELECT usage FROM usage WHERE container_id = ?", (container_id,)):
            try:
                return UsageFacts.model_validate_json(text)
            except ValidationError:
                return None
        return None

    def note(self, containers: Iterable[ContainerFacts], now: datetime) -> Statement:
        """Take the usage of running containers; return what is to be written now."""
        present, due = set(), set()
        for container in containers:
            present.add(container.id)
            if container.usage is not None and not container.usage.stale:
                self._newest[container.id] = container.usage
                self._unknown.discard(container.id)
                self._unwritten.add(container.id)
            elif container.id in self._unwritten and not container.is_running:
                due.add(container.id)
        due |= self._unwritten - present
        if self._written_at is None:
            self._written_at = now
        if not timedelta() <= now - self._written_at < WRITE_EVERY:
            due |= self._unwritten
            self._written_at = now
        statement = self._statement(due)
        self._unknown &= present
        for container_id in self._newest.keys() - present:
            del self._newest[container_id]
        return statement

    def flush(self) -> Statement:
        """Return what has not been written yet."""
        return self._statement(set(self._unwritten))

    def _statement(self, due: set[str]) -> Statement:
        self._unwritten -= due
        known = [
            (container_id, self._newest[container_id]) for container_id in sorted(due) if container_id in self._newest
        ]
        rows = [(container_id, to_micros(usage.read_at), usage.model_dump_json()) for container_id, usage in known]
        return "INSERT OR REPLACE INTO usage VALUES (?, ?, ?)", rows
