"""subnet_taken: a subnet of the files overlaps one of a network that stays, or another one of the files."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment, only_one
from bcon_exporter.deployments.check.subnets import Subnet, parse_subnet, subnets_overlap
from bcon_exporter.model.check_report import CheckCode, NotChecked
from bcon_exporter.model.deployment import WantedNetwork

_GLOBAL_DRIVERS = ("overlay",)
"""Their addresses are handed out by the swarm, not by this engine."""


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    wanted = [
        (network, subnet)
        for network in planned.deployment.networks
        if not network.external and planned.users_of(lambda service: service.networks, network.key)
        for text in network.subnets
        if (subnet := parse_subnet(text)) is not None
    ]
    if wanted and planned.snapshot.networks is None:
        reason = planned.snapshot.unread.get("networks", "the engine does not tell its networks")
        yield NotChecked(what="subnets", reason=reason)
    staying = list(_staying(planned))
    for index, (network, subnet) in enumerate(wanted):
        earlier = [(other.name, taken) for other, taken in wanted[:index] if other.key != network.key]
        rival = next((name for name, taken in [*staying, *earlier] if subnets_overlap(subnet, taken)), None)
        if rival is not None:
            yield _found(network, subnet, rival, planned)


def _staying(planned: PlannedDeployment) -> Iterator[tuple[str, Subnet]]:
    """Yield the subnets of the networks that are there, but for those that stand for the files' own."""
    own = {network.name for network in planned.deployment.networks if not network.external}
    for network in planned.snapshot.networks or ():
        if network.name not in own and network.driver not in _GLOBAL_DRIVERS:
            for text in network.subnets:
                if (subnet := parse_subnet(text)) is not None:
                    yield network.name, subnet


def _found(network: WantedNetwork, subnet: Subnet, rival: str, planned: PlannedDeployment) -> Found:
    return Found(
        FAILS,
        f"The subnet {subnet} of the network {network.name} overlaps that of the network {rival}. Choose another one.",
        only_one(planned.users_of(lambda service: service.networks, network.key)),
        key=f"networks.{network.key}.ipam.config",
        item=str(subnet),
    )


SUBNET_TAKEN = CheckRule(
    CheckCode.SUBNET_TAKEN,
    "A subnet of the files overlaps one of an existing network.",
    "moby: Pool overlaps with other one on this address space",
    _find,
)
