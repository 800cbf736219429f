"""Containers that a file names by service ("service:db") or by name, and a container by id or name. Pure."""

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.desired import DesiredService


def names_same(expected: str, actual: str, pairing: ProjectPairing) -> bool:
    """Return whether a container, by name or by the first digits of its id, is the one that the file means.

    Args:
        expected: "service:web" or "container:name".
        actual: As the container has it; of one that is gone only the name can still tell.
        pairing: Knows the host's containers.
    """
    kind, _, name = expected.partition(":")
    project = pairing.project.name
    if (one := pairing.host.names.get(actual)) is not None:
        if kind == "container":
            return name == one.name or one.id.startswith(name)
        return one.compose is not None and (one.compose.project, one.compose.service) == (project, name)
    return actual == name if kind == "container" else _was_name_of(actual, name, pairing)


def names_all(expected: str, actual: str, pairing: ProjectPairing) -> bool:
    """Return whether two lists name the same containers; several replicas may stand for one service."""
    wanted, found = expected.split(", "), actual.split(", ")
    return all(any(names_same(one, other, pairing) for other in found) for one in wanted) and all(
        any(names_same(one, other, pairing) for one in wanted) for other in found
    )


def is_given_alias(alias: str, service: DesiredService, project: str) -> bool:
    """Return whether Compose gives this alias with every link: "db-1" and "shop-db-1" for a link to db."""
    linked = {value.shown for path, value in service.fields.items() if path.startswith("links.")}
    stem = stem_of(alias)
    return stem is not None and bool({f"service:{stem}", f"service:{stem.removeprefix(f'{project}-')}"} & linked)


def stem_of(name: str) -> str | None:
    """Return the name of a replica without its number, "shop-db" of "shop-db-1"; None for a name without one."""
    stem = name.rstrip("0123456789")
    return stem[:-1] if stem != name and stem[-1:] in ("-", "_") and len(stem) > 1 else None


def _was_name_of(actual: str, service: str, pairing: ProjectPairing) -> bool:
    """Return whether Compose gives a container of the service this name: it may have been renamed since, or be gone."""
    for one in pairing.project.services or ():
        if one.name == service and "container_name" in one.fields:
            return actual == one.fields["container_name"].shown
    return stem_of(actual) in (f"{pairing.project.name}-{service}", f"{pairing.project.name}_{service}")
