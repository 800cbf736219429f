"""dependency_never_ready: a service waits for something that cannot come."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, NotChecked
from bcon_exporter.model.deployment import Dependency, WantedService

_ALWAYS = ("always", "unless-stopped")


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    for service in planned.services:
        for dependency in service.depends_on:
            needed = planned.services_by_name.get(dependency.service)
            if needed is None or not dependency.required:
                continue
            if dependency.condition == "service_healthy":
                yield from _judge_health(service, dependency, needed, planned)
            elif dependency.condition == "service_completed_successfully" and needed.restart in _ALWAYS:
                message = f"{service.name} waits until {needed.name} has ended, but that restarts for ever "
                message += f"(restart: {needed.restart}). Give {needed.name} no restart policy, or on-failure."
                yield _found(message, service, dependency)


def _judge_health(
    service: WantedService, dependency: Dependency, needed: WantedService, planned: PlannedDeployment
) -> Iterator[Found | NotChecked]:
    has_check: bool | None = needed.health_check == "file"
    if needed.health_check == "image":
        image = planned.image_of(needed)
        has_check = image.has_health_check if image is not None else None
    if has_check is None:
        reason = f"its image {needed.image} is not on the engine"
        yield NotChecked(
            what=f"whether {needed.name}, for whose health {service.name} waits, has a check", reason=reason
        )
    elif not has_check:
        message = f"{service.name} waits until {needed.name} is healthy, but that has no health check. "
        message += f"Give {needed.name} one, or wait for service_started."
        yield _found(message, service, dependency)


def _found(message: str, service: WantedService, dependency: Dependency) -> Found:
    return Found(FAILS, message, service.name, key=f"services.{service.name}.depends_on.{dependency.service}")


DEPENDENCY_NEVER_READY = CheckRule(
    CheckCode.DEPENDENCY_NEVER_READY,
    "A service waits for the health of one without a health check, or for the end of one that restarts always.",
    "docker/compose v5: up ends with an error, or waits for ever",
    _find,
)
