"""What a tool works with: the host, its past, the wanted state, and the numbers to judge by."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from bcon_exporter import __version__, clock
from bcon_exporter.diagnosis import Policy
from bcon_exporter.docker_host import RequestCounts, Wants
from bcon_exporter.drift import IgnoreRule
from bcon_exporter.model.desired import DesiredProject, RunningProject
from bcon_exporter.model.facts import ComposeIdentity, EngineFacts, HostSnapshot, LogFacts
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.model.reports import CostEntry
from bcon_exporter.model.signatures import Catalogue
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.secret_book import SecretBook
from bcon_exporter.store import Store
from bcon_exporter.tools.flight import Flights
from bcon_exporter.tools.tally import ErrorTally


class Host(Protocol):
    """A Docker host as tools see it: the real one, or a snapshot file that replays one."""

    def take_snapshot(self, now: datetime, deadline_seconds: float, wants: Wants) -> HostSnapshot:
        """Read all containers once."""

    def changes(self) -> int:
        """Return how often something has happened to a container."""

    def drain_events(self) -> EventBatch:
        """Return what the event stream brought since it was last asked."""

    def resolve(self, container: str) -> str:
        """Return the full id that an id, an id prefix or a name stands for."""

    def read_logs(self, container_id: str, *, tail: int, since: datetime | None, until: datetime | None) -> LogFacts:
        """Return the newest log lines within the window."""

    def engine(self) -> EngineFacts:
        """Return what the engine says of itself."""

    def is_up(self) -> bool:
        """Tell whether the last contact succeeded."""

    def endpoints_up(self) -> Mapping[str, bool]:
        """Tell for each endpoint whether it answers."""

    def requests(self) -> RequestCounts:
        """Return how often each endpoint was asked."""

    def close(self) -> None:
        """Let go of every connection."""


class Past(Protocol):
    """What is remembered of the host."""

    def record_events(self, batch: EventBatch, now: datetime) -> None:
        """Keep the events."""

    def enrich(self, snapshot: HostSnapshot) -> HostSnapshot:
        """Return the snapshot with each container's known past."""

    def remember(self, snapshot: HostSnapshot) -> None:
        """Keep last-known usage and the last lines of exits."""

    def first_seen(
        self, kind: Literal["symptom", "drift"], present: "frozenset[str]", now: datetime
    ) -> dict[str, datetime]:
        """Return since when each present key has been seen."""

    def known_since(self, kind: Literal["symptom", "drift"]) -> Mapping[str, datetime]:
        """Return the keys that were present last, each with since when."""

    def alert_state(self) -> str | None:
        """Return the state of the alerts that was kept last; None when there is none."""

    def keep_alert_state(self, state: str, now: datetime) -> None:
        """Keep the state of the alerts over a restart."""

    def record_cost(self, entry: CostEntry) -> None:
        """Add a tool call to the ledger."""

    def costs(self, since: datetime, until: datetime) -> Iterable[CostEntry]:
        """Return the ledger's entries of a period."""

    @property
    def status(self) -> Literal["file", "memory", "none"]:
        """Where it is kept."""

    @property
    def observed_since(self) -> datetime | None:
        """Since when events are known; None when none could be read."""

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
        one_shot: True for a command: no earlier usage sample exists, so a second one is taken a second later.
        recall: For a command: adds what a daemon remembers to a snapshot; None where there is nothing to ask.
        secrets: What containers and projects know of each other's secrets; shared with host and compose.
    """

    host: Host
    history: Past
    compose: Wanted
    catalogue: Catalogue
    store: Store
    thresholds: Thresholds = field(default_factory=Thresholds)
    policy: Policy = field(default_factory=Policy)
    drift_ignore: tuple[IgnoreRule, ...] = ()
    scan_deadline_seconds: float = 15.0
    one_shot: bool = False
    recall: Callable[[HostSnapshot], HostSnapshot] | None = None
    now: Callable[[], datetime] = clock.utc_now
    monotonic: Callable[[], float] = clock.monotonic
    secrets: SecretBook = field(default_factory=SecretBook)
    flights: Flights = field(default_factory=Flights)
    errors: ErrorTally = field(default_factory=ErrorTally)
    version: str = __version__
