"""extra_container: a container of the project whose service the files do not define, or that only claims to belong."""

from collections.abc import Iterator

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.drift.rule import DriftRule
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import ComposeAction, DriftType, ServiceDrift, Severity


def _find(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    for container in pairing.orphans:
        why = f"its service is not in {_file(pairing)}"
        yield _drift(container, why, "remove_orphan")
    for container in pairing.claimants:
        yield _drift(container, "its labels claim the project, but Compose did not make it (no config hash)", "nothing")


def _drift(container: ContainerFacts, why: str, action: ComposeAction) -> ServiceDrift:
    service = container.compose.service if container.compose else ""
    return ServiceDrift(
        service_name=service,
        drift_type=DriftType.EXTRA_CONTAINER,
        expected="no container",
        actual=f"{container.name} ({container.state})",
        message=f"The container {container.name} of service {service} is extra: {why}.",
        severity=Severity.INFO,
        container_name=container.name,
        compose_would=action,
    )


def _file(pairing: ProjectPairing) -> str:
    return pairing.project.config_files[0] if pairing.project.config_files else "the Compose file"


EXTRA_CONTAINER = DriftRule(DriftType.EXTRA_CONTAINER, "docs/drift.md, Decisions; orphans as Compose finds them", _find)
