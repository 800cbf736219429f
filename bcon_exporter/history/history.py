"""The face of the history: what happened on this host, kept over restarts of the exporter."""

import threading
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from bcon_exporter.history.containers import KnownContainers
from bcon_exporter.history.costs import insert_cost, load_costs, prune_costs
from bcon_exporter.history.coverage import Coverage
from bcon_exporter.history.database import Database, Row, Statement
from bcon_exporter.history.event_rows import KEPT_ACTIONS, prune_events
from bcon_exporter.history.first_seen import FirstSeen
from bcon_exporter.history.identity import identity_of_event
from bcon_exporter.history.last_lines import cap_lines
from bcon_exporter.history.lifecycles import Lifecycles
from bcon_exporter.history.past import HOUR
from bcon_exporter.history.retention import Retention
from bcon_exporter.history.schema import to_micros
from bcon_exporter.history.usage_memory import UsageMemory
from bcon_exporter.model.facts import ContainerFacts, HostSnapshot
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.model.reports import CostEntry


class History:
    """Events, ends, first-seen times, last usage and costs, in the state file or, when it fails, in memory.

    Safe to use from several threads. Nothing here raises because of the file: see `status` and `errors_total`.
    """

    def __init__(self, database: Database, retention_seconds: float) -> None:
        self._lock = threading.RLock()
        self._database = database
        self._retention = Retention(timedelta(seconds=retention_seconds), database)
        self._load()

    def _load(self) -> None:
        self._coverage = Coverage()
        self._coverage.load(self._database)
        self._lifecycles = Lifecycles(self._database, self._coverage)
        self._containers = KnownContainers(self._database)
        self._usage = UsageMemory(self._database)
        self._first_seen = FirstSeen(self._database)

    @classmethod
    def open(cls, path: Path | None, *, retention_seconds: float, now: datetime, read_only: bool = False) -> "History":
        """Open the state file, or go on without it.

        A damaged file is set aside as `<name>.corrupt-<time>`. Another program's database, or a newer version's, is
        left alone. A full, locked or forbidden file is tried again every minute.

        Args:
            retention_seconds: How long rows are kept.
            now: Our clock.
            path: The state file; None keeps everything in memory, on purpose.
            read_only: Read what a daemon has written, as of now, and write nothing: for commands.
        """
        database = Database(path, read_only=read_only)
        database.open(now)
        return cls(database, retention_seconds)

    def record_events(self, batch: EventBatch, now: datetime) -> None:
        """Keep new events, whatever their order; what is known already is not kept twice."""
        with self._lock:
            if self._database.status == "memory":
                self._write([*self._lifecycles.take_pending(now), *self._coverage.take_pending()], now)
                self._write([self._usage.flush()], now)
            if self._database.retry(now):
                self._take_file_back()
            overlaps = False
            for event in batch.events:
                if event.action not in KEPT_ACTIONS:
                    continue
                known = self._containers.identity_of(event.container_id)
                identity = identity_of_event(event) if event.name or event.project else known
                if identity is None:
                    continue
                if known is not None and known != identity and event.action == "rename":
                    self._lifecycles.rename(event.container_id, known, identity)
                self._containers.note_identity(event.container_id, identity)
                overlaps = not self._lifecycles.add(identity, event) or overlaps
            before = self._coverage.observed_until
            lost = self._coverage.take(batch, now, overlaps=overlaps)
            if before is None and batch.covers_since is not None:
                # The engine remembers 256 events; a container that is younger than an hour has counted the others.
                self._containers.expect_losses(now - HOUR, batch.covers_since)
            elif lost and before is not None:
                self._containers.expect_losses(before)
            self._write(self._lifecycles.take_pending(now), now)

    def enrich(self, snapshot: HostSnapshot) -> HostSnapshot:
        """Return the snapshot with each container's lifecycle, and the last usage of those that have none now.

        Only a snapshot of the whole host tells of its shutdowns, and of restarts that no event told.
        """
        with self._lock:
            now = snapshot.taken_at
            if not snapshot.partial:
                self._coverage.note_engine_start(snapshot.engine_started_at)
                self._coverage.confirm_shutdowns(snapshot.containers, now)
                # A total that took in, a scan later, what happened before the first would tell of restarts just now.
                earlier = self._containers.infers_earlier_times
                for identity, event in self._containers.infer(snapshot.containers, self._lifecycles):
                    self._lifecycles.add(identity, event, counted=earlier)
            filled = self._lifecycles.fill(snapshot.containers, now, partial=snapshot.partial)
            return snapshot.model_copy(update={"containers": tuple(map(self._with_last_usage, filled))})

    def _with_last_usage(self, container: ContainerFacts) -> ContainerFacts:
        if container.usage is not None:
            return container
        last = self._usage.last(container.id)
        return container if last is None else container.model_copy(update={"last_usage": last})

    def remember(self, snapshot: HostSnapshot) -> None:
        """Keep what the snapshot itself tells: usage, restart counts, last lines; one transaction.

        What a partial one tells of usage and restart counts, the next scan tells as well.
        """
        with self._lock:
            now = snapshot.taken_at
            statements = self._lifecycles.take_pending(now)
            statements += self._coverage.take_pending()
            if not snapshot.partial:
                statements.append(self._containers.note(snapshot.containers, now))
                statements.append(self._usage.note(snapshot.containers, now))
            self._write(statements, now)
            self.prune(now)

    def first_seen(
        self, kind: Literal["symptom", "drift"], present: Collection[str], now: datetime
    ) -> dict[str, datetime]:
        """Return since when each present key has been there without a break; absent keys are forgotten."""
        with self._lock:
            since, statements = self._first_seen.update(kind, present, now)
            self._write(statements, now)
            return since

    def known_since(self, kind: Literal["symptom", "drift"]) -> dict[str, datetime]:
        """Return the keys that were present last, also before a restart of the exporter, each with since when."""
        with self._lock:
            return self._first_seen.known(kind)

    def alert_state(self) -> str | None:
        """Return the state of the alerts as it was kept last, also before a restart of the exporter."""
        with self._lock:
            rows = self._database.query("SELECT state FROM alerts")
            return rows[0][0] if rows else None

    def keep_alert_state(self, state: str, now: datetime) -> None:
        """Keep the state of the alerts; the next one replaces it."""
        with self._lock:
            self._write([("INSERT OR REPLACE INTO alerts VALUES (1, ?)", [(state,)])], now)

    def record_cost(self, entry: CostEntry) -> None:
        """Add a tool call to the ledger."""
        with self._lock:
            self._write([insert_cost(entry)], entry.timestamp)

    def costs(self, since: datetime, until: datetime) -> Iterator[CostEntry]:
        """Yield the ledger's entries of `since` ≤ time < `until`, oldest first."""
        return load_costs(self._select, since, until)

    def _select(self, sql: str, parameters: Row) -> Sequence[Row]:
        with self._lock:
            return self._database.query(sql, parameters)

    def prune(self, now: datetime) -> None:
        """Drop what is older than the retention, at most once an hour; a stepping clock deletes nothing."""
        with self._lock:
            before = self._retention.decide(now)
            if before is None:
                self._write(self._retention.take_pending(), now)
                return
            row = [(to_micros(before),)]
            statements: list[Statement] = [
                *self._containers.refresh(now),
                *self._containers.prune(now),
                *prune_events(before),
                *prune_costs(before),
            ]
            statements += [
                (f"DELETE FROM {table} WHERE {column} < ?", row)  # noqa: S608 -- names of our own
                for table, column in (
                    ("identities", "seen_at"),
                    ("exit_lines", "at"),
                    ("usage", "read_at"),
                )
            ]
            statements += [cap_lines(), *self._coverage.prune(before), *self._retention.take_pending()]
            self._write(statements, now)

    def _write(self, statements: list[Statement], now: datetime) -> None:
        self._database.write(statements, now)
        if self._database.lost:
            self._database.lost = False
            self._lifecycles.restate()
            again = [*self._lifecycles.take_pending(now), *self._coverage.restate(), self._first_seen.restate()]
            self._database.write([*again, self._containers.restate(now)], now)

    def _take_file_back(self) -> None:
        """Read everything anew: the file has what memory lacked, and now has what memory held."""
        earlier = self._coverage
        self._load()
        self._coverage.go_on_from(earlier)

    @property
    def status(self) -> Literal["file", "memory", "none"]:
        """Where it is kept: the state file, memory because the file cannot be used, or no file at all."""
        return self._database.status

    @property
    def observed_since(self) -> datetime | None:
        """Since when events are known; None when none could be read."""
        return self._coverage.observed_since

    @property
    def reason(self) -> str | None:
        """Why the status is not "file"."""
        return self._database.reason

    @property
    def errors_total(self) -> int:
        """How often the state file failed."""
        return self._database.errors_total

    @property
    def gaps_total(self) -> int:
        """How often events were lost beyond back-fill."""
        return self._coverage.gaps_total

    def close(self) -> None:
        """Write what is left and let go of the file."""
        with self._lock:
            self._write([self._usage.flush()], self._coverage.observed_until or self._retention.newest)
            self._database.close()
