"""Alerts on the services of Compose projects: what is not as their files say."""

from bcon_exporter.alerting import recordings as held
from bcon_exporter.alerting.expressions import (
    SERVICE,
    Age,
    Both,
    Expr,
    Without,
    above,
    series,
)
from bcon_exporter.alerting.rule import DAY, HOUR, MINUTE, AlertRule, AlertSeverity, Scope


def _drift(
    name: str,
    expr: Expr,
    says: str,
    description: str,
    *,
    severity: AlertSeverity = AlertSeverity.WARNING,
    wait: int = 0,
) -> AlertRule:
    return AlertRule(
        name=name,
        scope=Scope.SERVICE,
        severity=severity,
        expr=expr,
        wait_seconds=wait,
        summary=f"{{project}}/{{service}} on {{instance}} {says}",
        description=description,
    )


ON_SERVICES: tuple[AlertRule, ...] = (
    _drift(
        "BconServiceMissing",
        Without(held.drift("missing_service"), held.STOP_REQUESTED, SERVICE),
        "has no container",
        "The Compose files define the service, the project runs, and no container of it exists.",
        severity=AlertSeverity.CRITICAL,
        wait=5 * MINUTE,
    ),
    _drift(
        "BconServiceNotRunning",
        Without(held.drift("not_running"), held.STOP_REQUESTED, SERVICE),
        "is down, and nobody stopped it",
        "The service has containers, and none of them runs.",
        severity=AlertSeverity.CRITICAL,
        wait=5 * MINUTE,
    ),
    _drift(
        "BconServiceStopped",
        Both(
            Both(held.drift("not_running"), held.STOP_REQUESTED, SERVICE),
            above(Age(held.drift_since("not_running")), DAY),
            SERVICE,
        ),
        "was stopped by hand more than a day ago",
        "Somebody stopped it and has not started it again.",
        severity=AlertSeverity.INFO,
    ),
    _drift(
        "BconReplicaMismatch",
        held.drift("replica_mismatch"),
        "runs with another number of replicas",
        "Not as many containers run as the Compose files ask for.",
        wait=15 * MINUTE,
    ),
    _drift(
        "BconImageDrift",
        held.drift("image_mismatch"),
        "runs another image",
        "The image is not the one that the Compose files name, or its tag has moved on.",
        wait=15 * MINUTE,
    ),
    _drift(
        "BconConfigDrift",
        held.drift("config_mismatch"),
        "is configured otherwise",
        "Environment, ports, volumes, limits or other settings differ from the Compose files.",
        wait=15 * MINUTE,
    ),
    _drift(
        "BconExtraContainer",
        Both(held.drift("extra_container"), above(Age(held.drift_since("extra_container")), HOUR), SERVICE),
        "is not in the Compose files",
        "A container says that it belongs to the project, whose files do not define its service.",
        severity=AlertSeverity.INFO,
    ),
    AlertRule(
        name="BconUntrackedContainers",
        scope=Scope.EXPORTER,
        severity=AlertSeverity.INFO,
        expr=above(series("bcon_untracked_containers"), 0),
        wait_seconds=HOUR,
        summary="Containers on {instance} belong to no Compose file.",
        description="Running containers that no known Compose file defines; `bcon-exporter untracked` lists them.",
        opt_in=True,
    ),
)
