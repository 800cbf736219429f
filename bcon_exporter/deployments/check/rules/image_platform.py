"""image_platform: an image, or the platform that the file asks for, is not of the engine's architecture."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.platforms import architecture_asked_for, architecture_of, runs_here
from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode
from bcon_exporter.model.deployment import key_of_hook


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    here = architecture_of(planned.snapshot.engine)
    if here is None:
        return
    emulated = planned.host.emulated or ()
    for service in planned.services:
        asked = architecture_asked_for(service.platform) if service.platform else None
        image = planned.image_of(service)
        if asked is not None and not runs_here(asked, here, emulated):
            message = f"The file asks for {service.platform}, but the engine runs {here}. Leave `platform` out."
            yield Found(FAILS, message, service.name, key=f"services.{service.name}.platform")
        elif image is not None and image.architecture and not runs_here(image.architecture, here, emulated):
            message = f"The image {service.image} is for {image.architecture}, but the engine runs {here}. "
            message += f"Pull the one for {here}."
            evidence = (f"image {image.id[:19]}: {image.os or 'linux'}/{image.architecture}",)
            yield Found(FAILS, message, service.name, evidence=evidence, key=f"services.{service.name}.image")
    for service, hook in planned.hooks:
        image = planned.given.images.get(key_of_hook(service.name, hook))
        is_own = hook.image == service.image
        if (
            not is_own
            and image is not None
            and image.architecture
            and not runs_here(image.architecture, here, emulated)
        ):
            message = (
                f"The image {hook.image} of its hook {hook.name} is for {image.architecture}, but the engine runs "
            )
            message += f"{here}. Pull the one for {here}: `up` fails when the hook cannot run."
            evidence = (f"image {image.id[:19]}: {image.os or 'linux'}/{image.architecture}",)
            yield Found(FAILS, message, service.name, evidence=evidence, key=f"services.{service.name}.pre_start")


IMAGE_PLATFORM = CheckRule(
    CheckCode.IMAGE_PLATFORM,
    "An image, or the platform that the file asks for, is not of the engine's architecture.",
    "OCI image specification: architecture",
    _find,
)
