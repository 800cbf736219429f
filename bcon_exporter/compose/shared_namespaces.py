"""Config hashes of services that share a namespace or the volumes of another service.

Before Compose hashes such a service, it replaces the other service's name by the id of its container, so
`config --hash` alone prints another hash. It prints the same hash when an override file says `container:ID` where the
files say `service:NAME` (docker/compose v5.6, measured). Of several replicas Compose takes any one when it creates the
service, and the first one when it compares: such hashes are not compared here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MODES = ("network_mode", "ipc", "pid")


@dataclass(frozen=True, slots=True)
class SharedNamespaces:
    """The namespaces and volumes that one service shares with others.

    Attributes:
        modes: `network_mode`, `ipc`, `pid` → the other service, or its container's id.
        sources: `volumes_from` in the file's order: services, container ids or container names.
        services: The services among `modes` and `sources`.
    """

    modes: Mapping[str, str]
    sources: tuple[str, ...]
    services: frozenset[str] = frozenset()


def find_shared_namespaces(services: Mapping[str, Any]) -> dict[str, SharedNamespaces]:
    """Return service → what it shares, for the services whose hash depends on ids of running containers."""
    by_service = {name: _shared_of(service) for name, service in services.items()}
    return {name: shared for name, shared in by_service.items() if shared.modes or shared.sources}


def substitute_container_ids(
    shared: Mapping[str, SharedNamespaces], containers: Mapping[str, str]
) -> dict[str, SharedNamespaces]:
    """Replace service names by container ids; services of which another service has no single container are left out.

    Args:
        shared: As `find_shared_namespaces` returns it.
        containers: Service → the id of its only container.
    """
    return {
        name: SharedNamespaces(
            {key: containers[target] for key, target in namespaces.modes.items()},
            tuple(containers[target] if target in namespaces.services else target for target in namespaces.sources),
        )
        for name, namespaces in shared.items()
        if namespaces.services <= containers.keys()
    }


def render_override_file(substituted: Mapping[str, SharedNamespaces], services: frozenset[str]) -> str:
    """Return the text of a Compose override file with the container ids.

    `volumes_from` takes services only, so the file defines services that are named like the containers.
    """
    sources = dict.fromkeys(source for namespaces in substituted.values() for source in namespaces.sources)
    parts = [f'{json.dumps(name)}: {{"image": "none"}}' for name in sources if name not in services]
    for name, namespaces in substituted.items():
        keys = [f"{json.dumps(key)}: {json.dumps(f'container:{target}')}" for key, target in namespaces.modes.items()]
        keys += [f'"volumes_from": !override {json.dumps(namespaces.sources)}'] if namespaces.sources else []
        parts.append(f"{json.dumps(name)}: {{{', '.join(keys)}}}")
    return f'{{"services": {{{", ".join(parts)}}}}}'


def _shared_of(service: Mapping[str, Any]) -> SharedNamespaces:
    kinds = {key: str(service.get(key) or "").partition(":") for key in _MODES}
    modes = {key: name for key, (kind, _, name) in kinds.items() if kind == "service"}
    entries = [str(entry).removesuffix(":rw").removesuffix(":ro") for entry in service.get("volumes_from") or ()]
    services = {*modes.values(), *(entry for entry in entries if not entry.startswith("container:"))}
    return SharedNamespaces(modes, tuple(entry.removeprefix("container:") for entry in entries), frozenset(services))
