"""missing_service: the files define the service, and no container of it exists."""

from collections.abc import Iterator

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.drift.rule import DriftRule
from bcon_exporter.model.findings import DriftType, ServiceDrift, Severity
from bcon_exporter.model.quantities import show_count


def _find(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    for pair in pairing.services:
        wanted = pair.service.replicas
        if pair.replicas or wanted == 0:
            continue
        yield ServiceDrift(
            service_name=pair.service.name,
            drift_type=DriftType.MISSING_SERVICE,
            expected=f"{show_count(wanted, 'container')} of {pair.service.image}",
            actual="no container",
            message=f"Service {pair.service.name} is in the file, but no container of it exists.",
            severity=Severity.ERROR,
            compose_would="create",
        )


MISSING_SERVICE = DriftRule(DriftType.MISSING_SERVICE, "docs/drift.md, Decisions", _find)
