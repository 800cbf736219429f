"""Keeps the memory of a running exporter: loads what is needed of it, folds observations in, saves what has changed."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from bcon_exporter.errors import StateFileError
from bcon_exporter.incidents import FoldedIncidents, acknowledge
from bcon_exporter.journal.disk_rows import insert_samples, load_samples, prune_samples
from bcon_exporter.journal.entry_rows import (
    ROOM_IN_FILE,
    ROOM_WITHOUT_FILE,
    EntryFilter,
    Excess,
    Present,
    count_entries,
    count_of_day,
    find_entries,
    find_excess,
    find_newest_of_projects,
    insert_entries,
    prune_entries,
    takes_entry,
)
from bcon_exporter.journal.event_rows import Statement, changed_events, find_beyond, load_events, prune_events
from bcon_exporter.journal.incident_rows import (
    IncidentFilter,
    find_by_id,
    find_crowding,
    find_earlier,
    find_ended,
    find_ids,
    find_mark,
    insert_incidents,
    prune_incidents,
)
from bcon_exporter.journal.memory_rows import (
    Record,
    find_changed,
    read_lines,
    read_memory,
    read_past,
    read_usage,
    read_window,
    times_record,
    usage_records,
    window_records,
)
from bcon_exporter.journal.retention import Retention
from bcon_exporter.journal.schema import to_micros
from bcon_exporter.journal.state_file import RETRY_SECONDS, StateFile
from bcon_exporter.journal.tool_costs import find_costly, insert_cost, load_costs, prune_costs
from bcon_exporter.journal.usage_rows import find_slots, insert_slots, prune_slots
from bcon_exporter.memory import (
    FAILED,
    FAILED_RUNS_FOR,
    NO_PAST,
    NOTE_CODES,
    Deployments,
    DiskMemory,
    DiskSample,
    FindingKind,
    LogCounts,
    Memory,
    NoteChange,
    Past,
    UsageSlot,
    add_failed_runs,
    add_usage,
    add_verdict,
    close_all,
    close_slot,
    conclude_first_seen,
    drop_expired,
    find_config_changes,
    find_due,
    find_killed,
    find_named,
    fold_disk,
    fold_repetitions,
    forget_absent,
    forget_before,
    identity_of,
    join_coverage,
    join_failed_runs,
    join_notes,
    join_pasts,
    join_told,
    journal_coverage,
    journal_deployment,
    journal_findings,
    journal_lifecycles,
    observe_events,
    observe_kills,
    observe_snapshot,
    read_deployment,
    recall_samples,
)
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.disk import LogReading, StoredData
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.hysteresis import HoldState
from bcon_exporter.model.incidents import Incident, IncidentRoot, IncidentState, SeenBefore
from bcon_exporter.model.journal import HISTORY_KEPT, JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.model.messages import ReceiverState
from bcon_exporter.model.notes import NoteBook
from bcon_exporter.model.quiet import Quiet
from bcon_exporter.model.reports import CostEntry
from bcon_exporter.model.verify_report import DeploymentRecord
from bcon_exporter.readings import KillReadings, Readings, UsageWindow

USAGE_SAVED_EVERY = timedelta(minutes=5)
"""Usage changes at every scan; the disk hears of it when a container stops, and else this often."""

WINDOWS_HOLD = timedelta(minutes=2)
"""Samples of usage outlive a restart of the exporter, but no longer absence: a mean over it would tell of old times."""

DISK_SAVED_EVERY = timedelta(minutes=10)
"""Readings of the disk come every five minutes, and are what weighs most of all that is saved."""

KEEP_REMOVED = timedelta(days=2)
"""Facts look back a day, so what a removed container was is kept no longer."""

EXITS_WITH_LINES = 5000

_MANY = 32
"""Of more identities or containers, it is asked once which are stored at all."""
_PUT = "INSERT OR REPLACE INTO memory VALUES (?, ?, ?)"
_READ_AT_START = (
    "SELECT key, value FROM memory"
    " WHERE key IN ('coverage', 'times', 'alerts', 'incidents', 'quiets', 'notes', 'note_callers', 'failed_runs')"
    "  OR key GLOB 'disk/*' OR key GLOB 'container/*' OR key GLOB 'messages/*' OR key GLOB 'seen/*'"
    "  OR key GLOB 'repeated/*'"
)


@dataclass(frozen=True, slots=True)
class _Due:
    """What the next save is to write beside what has changed.

    Attributes:
        now: Our clock.
        usage: Containers of which the last usage is written too.
        with_times: Also since and until when events are known, which changes at every scan.
        observed: A snapshot was folded in: what is old, or belongs to no container, goes once all is written.
        is_whole: It had all containers.
    """

    now: datetime
    usage: frozenset[str] = frozenset()
    with_times: bool = False
    observed: bool = False
    is_whole: bool = False

    def joined(self, earlier: "_Due | None") -> "_Due":
        """Return what is due with what was before."""
        if earlier is None:
            return self
        return _Due(
            self.now,
            self.usage | earlier.usage,
            self.with_times or earlier.with_times,
            self.observed or earlier.observed,
            self.is_whole or earlier.is_whole,
        )


class MemoryKeeper:
    """The one home of a `Memory`, and its state file; safe to use from several threads, one folds at a time.

    What a scan needs never raises because of the file: see `status` and `errors_total`. What asks for what is stored
    (`find_…`, `ended_…`, `costs`) raises a StateFileError where it cannot be read: nothing is another answer.
    """

    def __init__(self, state: StateFile, retention_seconds: float, now: datetime) -> None:
        self._lock = threading.RLock()
        self._state = state
        self._memory = self._saved = self._read()
        self._memory = replace(self._memory, readings=Readings(usage=self._read_windows(now)))
        self._has_read_file = state.status == "file"
        self._unread: set[str] = set()
        self._entries: list[JournalEntry] = []
        self._slots: list[UsageSlot] = []
        self._sizes: list[DiskSample] = []
        self._ended: list[Incident] = []
        self._incidents_total: Mapping[str, int] = {}
        self._entries_total: Mapping[JournalKind, int] = {}
        self._scans: set[int] = set()
        self._due: _Due | None = None
        self._usage_saved_at: datetime | None = None
        self._disk_saved_at: dict[str, datetime] = {}
        self._seen_before = self._memory.coverage.observed_until
        self._watching_since: datetime | None = None
        self._keep = timedelta(seconds=retention_seconds)
        self._retention = Retention(self._keep, state, self._seen_before)

    @classmethod
    def open(
        cls, path: Path | None, *, retention_seconds: float, now: datetime, read_only: bool = False
    ) -> "MemoryKeeper":
        """Open the state file, or go on without it.

        A damaged file is set aside as `<name>.corrupt-<time>`. That of an earlier version is taken over, and kept as
        `<name>.v1`. Another program's database, or a newer version's, is left alone. A full, locked or forbidden file
        is tried again every minute.

        Args:
            retention_seconds: How long rows are kept.
            now: Our clock.
            path: The state file; None keeps everything in memory, on purpose.
            read_only: Read what a daemon has written, as of now, and write nothing: for commands.
        """
        state = StateFile(path, read_only=read_only)
        state.open(now)
        return cls(state, retention_seconds, now)

    @property
    def memory(self) -> Memory:
        """What is remembered now; never changed after it was handed out."""
        return self._memory

    @contextmanager
    def one_transaction(self) -> Iterator[None]:
        """Save what this thread remembers within in one transaction: at the end, or once somebody asks for it."""
        thread = threading.get_ident()
        with self._lock:
            self._scans.add(thread)
        try:
            yield
        finally:
            with self._lock:
                self._scans.discard(thread)
                self._save_due()

    def add_kills(self, batch: EventBatch, kills: KillReadings, now: datetime) -> EventBatch:
        """Fold in what the kernel says of OOM kills; return the events with those that the engine left out."""
        with self._lock:
            if self._seen_before is not None:
                # Older ones were told too, though nothing is stored of that any more.
                kills = replace(kills, logged=tuple(kill for kill in kills.logged if kill[0] >= now - self._keep))
                self._recall(set().union(*find_killed(self._memory, batch.events, kills).values()))
            self._memory, completed = observe_kills(self._memory, batch, kills, now, self._seen_before)
            return completed

    def add_events(self, batch: EventBatch, now: datetime) -> None:
        """Fold new events in."""
        with self._lock:
            if self._state.status == "memory":
                self._save_all(now)
                if self._state.retry(now):
                    self._take_file_back()
            self._recall(find_named(self._memory, batch.events))
            self._memory = observe_events(self._memory, batch, now)
            self._save(now)

    def observe(self, snapshot: HostSnapshot, readings: Readings | None = None) -> HostSnapshot:
        """Fold a snapshot in and save; return it with each container's lifecycle and last usage.

        Args:
            snapshot: The host now.
            readings: What the next snapshot is read on from; None to go on from the same.
        """
        with self._lock:
            self._recall_all(snapshot)
            self._memory, enriched = observe_snapshot(self._memory, snapshot, readings)
            self._journal(snapshot)
            self._note_usage(snapshot)
            enriched = enriched.model_copy(update={"failed_runs": self._memory.failed_runs})
            usage_due = frozenset(self._find_usage_due(snapshot))
            self._save_later(
                _Due(snapshot.taken_at, usage_due, with_times=True, observed=True, is_whole=not snapshot.partial)
            )
            return enriched

    def _journal(self, snapshot: HostSnapshot) -> None:
        """Let the journal's next rows tell what has happened since the last scan."""
        memory, now = self._memory, snapshot.taken_at
        pasts, entries = journal_lifecycles(memory.pasts, memory.coverage.shutdowns, now)
        if self._watching_since is None and self._seen_before is None:
            self._watching_since = now
        failed_runs = add_failed_runs(memory.failed_runs, entries, now, self._watching_since)
        configs, changes = find_config_changes(memory.configs, snapshot.containers, now)
        self._entries += [*entries, *changes, *journal_coverage(memory.journaled, memory.coverage)]
        self._memory = replace(memory, pasts=pasts, failed_runs=failed_runs, journaled=memory.coverage, configs=configs)

    def _note_usage(self, snapshot: HostSnapshot) -> None:
        """Add to what containers use in these five minutes; what is finished is written with the rest."""
        slot, finished = add_usage(self._memory.usage_slot, snapshot.containers, snapshot.taken_at)
        self._memory = replace(self._memory, usage_slot=slot)
        self._slots += finished

    def _forget_absent(self) -> None:
        """Let go of what is saved and belongs to no container that is there."""
        self._memory = forget_absent(self._memory)
        saved = {one: usage for one, usage in self._saved.last_usage.items() if one in self._memory.last_usage}
        self._saved = replace(self._saved, pasts=self._memory.pasts, last_usage=saved)

    def look(self, snapshot: HostSnapshot) -> HostSnapshot:
        """Return a snapshot with each container's lifecycle and last usage, and remember nothing of it."""
        with self._lock:
            self._recall_all(snapshot)
            _, enriched = observe_snapshot(self._memory, snapshot)
            return enriched.model_copy(update={"failed_runs": self._memory.failed_runs})

    def _recall_all(self, snapshot: HostSnapshot) -> None:
        """Load what is stored of the containers of a snapshot and is not at hand."""
        self._recall({identity_of(container) for container in snapshot.containers})
        self._recall_usage(container.id for container in snapshot.containers)

    def _recall(self, identities: Iterable[str]) -> None:
        """Load the pasts of identities that are not at hand."""
        absent = [identity for identity in identities if identity not in self._memory.pasts]
        if not absent:
            return
        stored = self._find_stored() if len(absent) > _MANY else None
        loaded = {}
        for identity in absent:
            if stored is not None and identity not in stored:
                loaded[identity] = NO_PAST
                continue
            try:
                loaded[identity] = self._load_past(identity)
            except StateFileError:
                loaded[identity] = NO_PAST
                self._unread.add(identity)
        self._memory = replace(self._memory, pasts={**self._memory.pasts, **loaded})
        self._saved = replace(self._saved, pasts={**self._saved.pasts, **loaded})

    def _find_stored(self) -> set[str] | None:
        """Return the identities of which anything is stored, at a first start none; None where it cannot be known."""
        try:
            rows = self._state.query(
                "SELECT DISTINCT identity FROM events UNION SELECT substr(key, 6) FROM memory WHERE key GLOB 'past/*'"
            )
        except StateFileError:
            return None
        return {identity for (identity,) in rows}

    def _load_past(self, identity: str) -> Past:
        query = self._state.query
        stored = query("SELECT value FROM memory WHERE key = ?", (f"past/{identity}",))
        past = load_events(query, identity, read_past(stored[0][0]) if stored else NO_PAST)
        lines = {}
        for container_id in {event.container_id for event in past.events}:
            rows = query("SELECT key, value FROM memory WHERE key GLOB ?", (f"lines/{container_id}/*",))
            lines.update(dict(found for key, text in rows if (found := read_lines(key, text)) is not None))
        return replace(past, last_lines=lines) if lines else past

    def _recall_usage(self, container_ids: Iterable[str]) -> None:
        """Load the last usage of containers that no scan has seen yet."""
        memory, query, loaded = self._memory, self._state.query_if_readable, {}
        absent = [one for one in container_ids if one not in memory.lifecycles and one not in memory.last_usage]
        if len(absent) > _MANY:
            stored = {key for (key,) in query("SELECT key FROM memory WHERE key GLOB 'usage/*'")}
            absent = [one for one in absent if f"usage/{one}" in stored]
        for container_id in absent:
            for (text,) in query("SELECT value FROM memory WHERE key = ?", (f"usage/{container_id}",)):
                usage = read_usage(text)
                if usage is not None:
                    loaded[container_id] = usage
        if loaded:
            self._memory = replace(self._memory, last_usage={**self._memory.last_usage, **loaded})
            self._saved = replace(self._saved, last_usage={**self._saved.last_usage, **loaded})

    def conclude_first_seen(
        self,
        kind: FindingKind,
        present: Mapping[str, Severity | None],
        now: datetime,
        judged_at: datetime | None = None,
    ) -> dict[str, datetime]:
        """Return since when each present key has been there without a break; absent keys are forgotten.

        Args:
            kind: Of the keys.
            present: Each with its severity; None where it could not be judged now.
            now: When the host was looked at.
            judged_at: When the scan ended: the journal tells nothing before what it came from. None for `now`.
        """
        with self._lock:
            if kind != "explained":  # the incident tells of it
                self._entries += journal_findings(kind, self.first_seen(kind), present, judged_at or now)
            self._memory, since = conclude_first_seen(self._memory, kind, present, now)
            self._save(now)
            return since

    def first_seen(self, kind: FindingKind) -> Mapping[str, datetime]:
        """Return the keys that were present last, also before a restart of the exporter, each with since when."""
        return self._memory.first_seen.get(kind, {})

    def conclude(self, *, hysteresis: HoldState, log_counts: LogCounts) -> None:
        """Keep what a scan has concluded until the next one; none of it outlives the process."""
        with self._lock:
            self._memory = replace(self._memory, hysteresis=hysteresis, log_counts=log_counts)

    def find_due_deployments(self, snapshot: HostSnapshot) -> tuple[str, ...]:
        """Note what a scan shows of deployments; return the projects of which one is to be judged now."""
        with self._lock:
            known = self._memory.deployments
            if known.judged is None:
                known = self._recall_deployments(snapshot.taken_at)
            deployments, due = find_due(known, snapshot)
            self._memory = replace(self._memory, deployments=deployments)
            return due

    def _recall_deployments(self, now: datetime) -> Deployments:
        """Return what an earlier process knew of deployments, as its journal tells it."""
        latest: dict[str, DeploymentRecord] = {}
        query = self._state.query_if_readable
        for entry in find_newest_of_projects(query, JournalKind.DEPLOYMENT, now - HISTORY_KEPT):
            record = read_deployment(entry)
            if record is not None:
                latest[record.project] = record
        return Deployments(latest=latest, seen_until=self._seen_before)

    def keep_deployment(self, record: DeploymentRecord) -> None:
        """Keep the verdict on a deployment, and tell the journal of it."""
        with self._lock:
            self._memory = replace(self._memory, deployments=add_verdict(self._memory.deployments, record))
            self._entries.append(journal_deployment(record))
            self._save(record.at)

    def fold_incidents(self, fold: Callable[[IncidentState], FoldedIncidents], now: datetime) -> None:
        """Fold a scan into the open incidents, store those that are over, and tell the journal.

        Nobody changes the state meanwhile: what a person acknowledges is not lost.
        """
        with self._lock:
            before = {tracked.incident.id for tracked in self._memory.incidents.open}
            folded = fold(self._memory.incidents)
            opened = [one.incident.root.code for one in folded.state.open if one.incident.id not in before]
            self._incidents_total = {**self._incidents_total, **(Counter(self._incidents_total) + Counter(opened))}
            self._memory = replace(self._memory, incidents=folded.state)
            self._ended += folded.ended
            self._entries += folded.entries
            self._save(now)

    def acknowledge_incident(self, incident_id: str, entry: JournalEntry) -> None:
        """Note that somebody is on an open incident, at the entry's time."""
        with self._lock:
            self._memory = replace(self._memory, incidents=acknowledge(self._memory.incidents, incident_id, entry.at))
            self._tell(entry)

    def keep_disk(self, reading: LogReading | StoredData | str, now: datetime) -> None:
        """Fold in what was read of the disk; a text says why the engine did not tell."""
        with self._lock:
            disk, due = fold_disk(self._memory.disk, reading, now)
            self._memory = replace(self._memory, disk=disk)
            self._sizes += due
            self._save(now)

    def keep_quiets(self, change: Callable[[tuple[Quiet, ...]], tuple[Quiet, ...]], entry: JournalEntry) -> None:
        """Change what people have muted; what is over is forgotten."""
        with self._lock:
            quiets = tuple(quiet for quiet in change(self._memory.quiets) if quiet.ends_at > entry.at)
            self._memory = replace(self._memory, quiets=quiets)
            self._tell(entry)

    def keep_notes(self, change: Callable[[NoteBook], NoteChange], now: datetime) -> NoteChange:
        """Change the notes, and tell the journal; what has expired is forgotten first.

        Nothing is changed where `change` raises.
        """
        with self._lock:
            before = drop_expired(self._memory.notes, now)
            made = change(before.book)
            entries = (*before.entries, *made.entries)
            if made.book is not self._memory.notes or entries:
                self._memory = replace(self._memory, notes=made.book)
                self._entries += entries
                self._save(now)
            return made

    def keep_messages(self, receiver: str, state: ReceiverState, now: datetime) -> None:
        """Keep what a receiver has been told; the intent to send is kept before a message is sent."""
        with self._lock:
            self._memory = replace(self._memory, messages={**self._memory.messages, receiver: state})
            self._save(now)

    def _tell(self, entry: JournalEntry) -> None:
        """Write what is remembered, and an entry of the journal."""
        self._entries.append(entry)
        self._save(entry.at)

    def find_ended_incidents(self, wanted: IncidentFilter) -> list[Incident]:
        """Return incidents that are over, newest first."""
        with self._lock:
            return find_ended(self._query, wanted)

    def find_ended_incident(self, incident_id: str) -> Incident | None:
        """Return one that is over; None when there is no such."""
        with self._lock:
            return find_by_id(self._query, incident_id)

    def ended_incidents_mark(self) -> object:
        """Return a value that changes with the incidents that are over."""
        with self._lock:
            return find_mark(self._query)

    def ended_incident_ids(self) -> frozenset[str]:
        """Return the ids of all incidents that are over."""
        with self._lock:
            return find_ids(self._query)

    def find_earlier_incidents(self, root: IncidentRoot) -> SeenBefore:
        """Return how often the same has happened before."""
        with self._lock:
            return find_earlier(self._query, root)

    @property
    def incidents_total(self) -> Mapping[str, int]:
        """How many incidents this process has opened, by the code of their root."""
        return self._incidents_total

    def keep_alerts(self, state: str, now: datetime) -> None:
        """Keep the state of the alerts; the next one replaces it."""
        with self._lock:
            self._memory = replace(self._memory, alerts=state)
            self._save(now)

    def find_entries(self, wanted: EntryFilter, limit: int, offset: int = 0) -> list[JournalEntry]:
        """Return entries of the journal, newest first."""
        with self._lock:
            self._save_due()
            counted = self._find_counted(wanted)
            skipped = max(0, offset - len(counted))
            stored = find_entries(self._query, wanted, limit + offset - skipped, skipped)
            entries = sorted((*counted, *stored), key=lambda entry: entry.at, reverse=True)
            return entries[offset - skipped :][:limit]

    def count_entries(self, wanted: EntryFilter) -> int:
        """Return how many entries the journal has."""
        with self._lock:
            self._save_due()
            return len(self._find_counted(wanted)) + count_entries(self._query, wanted)

    def _find_counted(self, wanted: EntryFilter) -> list[JournalEntry]:
        """Return what is counted in the hours that go on, as the rows that it would be now."""
        rows = self._memory.repetitions.rows()
        host = self._memory.engine_name
        return [row.model_copy(update={"host": row.host or host}) for row in rows if takes_entry(wanted, row)]

    def find_usage(self, container_id: str, since: datetime) -> list[UsageSlot]:
        """Return what a container used in each five minutes since then, at most of the last day, oldest first."""
        with self._lock:
            return find_slots(self._query, container_id, since)

    def record_cost(self, entry: CostEntry) -> None:
        """Add a tool call to the ledger."""
        with self._lock:
            self._state.write([insert_cost(entry)], entry.timestamp)
            self._restate_if_lost(entry.timestamp)

    def costs(self, since: datetime, until: datetime) -> Iterator[CostEntry]:
        """Yield the ledger's entries of `since` ≤ time < `until`, oldest first."""
        return load_costs(self._select, since, until)

    def _select(self, sql: str, parameters: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
        with self._lock:
            return self._query(sql, parameters)

    def _query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Ask for what is stored, once what waits for the end of a scan is stored too."""
        self._save_due()
        return self._state.query(sql, parameters)

    def _find_usage_due(self, snapshot: HostSnapshot) -> set[str]:
        """Return the containers of which the last usage is to be saved now."""
        now, saved = snapshot.taken_at, self._saved.last_usage
        unsaved = {one for one, usage in self._memory.last_usage.items() if saved.get(one) is not usage}
        if self._usage_saved_at is None:
            self._usage_saved_at = now
        if timedelta() <= now - self._usage_saved_at < USAGE_SAVED_EVERY:
            return unsaved - {container.id for container in snapshot.containers if container.is_running}
        self._usage_saved_at = now
        return unsaved

    def _save_all(self, now: datetime, samples: Iterable[Record] = ()) -> None:
        """Write what has changed, also what waits for its time, and at the end samples of usage."""
        self._write(_Due(now, frozenset(self._memory.last_usage), with_times=True).joined(self._due), samples)

    def _save(self, now: datetime) -> None:
        """Write what has changed since the last time; within a scan at its end."""
        self._save_later(_Due(now))

    def _save_later(self, due: _Due) -> None:
        self._due = due.joined(self._due)
        if threading.get_ident() not in self._scans:
            self._save_due()

    def _save_due(self) -> None:
        if self._due is not None:
            self._write(self._due)

    def _write(self, due: _Due, samples: Iterable[Record] = ()) -> None:
        """Write what has changed since the last time, in one transaction."""
        self._due = None
        now = due.now
        self._join_unread()
        repetitions, rows = fold_repetitions(self._memory.repetitions, self._entries, now)
        self._memory = replace(self._memory, repetitions=repetitions)
        before, memory = self._saved, replace(self._memory, disk=self._find_disk_due(now))
        records = [*find_changed(before, memory), *usage_records(memory.last_usage, due.usage)]
        if due.with_times and before.coverage.times != memory.coverage.times:
            records.append(times_record(memory.coverage))
        records += samples
        statements = _to_statements(records, now)
        for identity, past in memory.pasts.items():
            earlier = before.pasts.get(identity)
            if past is not earlier:
                statements += changed_events(identity, earlier or NO_PAST, past)
        statements.append(insert_entries(rows, memory.engine_name))
        statements.append(insert_slots(self._slots))
        statements.append(insert_incidents(self._ended))
        statements.append(insert_samples(self._sizes))
        self._entries, self._slots, self._ended, self._sizes = [], [], [], []
        self._count_rows(rows)
        self._state.write(statements, now)
        usage = {one: memory.last_usage[one] for one in due.usage if one in memory.last_usage}
        times = memory.coverage if due.with_times else before.coverage
        coverage = replace(memory.coverage, observed_since=times.observed_since, observed_until=times.observed_until)
        self._saved = replace(memory, coverage=coverage, last_usage={**before.last_usage, **usage})
        self._restate_if_lost(now)
        if due.observed:
            self._prune(now)
        if due.is_whole:
            self._forget_absent()

    def _find_disk_due(self, now: datetime) -> DiskMemory:
        """Return what is to be saved of the disk now; a reading that is held back is saved later, or at exit."""
        disk, saved = self._memory.disk, self._saved.disk
        logs = disk.logs is saved.logs or self._is_disk_due("logs", now)
        stored = disk.stored is saved.stored or self._is_disk_due("stored", now)
        return replace(disk, logs=disk.logs if logs else saved.logs, stored=disk.stored if stored else saved.stored)

    def _is_disk_due(self, part: str, now: datetime) -> bool:
        saved_at = self._disk_saved_at.get(part)
        if saved_at is not None and timedelta() <= now - saved_at < DISK_SAVED_EVERY:
            return False
        self._disk_saved_at[part] = now
        return True

    def _count_rows(self, rows: Iterable[JournalEntry]) -> None:
        counts = Counter(row.kind for row in rows if row.code not in NOTE_CODES)
        self._entries_total = {**self._entries_total, **(Counter(self._entries_total) + counts)}

    def _join_unread(self) -> None:
        """Add what is stored of pasts that could not be read when they were asked for: ours began at nothing."""
        for identity in sorted(self._unread):
            try:
                stored = self._load_past(identity)
            except StateFileError:
                return
            self._unread.discard(identity)
            joined = join_pasts(stored, self._memory.pasts.get(identity, NO_PAST), continues=False)
            self._memory = replace(self._memory, pasts={**self._memory.pasts, identity: joined})

    def _restate_if_lost(self, now: datetime) -> None:
        """Write all that is known once more where what the file held cannot be read any more."""
        if self._state.lost:
            self._state.lost = False
            self._saved = Memory()
            self._disk_saved_at = {}
            self._sizes = [sample for samples in self._memory.disk.samples.values() for sample in samples]
            self._save_all(now)

    def _read(self) -> Memory:
        query = self._state.query_if_readable
        memory = read_memory(Record(*row) for row in query(_READ_AT_START))
        memory = replace(memory, journaled=memory.coverage, disk=recall_samples(memory.disk, load_samples(query)))
        now = memory.coverage.observed_until
        if now is None:
            return memory
        told = count_of_day(query, now)
        memory = replace(memory, repetitions=replace(memory.repetitions, days=told))
        if memory.failed_runs:
            return replace(memory, failed_runs=add_failed_runs(memory.failed_runs, (), now))
        failures = EntryFilter(now - FAILED_RUNS_FOR, now, kinds=FAILED)
        entries = find_entries(query, failures, limit=1000)
        return replace(memory, failed_runs=add_failed_runs((), entries, now))

    def _read_windows(self, now: datetime) -> dict[str, UsageWindow]:
        """Return the samples of usage that an earlier process has left, if it ended a moment ago."""
        rows = self._state.query_if_readable(
            "SELECT key, value FROM memory WHERE key GLOB 'window/*' AND at > ?", (to_micros(now - WINDOWS_HOLD),)
        )
        windows = ((key.partition("/")[2], read_window(value)) for key, value in rows)
        return {
            container_id: window
            for container_id, window in windows
            if window is not None and now - window.newest.read_at < WINDOWS_HOLD
        }

    def _take_file_back(self) -> None:
        """Read everything anew: the file has what memory lacked, and now has what memory held."""
        current, stored = self._memory, self._read()
        quiets, notes = current.quiets, current.notes
        if not self._has_read_file:
            quiets, notes = _join_quiets(stored.quiets, quiets), join_notes(stored.notes, notes)
            self._entries += close_all(stored.repetitions)[1]
        self._saved, self._has_read_file = stored, True
        self._memory = replace(
            stored,
            coverage=join_coverage(stored.coverage, current.coverage),
            journaled=join_told(stored.journaled, current.journaled),
            incidents=_join_incidents(stored.incidents, current.incidents),
            quiets=quiets,
            notes=notes,
            messages={**stored.messages, **current.messages},
            hysteresis=current.hysteresis,
            log_counts=current.log_counts,
            readings=current.readings,
            oom=current.oom,
            configs=current.configs,
            memory_tracks=current.memory_tracks,
            usage_slot=current.usage_slot,
            deployments=current.deployments,
            disk=current.disk if current.disk.samples else stored.disk,
            failed_runs=join_failed_runs(stored.failed_runs, current.failed_runs),
            repetitions=current.repetitions,
            engine_name=current.engine_name,
            loss_check=current.loss_check,
        )

    def _prune(self, now: datetime) -> None:
        """Drop what is older than the retention, at most once an hour; a stepping clock deletes nothing."""
        before = self._retention.decide(now)
        if before is None:
            self._state.write(self._retention.take_pending(), now)
            return
        memory = self._memory
        self._memory = replace(memory, coverage=forget_before(memory.coverage, before))
        present = [f"container/{one}" for one in memory.counted]
        present += [f"past/{identity}" for identity in set(memory.identities.values())]
        old, removed = to_micros(before), to_micros(now - KEEP_REMOVED)
        statements: list[Statement] = [
            ("UPDATE memory SET at = ? WHERE key = ?", [(to_micros(now), key) for key in present]),
            *(
                (f"DELETE FROM memory WHERE key GLOB '{kind}/*' AND at < ?", [(removed,)])  # noqa: S608 -- words of our own
                for kind in ("container", "window")
            ),
            *(
                (f"DELETE FROM memory WHERE key GLOB '{kind}/*' AND at < ?", [(old,)])  # noqa: S608 -- words of our own
                for kind in ("past", "lines", "usage")
            ),
            (
                "DELETE FROM memory WHERE key GLOB 'lines/*' AND at < (SELECT at FROM memory WHERE key GLOB 'lines/*'"
                " ORDER BY at DESC LIMIT 1 OFFSET ?)",
                [(EXITS_WITH_LINES,)],
            ),
            *prune_events(before, find_beyond(self._state.query_if_readable, set(memory.identities.values()))),
            *prune_costs(before, find_costly(self._state.query_if_readable)),
            *prune_entries(now, self._find_excess()),
            prune_slots(now),
            prune_samples(now),
            *prune_incidents(now, find_crowding(self._state.query_if_readable)),
            *self._retention.take_pending(),
        ]
        self._state.write(statements, now)

    def _find_excess(self) -> list[Excess]:
        """Return whose rows in the journal are too many."""
        memory = self._memory
        pasts = [memory.pasts.get(identity, NO_PAST) for identity in memory.identities.values()]
        containers = {configured.name for past in pasts for configured in past.containers.values() if configured.name}
        owners = [json.loads(identity) for identity in set(memory.identities.values())]
        services = {f"{project}/{service}" for project, service, *_ in (one for one in owners if len(one) > 1)}
        projects = {one[0] for one in owners if len(one) > 1}
        present = Present(tuple(sorted(containers)), tuple(sorted(services)), tuple(sorted(projects)))
        room = ROOM_WITHOUT_FILE if self.status == "none" else ROOM_IN_FILE
        return find_excess(self._state.query_if_readable, present, room)

    @property
    def status(self) -> Literal["file", "memory", "none"]:
        """Where it is kept: the state file, memory because the file cannot be used, or no file at all."""
        return self._state.status

    @property
    def file_id(self) -> str:
        """Device and inode of the state file that is used; "" where there is none, or it cannot be used."""
        return self._state.file_id

    @property
    def reason(self) -> str | None:
        """Why the status is not "file"."""
        return self._state.reason

    @property
    def observed_since(self) -> datetime | None:
        """Since when events are known; None when none could be read."""
        return self._memory.coverage.observed_since

    @property
    def journal_since(self) -> datetime | None:
        """The same for the journal, of which memory has only a part while the state file cannot be used."""
        times = (self.observed_since, self._state.knows_journal_since)
        return max((at for at in times if at is not None), default=None)

    @property
    def errors_total(self) -> int:
        """How often the state file failed."""
        return self._state.errors_total

    @property
    def entries_total(self) -> Mapping[JournalKind, int]:
        """Entries that were written to the journal since the exporter started, by kind.

        Those on what people know are not counted: a note changes no metric.
        """
        return self._entries_total

    @property
    def gaps_total(self) -> int:
        """How often events were lost beyond back-fill."""
        return self._memory.coverage.gaps_total

    def close(self) -> None:
        """Write what is left and let go of the file."""
        with self._lock:
            now = self._memory.coverage.observed_until or self._retention.newest
            self._save_due()
            repetitions, rows = close_all(self._memory.repetitions)
            self._memory = replace(self._memory, repetitions=repetitions)
            self._entries += rows
            self._slots += close_slot(self._memory.usage_slot)
            self._disk_saved_at = {}
            self._save_all(now, window_records(self._memory.readings.usage))
            if self._state.status == "memory":  # the last chance
                self._state.retry(now + timedelta(seconds=RETRY_SECONDS))
            self._state.close()


def _to_statements(records: Iterable[Record], now: datetime) -> list[Statement]:
    """Return the statements that store records; empty ones are deleted."""
    kept, gone = [], []
    at = to_micros(now)
    for key, value in records:
        if value:
            kept.append((key, at, value))
        else:
            gone.append((key,))
    return [("DELETE FROM memory WHERE key = ?", gone), (_PUT, kept)]


def _join_quiets(stored: tuple[Quiet, ...], current: tuple[Quiet, ...]) -> tuple[Quiet, ...]:
    """Return what either has muted; of one that both have, what was told last."""
    known = {quiet.name for quiet in current}
    return (*(quiet for quiet in stored if quiet.name not in known), *current)


def _join_incidents(stored: IncidentState, current: IncidentState) -> IncidentState:
    """Return the open incidents of both; of one that both have, what was seen last."""
    known = {tracked.incident.id for tracked in current.open}
    missing = tuple(tracked for tracked in stored.open if tracked.incident.id not in known)
    return current.model_copy(
        update={
            "open": (*missing, *current.open),
            "over": {**stored.over, **current.over},
            "signs_ahead": {**stored.signs_ahead, **current.signs_ahead},
            "numbers": {**stored.numbers, **current.numbers},
        }
    )
