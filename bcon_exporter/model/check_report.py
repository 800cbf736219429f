"""What `check` says: would this come up on this host, and what would it do to what runs?"""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.deployment import ComposeRefusal, HostFacts, ImageFacts, KeyLocation, WantedDeployment
from bcon_exporter.model.desired import DesiredProject

PlannedAction = Literal["create", "recreate", "restart", "start", "remove", "orphan", "leave", "unknown"]
"""What `up` would do about a service. "restart": its container is stopped and started again. "leave": it runs as the
files say. "unknown": no plan can be told."""


class CheckSeverity(StrEnum):
    """What a finding means, from the worst on: it will not come up; it may go wrong; it is worth knowing."""

    FAILS = "fails"
    RISK = "risk"
    ADVICE = "advice"


class CheckVerdict(StrEnum):
    """The worst of all findings; unknown where nothing could be judged."""

    FAILS = "fails"
    RISK = "risk"
    OK = "ok"
    UNKNOWN = "unknown"


class CheckCode(StrEnum):
    """Stable names of findings (docs/deployments.md)."""

    COMPOSE_ERROR = "compose_error"
    PORT_TAKEN = "port_taken"
    PORT_TWICE = "port_twice"
    NAME_TAKEN = "name_taken"
    NETWORK_MISSING = "network_missing"
    VOLUME_MISSING = "volume_missing"
    SUBNET_TAKEN = "subnet_taken"
    BIND_MISSING = "bind_missing"
    ENV_FILE_MISSING = "env_file_missing"
    SECRET_MISSING = "secret_missing"  # noqa: S105 -- the name of a finding
    CONFIG_MISSING = "config_missing"
    IMAGE_MISSING = "image_missing"
    IMAGE_PLATFORM = "image_platform"
    HOOK_IMAGE_MISSING = "hook_image_missing"
    ADDRESS_POOLS_USED_UP = "address_pools_used_up"
    MOUNT_NOT_SHARED = "mount_not_shared"
    PROVIDER_MISSING = "provider_missing"
    DEVICE_MISSING = "device_missing"
    RUNTIME_MISSING = "runtime_missing"
    MEMORY_OVER_HOST = "memory_over_host"
    LIMIT_BELOW_USE = "limit_below_use"
    DEPENDENCY_NEVER_READY = "dependency_never_ready"
    RECREATES = "recreates"
    LOG_UNBOUNDED = "log_unbounded"
    NO_RESTART_POLICY = "no_restart_policy"
    LATEST_TAG = "latest_tag"
    SECRET_IN_ENVIRONMENT = "secret_in_environment"  # noqa: S105 -- as above


class CheckFinding(Frozen):
    """One finding.

    Attributes:
        service: None where it belongs to no service, or to several.
        message: What, and what to do; in our words.
        evidence: Facts behind it.
        file, line: Of the key, in the file that brought it in; None where that is not known.
    """

    severity: CheckSeverity
    code: CheckCode
    service: str | None = None
    message: str
    evidence: tuple[Untrusted, ...] = ()
    file: str | None = None
    line: int | None = None


class NotChecked(Frozen):
    """Something that could not be seen, and why; it changes no verdict."""

    what: str
    reason: str


class ServicePlan(Frozen):
    """What `up` would do about one service.

    Attributes:
        why: Fields that differ, or what is missing.
        hooks: Those that run before it is started, in their order.
        is_away: It runs now, and does not for a moment.
    """

    service: str
    action: PlannedAction
    why: tuple[Untrusted, ...] = ()
    hooks: tuple[Untrusted, ...] = ()
    is_away: bool = False


class CheckReport(Frozen):
    """The whole answer.

    Attributes:
        findings: The worst first, then by code and service.
        plan: By service, orphans last.
        files: Path of each file that was read → its SHA-256.
        diff: Of the edits that were judged and not written; None without any.
        rule_errors: Names of rules that raised; a defect of ours, with which nobody can say that it would come up.
        rule_faults: Rule → what it raised, and where; in no answer of the API.
    """

    timestamp: UtcDatetime
    project: str
    verdict: CheckVerdict
    summary: str
    findings: tuple[CheckFinding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    plan: tuple[ServicePlan, ...] = ()
    services: tuple[str, ...] = ()
    files: dict[str, str] = {}
    diff: Untrusted | None = None
    rule_errors: tuple[str, ...] = ()
    rule_faults: dict[str, str] = Field({}, exclude=True, repr=False)


class CheckInput(Frozen):
    """All that a check is judged by: the same input gives the same findings.

    Attributes:
        deployment: What the files would make; None where Compose does not even read them leniently.
        desired: The same for drift; None where Compose refuses the files.
        refusal: Why it refuses them.
        problem: Why nothing could be resolved.
        places: Dotted path of a key → where it stands.
        images: Service, or `key_of_hook`, → its image on the engine; None: not there; no entry: not known.
        programs: Program that Compose calls on this machine → whether it is there; no entry: not known.
        peak_memory_bytes: Container id → the most that it used in the last day, where that is known.
    """

    snapshot: HostSnapshot
    deployment: WantedDeployment | None = None
    desired: DesiredProject | None = None
    refusal: ComposeRefusal | None = None
    problem: str | None = None
    places: dict[str, KeyLocation] = {}
    images: dict[str, ImageFacts | None] = {}
    programs: dict[str, bool] = {}
    host: HostFacts = HostFacts()
    peak_memory_bytes: dict[str, int] = {}
    files: dict[str, str] = {}
