"""What a tool works with: the host, what is remembered of it, the wanted state, and the numbers to judge by."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event
from typing import Any, Literal, Protocol

from pydantic import TypeAdapter

from bcon_exporter import __version__, clock
from bcon_exporter.compose import FileEdit, FoundText, ResolvedDeployment, ResolvedEdit
from bcon_exporter.diagnosis import Policy
from bcon_exporter.drift import IgnoreRule
from bcon_exporter.engine import RequestCounts, Wants
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import EntryFilter, IncidentFilter, SearchIndex
from bcon_exporter.latest_scans import LatestScans, ScanName
from bcon_exporter.memory import FindingKind, LogCounts, Memory, NoteChange, UsageSlot
from bcon_exporter.model.container_facts import ComposeIdentity, EngineFacts, HostSnapshot, LogFacts
from bcon_exporter.model.deployment import DeploymentWords, HostFacts, ImageFacts
from bcon_exporter.model.desired import DesiredProject, RunningProject
from bcon_exporter.model.disk import DiskReport, DiskUsageInput, LogReading, StoredData
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.hysteresis import HoldState
from bcon_exporter.model.incidents import Incident, IncidentRoot, IncidentState, SeenBefore
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.model.messages import ReceiverState
from bcon_exporter.model.notes import Decision, NoteBook, NoteInput, NoteLine, WriteMemoryInput, WrittenNote
from bcon_exporter.model.quiet import Quiet, QuietHours
from bcon_exporter.model.reports import CostEntry
from bcon_exporter.model.signatures import Catalogue
from bcon_exporter.model.system_status import HostLoad
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.model.verify_report import DeploymentRecord
from bcon_exporter.readings import NOTHING_READ, KillReadings, Observation, Readings
from bcon_exporter.tools.change_rates import ChangeRates
from bcon_exporter.tools.error_counts import ErrorTally
from bcon_exporter.tools.running_watches import Watches
from bcon_exporter.tools.single_flight import SingleFlight


class Host(Protocol):
    """A Docker host as tools see it: the real one, or a snapshot file that replays one."""

    def start(self) -> None:
        """Follow what happens from now on, until `close`."""

    def exclusive_access(self, deadline_seconds: float) -> AbstractContextManager[None]:
        """Wait until nobody reads the host; within the block only this thread does."""

    def observe(
        self, now: datetime, deadline_seconds: float, wants: Wants, before: Readings = NOTHING_READ
    ) -> Observation:
        """Read all containers once."""

    def changes(self) -> int:
        """Return how often something has happened to a container."""

    def drain_events(self) -> EventBatch:
        """Return what the event stream brought since it was last asked."""

    def read_kills(self) -> KillReadings | None:
        """Return what the kernel says of OOM kills since it was last asked; None where it cannot be asked."""

    def resolve(self, container: str) -> str:
        """Return the full id that an id, an id prefix or a name stands for."""

    def read_logs(self, container_id: str, *, tail: int, since: datetime | None, until: datetime | None) -> LogFacts:
        """Return the newest log lines within the window."""

    def engine(self) -> EngineFacts:
        """Return what the engine says of itself."""

    def read_images(self, references: Iterable[str]) -> dict[str, ImageFacts | None]:
        """Return images by reference, None for one that is not there; what could not be read is left out."""

    def look_at_host(self, snapshot: HostSnapshot, paths: Mapping[str, str]) -> HostFacts:
        """Return what is seen of the engine's host; `paths`: as they may be shown → the real ones."""

    def read_log_files(self, now: datetime) -> LogReading:
        """Return how large the log files are of the containers that the last snapshot had."""

    def read_stored_data(self, now: datetime) -> StoredData:
        """Return what the engine says of its disk usage; it may take minutes."""

    def read_load(self, engine: EngineFacts) -> HostLoad | str:
        """Return how busy the engine's machine is, or why that cannot be seen from here."""

    def is_in_container(self) -> bool:
        """Tell whether this process runs in a container."""

    def is_up(self) -> bool:
        """Tell whether the last contact succeeded."""

    def endpoints_up(self) -> Mapping[str, bool]:
        """Tell for each endpoint whether it answers."""

    def requests(self) -> RequestCounts:
        """Return how often each endpoint was asked."""

    def close(self) -> None:
        """Let go of every connection."""


class Memories(Protocol):
    """What is remembered of the host, and where it is kept."""

    @property
    def memory(self) -> Memory:
        """What is remembered now."""

    def one_transaction(self) -> AbstractContextManager[None]:
        """Save what this thread remembers within at once, at the end."""

    def add_kills(self, batch: EventBatch, kills: KillReadings, now: datetime) -> EventBatch:
        """Fold in what the kernel says of OOM kills; return the events with those that the engine left out."""

    def add_events(self, batch: EventBatch, now: datetime) -> None:
        """Fold events in."""

    def observe(self, snapshot: HostSnapshot, readings: Readings | None = None) -> HostSnapshot:
        """Fold a snapshot in; return it with each container's known past."""

    def look(self, snapshot: HostSnapshot) -> HostSnapshot:
        """Return a snapshot with each container's known past, and remember nothing of it."""

    def conclude_first_seen(
        self,
        kind: FindingKind,
        present: Mapping[str, Severity | None],
        now: datetime,
        judged_at: datetime | None = None,
    ) -> dict[str, datetime]:
        """Return since when each present key has been seen."""

    def first_seen(self, kind: FindingKind) -> Mapping[str, datetime]:
        """Return the keys that were present last, each with since when."""

    def conclude(self, *, hysteresis: HoldState, log_counts: LogCounts) -> None:
        """Keep which symptoms are held, and what was counted in logs."""

    def find_due_deployments(self, snapshot: HostSnapshot) -> tuple[str, ...]:
        """Return the projects of which a deployment is to be judged now."""

    def keep_deployment(self, record: DeploymentRecord) -> None:
        """Keep the verdict on a deployment."""

    def fold_incidents(self, fold: Callable[[IncidentState], FoldedIncidents], now: datetime) -> None:
        """Fold a scan into the open incidents, store those that are over, and tell the journal."""

    def acknowledge_incident(self, incident_id: str, entry: JournalEntry) -> None:
        """Note that somebody is on an open incident."""

    def keep_disk(self, reading: LogReading | StoredData | str, now: datetime) -> None:
        """Fold in what was read of the disk; a text says why the engine did not tell."""

    def keep_quiets(self, change: Callable[[tuple[Quiet, ...]], tuple[Quiet, ...]], entry: JournalEntry) -> None:
        """Change what people have muted."""

    def keep_notes(self, change: Callable[[NoteBook], NoteChange], now: datetime) -> NoteChange:
        """Change the notes, and tell the journal."""

    def keep_messages(self, receiver: str, state: ReceiverState, now: datetime) -> None:
        """Keep what a receiver of messages has been told."""

    def find_ended_incidents(self, wanted: IncidentFilter) -> list[Incident]:
        """Return incidents that are over, newest first."""

    def find_ended_incident(self, incident_id: str) -> Incident | None:
        """Return one that is over; None when there is no such."""

    def ended_incidents_mark(self) -> object:
        """Return a value that changes with the incidents that are over."""

    def ended_incident_ids(self) -> frozenset[str]:
        """Return the ids of all incidents that are over."""

    def find_earlier_incidents(self, root: IncidentRoot) -> SeenBefore:
        """Return how often the same has happened before."""

    def keep_alerts(self, state: str, now: datetime) -> None:
        """Keep the state of the alerts over a restart."""

    def find_entries(self, wanted: EntryFilter, limit: int, offset: int = 0) -> list[JournalEntry]:
        """Return entries of the journal, newest first."""

    def count_entries(self, wanted: EntryFilter) -> int:
        """Return how many entries the journal has."""

    def find_usage(self, container_id: str, since: datetime) -> list[UsageSlot]:
        """Return what a container used in each five minutes since then."""

    def record_cost(self, entry: CostEntry) -> None:
        """Add a tool call to the ledger."""

    def costs(self, since: datetime, until: datetime) -> Iterable[CostEntry]:
        """Return the ledger's entries of a period."""

    @property
    def status(self) -> Literal["file", "memory", "none"]:
        """Where it is kept."""

    @property
    def file_id(self) -> str:
        """Device and inode of the state file that is used; "" where there is none."""

    @property
    def observed_since(self) -> datetime | None:
        """Since when events are known; None when none could be read."""

    @property
    def journal_since(self) -> datetime | None:
        """Since when the entries of the journal are known."""

    def close(self) -> None:
        """Let go of the file."""


class Wanted(Protocol):
    """Where the wanted state of Compose projects comes from: the Compose binary, or a snapshot file."""

    def resolve_running(self, project: RunningProject, now: datetime) -> DesiredProject:
        """Resolve a running project's own files; a problem is stated in the result."""

    def resolve_file(
        self, path: str, project_name: str | None, now: datetime, known: tuple[RunningProject, ...]
    ) -> DesiredProject:
        """Resolve a file that somebody asked for."""

    def resolve_deployment(
        self, words: DeploymentWords, now: datetime, known: tuple[RunningProject, ...] = ()
    ) -> ResolvedDeployment:
        """Return what a user's words for `docker compose` would deploy."""

    def resolve_edit(self, edit: FileEdit, now: datetime, known: tuple[RunningProject, ...] = ()) -> ResolvedEdit:
        """Return what a project's files ask for with one of them edited, and without; nothing is written."""

    def read_text(self, path: str, projects: tuple[RunningProject, ...]) -> FoundText:
        """Return the text of a file that a project reads, or that lies below the roots; its secrets are learned."""

    def list_files(self, folder: str, depth: int, projects: tuple[RunningProject, ...]) -> tuple[str, ...]:
        """Return the files that `read_text` shows, at most so many folders below one."""

    def configured_projects(self, now: datetime) -> tuple[DesiredProject, ...]:
        """Resolve the files that the settings name."""

    def files_changed(self) -> bool:
        """Return whether a file that was read has changed since; each change is told once."""

    def learn_env_files(self, claims: Iterable[ComposeIdentity]) -> None:
        """Take the secrets that the env files of running projects hold, so that none is shown."""


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that tools and the scheduled jobs share; made once, by the composition root.

    Attributes:
        now: The wall clock; in a replay the time of the snapshot.
        drift_ignore: Differences that are not reported.
        tells_commands: Refusals tell agents the command that a person may give.
        quiet_hours: Settings of who is quiet at which time of day.
        host_name: What the host is called in messages and on pages; empty for the engine's name of it.
        to_local: Returns a time by the host's clock on the wall.
        one_shot: True for a command: no earlier usage sample exists, so a second one is taken a second later.
        recall: For a command: adds what a daemon remembers to a snapshot; None where there is nothing to ask.
        ask_disk: For a command: what a daemon says of the disk; None where there is nothing to ask, or no answer.
        ask_past: For a command: has the daemon answer a tool about the past (its name, its input, the type of its
            result). It returns None where the state file that was read is the one to ask, and raises where there is
            neither a file nor a daemon. None where there is nothing to ask.
        write_note: For a command: has a daemon keep a note; None where there is nobody to ask.
        decide_note: For a command: has a daemon approve or refuse a note; None where there is nobody to ask.
        outlives_calls: True for a process without scans that serves call after call: a watch goes on between them.
        scan_now: In the daemon: has a scan of its own begin now; the event is set once it has ended. Else None.
        watches: What the daemon, or another process that outlives calls, watches for people and agents.
        change_rates: How often each caller has changed what is kept.
        secrets: What containers and projects know of each other's secrets; shared with host and compose.
    """

    host: Host
    memory: Memories
    compose: Wanted
    catalogue: Catalogue
    scans: LatestScans
    thresholds: Thresholds = field(default_factory=Thresholds)
    policy: Policy = field(default_factory=Policy)
    drift_ignore: tuple[IgnoreRule, ...] = ()
    scan_deadline_seconds: float = 15.0
    one_shot: bool = False
    outlives_calls: bool = False
    recall: Callable[[HostSnapshot], HostSnapshot] | None = None
    ask_disk: Callable[[DiskUsageInput], DiskReport | None] | None = None
    ask_past: Callable[[str, Mapping[str, object], TypeAdapter[Any]], Any] | None = None
    write_note: Callable[[WriteMemoryInput], WrittenNote] | None = None
    decide_note: Callable[[NoteInput, Decision], NoteLine] | None = None
    scan_now: Callable[[ScanName], Event] | None = None
    watches: Watches = field(default_factory=Watches)
    change_rates: ChangeRates = field(default_factory=ChangeRates)
    quiet_hours: tuple[QuietHours, ...] = ()
    tells_commands: bool = True
    host_name: str = ""
    now: Callable[[], datetime] = clock.utc_now
    to_local: Callable[[datetime], datetime] = clock.to_local
    monotonic: Callable[[], float] = clock.monotonic
    secrets: HostSecrets = field(default_factory=HostSecrets)
    single_flight: SingleFlight = field(default_factory=SingleFlight)
    search_index: SearchIndex = field(default_factory=SearchIndex)
    errors: ErrorTally = field(default_factory=ErrorTally)
    version: str = __version__
