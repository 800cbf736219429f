"""port_twice: two services, or two replicas, publish the same port of the host."""

from collections.abc import Iterator
from dataclasses import dataclass

from bcon_exporter.deployments.check.ports import Holders, PortBinding, bindings_of_port, overlap
from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode
from bcon_exporter.model.deployment import PublishedPort, WantedService


@dataclass(frozen=True)
class _Claim:
    """What one replica asks for."""

    service: WantedService
    replica: int
    port: PublishedPort

    @property
    def is_range(self) -> bool:
        return self.port.first != self.port.last


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    claims = list(_claims(planned))
    found: dict[tuple[str, PublishedPort], Found] = {}
    earlier: dict[tuple[int, str], list[_Claim]] = {}
    for claim in claims:
        if not claim.is_range:
            rivals = earlier.setdefault((claim.port.first, claim.port.protocol), [])
            rival = next((other for other in rivals if _collide(claim, other, planned)), None)
            if rival is not None:
                found.setdefault((claim.service.name, claim.port), _found(claim, rival))
            rivals.append(claim)
    fixed = Holders((_binding(claim), claim.service.name) for claim in claims if not claim.is_range)
    for port in dict.fromkeys(claim.port for claim in claims if claim.is_range):
        asking = {claim.service.name: claim for claim in claims if claim.port == port}
        free = [wanted for wanted in bindings_of_port(port) if fixed.find(wanted) is None]
        if sum(claim.service.replicas for claim in asking.values()) > len(free):
            last = [*asking.values()][-1]
            found.setdefault((last.service.name, port), _too_narrow(last))
    yield from found.values()


def _claims(planned: PlannedDeployment) -> Iterator[_Claim]:
    for service in planned.services:
        for replica in range(0 if service.uses_host_network else min(service.replicas, 2)):
            yield from (_Claim(service, replica, port) for port in service.ports)


def _collide(claim: _Claim, other: _Claim, planned: PlannedDeployment) -> bool:
    if not overlap(_binding(claim), _binding(other)):
        return False
    one, two = claim.service, other.service
    return not _ends_before(one, two, planned) and not _ends_before(two, one, planned)


def _binding(claim: _Claim) -> PortBinding:
    return next(bindings_of_port(claim.port))


def _ends_before(first: WantedService, later: WantedService, planned: PlannedDeployment) -> bool:
    """Return whether a service starts only when another one has ended: then it may have that one's port."""
    by_name = planned.services_by_name
    waiting, seen = [later], {later.name}
    while waiting:
        for dependency in waiting.pop().depends_on:
            if dependency.service == first.name and dependency.condition == "service_completed_successfully":
                return True
            if dependency.service in by_name and dependency.service not in seen:
                seen.add(dependency.service)
                waiting.append(by_name[dependency.service])
    return False


def _found(claim: _Claim, rival: _Claim) -> Found:
    binding, name = _binding(claim), claim.service.name
    if rival.service.name == name and rival.replica != claim.replica:
        message = f"{claim.service.replicas} replicas of {name} publish {binding}: one only can have it. "
        message += "Publish a range of ports, or no fixed one."
    elif rival.service.name == name:
        message = f"{name} publishes {binding} twice. Publish it once."
    else:
        message = f"{rival.service.name} publishes {_binding(rival)} too: only one of the two can have {binding}. "
        message += "Publish another port."
    return Found(FAILS, message, name, key=f"services.{name}.ports", item=str(claim.port.first))


def _too_narrow(claim: _Claim) -> Found:
    name, port = claim.service.name, claim.port
    message = f"More containers than {port.first}-{port.last} has free ports want one of them. Publish a wider range."
    return Found(FAILS, message, name, key=f"services.{name}.ports", item=f"{port.first}-{port.last}")


PORT_TWICE = CheckRule(
    CheckCode.PORT_TWICE,
    "Two services, or two replicas, of the files publish the same port of the host.",
    "moby: a port of an address is bound once",
    _find,
)
