"""volume_missing: an external volume is not there."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment, only_one
from bcon_exporter.model.check_report import CheckCode, NotChecked


def _find(situation: PlannedDeployment) -> Iterator[Found | NotChecked]:
    external = [volume for volume in situation.deployment.volumes if volume.external]
    users = {volume.key: situation.users_of(lambda service: service.volumes, volume.key) for volume in external}
    if situation.snapshot.volumes is None:
        if any(users.values()):
            reason = situation.snapshot.unread.get("volumes", "the engine does not tell its volumes")
            yield NotChecked(what="external volumes", reason=reason)
        return
    known = {volume.name for volume in situation.snapshot.volumes}
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
