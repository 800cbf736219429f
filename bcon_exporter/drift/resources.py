"""Networks and volumes of a project that were made from another definition than the file's."""

from collections.abc import Iterator, Mapping, Sequence

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.model.facts import NetworkFacts, VolumeFacts
from bcon_exporter.model.findings import DriftType, ServiceDrift

_LABEL = "com.docker.compose."


def find_changed_resources(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    """Yield one config_mismatch for each network or volume that `up` would make anew.

    Their hashes depend on the binary's version, so only those made by the very same version compare.
    """
    project, host = pairing.project, pairing.host
    if project.unresolved:
        return
    yield from _changed("network", project.network_hashes, host.networks.get(project.name, ()), pairing)
    yield from _changed("volume", project.volume_hashes, host.volumes.get(project.name, ()), pairing)


def find_unread_resources(pairing: ProjectPairing) -> list[str]:
    """Return "networks" and "volumes" where the project has some to compare and the host's could not be read."""
    project, snapshot = pairing.project, pairing.host.snapshot
    if project.unresolved:
        return []
    unread = [] if snapshot.networks is not None or not project.network_hashes else ["networks"]
    return unread if snapshot.volumes is not None or not project.volume_hashes else [*unread, "volumes"]


def _changed(
    kind: str,
    hashes: Mapping[str, str],
    resources: Sequence[NetworkFacts] | Sequence[VolumeFacts],
    pairing: ProjectPairing,
) -> Iterator[ServiceDrift]:
    for one in resources:
        wanted, noted = hashes.get(one.name), one.labels.get(f"{_LABEL}config-hash")
        version = one.labels.get(f"{_LABEL}version")
        if not wanted or not noted:
            continue
        if version != pairing.project.compose_version or wanted == noted:
            continue
        yield ServiceDrift(
            service_name=_first_user(kind, one.name, pairing),
            drift_type=DriftType.CONFIG_MISMATCH,
            expected=f"the {kind} as the file defines it",
            actual="made from another definition",
            message=f"The {kind} {one.name} was made from another definition than the file's: `up` would renew it.",
            field=f"{kind}s.{one.name}",
            compose_would="recreate",
        )


def _first_user(kind: str, name: str, pairing: ProjectPairing) -> str:
    """Return a service that is attached to the resource; metrics know no project-wide differences."""
    for pair in pairing.services:
        for path, value in pair.service.fields.items():
            if path == f"{kind}s.{name}" or (path.startswith("volumes.") and value.shown.startswith(f"volume {name}")):
                return pair.service.name
    return pairing.services[0].service.name if pairing.services else ""
