"""image_missing: an image is not on the engine."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, RISK, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, NotChecked
from bcon_exporter.model.deployment import WantedService

_KEEPS = "never"


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    for service in planned.services:
        if not service.has_image_name:
            message = f"No image can be called {service.image}: the engine refuses it. Names are in small letters."
            yield Found(FAILS, message, service.name, key=f"services.{service.name}.image")
        elif planned.lacks_image(service):
            yield _found(service)
        elif service.name not in planned.given.images:
            yield NotChecked(
                what=f"the image {service.image} of {service.name}", reason="the engine does not tell of it"
            )
        elif service.pull_policy == "always":
            reason = "whether the registry gives it shows only when it is pulled"
            yield NotChecked(what=f"a newer image {service.image} of {service.name}", reason=reason)


def _found(service: WantedService) -> Found:
    key = f"services.{service.name}.image"
    missing = f"The image {service.image} is not on the engine"
    if service.is_built:
        return Found(RISK, f"{missing}: `up` builds it.", service.name, key=f"services.{service.name}.build")
    if service.pull_policy == _KEEPS:
        return Found(FAILS, f"{missing}, and is never pulled. Pull or build it first.", service.name, key=key)
    message = f"{missing}: `up` pulls it. Whether the registry has it cannot be told from here."
    return Found(RISK, message, service.name, key=key)


IMAGE_MISSING = CheckRule(CheckCode.IMAGE_MISSING, "An image is not on the engine.", "compose-spec: pull_policy", _find)
