"""port_taken: a published port of the host is held by a container that stays, or by a process of the host."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.ports import Holders, PortBinding, bindings_of_container, bindings_of_port
from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment, describe_owner
from bcon_exporter.model.check_report import CheckCode, NotChecked
from bcon_exporter.model.deployment import PublishedPort

_PROCESSES = "processes of the host that hold ports"
_HOST_NETWORK = "host"


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    services = [service for service in planned.services if service.ports and not service.uses_host_network]
    if not services:
        return
    if (reason := _why_unseen(planned)) is not None:
        yield NotChecked(what=_PROCESSES, reason=reason)
    holders = Holders([*_containers(planned), *(_processes(planned) if reason is None else ())])
    for service in services:
        for port in service.ports:
            if (holder := _holder_of(port, holders)) is not None:
                yield _found(service.name, port, *holder)


def _found(service: str, port: PublishedPort, held: PortBinding, owner: str) -> Found:
    first = next(bindings_of_port(port))
    what = f"The port {first} of the host" if port.first == port.last else f"Every port from {first} to {port.last}"
    return Found(
        FAILS,
        f"{what} is taken: {owner} has {held}. Stop it, or publish another port.",
        service,
        evidence=(f"{owner}: {held}",),
        key=f"services.{service}.ports",
        item=str(port.first),
    )


def _holder_of(port: PublishedPort, holders: Holders) -> tuple[PortBinding, str] | None:
    """Return what holds a port; of a range, only where each of its ports is held."""
    first: tuple[PortBinding, str] | None = None
    for wanted in bindings_of_port(port):
        holder = holders.find(wanted)
        if holder is None:
            return None
        first = first or holder
    return first


def _containers(planned: PlannedDeployment) -> Iterator[tuple[PortBinding, str]]:
    for container in planned.staying:
        owner = describe_owner(container, planned.deployment.project)
        yield from ((binding, owner) for binding in bindings_of_container(container))


def _processes(planned: PlannedDeployment) -> Iterator[tuple[PortBinding, str]]:
    """Yield the sockets that no container explains: the engine itself listens on each port that it publishes."""
    containers = planned.snapshot.containers
    published = Holders((binding, one.name) for one in containers for binding in bindings_of_container(one))
    for socket in planned.host.sockets or ():
        binding = PortBinding(socket.address, socket.port, socket.protocol)
        if published.find(binding) is None:
            yield binding, "a process of the host"


def _why_unseen(planned: PlannedDeployment) -> str | None:
    if planned.host.sockets is None:
        return next(iter(planned.host.unseen.values()), "they cannot be seen from here")
    for container in planned.snapshot.containers:
        network = container.wiring.network_mode if container.wiring is not None else None
        if container.is_running and network == _HOST_NETWORK and planned.is_replaced(container):
            return f"{container.name} is in the host's network, and its ports look like those of another process"
    return None


PORT_TAKEN = CheckRule(
    CheckCode.PORT_TAKEN,
    "A published port of the host is held by a container that stays, or by a process of the host.",
    "moby: a bind that fails ends the start; /proc/net (proc(5))",
    _find,
)
