"""What was last known of each container id: whose past it belongs to, how often the engine restarted it."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from bcon_exporter.history.database import Database, Row, Statement
from bcon_exporter.history.identity import identity_of
from bcon_exporter.history.lifecycles import Lifecycles
from bcon_exporter.history.reconcile import Counted, Missing, find_missing, infer_restarts
from bcon_exporter.history.schema import from_micros, to_micros
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.lifecycle import LifecycleEvent
from bcon_exporter.model.lifecycle_rules import parse_signal

KEEP_REMOVED = timedelta(days=2)

_REPLACE = "INSERT OR REPLACE INTO containers VALUES (?, ?, ?, ?, ?, ?, ?)"


class KnownContainers:
    """Container ids with what the last snapshot said of them; the database holds the same."""

    def __init__(self, database: Database) -> None:
        self._identities: dict[str, str] = {}
        self._counted: dict[str, Counted] = {}
        self._rows: dict[str, Row] = {}
        self._gap_began: datetime | None = None
        self._gap_ended: datetime | None = None
        self._missing: tuple[Missing, ...] | None = None
        rows = database.query("SELECT container_id, identity, restart_count, started_at FROM containers")
        for container_id, identity, restart_count, started_at in rows:
            started = None if started_at is None else from_micros(started_at)
            self._identities[container_id] = identity
            self._counted[container_id] = Counted(identity, restart_count, started)

    def identity_of(self, container_id: str) -> str | None:
        """Return the identity a container id was last known by."""
        return self._identities.get(container_id)

    def note_identity(self, container_id: str, identity: str) -> None:
        """Take whose past it belongs to, as an event says."""
        self._identities[container_id] = identity

    def expect_losses(self, gap_began: datetime, gap_ended: datetime | None = None) -> None:
        """Compare restart counts at the next two snapshots: events have been lost since `gap_began`.

        Of `gap_ended` we know only where the events go on before anything was seen to be lost: at the first look.
        """
        self._gap_began, self._gap_ended, self._missing = gap_began, gap_ended, None

    @property
    def infers_earlier_times(self) -> bool:
        """Whether what is inferred next happened before anything was watched."""
        return self._gap_ended is not None

    def infer(
        self, containers: tuple[ContainerFacts, ...], lifecycles: Lifecycles
    ) -> tuple[tuple[str, LifecycleEvent], ...]:
        """Return the restarts that a gap has swallowed, with their identities.

        The first snapshot after a gap says what is missing. Events of its last restarts may still be under way, so
        what they do not tell is inferred at the second.
        """
        if self._gap_began is None:
            return ()
        if self._missing is None:
            self._missing = find_missing(containers, self._counted, self._gap_began)
            return ()
        found: list[tuple[str, LifecycleEvent]] = []
        for missing in self._missing:
            events = lifecycles.past_of(missing.identity).events
            told = [e.at for e in events if e.action == "start" and e.container_id == missing.container_id]
            inferred = infer_restarts(missing, told, self._gap_began, self._gap_ended)
            found.extend((missing.identity, event) for event in inferred)
        self._gap_began = self._missing = None
        return tuple(found)

    def note(self, containers: Iterable[ContainerFacts], now: datetime) -> Statement:
        """Take what a snapshot says; return what is to be written: only what has changed."""
        rows = []
        present = set()
        for container in containers:
            present.add(container.id)
            row = self._row(container)
            if self._rows.get(container.id) != row:
                self._rows[container.id] = row
                self._identities[container.id] = str(row[1])
                self._counted[container.id] = Counted(str(row[1]), container.restart_count, container.started_at)
                rows.append((*row, to_micros(now)))
        self._forget_all_but(present)
        return _REPLACE, rows

    def _forget_all_but(self, present: set[str]) -> None:
        for known in (self._rows, self._counted, self._identities):
            for gone in known.keys() - present:
                del known[gone]

    def _row(self, container: ContainerFacts) -> Row:
        return (
            container.id,
            identity_of(container),
            container.restart_count,
            None if container.started_at is None else to_micros(container.started_at),
            container.restart_policy,
            parse_signal(container.stop_signal),
        )

    def prune(self, now: datetime) -> tuple[Statement, ...]:
        """Return the statements that drop removed containers: facts look back a day, so two are enough."""
        return (
            ("DELETE FROM containers WHERE seen_at < ?", [(to_micros(now - KEEP_REMOVED),)]),
            ("DELETE FROM images WHERE container_id NOT IN (SELECT container_id FROM containers)", [()]),
        )

    def refresh(self, now: datetime) -> tuple[Statement, ...]:
        """Return the statements that mark what is there as seen now, so that it is not pruned."""
        at = to_micros(now)
        return (
            ("UPDATE containers SET seen_at = ? WHERE container_id = ?", [(at, key) for key in self._rows]),
            ("UPDATE identities SET seen_at = ? WHERE identity = ?", [(at, row[1]) for row in self._rows.values()]),
        )

    def restate(self, now: datetime) -> Statement:
        """Return the statement that writes all of it once more."""
        return _REPLACE, [(*row, to_micros(now)) for row in self._rows.values()]
