"""Whose past it is: a service's replica, else a name; the same across recreation (pure)."""

import json
from functools import lru_cache

from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.lifecycle import LifecycleEvent
from bcon_exporter.model.naming import normalise_name

_REMEMBERED = 1024
"""Names that are used once are forgotten before they weigh anything."""


def identity_of(container: ContainerFacts) -> str:
    """Return the identity of a container that was read."""
    compose = container.compose
    if compose is None or compose.oneoff:
        return _by_name(container.name)
    return _by_replica(compose.project, compose.service, compose.number)


def identity_of_event(event: LifecycleEvent) -> str:
    """Return the identity of the container that an event is about; the same as `identity_of` it."""
    if not event.project or not event.service or event.oneoff:
        return _by_name(event.name)
    return _by_replica(event.project, event.service, 1 if event.number is None else event.number)


@lru_cache(maxsize=_REMEMBERED)
def _by_replica(project: str, service: str, number: int) -> str:
    return json.dumps([project, service, number], ensure_ascii=False)


@lru_cache(maxsize=_REMEMBERED)
def _by_name(name: str) -> str:
    return json.dumps([normalise_name(name)], ensure_ascii=False)
