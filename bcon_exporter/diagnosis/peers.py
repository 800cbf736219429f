"""Follows a failed connection to the other container: the one that is named is often the one that is ill."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from bcon_exporter.diagnosis.exit_codes import explain_exit
from bcon_exporter.diagnosis.numbers import in_seconds
from bcon_exporter.model.facts import ContainerFacts, ContainerState, HealthStatus, HostSnapshot
from bcon_exporter.model.findings import LikelyCause, SymptomType

RELATED = (SymptomType.NETWORK_ERROR, SymptomType.LOG_ERROR)
JUST_STARTED_SECONDS = 60
_LOCAL = ("localhost", "127.", "::1", "[::1]", "0.0.0.0")  # noqa: S104 - compared, not bound


class Neighbours:
    """Finds containers by the names under which others reach them. Built once for a host, and only when needed."""

    def __init__(self, host: HostSnapshot) -> None:
        self._host = host

    @cached_property
    def _by_name(self) -> dict[str, list[ContainerFacts]]:
        found: dict[str, list[ContainerFacts]] = defaultdict(list)
        for container in self._host.containers:
            for name in _names_of(container):
                found[name].append(container)
        return found

    def find(self, name: str, asking: ContainerFacts) -> tuple[ContainerFacts, ...]:
        """Containers that `asking` may mean by `name`: of its own Compose project first, else of the host."""
        all_found = [other for other in self._by_name.get(name.lower(), ()) if other.id != asking.id]
        project = asking.compose.project if asking.compose is not None else None
        own = [other for other in all_found if other.compose is not None and other.compose.project == project]
        if project is not None and own:
            return tuple(own)
        return tuple(other for other in all_found if _is_reachable_by_name(other, name, asking))


def _names_of(container: ContainerFacts) -> set[str]:
    names = {container.name}
    if container.compose is not None:
        names.add(container.compose.service)
    for network in container.networks:
        names.update(network.aliases)
        if network.ip_address:
            names.add(network.ip_address)
    return {name.lower() for name in names if name}


def _is_reachable_by_name(other: ContainerFacts, name: str, asking: ContainerFacts) -> bool:
    """A service name alone means nothing outside its project; a container's name, alias or address does."""
    if other.name.lower() == name.lower():
        return True
    shared = {network.name for network in asking.networks} & {network.name for network in other.networks}
    return bool(shared)


def host_of(peer: str) -> str:
    """`db:5432` as "db"; brackets and scheme dropped."""
    bare = peer.rsplit("@", 1)[-1].removeprefix("[")
    if bare.count(":") > 1:
        return bare.split("]")[0]
    return bare.split(":")[0].split("]")[0]


def is_local(host: str) -> bool:
    """Whether a host is the container itself."""
    return host.startswith(_LOCAL)


def causes_of_peer(peer: str, signature: str, asking: ContainerFacts, neighbours: Neighbours) -> list[LikelyCause]:
    """What the state of the named peer tells about a failed connection.

    Args:
        peer: Host with or without port, as the log line names it.
        signature: Id of the network signature that found it.
        asking: The container whose log it is.
        neighbours: Of the same host.
    """
    host = host_of(peer)
    if is_local(host):
        text = "It connects to localhost, which inside a container is the container itself."
        return [LikelyCause(id="localhost_in_container", description=text, confidence=0.75, related_symptoms=RELATED)]
    found = neighbours.find(host, asking)
    if not found:
        return []
    if signature == "net_dns" and not any(_share_network(asking, other) for other in found):
        running = next((other for other in found if other.is_running), None)
        if running is not None:
            return [_no_shared_network(running)]
    return [cause for cause in (_cause_of_state(found, asking),) if cause is not None]


def causes_of_dependencies(asking: ContainerFacts, neighbours: Neighbours) -> list[LikelyCause]:
    """Down services among those that Compose says it depends on, for a failure that names no peer."""
    if asking.compose is None or not asking.compose.depends_on:
        return []
    services = (part.split(":")[0].strip() for part in asking.compose.depends_on.split(","))
    causes = (_cause_of_state(neighbours.find(name, asking), asking) for name in services if name)
    return [cause.model_copy(update={"confidence": cause.confidence - 0.25}) for cause in causes if cause is not None]


def _cause_of_state(found: Iterable[ContainerFacts], asking: ContainerFacts) -> LikelyCause | None:
    others = [other for other in found if other.id != asking.id]
    if not others or any(_is_fine(other) for other in others):
        return None
    worst = others[0]
    if worst.state is ContainerState.RUNNING:
        return LikelyCause(
            id="dependency_unhealthy",
            description=f"{worst.name}, which it connects to, is unhealthy.",
            confidence=0.8,
            related_symptoms=RELATED,
            peer=worst.name,
        )
    return LikelyCause(
        id="dependency_down",
        description=f"{worst.name}, which it connects to, does not run: {_state_of(worst)}.",
        confidence=0.92,
        evidence=(f"{worst.name} is {worst.state.value}",),
        related_symptoms=RELATED,
        peer=worst.name,
    )


def _is_fine(other: ContainerFacts) -> bool:
    if other.state is not ContainerState.RUNNING:
        return False
    return other.health is None or other.health.status is not HealthStatus.UNHEALTHY


def _state_of(other: ContainerFacts) -> str:
    if other.state is ContainerState.EXITED and other.exit_code is not None:
        killed = ", killed by the kernel for memory" if other.oom_killed else ""
        ran = ""
        if other.finished_at is not None and other.started_at is not None:
            ran = f" after {in_seconds((other.finished_at - other.started_at).total_seconds())}"
        return f"exited with code {explain_exit(other.exit_code)}{ran}{killed}"
    return other.state.value


def _share_network(one: ContainerFacts, other: ContainerFacts) -> bool:
    return bool({network.name for network in one.networks} & {network.name for network in other.networks})


def _no_shared_network(other: ContainerFacts) -> LikelyCause:
    return LikelyCause(
        id="no_shared_network",
        description=f"{other.name} runs, but shares no network with it, so its name cannot be resolved.",
        confidence=0.88,
        related_symptoms=RELATED,
        peer=other.name,
    )
