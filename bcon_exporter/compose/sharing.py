"""Config hashes of services that share a namespace or the volumes of another service.

Compose puts the ids of living containers into such a service before it hashes it, so `config --hash` alone prints
another hash. It prints the same when one more file says `container:ID` where the files say `service:NAME`
(docker/compose v5.6, measured). Of several replicas it takes any one when it makes the service, and the first one when
it compares: such a hash tells nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MODES = ("network_mode", "ipc", "pid")


@dataclass(frozen=True, slots=True)
class Shared:
    """What one service shares.

    Attributes:
        modes: `network_mode`, `ipc`, `pid` → the other service, or its container's id.
        sources: `volumes_from` in the file's order: the same, or a container's name.
        services: The other services among them.
    """

    modes: Mapping[str, str]
    sources: tuple[str, ...]
    services: frozenset[str] = frozenset()


def find_shared(services: Mapping[str, Any]) -> dict[str, Shared]:
    """Return what the services share whose hash hangs on living containers, by name."""
    found = {name: _shared_of(service) for name, service in services.items()}
    return {name: shared for name, shared in found.items() if shared.modes or shared.sources}


def find_living(shared: Mapping[str, Shared], containers: Mapping[str, str]) -> dict[str, Shared]:
    """Return the same with the ids of containers for services, where all the others have containers.

    Args:
        shared: As `find_shared` returns it.
        containers: Service → the id of its only container.
    """
    return {
        name: Shared(
            {key: containers[other] for key, other in one.modes.items()},
            tuple(containers[other] if other in one.services else other for other in one.sources),
        )
        for name, one in shared.items()
        if one.services <= containers.keys()
    }


def render_living(living: Mapping[str, Shared], services: frozenset[str]) -> str:
    """Return a Compose file that says what `find_living` found.

    `volumes_from` takes services only: so the file defines some that are called like the containers.
    """
    sources = dict.fromkeys(source for one in living.values() for source in one.sources)
    parts = [f'{json.dumps(name)}: {{"image": "none"}}' for name in sources if name not in services]
    for name, one in living.items():
        keys = [f"{json.dumps(key)}: {json.dumps(f'container:{other}')}" for key, other in one.modes.items()]
        keys += [f'"volumes_from": !override {json.dumps(one.sources)}'] if one.sources else []
        parts.append(f"{json.dumps(name)}: {{{', '.join(keys)}}}")
    return f'{{"services": {{{", ".join(parts)}}}}}'


def _shared_of(service: Mapping[str, Any]) -> Shared:
    kinds = {key: str(service.get(key) or "").partition(":") for key in _MODES}
    modes = {key: name for key, (kind, _, name) in kinds.items() if kind == "service"}
    entries = [str(one).removesuffix(":rw").removesuffix(":ro") for one in service.get("volumes_from") or ()]
    services = {*modes.values(), *(one for one in entries if not one.startswith("container:"))}
    return Shared(modes, tuple(one.removeprefix("container:") for one in entries), frozenset(services))
