"""A person's word for a container → its full id, as the docker command line resolves it, with help. Pure."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from bcon_exporter.engine.allowlist import is_valid_reference
from bcon_exporter.engine.parse import project_in
from bcon_exporter.engine.parse.json_fields import get_list, get_object, get_text
from bcon_exporter.errors import ContainerNotFoundError, InvalidInputError
from bcon_exporter.model.naming import normalise_name
from bcon_exporter.secrets.cleaning import clean_name, clean_text

_SHOWN = 5
_SHORT_ID = 12


def check_reference(container: str) -> None:
    """Refuse what cannot be an id or a name, before it gets near a path.

    Raises:
        InvalidInputError: It cannot.
    """
    if not is_valid_reference(container):
        shown = clean_text(container, max_chars=80)
        text = f"{shown!r} is no container id or name: letters, digits, '_', '.', '-', at most 255 of them"
        raise InvalidInputError(text, {"container_id": shown})


def find_container(container: str, entries: Iterable[dict[str, Any]]) -> str:
    """Return the full id of the container that an id, a name or a unique id prefix means.

    Args:
        container: What was asked for.
        entries: All elements of `/containers/json?all=1`.

    Raises:
        ContainerNotFoundError: There is none; `near_matches` names similar ones.
        InvalidInputError: It is malformed, or a prefix of several ids; `matches` names them.
    """
    names: dict[str, str] = {}
    for entry in entries:
        container_id = get_text(entry, "Id")
        if container_id:
            names[container_id] = _name(entry)
    return find_among(container, names)


def read_names(entries: Iterable[dict[str, Any]]) -> dict[str, str | None]:
    """Return the Compose project of each container by its name; None without one.

    Args:
        entries: All elements of `/containers/json?all=1`.
    """
    projects: dict[str, str | None] = {}
    for entry in entries:
        projects[clean_name(_name(entry))] = project_in(get_object(entry, "Labels"))
    projects.pop("", None)
    return projects


def find_among(container: str, names: Mapping[str, str]) -> str:
    """Return the full id that is meant, given every container's name by its full id.

    Raises:
        ContainerNotFoundError: There is none; `near_matches` names similar ones.
        InvalidInputError: It is malformed, or a prefix of several ids; `matches` names them.
    """
    check_reference(container)
    if container in names:
        return container
    by_name = [container_id for container_id, name in names.items() if name == container]
    by_name = by_name or [container_id for container_id, name in names.items() if normalise_name(name) == container]
    matches = by_name or [container_id for container_id in names if container_id.startswith(container.lower())]
    if len(matches) == 1:
        return matches[0]
    if matches:
        shown = [f"{container_id[:_SHORT_ID]} {clean_name(names[container_id])}" for container_id in matches[:_SHOWN]]
        text = f"{container!r} means {len(matches)} containers: {', '.join(shown)}. Give more digits, or the name"
        raise InvalidInputError(text, {"container_id": container, "matches": shown})
    raise _not_found(container, list(names.values()))


def _name(entry: dict[str, Any]) -> str:
    """Return the container's own name; others in the list are those of legacy links ("/web/db")."""
    found = [name.removeprefix("/") for name in get_list(entry, "Names") if isinstance(name, str)]
    return next((name for name in found if "/" not in name), "")


def _not_found(container: str, names: list[str]) -> ContainerNotFoundError:
    lowered = {name.lower(): name for name in names if name}
    near = difflib.get_close_matches(container.lower(), lowered, n=_SHOWN, cutoff=0.6)
    near += [name for name in lowered if container.lower() in name and name not in near]
    shown = [clean_name(lowered[name]) for name in near[:_SHOWN]]
    hint = f"Did you mean {', '.join(shown)}?" if shown else "`bcon-exporter list --all` shows all containers"
    details: dict[str, object] = {"container_id": container, "near_matches": shown}
    return ContainerNotFoundError(f"no container is named {container!r}, and no id begins so. {hint}", details)
