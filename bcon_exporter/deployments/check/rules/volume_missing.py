"""volume_missing: an external volume is not there."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment, only_one
from bcon_exporter.model.check_report import CheckCode, NotChecked


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    external = [volume for volume in planned.deployment.volumes if volume.external]
    users = {volume.key: planned.users_of(lambda service: service.volumes, volume.key) for volume in external}
    if planned.snapshot.volumes is None:
        if any(users.values()):
            reason = planned.snapshot.unread.get("volumes", "the engine does not tell its volumes")
            yield NotChecked(what="external volumes", reason=reason)
        return
    known = {volume.name for volume in planned.snapshot.volumes}
    for volume in external:
        if users[volume.key] and volume.name not in known:
            yield Found(
                FAILS,
                f"The external volume {volume.name} is not there. Make it: docker volume create {volume.name}",
                only_one(users[volume.key]),
                evidence=(f"used by {', '.join(users[volume.key])}",),
                key=f"volumes.{volume.key}",
            )


VOLUME_MISSING = CheckRule(
    CheckCode.VOLUME_MISSING, "An external volume is not there.", "compose-spec: Compose makes no external ones", _find
)
