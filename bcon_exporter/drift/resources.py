"""Finds the networks and volumes of a project that were made from another definition than the file's."""

from collections.abc import Iterator, Mapping, Sequence

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.container_facts import NetworkFacts, VolumeFacts
from bcon_exporter.model.findings import DriftType, ServiceDrift

_LABEL = "com.docker.compose."


def find_changed_resources(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    """Yield one config_mismatch for each network or volume that `up` would recreate.

    Their hashes depend on Compose's version, so only resources made by the same version are compared.
    """
    project, host = pairing.project, pairing.host
    if project.unresolved:
        return
    yield from _find_changed("network", project.network_hashes, host.networks.get(project.name, ()), pairing)
    yield from _find_changed("volume", project.volume_hashes, host.volumes.get(project.name, ()), pairing)


def find_unread_resources(pairing: ProjectPairing) -> list[str]:
    """Return which of "networks" and "volumes" the project has and could not be read from the host."""
    project, snapshot = pairing.project, pairing.host.snapshot
    if project.unresolved:
        return []
    unread = [] if snapshot.networks is not None or not project.network_hashes else ["networks"]
    return unread if snapshot.volumes is not None or not project.volume_hashes else [*unread, "volumes"]


def _find_changed(
    kind: str,
    hashes: Mapping[str, str],
    resources: Sequence[NetworkFacts] | Sequence[VolumeFacts],
    pairing: ProjectPairing,
) -> Iterator[ServiceDrift]:
    for resource in resources:
        expected_hash, actual_hash = hashes.get(resource.name), resource.labels.get(f"{_LABEL}config-hash")
        version = resource.labels.get(f"{_LABEL}version")
        if not expected_hash or not actual_hash:
            continue
        if version != pairing.project.compose_version or expected_hash == actual_hash:
            continue
        yield ServiceDrift(
            service_name=_first_user(kind, resource.name, pairing),
            drift_type=DriftType.CONFIG_MISMATCH,
            expected=f"the {kind} as the file defines it",
            actual="made from another definition",
            message=(
                f"The {kind} {resource.name} was made from another definition than the file's: `up` would renew it."
            ),
            field=f"{kind}s.{resource.name}",
            compose_would="recreate",
        )


def _first_user(kind: str, name: str, pairing: ProjectPairing) -> str:
    """Return the first service that uses the resource: a metric of a difference needs a service."""
    for pair in pairing.services:
        for path, value in pair.service.fields.items():
            if path == f"{kind}s.{name}" or (path.startswith("volumes.") and value.shown.startswith(f"volume {name}")):
                return pair.service.name
    return pairing.services[0].service.name if pairing.services else ""
