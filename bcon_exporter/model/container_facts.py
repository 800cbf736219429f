"""What was read from one Docker host at one moment: the input of every rule.

A field is None when Docker did not tell us; `unread` then says why. A rule never sees an invented value.
All text has been cleaned and all secrets masked before one of these values is made.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple, overload

from pydantic import Field, PlainSerializer, ValidatorFunctionWrapHandler, WrapValidator

from bcon_exporter.model.base import Frozen, UtcDatetime
from bcon_exporter.model.desired import DesiredProject, FieldValue
from bcon_exporter.model.growth import Growth
from bcon_exporter.model.image_versions import find_image_version
from bcon_exporter.model.lifecycle import FailedRun, LifecycleFacts
from bcon_exporter.model.wiring import Wiring


class ContainerState(StrEnum):
    """Container states as the engine names them (API 1.41, `State.Status`; Podman's are mapped)."""

    RUNNING = "running"
    EXITED = "exited"
    PAUSED = "paused"
    RESTARTING = "restarting"
    DEAD = "dead"
    CREATED = "created"
    REMOVING = "removing"


class HealthStatus(StrEnum):
    """Outcome of a container's own health check."""

    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"
    STARTING = "starting"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of container output, cleaned and masked.

    Attributes:
        at: The engine's own time stamp; None when it was not asked for or not parsable.
        stream: "stdout" or "stderr"; a terminal's output is all stdout.
    """

    at: UtcDatetime | None
    stream: Literal["stdout", "stderr"]
    text: str


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class LogLines(Sequence[LogLine]):
    """Lines of a log, oldest first, as three columns: a line is made when somebody looks at it, and few ever are.

    Attributes:
        nanoseconds: When each was written, since the epoch; None without a time.
        streams: "stdout" or "stderr".
        texts: Cleaned and masked.
    """

    __slots__ = ("nanoseconds", "streams", "texts")

    def __init__(
        self,
        nanoseconds: Iterable[int | None] = (),
        streams: Iterable[Literal["stdout", "stderr"]] = (),
        texts: Iterable[str] = (),
    ) -> None:
        self.nanoseconds = tuple(nanoseconds)
        self.streams = tuple(streams)
        self.texts = tuple(texts)

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, index: int) -> LogLine: ...
    @overload
    def __getitem__(self, index: slice) -> "LogLines": ...
    def __getitem__(self, index: int | slice) -> "LogLine | LogLines":
        if isinstance(index, slice):
            return LogLines(self.nanoseconds[index], self.streams[index], self.texts[index])
        return LogLine(_to_time(self.nanoseconds[index]), self.streams[index], self.texts[index])

    def __iter__(self) -> Iterator[LogLine]:
        return map(LogLine, map(_to_time, self.nanoseconds), self.streams, self.texts)

    def __add__(self, other: "LogLines") -> "LogLines":
        return LogLines(self.nanoseconds + other.nanoseconds, self.streams + other.streams, self.texts + other.texts)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LogLines):
            return (self.texts, self.nanoseconds, self.streams) == (other.texts, other.nanoseconds, other.streams)
        return tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def pick(self, places: Sequence[int]) -> "LogLines":
        """Return the lines at some places."""
        return LogLines(
            [self.nanoseconds[at] for at in places],
            [self.streams[at] for at in places],
            [self.texts[at] for at in places],
        )

    def with_texts(self, texts: Iterable[str]) -> "LogLines":
        """Return the same lines with other texts."""
        return LogLines(self.nanoseconds, self.streams, texts)


def _to_time(nanoseconds: int | None) -> datetime | None:
    return None if nanoseconds is None else _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def nanoseconds_of(at: datetime) -> int:
    """Return a time as nanoseconds since the epoch."""
    return (at - _EPOCH) // _MICROSECOND * 1000


def times_of(lines: Sequence[LogLine]) -> Sequence[int | None]:
    """Return when lines were written, in nanoseconds since the epoch; a line has its time to the microsecond."""
    if isinstance(lines, LogLines):
        return lines.nanoseconds
    return [None if line.at is None else nanoseconds_of(line.at) for line in lines]


def texts_of(lines: Sequence[LogLine]) -> Sequence[str]:
    """Return the texts of lines, without making the lines where they are columns."""
    return lines.texts if isinstance(lines, LogLines) else [line.text for line in lines]


def _keep_columns(lines: object, validate: ValidatorFunctionWrapHandler) -> Sequence[LogLine]:
    return lines if isinstance(lines, LogLines) else tuple(validate(lines))


class LogFacts(Frozen):
    """The recent output of a container.

    Attributes:
        lines: Oldest first; within `window_seconds` before the snapshot, or the last before an exit. Final words, such
            as a supervisor's that it gives up, and what ends them stay longer.
        truncated: True when older lines of the window were left out because of the byte or line cap.
        driver: Log driver name.
    """

    lines: Annotated[Sequence[LogLine], WrapValidator(_keep_columns), PlainSerializer(tuple)]
    truncated: bool = False
    driver: str | None = None


class Probe(Frozen):
    """One run of a health check, newest last in `HealthFacts.probes`."""

    started_at: UtcDatetime
    ended_at: UtcDatetime
    exit_code: int
    output: str


class HealthFacts(Frozen):
    """A container's health check; meaningful only while it runs (a stopped one's status is frozen).

    Attributes:
        timeout_seconds: Configured limit of one probe; None when unknown.
    """

    status: HealthStatus
    failing_streak: int = 0
    probes: tuple[Probe, ...] = ()
    timeout_seconds: float | None = None
    interval_seconds: float | None = None
    start_period_seconds: float | None = None
    retries: int | None = None


class ComposeIdentity(Frozen):
    """What the container's own Compose labels claim. Labels are claims: anything may carry them.

    Attributes:
        oneoff: A single run of a command (`docker compose run`).
        hook: Which hook of the service it runs ("pre_start"); None where it runs none.
        hook_index: Which one of several, from 0 on; None where it runs none, or Compose does not say.
    """

    project: str
    service: str
    number: int = 1
    oneoff: bool = False
    hook: str | None = None
    hook_index: int | None = None
    config_hash: str | None = None
    config_files: tuple[str, ...] = ()
    working_dir: str | None = None
    environment_files: tuple[str, ...] = ()
    version: str | None = None
    image: str | None = None
    depends_on: str | None = None

    @property
    def is_replica(self) -> bool:
        """Whether it claims to be one of those that the service is made of: neither a single run nor a hook."""
        return not self.oneoff and self.hook is None

    def is_hook_of(self, other: "ComposeIdentity | None") -> bool:
        """Whether it is a hook of the same service."""
        return (
            self.hook is not None
            and other is not None
            and (self.project, self.service) == (other.project, other.service)
        )


class Limits(Frozen):
    """Resource limits; None means no limit is set."""

    memory_bytes: int | None = None
    cpus: float | None = None
    cpuset_cpus: str | None = None
    pids: int | None = None


class NetworkAttachment(Frozen):
    """A network the container is attached to."""

    name: str
    aliases: tuple[str, ...] = ()
    ip_address: str | None = None


class Mount(Frozen):
    """A mounted volume or directory.

    Attributes:
        type: bind, volume, tmpfs, npipe or cluster.
        source: Host path, or the volume's name.
        allows_exec: Of a tmpfs, whether files on it may be executed; the engine forbids it unless it is asked to.
    """

    type: str
    source: str
    target: str
    read_only: bool = False
    allows_exec: bool = False


class NetworkCounters(NamedTuple):
    """What the interfaces of a network have counted, without the loopback."""

    received_packets: int
    received_errors: int
    received_dropped: int
    sent_packets: int
    sent_errors: int
    sent_dropped: int


class PressureTotals(NamedTuple):
    """For how long tasks have waited for a resource, in microseconds.

    Attributes:
        waiting: Some of them (`some`).
        stalled: All that were not idle (`full`); None where the kernel does not tell.
    """

    waiting: int
    stalled: int | None = None


class Pressure(NamedTuple):
    """What waiting for each resource has cost (PSI); None where the kernel does not tell."""

    cpu: PressureTotals | None = None
    memory: PressureTotals | None = None
    io: PressureTotals | None = None


def _as_it_is(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    """Take what we have made ourselves without looking into it, which would cost as much as reading it."""
    return value if isinstance(value, NetworkCounters | Pressure) else validate(value)


AsItIs = WrapValidator(_as_it_is)


class UsageFacts(Frozen):
    """Resource usage: the newest sample, and means over the window that rules judge.

    Attributes:
        cpu_count: CPUs the container may use (quota, else cpuset, else the host's).
        cpu_ratio: Mean share of those CPUs over `window_seconds`, 0.0 to 1.0; None with fewer than two samples.
        throttled_ratio: Throttled periods over all periods in the window, 0.0 to 1.0; None without a quota or samples.
        memory_usage_bytes: Newest working set, without inactive page cache, as `docker stats` shows it.
        memory_cache_bytes: Page cache in use: a part of `memory_usage_bytes` that the kernel takes back when it has to.
        memory_limit_bytes: The container's own limit; None where it has none.
        memory_ratio: Mean working set over the limit, or over the host's memory where there is no limit.
        network: None where its interfaces' counters were not read.
        pressure, open_files: As of the last minute; None where they were not read.
        stale: True when this is the last known usage because the newest could not be read.
    """

    read_at: UtcDatetime
    source: Literal["cgroup", "stats"]
    samples: int = 1
    window_seconds: float = 0.0
    cpu_count: float | None = None
    cpu_ratio: float | None = None
    cpu_seconds_total: float | None = None
    cpu_throttled_seconds_total: float | None = None
    throttled_ratio: float | None = None
    memory_usage_bytes: int | None = None
    memory_cache_bytes: int | None = None
    memory_limit_bytes: int | None = None
    memory_ratio: float | None = None
    pids: int | None = None
    network_rx_bytes: int | None = None
    network_tx_bytes: int | None = None
    block_read_bytes: int | None = None
    block_write_bytes: int | None = None
    network: Annotated[NetworkCounters | None, AsItIs] = None
    pressure: Annotated[Pressure | None, AsItIs] = None
    open_files: int | None = None
    stale: bool = False


class MemoryGrowth(Frozen):
    """How a working set grew steadily over a run, without giving memory back."""

    from_bytes: int
    to_bytes: int
    seconds: float


class ConfigFacts(Frozen):
    """The container's configuration as a flat map, for drift (see `FieldValue` and docs/drift.md).

    Attributes:
        fields: Path → value as the container has it.
        image_fields: Path → value that the image alone would give (ENV, LABEL, EXPOSE, CMD, ...).
            None when the image could not be read.
        image_id_of_tag: Id of the image that the container's image reference points to now; None when unknown.
        version_of_tag: Of that image; None where neither its label nor the tag tells.
        image_fingerprint: Of the image reference it was created with, which may show a masked tag.
    """

    fields: dict[str, FieldValue]
    image_fields: dict[str, FieldValue] | None = None
    image_id_of_tag: str | None = None
    version_of_tag: str | None = None
    image_fingerprint: str | None = None


class ContainerFacts(Frozen):
    """Everything known about one container.

    Attributes:
        id: Full id (64 hex digits).
        image: The reference it was created with.
        image_id: Id of the image it runs.
        status_text: The engine's own sentence, "Up 2 hours".
        error: `State.Error`: why a start failed; "" when there is none.
        removes_itself: The engine removes it when it ends (`--rm`).
        tty: True when output is not multiplexed and all of it is stdout.
        has_person: Somebody runs it at a terminal (`docker run -it`), or did so when it was made.
        log_is_bounded: Its log driver keeps only so much; None where that is unknown, or no file is kept.
        log_bytes: Size of a log that nothing bounds; None of any other, and where it cannot be seen.
        log_growth: Of that log, as the daemon remembers it.
        ports: "80/tcp" → "8080", "127.0.0.1:8080", or None when exposed but not published.
        usage: None for a container that does not run (see `last_usage`) or when it could not be read.
        memory_growth: Of its run, or of the one before, as the daemon remembers it; None where it did not grow
            steadily.
        logs: None when unread: not asked for, a driver without reading, a failed call.
        unread: Name of each fact that is None although it was asked for → the reason.
    """

    id: str
    name: str
    image: str
    state: ContainerState
    created_at: UtcDatetime
    labels: dict[str, str] = {}
    status_text: str = ""
    image_id: str | None = None
    started_at: UtcDatetime | None = None
    finished_at: UtcDatetime | None = None
    exit_code: int | None = None
    oom_killed: bool | None = None
    error: str | None = None
    restart_count: int | None = None
    restart_policy: str | None = None
    stop_signal: str | None = None
    removes_itself: bool | None = None
    tty: bool | None = None
    has_person: bool | None = None
    log_driver: str | None = None
    log_is_bounded: bool | None = None
    log_bytes: int | None = None
    log_growth: Growth | None = None
    health: HealthFacts | None = None
    limits: Limits | None = None
    ports: dict[str, str | None] = {}
    networks: tuple[NetworkAttachment, ...] = ()
    mounts: tuple[Mount, ...] = ()
    wiring: Wiring | None = None
    compose: ComposeIdentity | None = None
    usage: UsageFacts | None = None
    last_usage: UsageFacts | None = None
    memory_growth: MemoryGrowth | None = None
    logs: LogFacts | None = None
    lifecycle: LifecycleFacts | None = None
    config: ConfigFacts | None = None
    unread: dict[str, str] = {}

    @property
    def short_id(self) -> str:
        """The 12 digits that `docker ps` shows."""
        return self.id[:12]

    @property
    def image_version(self) -> str | None:
        """The version of its image by label, else by tag; None where neither tells."""
        return find_image_version(self.image, self.labels)

    @property
    def is_running(self) -> bool:
        """True while its main process lives (paused included, restarting not)."""
        return self.state in (ContainerState.RUNNING, ContainerState.PAUSED)


class NetworkFacts(Frozen):
    """A network of the host."""

    id: str
    name: str
    driver: str
    labels: dict[str, str] = {}
    subnets: tuple[str, ...] = ()


class VolumeFacts(Frozen):
    """A named volume of the host."""

    name: str
    driver: str
    labels: dict[str, str] = {}


class AddressPool(Frozen):
    """A range of addresses that an engine divides into subnets. `size`: the length of their prefix."""

    base: str
    size: int


class EngineFacts(Frozen):
    """The engine and its host; None where the engine did not say.

    Attributes:
        id: Its own id, the same over restarts; tells two engines apart.
        started_at: When it last came up, to some seconds; None where that cannot be told: with live-restore, without
            the network `bridge`, and of Podman.
        keeps_containers: Containers outlive it (live-restore).
        architecture: As the kernel names it: "x86_64", "aarch64".
        runtimes: Names of those that containers may ask for.
        log_driver: Of containers that ask for none.
        cannot: Limits that its kernel does not support, by their names in Compose files: it leaves them out.
        address_pools: Pools of subnets for networks that ask for none; empty where the engine's own defaults hold.
        has_cgroups: Containers have cgroups of their own. Without, as under rootless Docker on cgroup v1, the counters
            that it tells of each are those of the cgroup that it runs in itself.
    """

    name: str
    server_version: str
    api_version: str
    storage_driver: str | None = None
    cgroup_version: str | None = None
    cpu_count: int | None = None
    memory_bytes: int | None = None
    is_podman: bool = False
    root_dir: str | None = None
    cannot: tuple[str, ...] = ()
    has_cgroups: bool = True
    id: str | None = None
    started_at: UtcDatetime | None = None
    keeps_containers: bool = False
    architecture: str | None = None
    operating_system: str | None = None
    kernel: str | None = None
    runtimes: tuple[str, ...] = ()
    log_driver: str | None = None
    address_pools: tuple[AddressPool, ...] = ()


class DiskFacts(Frozen):
    """Space of one file system that containers write to, read from this host.

    Attributes:
        path: The Docker root, or a volume's or bind's directory.
        used_ratio: 0.0 to 1.0, as `df` shows it.
        free_bytes: What others than root may still use; None when it was not told.
    """

    path: str
    used_ratio: float
    total_bytes: int
    free_bytes: int | None = None
    containers: tuple[str, ...] = ()


class HostSnapshot(Frozen):
    """All containers of one Docker host, read in one pass.

    Attributes:
        taken_at: When the read began (aware UTC). Rules use it as "now".
        unread: What of the host could not be read ("events", "stats", "engine", ...) → the reason.
        incomplete: Ids of containers of which some fact was not read because of time or a failure.
        took_seconds: Wall time of the read.
        desired: The Compose projects as resolved at the time; only in written snapshots.
        partial: Only some containers were asked for: those that are not there may be well.
        failed_runs: Of the last day, newest first, at most 50.
        pressure: Of the whole machine; None where that is not seen from here, or its kernel does not tell.
        hidden_version: Up to which version of the known secrets they are hidden in it; never written.
    """

    schema_version: int = 1
    taken_at: UtcDatetime
    took_seconds: float = 0.0
    engine: EngineFacts | None = None
    containers: tuple[ContainerFacts, ...] = ()
    networks: tuple[NetworkFacts, ...] | None = None
    volumes: tuple[VolumeFacts, ...] | None = None
    disks: tuple[DiskFacts, ...] | None = None
    unread: dict[str, str] = {}
    incomplete: tuple[str, ...] = ()
    desired: tuple[DesiredProject, ...] | None = None
    partial: bool = False
    failed_runs: tuple[FailedRun, ...] = ()
    pressure: Pressure | None = None
    hidden_version: int = Field(0, exclude=True, repr=False)

    @property
    def engine_started_at(self) -> UtcDatetime | None:
        """When the engine came up last; None when unknown."""
        return self.engine.started_at if self.engine is not None else None
