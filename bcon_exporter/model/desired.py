"""What the Compose files ask for, as the real Compose binary resolves them: the desired side of drift."""

from dataclasses import dataclass
from enum import StrEnum

from bcon_exporter.model.base import Frozen, UtcDatetime


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One configured value, safe to show; a slim value, since a host of 500 containers has some 30,000 of them.

    Both sides of a comparison are flat maps from a path to one of these. Paths: "image", "command", "entrypoint",
    "environment.KEY", "labels.KEY", "ports.80/tcp", "volumes./data", "networks.NAME", "restart", "mem_limit", ...
    (docs/drift.md lists all). Equal fingerprints mean equal values.

    Attributes:
        shown: The value as a report may show it. Environment values are never shown: this is "" for them;
            other values have secrets masked.
        fingerprint: Keyed hash of the normalised raw value; the key never leaves the process.
    """

    shown: str
    fingerprint: str


class RunningProject(Frozen):
    """A Compose project as its containers' labels claim it.

    Attributes:
        config_files, working_dir, environment_files: As the labels of the newest container that names files say.
        newest_created_at: When its newest container was made.
        is_stack: A Swarm stack, of which no label names a file.
        only_containers: Service → the id of its container, where it has just one.
    """

    name: str
    config_files: tuple[str, ...] = ()
    working_dir: str | None = None
    environment_files: tuple[str, ...] = ()
    newest_created_at: UtcDatetime | None = None
    is_stack: bool = False
    only_containers: dict[str, str] = {}


class ProjectProblem(StrEnum):
    """Why the desired state of a project is unknown or doubtful. Metric label values: never rename one."""

    PARSE_ERROR = "parse_error"
    NOT_FOUND = "not_found"
    OUTSIDE_ROOTS = "outside_roots"
    NO_BINARY = "no_binary"
    UNRESOLVED_VARIABLE = "unresolved_variable"
    TIMEOUT = "timeout"


class DesiredService(Frozen):
    """One service of a Compose project.

    Attributes:
        image_fingerprint: Of the image reference, which may show a masked tag.
        enabled: False for a service of an inactive profile: known, but not wanted now.
        replicas: `scale`, else `deploy.replicas`, else 1.
        runs_once: True when another service waits for it with `service_completed_successfully`, or it is
            declared as a job: an exit with 0 is done, not down.
        pre_start: How many hooks run to their end before it is started.
        takes_variables: `up` gives it environment variables that no file tells: those of a provider that it depends on,
            or of a model that it uses. They are in the hash of its containers, too.
        config_hash: As `config --hash` prints it, with the ids of the containers whose namespaces or volumes it shares;
            None when it cannot be compared.
        fields: What the file declares (see `FieldValue`).
        doubtful: Paths whose value hangs on a variable that could not be resolved.
        unhashed: Paths of files that configs and secrets refer to: the hash knows the reference only.
        unseen: Declared keys that no container shows ("platform"): they can differ only in the config hash.
    """

    name: str
    image: str
    image_fingerprint: str | None = None
    enabled: bool = True
    replicas: int = 1
    runs_once: bool = False
    pre_start: int = 0
    takes_variables: bool = False
    config_hash: str | None = None
    fields: dict[str, FieldValue] = {}
    doubtful: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    unhashed: tuple[str, ...] = ()


class DesiredProject(Frozen):
    """A Compose project as its files describe it, or the reason why that is unknown.

    Attributes:
        services: None when `problem` made the project unreadable.
        unresolved: Names of variables that had no value.
        problem_detail: One sentence with file and line where known; never file content.
        own_shell: Resolved with the environment of the user who asks: a variable that is unset there is unset for
            their `docker compose up` too.
        compose_version: Of the binary that resolved it; hashes of another major version do not compare.
        network_hashes, volume_hashes: Engine name → the hash that Compose labels it with; without external ones.
    """

    name: str
    config_files: tuple[str, ...] = ()
    working_dir: str | None = None
    resolved_at: UtcDatetime
    services: tuple[DesiredService, ...] | None = None
    networks: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    problem: ProjectProblem | None = None
    problem_detail: str | None = None
    own_shell: bool = False
    compose_version: str | None = None
    network_hashes: dict[str, str] = {}
    volume_hashes: dict[str, str] = {}
