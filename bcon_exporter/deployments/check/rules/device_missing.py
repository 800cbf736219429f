"""device_missing: a device is not on the host."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, NotChecked


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    own = [(service, "devices", device) for service in planned.services for device in service.devices]
    of_hooks = [(service, "pre_start", device) for service, hook in planned.hooks for device in hook.devices]
    for service, key, device in (*own, *of_hooks):
        is_there = planned.is_there(device)
        if is_there is None:
            reason = next(reversed(planned.host.unseen.values()), "this user may not look there")
            yield NotChecked(what=f"the device {device} of {service.name}", reason=reason)
        elif not is_there:
            message = f"The device {device} is not on the host. Connect it, load its driver, or correct the path."
            yield Found(FAILS, message, service.name, key=f"services.{service.name}.{key}", item=device)


DEVICE_MISSING = CheckRule(
    CheckCode.DEVICE_MISSING, "A device is not on the host.", "moby: error gathering device information", _find
)
