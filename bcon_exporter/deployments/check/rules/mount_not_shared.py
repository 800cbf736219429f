"""mount_not_shared: a bind mount asks for a propagation that the mount does not allow on which its path lies."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode

_NEEDS = {"shared": ("shared",), "slave": ("shared", "slave")}
"""Propagation, without the "r" for "recursive" → what the mount may be that the path lies on."""


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    for service, key, bind in planned.binds:
        needed, mount = _NEEDS.get(bind.propagation.removeprefix("r")), planned.host.mounts.get(bind.source)
        if needed is None or mount is None or mount.propagation in needed:
            continue
        which_is = "neither shared nor slave" if len(needed) > 1 else "not shared"
        yield Found(
            FAILS,
            f"{bind.source} is to be mounted {bind.propagation}, but lies on the mount {mount.point}, which is "
            f"{which_is}: the engine refuses it. Leave the option out, or: mount --make-rshared {mount.point}",
            service.name,
            key=key,
            item=bind.source,
        )


MOUNT_NOT_SHARED = CheckRule(
    CheckCode.MOUNT_NOT_SHARED,
    "A bind mount asks for a propagation that the mount below it does not allow.",
    "moby: path is mounted on / but it is not a shared or slave mount",
    _find,
)
