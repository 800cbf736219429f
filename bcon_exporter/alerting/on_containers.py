"""Alerts on containers: one for each symptom that is worth a message, and one for what is critical otherwise."""

from bcon_exporter.alerting import recordings as held
from bcon_exporter.alerting.expressions import (
    CONTAINER,
    Both,
    Expr,
    Without,
    is_value,
)
from bcon_exporter.alerting.rule import MINUTE, AlertRule, AlertSeverity, Scope

_ENDS_CONTAINER = is_value(held.STATUS, 3)
_OWN_CRITICAL = ("oom_killed", "restart_loop", "start_failed")
"""Symptoms that can be critical and have an alert of their own."""


def _symptom(  # noqa: PLR0913 -- a row of the table
    name: str,
    kind: str,
    says: str,
    description: str,
    *,
    severity: AlertSeverity = AlertSeverity.WARNING,
    wait: int = 0,
    keep: int = 0,
    expr: Expr | None = None,
) -> AlertRule:
    return AlertRule(
        name=name,
        scope=Scope.CONTAINER,
        severity=severity,
        expr=held.symptom(kind) if expr is None else expr,
        wait_seconds=wait,
        keep_seconds=keep,
        summary=f"{{container}} on {{instance}} {says}",
        description=description,
    )


ON_CONTAINERS: tuple[AlertRule, ...] = (
    _symptom(
        "BconContainerOomKilled",
        "oom_killed",
        "was killed for lack of memory",
        "The kernel's OOM killer ended the container.",
        severity=AlertSeverity.CRITICAL,
        keep=15 * MINUTE,
        expr=Both(held.symptom("oom_killed"), _ENDS_CONTAINER, CONTAINER),
    ),
    _symptom(
        "BconContainerOomKilled",
        "oom_killed",
        "ran out of memory",
        "The kernel's OOM killer ended a process of the container, or its program said that it is out of memory.",
        keep=15 * MINUTE,
        expr=Without(held.symptom("oom_killed"), _ENDS_CONTAINER, CONTAINER),
    ),
    _symptom(
        "BconContainerRestartLoop",
        "restart_loop",
        "restarts again and again",
        "It has ended and been started again several times within the last hour, and nobody asked for it.",
        severity=AlertSeverity.CRITICAL,
        keep=10 * MINUTE,
        expr=Both(held.symptom("restart_loop"), _ENDS_CONTAINER, CONTAINER),
    ),
    _symptom(
        "BconContainerRestartLoop",
        "restart_loop",
        "ends and is started again and again",
        "It has ended well and been started again several times within the last hour, and nobody asked for it.",
        keep=10 * MINUTE,
        expr=Without(held.symptom("restart_loop"), _ENDS_CONTAINER, CONTAINER),
    ),
    _symptom(
        "BconContainerStartFailed",
        "start_failed",
        "could not be started",
        "The engine could not start its main process.",
        severity=AlertSeverity.CRITICAL,
        wait=MINUTE,
        expr=Both(held.symptom("start_failed"), _ENDS_CONTAINER, CONTAINER),
    ),
    _symptom(
        "BconContainerStartFailed",
        "start_failed",
        "could not be started and has never run",
        "The engine could not start its main process; it has never run, and nothing starts it.",
        wait=MINUTE,
        expr=Without(held.symptom("start_failed"), _ENDS_CONTAINER, CONTAINER),
    ),
    _symptom(
        "BconContainerCritical",
        "",
        "is in a critical state",
        "A symptom that has no alert of its own is critical.",
        severity=AlertSeverity.CRITICAL,
        wait=2 * MINUTE,
        expr=Without(_ENDS_CONTAINER, held.symptom(*_OWN_CRITICAL), CONTAINER),
    ),
    _symptom("BconContainerUnhealthy", "unhealthy", "is unhealthy", "Its health check fails.", wait=2 * MINUTE),
    _symptom(
        "BconContainerExitError",
        "exit_error",
        "ended with an error",
        "Its main process ended with an error, and nobody asked for it.",
        wait=MINUTE,
        keep=5 * MINUTE,
    ),
    _symptom(
        "BconContainerHighMemory",
        "high_memory",
        "uses nearly all of its memory",
        "Its working set has been near the limit for minutes.",
        wait=5 * MINUTE,
    ),
    _symptom(
        "BconContainerHighCpu",
        "high_cpu",
        "uses nearly all CPU it may",
        "It has used most of the CPU that it may use for a quarter of an hour.",
        wait=15 * MINUTE,
    ),
    _symptom(
        "BconContainerCpuThrottled",
        "cpu_throttled",
        "is held back by its CPU limit",
        "It has been throttled in most periods for a quarter of an hour.",
        wait=15 * MINUTE,
    ),
    _symptom(
        "BconContainerNetworkError",
        "network_error",
        "logs network errors",
        "Connections are refused, reset or time out, or names are not found.",
        wait=5 * MINUTE,
        keep=10 * MINUTE,
    ),
    _symptom(
        "BconContainerSlowResponse",
        "slow_response",
        "answers slowly",
        "Health probes come near their time-out, or it logs slow queries or requests.",
        wait=5 * MINUTE,
    ),
    _symptom(
        "BconDiskPressure",
        "disk_pressure",
        "has no room left on a disk",
        "A file system that it writes to is full, nearly full or read-only.",
        wait=5 * MINUTE,
    ),
    _symptom(
        "BconContainerPidsLimit",
        "pids_limit",
        "has nearly all processes it may",
        "New processes and threads will fail when the limit is reached.",
        wait=5 * MINUTE,
    ),
    _symptom(
        "BconContainerLogErrors",
        "log_error",
        "logs errors",
        "It has logged errors for minutes.",
        severity=AlertSeverity.INFO,
        wait=10 * MINUTE,
        keep=10 * MINUTE,
    ),
)
