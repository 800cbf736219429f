"""Predicts what `docker compose up` would do about a container (docker/compose v5, measured; docs/drift.md)."""

from collections.abc import Iterable

from bcon_exporter.drift.fields import FieldDifference
from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.desired import DesiredService
from bcon_exporter.model.findings import ComposeAction

_UPDATABLE = frozenset(
    (
        "mem_limit",
        "memswap_limit",
        "mem_reservation",
        "cpus",
        "cpu_shares",
        "cpu_quota",
        "cpu_period",
        "cpuset",
        "pids_limit",
        "restart",
        "container_name",
        "blkio_config",
    )
)
"""`docker update` and `docker rename` change these; the config hash stays, so Compose does not notice."""


def compare_hash(service: DesiredService, container: ContainerFacts, version: str | None) -> bool | None:
    """Return whether the container's config hash is the file's; None where the two cannot be compared.

    Args:
        service: As the file asks for it.
        container: One of its replicas.
        version: Of the Compose binary that resolved the file.
    """
    claim = container.compose
    if service.config_hash is None or claim is None or claim.config_hash is None:
        return None
    if claim.version and version and claim.version.partition(".")[0] != version.partition(".")[0]:
        return None
    return service.config_hash == claim.config_hash


def find_action(
    service: DesiredService,
    container: ContainerFacts,
    differences: Iterable[FieldDifference],
    pairing: ProjectPairing,
) -> ComposeAction | None:
    """Return "recreate" when Compose would notice a difference, else "nothing"; None where only the hash could decide.

    Differences that depend on a variable without a value do not count.
    """
    same_hash = compare_hash(service, container, pairing.project.compose_version)
    if same_hash is False or has_stale_image_label(container):
        return "recreate"
    firm = [difference for difference in differences if difference.path not in service.doubtful]
    for difference in firm:
        root = difference.path.partition(".")[0]
        if _is_missing_attachment(difference, container) or (
            same_hash is None and root not in (*_UPDATABLE, "networks")
        ):
            return "recreate"
    unclear = same_hash is None and any(difference.path.partition(".")[0] in _UPDATABLE for difference in firm)
    return None if unclear or (same_hash is None and not firm) else "nothing"


def _is_missing_attachment(difference: FieldDifference, container: ContainerFacts) -> bool:
    """Return whether a container lacks a named volume, or a network while it runs: Compose checks both itself."""
    expected = difference.expected.shown if difference.expected else ""
    if difference.path.startswith("networks."):
        return expected == "attached" and difference.actual is None and container.is_running
    return difference.path.startswith("volumes.") and expected.startswith("volume ")


def has_stale_image_label(container: ContainerFacts) -> bool:
    """Return whether the image id that Compose put on the container is no longer the one of its tag."""
    labelled_image_id = container.compose.image if container.compose else None
    tag_image_id = container.config.image_id_of_tag if container.config else None
    return labelled_image_id is not None and tag_image_id is not None and labelled_image_id != tag_image_id
