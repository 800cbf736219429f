"""network_missing: an external network is not there."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment, only_one
from bcon_exporter.model.check_report import CheckCode, NotChecked


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    external = [network for network in planned.deployment.networks if network.external]
    users = {network.key: planned.users_of(lambda service: service.networks, network.key) for network in external}
    if planned.snapshot.networks is None:
        if any(users.values()):
            reason = planned.snapshot.unread.get("networks", "the engine does not tell its networks")
            yield NotChecked(what="external networks", reason=reason)
        return
    known = {name for network in planned.snapshot.networks for name in (network.name, network.id)}
    for network in external:
        if users[network.key] and network.name not in known:
            yield Found(
                FAILS,
                f"The external network {network.name} is not there. Make it: docker network create {network.name}",
                only_one(users[network.key]),
                evidence=(f"used by {', '.join(users[network.key])}",),
                key=f"networks.{network.key}",
            )


NETWORK_MISSING = CheckRule(
    CheckCode.NETWORK_MISSING,
    "An external network is not there.",
    "compose-spec: Compose makes no external ones",
    _find,
)
