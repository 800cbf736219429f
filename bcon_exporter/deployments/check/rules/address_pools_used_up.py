"""address_pools_used_up: a new network is needed, and the engine has no subnet left to give it."""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Network

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment, only_one
from bcon_exporter.deployments.check.subnets import parse_subnet
from bcon_exporter.model.check_report import CheckCode
from bcon_exporter.model.container_facts import AddressPool
from bcon_exporter.model.deployment import WantedNetwork

_DEFAULTS = (
    *(AddressPool(base=f"172.{second}.0.0/16", size=16) for second in (17, 18, 19)),
    *(AddressPool(base=f"172.{second}.0.0/14", size=16) for second in (20, 24, 28)),
    AddressPool(base="192.168.0.0/16", size=20),
)
"""The engine's own pools, where it is given none."""


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    engine, networks = planned.snapshot.engine, planned.snapshot.networks
    if engine is None or engine.is_podman or networks is None:
        return
    needing = [network for network in planned.deployment.networks if _needs_subnet(network, planned)]
    known = [parse_subnet(text) for network in networks for text in network.subnets]
    taken = sorted((one for one in known if isinstance(one, IPv4Network)), key=lambda one: one.broadcast_address)
    free = _free_subnets(engine.address_pools or _DEFAULTS, taken)
    for network in needing:
        if next(free, None) is None:
            yield _found(network, len(taken), planned)


def _needs_subnet(network: WantedNetwork, planned: PlannedDeployment) -> bool:
    if network.external or not network.takes_from_pools:
        return False
    is_there = any(one.name == network.name for one in planned.snapshot.networks or ())
    return not is_there and bool(planned.users_of(lambda service: service.networks, network.key))


def _free_subnets(pools: Iterable[AddressPool], taken: Sequence[IPv4Network]) -> Iterator[IPv4Network]:
    """Yield the subnets that overlap none of those that are taken; behind one that does, it goes on after its end."""
    for pool in pools:
        base = parse_subnet(pool.base)
        if not isinstance(base, IPv4Network) or not base.prefixlen <= pool.size <= base.max_prefixlen:
            continue
        step = 1 << (base.max_prefixlen - pool.size)
        at, end = int(base.network_address), int(base.broadcast_address)
        while at <= end:
            subnet = IPv4Network((at, pool.size))
            rival = next((one for one in reversed(taken) if one.overlaps(subnet)), None)
            if rival is None:
                yield subnet
                at += step
            else:
                behind = max(int(rival.broadcast_address), int(subnet.broadcast_address)) + 1
                at = behind + (int(base.network_address) - behind) % step


def _found(network: WantedNetwork, count: int, planned: PlannedDeployment) -> Found:
    users = planned.users_of(lambda service: service.networks, network.key)
    return Found(
        FAILS,
        f"No address pool is left for the new network {network.key}: the networks of this engine take all that it has. "
        "Prune unused ones (docker network prune), give it a subnet, or widen the engine's default-address-pools.",
        only_one(users),
        evidence=(f"subnets that are taken: {count}", f"used by {', '.join(users)}"),
        key=f"networks.{network.key}",
    )


ADDRESS_POOLS_USED_UP = CheckRule(
    CheckCode.ADDRESS_POOLS_USED_UP,
    "A new network is needed, and the engine's address pools have no subnet left.",
    "moby: could not find an available, non-overlapping IPv4 address pool; libnetwork's defaults",
    _find,
)
