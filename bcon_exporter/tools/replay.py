"""Snapshot files: written by `snapshot`, replayed by every command without an engine."""

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from bcon_exporter.compose import FileEdit, FoundText, ResolvedDeployment, ResolvedEdit
from bcon_exporter.engine import RequestCounts, Wants, find_among
from bcon_exporter.errors import (
    ComposeFileNotFoundError,
    DockerConnectionError,
    InvalidInputError,
    NotAvailableError,
    PermissionDeniedError,
)
from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import EntryFilter, IncidentFilter
from bcon_exporter.memory import DiskMemory, FindingKind, LogCounts, Memory, NoteChange, UsageSlot
from bcon_exporter.model.container_facts import ComposeIdentity, ContainerFacts, EngineFacts, HostSnapshot, LogFacts
from bcon_exporter.model.deployment import DeploymentWords, HostFacts, ImageFacts
from bcon_exporter.model.desired import DesiredProject, ProjectProblem, RunningProject
from bcon_exporter.model.disk import DiskSpace, LogFile, LogReading, StoredData
from bcon_exporter.model.hysteresis import HoldState
from bcon_exporter.model.incidents import Incident, IncidentRoot, IncidentState, SeenBefore
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.model.messages import ReceiverState
from bcon_exporter.model.notes import NoteBook
from bcon_exporter.model.quiet import Quiet
from bcon_exporter.model.reports import CostEntry
from bcon_exporter.model.system_status import HostLoad
from bcon_exporter.model.validation_messages import tell_refusal
from bcon_exporter.model.verify_report import DeploymentRecord
from bcon_exporter.readings import NOTHING_READ, KillReadings, Observation, Readings
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file

SCHEMA_VERSION = 1
_NOT_IN_SNAPSHOT = "a snapshot does not hold it: ask on the host itself"
_MAX_SNAPSHOT_BYTES = 512 * 1024 * 1024


def write_snapshot(path: Path, snapshot: HostSnapshot) -> None:
    """Write a snapshot for its owner only (mode 0600), whole or not at all.

    Raises:
        PermissionDeniedError, InvalidInputError: The file cannot be written.
    """
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(snapshot_json(snapshot))
        scratch.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)
        kind = PermissionDeniedError if isinstance(error, PermissionError) else InvalidInputError
        msg = f"the snapshot cannot be written to {path}: {error.strerror}"
        raise kind(msg, {"file": str(path)}) from None


def snapshot_json(snapshot: HostSnapshot) -> bytes:
    """Return a snapshot as the bytes of its file."""
    return snapshot.model_dump_json(exclude_defaults=False).encode() + b"\n"


def read_snapshot(path: Path) -> HostSnapshot:
    """Return the snapshot of a file.

    Raises:
        InvalidInputError: It cannot be read, is no snapshot, or one of another version.
    """
    try:
        raw = read_regular_file(path, _MAX_SNAPSHOT_BYTES)
    except UnreadableFileError as error:
        raise _bad(path, str(error)) from None
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError):
        raise _bad(path, "is not JSON; write one with `bcon-exporter snapshot --output FILE`") from None
    version = fields.get("schema_version") if isinstance(fields, dict) else None
    if version != SCHEMA_VERSION:
        told = f"has version {version}" if isinstance(version, int) else "is not a snapshot"
        raise _bad(path, f"{told}; this bcon-exporter reads version {SCHEMA_VERSION}")
    try:
        return HostSnapshot.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:120]
        raise _bad(path, f"is broken at {where}: {tell_refusal(first)}") from None


def _bad(path: Path, what: str) -> InvalidInputError:
    return InvalidInputError(f"snapshot {path} {what}", {"file": str(path)})


class SnapshotHost:
    """A host that is a snapshot: answers every read as the host did when it was taken."""

    def __init__(self, snapshot: HostSnapshot) -> None:
        self._snapshot = snapshot

    def start(self) -> None:
        """Nothing happens in a snapshot."""

    def exclusive_access(self, deadline_seconds: float) -> contextlib.AbstractContextManager[None]:  # noqa: ARG002
        """All may read a snapshot at once."""
        return contextlib.nullcontext()

    def observe(
        self,
        now: datetime,  # noqa: ARG002
        deadline_seconds: float,  # noqa: ARG002
        wants: Wants,  # noqa: ARG002
        before: Readings = NOTHING_READ,  # noqa: ARG002
    ) -> Observation:
        """Return the snapshot; it holds what it holds, whatever is wanted."""
        return Observation(self._snapshot)

    def changes(self) -> int:
        """Nothing happens in a snapshot."""
        return 0

    def drain_events(self) -> EventBatch:
        """Return nothing: the snapshot's containers already have their past."""
        return EventBatch(events=(), covers_since=None)

    def read_kills(self) -> KillReadings | None:
        """Nobody is killed any more."""
        return None

    def resolve(self, container: str) -> str:
        """Return the full id of an id, a unique prefix or a name."""
        return find_container(self._snapshot, container).id

    def read_logs(self, container_id: str, *, tail: int, since: datetime | None, until: datetime | None) -> LogFacts:
        """Return the lines that the snapshot holds."""
        facts = find_container(self._snapshot, container_id)
        if facts.logs is None:
            reason = facts.unread.get("logs", "the snapshot was taken without them")
            msg = f"the snapshot has no log of {facts.name}: {reason}"
            raise InvalidInputError(msg, {"container_id": facts.short_id})
        kept = [
            line
            for line in facts.logs.lines
            if (since is None or (line.at is not None and line.at >= since))
            and (until is None or (line.at is not None and line.at < until))
        ]
        cut = facts.logs.truncated or len(kept) > tail
        return facts.logs.model_copy(update={"lines": tuple(kept[-tail:]), "truncated": cut})

    def engine(self) -> EngineFacts:
        """Return the engine as it was."""
        if self._snapshot.engine is None:
            msg = "the snapshot does not say which engine it was taken from"
            raise DockerConnectionError(msg, {})
        return self._snapshot.engine

    def read_images(self, references: Iterable[str]) -> dict[str, ImageFacts | None]:  # noqa: ARG002
        """Know of none: a snapshot holds containers."""
        return {}

    def look_at_host(self, snapshot: HostSnapshot, paths: Mapping[str, str]) -> HostFacts:  # noqa: ARG002
        """See nothing of the host any more."""
        return HostFacts(unseen={"the host": "this is a snapshot"})

    def read_log_files(self, now: datetime) -> LogReading:
        """Return the logs that the snapshot tells of: those that nothing bounds."""
        engine, root = self._snapshot.engine, None
        if engine is not None:
            root = next((disk for disk in self._snapshot.disks or () if disk.path == engine.root_dir), None)
        free = root.free_bytes if root is not None else None
        return LogReading(
            at=now,
            engine_id=engine.id if engine is not None else None,
            logs=tuple(map(_log_file, self._snapshot.containers)),
            space=None
            if root is None or free is None
            else DiskSpace(path=root.path, used_bytes=round(root.total_bytes * root.used_ratio), free_bytes=free),
            space_unread="the snapshot does not tell",
        )

    def read_stored_data(self, now: datetime) -> StoredData:  # noqa: ARG002
        """Say that a snapshot does not hold it."""
        raise InvalidInputError(_NOT_IN_SNAPSHOT, {})

    def read_load(self, engine: EngineFacts) -> HostLoad | str:  # noqa: ARG002
        """Say that a snapshot does not hold it."""
        return _NOT_IN_SNAPSHOT

    def is_in_container(self) -> bool:
        """A snapshot is nowhere."""
        return False

    def is_up(self) -> bool:
        """A snapshot always answers."""
        return True

    def endpoints_up(self) -> Mapping[str, bool]:
        """No endpoint is asked."""
        return {}

    def requests(self) -> RequestCounts:
        """No request is made."""
        return RequestCounts(endpoints={})

    def close(self) -> None:
        """Hold nothing."""


def _log_file(facts: ContainerFacts) -> LogFile:
    unread = facts.unread.get("log_bytes", "the snapshot tells only of logs that nothing bounds")
    return LogFile(
        container_id=facts.id,
        name=facts.name,
        project=facts.compose.project if facts.compose is not None else None,
        driver=facts.log_driver,
        is_bounded=facts.log_is_bounded,
        size_bytes=facts.log_bytes,
        unread="" if facts.log_bytes is not None else unread,
    )


def find_container(snapshot: HostSnapshot, container: str) -> ContainerFacts:
    """Return the container of this name, id or unique id prefix.

    Raises:
        ContainerNotFoundError: There is none.
        InvalidInputError: Several ids begin so.
    """
    by_id = {facts.id: facts for facts in snapshot.containers}
    return by_id[find_among(container, {container_id: facts.name for container_id, facts in by_id.items()})]


class SnapshotMemory:
    """The memory of a replay: it has the disk alone, since all other past stands in the snapshot."""

    status: Literal["file", "memory", "none"] = "none"
    file_id = ""
    observed_since: datetime | None = None
    journal_since: datetime | None = None
    memory = Memory()

    def __init__(self, logs: LogReading | None = None) -> None:
        if logs is not None:
            self.memory = Memory(disk=DiskMemory(logs=logs, problem=_NOT_IN_SNAPSHOT))

    def one_transaction(self) -> contextlib.AbstractContextManager[None]:
        """Nothing is saved."""
        return contextlib.nullcontext()

    def add_kills(self, batch: EventBatch, kills: KillReadings, now: datetime) -> EventBatch:  # noqa: ARG002
        """Return the events as they are."""
        return batch

    def add_events(self, batch: EventBatch, now: datetime) -> None:
        """Keep nothing."""

    def observe(self, snapshot: HostSnapshot, readings: Readings | None = None) -> HostSnapshot:  # noqa: ARG002
        """Return the snapshot as it is."""
        return snapshot

    def look(self, snapshot: HostSnapshot) -> HostSnapshot:
        """Return the snapshot as it is."""
        return snapshot

    def conclude_first_seen(
        self,
        kind: FindingKind,  # noqa: ARG002
        present: Any,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
        judged_at: datetime | None = None,  # noqa: ARG002
    ) -> dict[str, datetime]:
        """Know nothing of earlier times."""
        return {}

    def first_seen(self, kind: FindingKind) -> Mapping[str, datetime]:  # noqa: ARG002
        """Know of none."""
        return {}

    def conclude(self, *, hysteresis: HoldState, log_counts: LogCounts) -> None:
        """Keep nothing."""

    def find_due_deployments(self, snapshot: HostSnapshot) -> tuple[str, ...]:  # noqa: ARG002
        """Know of none: nothing changes in a snapshot."""
        return ()

    def keep_deployment(self, record: DeploymentRecord) -> None:
        """Keep nothing."""

    def fold_incidents(self, fold: Callable[[IncidentState], FoldedIncidents], now: datetime) -> None:
        """Keep nothing."""

    def acknowledge_incident(self, incident_id: str, entry: JournalEntry) -> None:
        """Keep nothing."""

    def keep_disk(self, reading: LogReading | StoredData | str, now: datetime) -> None:
        """Keep nothing."""

    def keep_quiets(self, change: Callable[[tuple[Quiet, ...]], tuple[Quiet, ...]], entry: JournalEntry) -> None:
        """Keep nothing."""

    def keep_notes(self, change: Callable[[NoteBook], NoteChange], now: datetime) -> NoteChange:  # noqa: ARG002
        """Keep nothing, and say so: a note that nobody has kept is no note.

        Raises:
            PermissionDeniedError: Always.
        """
        msg = "a snapshot is only read: notes are kept by the daemon of the host"
        raise PermissionDeniedError(msg, {})

    def keep_messages(self, receiver: str, state: ReceiverState, now: datetime) -> None:
        """Keep nothing."""

    def find_ended_incidents(self, wanted: IncidentFilter) -> list[Incident]:  # noqa: ARG002
        """Return none: they are the daemon's."""
        return []

    def find_ended_incident(self, incident_id: str) -> Incident | None:  # noqa: ARG002
        """Return none."""
        return None

    def ended_incidents_mark(self) -> object:
        """Return the same always."""
        return None

    def ended_incident_ids(self) -> frozenset[str]:
        """Return none."""
        return frozenset()

    def find_earlier_incidents(self, root: IncidentRoot) -> SeenBefore:  # noqa: ARG002
        """Know of none."""
        return SeenBefore()

    def keep_alerts(self, state: str, now: datetime) -> None:
        """Keep nothing."""

    def find_entries(self, wanted: EntryFilter, limit: int, offset: int = 0) -> list[JournalEntry]:  # noqa: ARG002
        """Return none: the journal is the daemon's."""
        return []

    def count_entries(self, wanted: EntryFilter) -> int:  # noqa: ARG002
        """Return 0."""
        return 0

    def find_usage(self, container_id: str, since: datetime) -> list[UsageSlot]:  # noqa: ARG002
        """Know of none: the usage of earlier times is the daemon's."""
        return []

    def record_cost(self, entry: CostEntry) -> None:
        """Keep nothing."""

    def costs(self, since: datetime, until: datetime) -> tuple[CostEntry, ...]:  # noqa: ARG002
        """Return nothing."""
        return ()

    def close(self) -> None:
        """Hold nothing."""


class SnapshotCompose:
    """The Compose projects as they were resolved when the snapshot was taken."""

    def __init__(self, snapshot: HostSnapshot) -> None:
        self._projects = snapshot.desired or ()

    def resolve_running(self, project: RunningProject, now: datetime) -> DesiredProject:
        """Return the project as it was resolved, or say that the snapshot lacks it."""
        for desired in self._projects:
            if desired.name == project.name:
                return desired
        return DesiredProject(
            name=project.name,
            config_files=project.config_files,
            working_dir=project.working_dir,
            resolved_at=now,
            problem=ProjectProblem.NOT_FOUND,
            problem_detail="the snapshot does not hold this project's Compose files",
        )

    def resolve_file(
        self,
        path: str,
        project_name: str | None,
        now: datetime,  # noqa: ARG002
        known: tuple[RunningProject, ...],  # noqa: ARG002
    ) -> DesiredProject:
        """Return the project whose files include `path`."""
        wanted = os.path.abspath(path)  # noqa: PTH100 -- the file lies on another machine: do not resolve links here
        for desired in self._projects:
            if project_name in (None, desired.name) and wanted in desired.config_files:
                return desired
        files = tuple(file for desired in self._projects for file in desired.config_files)
        msg = f"the snapshot does not hold {path}; it holds: {', '.join(files) or 'no Compose file'}"
        raise ComposeFileNotFoundError(msg, {"file": path, "files": files})

    def resolve_deployment(
        self,
        words: DeploymentWords,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
        known: tuple[RunningProject, ...] = (),  # noqa: ARG002
    ) -> ResolvedDeployment:
        """Say that no file is read."""
        return ResolvedDeployment(problem="A snapshot holds no Compose file.")

    def resolve_edit(
        self,
        edit: FileEdit,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
        known: tuple[RunningProject, ...] = (),  # noqa: ARG002
    ) -> ResolvedEdit:
        """Say that no file is read."""
        raise _no_files(so_that="no edit of one can be judged")

    def read_text(self, path: str, projects: tuple[RunningProject, ...]) -> FoundText:  # noqa: ARG002
        """Say that no file is read."""
        raise _no_files(so_that="none can be shown")

    def list_files(
        self,
        folder: str,  # noqa: ARG002
        depth: int,  # noqa: ARG002
        projects: tuple[RunningProject, ...],  # noqa: ARG002
    ) -> tuple[str, ...]:
        """Say that no file is read."""
        raise _no_files(so_that="none can be found")

    def configured_projects(self, now: datetime) -> tuple[DesiredProject, ...]:  # noqa: ARG002
        """Return every project of the snapshot."""
        return self._projects

    def files_changed(self) -> bool:
        """No file is read."""
        return False

    def learn_env_files(self, claims: Iterable[ComposeIdentity]) -> None:
        """No file is read: the snapshot was masked when it was taken."""


def _no_files(*, so_that: str) -> NotAvailableError:
    msg = f"a snapshot holds no Compose file, so that {so_that}: ask on the host itself"
    return NotAvailableError(msg, {"would_help": "asking on the host itself"})
