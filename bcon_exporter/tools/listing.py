"""Turns facts into what a list shows, and filters them as `docker ps --filter` does."""

from collections.abc import Callable, Iterable, Mapping

from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.reports import ContainerInfo
from bcon_exporter.model.tool_inputs import parse_published

_SHORT_ID_DIGITS = 12


def show_container(facts: ContainerFacts) -> ContainerInfo:
    """Return one container as a list shows it."""
    health = facts.health.status if facts.health is not None and facts.is_running else None
    return ContainerInfo(
        id=facts.short_id,
        name=facts.name,
        image=facts.image,
        state=facts.state,
        status=facts.status_text or facts.state.value,
        created=facts.created_at,
        ports=facts.ports,
        labels=facts.labels,
        health=health,
        exit_code=None if facts.is_running else facts.exit_code,
        oom_killed=facts.oom_killed,
        restart_count=facts.restart_count,
        started_at=facts.started_at,
        finished_at=None if facts.is_running else facts.finished_at,
        restart_policy=facts.restart_policy,
        compose_project=facts.compose.project if facts.compose else None,
        compose_service=facts.compose.service if facts.compose else None,
    )


def list_order(facts: ContainerFacts) -> tuple[str, str, str]:
    """Return the place in a list: by project, those without one last, then by service and name."""
    compose = facts.compose
    return (compose.project if compose else "\uffff", compose.service if compose else "", facts.name)


def is_up(facts: ContainerFacts) -> bool:
    """Return whether a plain list shows the container: running, paused or restarting."""
    return facts.is_running or facts.state is ContainerState.RESTARTING


def matches_filters(facts: ContainerFacts, filters: Iterable[tuple[str, str]]) -> bool:
    """Return whether the container passes every filter; an unknown fact passes none."""
    return all(_FILTERS[key](facts, wanted) for key, wanted in filters)


def _label(facts: ContainerFacts, wanted: str) -> bool:
    key, equals, value = wanted.partition("=")
    return key in facts.labels and (not equals or facts.labels[key] == value)


def _ancestor(facts: ContainerFacts, wanted: str) -> bool:
    repository = facts.image.partition("@")[0]
    image_id = (facts.image_id or "").removeprefix("sha256:")
    untagged = repository.rpartition(":")[0] if ":" in repository.rpartition("/")[2] else repository
    by_id = len(wanted) >= _SHORT_ID_DIGITS and image_id.startswith(wanted.removeprefix("sha256:"))
    return wanted in (facts.image, repository, untagged) or by_id


def _health(facts: ContainerFacts, wanted: str) -> bool:
    if not facts.is_running:
        return False
    status = facts.health.status if facts.health is not None else HealthStatus.NONE
    return status.value == wanted


def _exited(facts: ContainerFacts, wanted: str) -> bool:
    ended = facts.state in (ContainerState.EXITED, ContainerState.DEAD)
    return ended and facts.exit_code is not None and str(facts.exit_code) == wanted


def _volume(facts: ContainerFacts, wanted: str) -> bool:
    return any(wanted in (mount.source, mount.target) for mount in facts.mounts)


def _publish(facts: ContainerFacts, wanted: str) -> bool:
    ports, protocol = parse_published(wanted)
    bound = (bindings for port, bindings in facts.ports.items() if bindings and port.endswith(f"/{protocol}"))
    numbers = (binding.rpartition(":")[2] for bindings in bound for binding in bindings.split(", "))
    return any(number.isdecimal() and int(number) in ports for number in numbers)


_FILTERS: Mapping[str, Callable[[ContainerFacts, str], bool]] = {
    "ancestor": _ancestor,
    "exited": _exited,
    "health": _health,
    "id": lambda facts, wanted: facts.id.startswith(wanted),
    "label": _label,
    "name": lambda facts, wanted: wanted in facts.name,
    "network": lambda facts, wanted: any(network.name == wanted for network in facts.networks),
    "publish": _publish,
    "project": lambda facts, wanted: facts.compose is not None and facts.compose.project == wanted,
    "service": lambda facts, wanted: facts.compose is not None and facts.compose.service == wanted,
    "status": lambda facts, wanted: facts.state.value == wanted,
    "volume": _volume,
}
