"""What `docker compose up` would do about a container (docker/compose v5, measured; docs/drift.md)."""

from collections.abc import Iterable

from bcon_exporter.drift.fields import FieldDifference
from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.desired import DesiredService
from bcon_exporter.model.facts import ContainerFacts
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
"""What `docker update` and `docker rename` change without Compose noticing."""


def compare_hash(service: DesiredService, container: ContainerFacts, pairing: ProjectPairing) -> bool | None:
    """Return whether the container was made from what the file says now; None where that cannot be compared."""
    claim, version = container.compose, pairing.project.compose_version
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
    """Return "recreate" when Compose would notice a difference, else "nothing"; None where only the hash could tell.

    What hangs on a variable without a value proves nothing.
    """
    same_hash = compare_hash(service, container, pairing)
    if same_hash is False or has_stale_image_label(container):
        return "recreate"
    firm = [one for one in differences if one.path not in service.doubtful]
    for difference in firm:
        root = difference.path.partition(".")[0]
        if _is_lost(difference, container) or (same_hash is None and root not in (*_UPDATABLE, "networks")):
            return "recreate"
    unclear = same_hash is None and any(one.path.partition(".")[0] in _UPDATABLE for one in firm)
    return None if unclear or (same_hash is None and not firm) else "nothing"


def _is_lost(difference: FieldDifference, container: ContainerFacts) -> bool:
    """Return whether a container lacks a network while it runs, or a named volume: Compose looks for these itself."""
    expected = difference.expected.shown if difference.expected else ""
    if difference.path.startswith("networks."):
        return expected == "attached" and difference.actual is None and container.is_running
    return difference.path.startswith("volumes.") and expected.startswith("volume ")


def has_stale_image_label(container: ContainerFacts) -> bool:
    """Return whether the image that Compose noted at creation is no longer what the tag points to."""
    noted = container.compose.image if container.compose else None
    current = container.config.image_id_of_tag if container.config else None
    return noted is not None and current is not None and noted != current
