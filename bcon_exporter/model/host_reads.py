"""What Flux and Scout answer that no other tool does: networks, volumes, images, projects, a container in detail."""

from typing import Any, Literal

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.container_facts import ContainerState, HealthStatus, Limits
from bcon_exporter.model.findings import Status
from bcon_exporter.model.reports import ContainerInfo


class OperationRows(Frozen):
    """A page of a list.

    Attributes:
        total: How many there are, on all pages.
        summary: What is to be known of all of them, where there is anything.
        unread: What could not be read → why.
    """

    timestamp: UtcDatetime
    total: int
    rows: tuple[Any, ...] = ()
    summary: str = ""
    unread: dict[str, str] = {}


class ContainerDetails(Frozen):
    """One container, in detail.

    Attributes:
        mounts: Each with kind, source and target.
        environment: Names of its variables; values are never shown.
        settings: Path in the configuration, as docs/drift.md has them → value, secrets hidden.
    """

    container: ContainerInfo
    image_id: str | None = None
    command: Untrusted | None = None
    entrypoint: Untrusted | None = None
    mounts: tuple[Untrusted, ...] = ()
    networks: tuple[str, ...] = ()
    network_mode: Untrusted | None = None
    limits: Limits | None = None
    environment: tuple[Untrusted, ...] = ()
    log_driver: str | None = None
    stop_signal: str | None = None
    settings: dict[Untrusted, Untrusted] = {}


class NetworkRow(Frozen):
    """A network. `containers`: names of those that run in it; `stopped`: of those that would join it when started."""

    name: str
    driver: str
    subnets: tuple[str, ...] = ()
    project: str | None = None
    containers: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()


class VolumeRow(Frozen):
    """A volume. `containers`: names of all that mount it, running or not; `size_bytes` is None where it is unknown."""

    name: str
    driver: str
    project: str | None = None
    size_bytes: int | None = None
    containers: tuple[str, ...] = ()


class ImageRow(Frozen):
    """An image. `containers`: names of all that are made of it, running or not."""

    name: str
    image_id: str | None = None
    tags: tuple[str, ...] = ()
    size_bytes: int | None = None
    containers: tuple[str, ...] = ()


class ProjectRow(Frozen):
    """A Compose project. `status`: whether it runs as its files say; `containers` and `running` are counts."""

    name: str
    status: str
    containers: int
    running: int
    config_files: tuple[Untrusted, ...] = ()


class ServiceRow(Frozen):
    """A container of a project.

    Attributes:
        status: What the diagnosis says; None where it is left out of it.
        summary: Of the diagnosis.
        differs: Where it has left the files.
    """

    service: str
    container: str
    state: ContainerState
    health: HealthStatus | None = None
    status: Status | None = None
    summary: str | None = None
    differs: tuple[Untrusted, ...] = ()


class ProjectLogEntry(Frozen):
    """One line of one container's log."""

    container: str
    timestamp: UtcDatetime | None
    stream: Literal["stdout", "stderr"]
    message: Untrusted


class ProjectLogs(Frozen):
    """The newest log lines of a project, merged by time, oldest first.

    Attributes:
        truncated: Older lines were cut by the byte cap.
        unread: Container whose log could not be read → why.
    """

    project: str
    entries: tuple[ProjectLogEntry, ...]
    lines: int
    truncated: bool = False
    unread: dict[str, str] = {}


class FileSystemRow(Frozen):
    """A file system that containers write to. `free`, `total`: in words, where they are asked for."""

    path: Untrusted
    used_percent: float
    total_bytes: int
    free_bytes: int | None = None
    total: str | None = None
    free: str | None = None
    containers: tuple[str, ...] = ()


class NodeRow(Frozen):
    """A host that can be asked."""

    name: str
    engine_version: str
    api_version: str


class FileRow(Frozen):
    """A file that may be read."""

    path: Untrusted


class FileDifference(Frozen):
    """Where two texts differ. `diff`: unified, secrets hidden; `equal` is of what is hidden as well."""

    source: Untrusted
    target: Untrusted
    equal: bool
    diff: Untrusted = ""


class HelpRow(Frozen):
    """One operation. `fields`: as they are given; `kind`: answered, denied or to be had elsewhere."""

    key: str
    kind: str
    says: str
    fields: tuple[str, ...] = ()
