"""Compares references to containers: a file's "service:db" or "container:name" with the id or name of a container."""

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.desired import DesiredService


def refers_to_same_container(expected: str, actual: str, pairing: ProjectPairing) -> bool:
    """Return whether the file's reference and the container's reference mean the same container.

    Args:
        expected: The file's: "service:web" or "container:name".
        actual: The container's: a name or the first digits of an id. If that container is gone, only its name is
            compared.
        pairing: Holds the host's containers.
    """
    kind, _, name = expected.partition(":")
    project = pairing.project.name
    if (container := pairing.host.names.get(actual)) is not None:
        if kind == "container":
            return name == container.name or container.id.startswith(name)
        return container.compose is not None and (container.compose.project, container.compose.service) == (
            project,
            name,
        )
    return actual == name if kind == "container" else _is_name_compose_gives(actual, name, pairing)


def refers_to_same_containers(expected: str, actual: str, pairing: ProjectPairing) -> bool:
    """Return whether two lists, joined by ", ", mean the same containers; one service may match several replicas."""
    expected_names, actual_names = expected.split(", "), actual.split(", ")
    return all(
        any(refers_to_same_container(wanted, found, pairing) for found in actual_names) for wanted in expected_names
    ) and all(
        any(refers_to_same_container(wanted, found, pairing) for wanted in expected_names) for found in actual_names
    )


def is_automatic_alias(alias: str, service: DesiredService, project: str) -> bool:
    """Return whether Compose adds this alias to a link by itself: "db-1" and "shop-db-1" for a link to db."""
    linked = {value.shown for path, value in service.fields.items() if path.startswith("links.")}
    stem = strip_replica_number(alias)
    return stem is not None and bool({f"service:{stem}", f"service:{stem.removeprefix(f'{project}-')}"} & linked)


def strip_replica_number(name: str) -> str | None:
    """Return "shop-db" for the replica name "shop-db-1"; None for a name without a number."""
    stem = name.rstrip("0123456789")
    return stem[:-1] if stem != name and stem[-1:] in ("-", "_") and len(stem) > 1 else None


def _is_name_compose_gives(actual: str, service: str, pairing: ProjectPairing) -> bool:
    """Return whether Compose gives this name to the service's containers; used when no such container exists now."""
    for desired in pairing.project.services or ():
        if desired.name == service and "container_name" in desired.fields:
            return actual == desired.fields["container_name"].shown
    return strip_replica_number(actual) in (f"{pairing.project.name}-{service}", f"{pairing.project.name}_{service}")
