"""Whose past it is: a service's replica, else a name; the same across recreation (pure)."""

from json import JSONEncoder

from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.lifecycle import LifecycleEvent
from bcon_exporter.model.naming import normalise_name

_quoted = JSONEncoder(ensure_ascii=False).encode


def identity_of(container: ContainerFacts) -> str:
    """Return the identity of a container that was read."""
    compose = container.compose
    if compose is None or not compose.is_replica:
        return _by_name(container.name)
    return _by_replica(compose.project, compose.service, compose.number)


def identity_of_event(event: LifecycleEvent) -> str:
    """Return the identity of the container that an event is about; the same as `identity_of` it."""
    if not event.project or not event.service or event.oneoff:
        return _by_name(event.name)
    return _by_replica(event.project, event.service, 1 if event.number is None else event.number)


def _by_replica(project: str, service: str, number: int) -> str:
    """Return a JSON array; written here, for each container is asked for its own several times a scan."""
    return f"[{_quoted(project)}, {_quoted(service)}, {number}]"


def _by_name(name: str) -> str:
    return f"[{_quoted(normalise_name(name))}]"
