"""hook_image_missing: the image of a hook is not on the engine. Of the service's own one image_missing tells."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, RISK, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, NotChecked
from bcon_exporter.model.deployment import WantedHook, WantedService, key_of_hook

_KEEPS = "never"


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    images = planned.given.images
    for service, hook in planned.hooks:
        key = key_of_hook(service.name, hook)
        if hook.image == service.image or hook.is_built:
            continue
        if not hook.has_image_name:
            message = f"No image can be called {hook.image}: the engine refuses it. Names are in small letters."
            yield Found(FAILS, message, service.name, key=f"services.{service.name}.pre_start", item=hook.image)
        elif key not in images:
            yield NotChecked(what=f"the image {hook.image} of {key}", reason="the engine does not tell of it")
        elif images[key] is None:
            yield _found(service, hook)


def _found(service: WantedService, hook: WantedHook) -> Found:
    missing = f"The image {hook.image} of its hook {hook.name} is not on the engine"
    severity = FAILS if service.pull_policy == _KEEPS else RISK
    message = (
        f"{missing}, and what this service needs is never pulled: `up` fails. Pull or build it first."
        if severity is FAILS
        else f"{missing}: `up` pulls it, or fails. Whether the registry has it cannot be told from here."
    )
    return Found(severity, message, service.name, key=f"services.{service.name}.pre_start", item=hook.image)


HOOK_IMAGE_MISSING = CheckRule(
    CheckCode.HOOK_IMAGE_MISSING,
    "The image of a hook (`pre_start`) is not on the engine.",
    "docker/compose v5.6.1, measured; docker/compose#13924",
    _find,
)
