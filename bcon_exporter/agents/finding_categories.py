"""The words that agents of other tools know for severities, kinds of failures and errors, and ours for them."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.errors import ErrorCode
from bcon_exporter.model.check_report import CheckSeverity
from bcon_exporter.model.findings import Severity, Status, SymptomType
from bcon_exporter.model.signatures import Category


class AgentSeverity(StrEnum):
    """How bad a finding is, from the least to the worst."""

    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


SEVERITY_OF: Mapping[Status | Severity | CheckSeverity, AgentSeverity] = {
    "healthy": AgentSeverity.OK,
    Severity.INFO: AgentSeverity.INFO,
    Severity.WARNING: AgentSeverity.WARNING,
    Severity.ERROR: AgentSeverity.CRITICAL,
    Severity.CRITICAL: AgentSeverity.CRITICAL,
    CheckSeverity.FAILS: AgentSeverity.CRITICAL,
    CheckSeverity.RISK: AgentSeverity.WARNING,
    CheckSeverity.ADVICE: AgentSeverity.INFO,
}
"""A status or severity of ours → what agents are told. What is worse here is never better there."""

SEVERITY_BACK: Mapping[AgentSeverity, Status | Severity] = {
    AgentSeverity.OK: "healthy",
    AgentSeverity.INFO: Severity.INFO,
    AgentSeverity.WARNING: Severity.WARNING,
    AgentSeverity.CRITICAL: Severity.ERROR,
}

_RANKS = {severity: rank for rank, severity in enumerate(AgentSeverity)}


def worst_of(severities: Iterable[AgentSeverity]) -> AgentSeverity:
    """Return the worst; ok where there is none."""
    return max(severities, key=_RANKS.__getitem__, default=AgentSeverity.OK)


class AgentCategory(StrEnum):
    """What kind of trouble a finding is. `mesh` is a word of theirs that is never said: there is none here."""

    RESOURCES = "resources"
    LIFECYCLE = "lifecycle"
    CONNECTIVITY = "connectivity"
    DNS = "dns"
    TLS = "tls"
    ROUTING = "routing"
    POLICY = "policy"
    STORAGE = "storage"
    LOGS = "logs"
    DRIFT = "drift"
    MESH = "mesh"


CATEGORY_OF: Mapping[SymptomType, AgentCategory] = {
    SymptomType.HIGH_CPU: AgentCategory.RESOURCES,
    SymptomType.CPU_THROTTLED: AgentCategory.RESOURCES,
    SymptomType.HIGH_MEMORY: AgentCategory.RESOURCES,
    SymptomType.OOM_KILLED: AgentCategory.RESOURCES,
    SymptomType.PIDS_LIMIT: AgentCategory.RESOURCES,
    SymptomType.RESTART_LOOP: AgentCategory.LIFECYCLE,
    SymptomType.EXIT_ERROR: AgentCategory.LIFECYCLE,
    SymptomType.START_FAILED: AgentCategory.LIFECYCLE,
    SymptomType.NEVER_STARTED: AgentCategory.LIFECYCLE,
    SymptomType.PAUSED: AgentCategory.LIFECYCLE,
    SymptomType.STARTING: AgentCategory.LIFECYCLE,
    SymptomType.UNHEALTHY: AgentCategory.LIFECYCLE,
    SymptomType.HEALTH_FLAPPING: AgentCategory.LIFECYCLE,
    SymptomType.NOT_STARTED_AGAIN: AgentCategory.LIFECYCLE,
    SymptomType.NETWORK_ERROR: AgentCategory.CONNECTIVITY,
    SymptomType.SLOW_RESPONSE: AgentCategory.CONNECTIVITY,
    SymptomType.STALE_NAMESPACE: AgentCategory.CONNECTIVITY,
    SymptomType.DISK_PRESSURE: AgentCategory.STORAGE,
    SymptomType.LOG_UNBOUNDED: AgentCategory.STORAGE,
    SymptomType.LOG_ERROR: AgentCategory.LOGS,
}
"""Symptom → category, where no signature says more."""

_BY_SIGNATURE: Mapping[SymptomType, tuple[tuple[str, AgentCategory], ...]] = {
    SymptomType.NETWORK_ERROR: (("net_dns", AgentCategory.DNS), ("tls_", AgentCategory.TLS)),
    SymptomType.LOG_ERROR: (
        ("address_not_available", AgentCategory.ROUTING),
        ("data_", AgentCategory.STORAGE),
        ("disk_", AgentCategory.STORAGE),
    ),
}
"""Symptom → beginnings of ids of signatures, and the category that each stands for."""


_BY_CATEGORY: Mapping[Category | None, AgentCategory] = {
    Category.AUTH_FAILURE: AgentCategory.POLICY,
    Category.PERMISSION: AgentCategory.POLICY,
    Category.PORT_IN_USE: AgentCategory.ROUTING,
}
"""Category of a shipped signature of an error → what it stands for."""


def category_of(symptom: SymptomType, signatures: Iterable[str] = ()) -> AgentCategory:
    """Return the category of a symptom; of several signatures the most frequent one counts, which stands first."""
    first = next(iter(signatures), "")
    for beginning, category in _BY_SIGNATURE.get(symptom, ()):
        if first.startswith(beginning):
            return category
    if symptom is SymptomType.LOG_ERROR and (known := _shipped_categories().get(first)) in _BY_CATEGORY:
        return _BY_CATEGORY[known]
    return CATEGORY_OF[symptom]


@cache
def _shipped_categories() -> Mapping[str, Category]:
    return {signature.id: signature.category for signature in load_catalogue().signatures}


class AgentErrorCode(StrEnum):
    """What went wrong with a call, in the words of agents."""

    PROVIDER_NOT_FOUND = "PROVIDER_NOT_FOUND"
    CRD_NOT_AVAILABLE = "CRD_NOT_AVAILABLE"
    INVALID_INPUT = "INVALID_INPUT"
    PROBE_TIMEOUT = "PROBE_TIMEOUT"
    PROBE_LIMIT_REACHED = "PROBE_LIMIT_REACHED"
    AUTH_FAILED = "AUTH_FAILED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


ERROR_CODE_OF: Mapping[ErrorCode, AgentErrorCode] = {
    ErrorCode.DOCKER_CONNECTION_FAILED: AgentErrorCode.PROVIDER_NOT_FOUND,
    ErrorCode.INVALID_INPUT: AgentErrorCode.INVALID_INPUT,
    ErrorCode.CONTAINER_NOT_FOUND: AgentErrorCode.INVALID_INPUT,
    ErrorCode.NOT_FOUND: AgentErrorCode.INVALID_INPUT,
    ErrorCode.COMPOSE_FILE_NOT_FOUND: AgentErrorCode.INVALID_INPUT,
    ErrorCode.COMPOSE_PARSE_ERROR: AgentErrorCode.INVALID_INPUT,
    ErrorCode.TIMEOUT: AgentErrorCode.PROBE_TIMEOUT,
    ErrorCode.RATE_LIMITED: AgentErrorCode.PROBE_LIMIT_REACHED,
    ErrorCode.PERMISSION_DENIED: AgentErrorCode.AUTH_FAILED,
    ErrorCode.INTERNAL_ERROR: AgentErrorCode.INTERNAL_ERROR,
    **{code: AgentErrorCode.CRD_NOT_AVAILABLE for code in ErrorCode if code.value == "not_available"},
}
