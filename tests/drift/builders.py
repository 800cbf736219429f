"""Small builders of desired projects and of containers that fit them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bcon_exporter.drift import detect_drift
from bcon_exporter.model.container_facts import ComposeIdentity, ConfigFacts, ContainerFacts, HostSnapshot
from bcon_exporter.model.desired import DesiredProject, DesiredService, FieldValue
from bcon_exporter.secrets.masking import Sealer
from bcon_exporter.secrets.normal_form import seal_fields
from tests.factories import NOON, container, snapshot

if TYPE_CHECKING:
    from bcon_exporter.model.findings import ServiceDrift
    from bcon_exporter.model.reports import DriftReport

SEALER = Sealer(b"k" * 32)
IMAGE_ID = "sha256:" + "a" * 64
OTHER_IMAGE_ID = "sha256:" + "b" * 64
BASE = {"networks.shop_default": "attached", "networks.shop_default.aliases.web": "set"}


def sealed(raw: dict[str, str]) -> dict[str, FieldValue]:
    """Seal raw fields as both readers do."""
    return seal_fields(raw, SEALER)


def service(name: str = "web", /, fields: dict[str, str] | None = None, **facts: Any) -> DesiredService:
    """A service that one container made by `replica` fits."""
    base: dict[str, Any] = {"name": name, "image": "app:1", "config_hash": "h1"}
    return DesiredService(**{**base, **facts}, fields=sealed({**BASE, **(fields or {})}))


def project(*services: DesiredService, **facts: Any) -> DesiredProject:
    """A project "shop" resolved by Compose 5.6.1."""
    base: dict[str, Any] = {
        "name": "shop",
        "config_files": ("/srv/shop/compose.yaml",),
        "working_dir": "/srv/shop",
        "resolved_at": NOON,
        "compose_version": "5.6.1",
        "services": services,
    }
    return DesiredProject(**{**base, **facts})


def replica(
    name: str = "web",
    number: int = 1,
    /,
    fields: dict[str, str] | None = None,
    image_fields: dict[str, str] | None = None,
    claim: dict[str, Any] | None = None,
    **facts: Any,
) -> ContainerFacts:
    """A running container of a service, as Compose made it from `service(name)`."""
    config = ConfigFacts(
        fields=sealed({**BASE, **(image_fields or {}), **(fields or {})}),
        image_fields=sealed(image_fields or {}),
        image_id_of_tag=IMAGE_ID,
    )
    identity: dict[str, Any] = {
        "project": "shop",
        "service": name,
        "number": number,
        "config_hash": "h1",
        "version": "5.6.1",
        "image": IMAGE_ID,
        "working_dir": "/srv/shop",
        "config_files": ("/srv/shop/compose.yaml",),
        **(claim or {}),
    }
    base: dict[str, Any] = {
        "name": f"shop-{name}-{number}",
        "image": "app:1",
        "image_id": IMAGE_ID,
        "compose": ComposeIdentity(**identity),
        "config": config,
    }
    return container(**{**base, **facts})


def host(*containers: ContainerFacts, **facts: Any) -> HostSnapshot:
    """A host with these containers."""
    return snapshot(*containers, **facts)


def drift(desired: DesiredProject, *containers: ContainerFacts, **facts: Any) -> DriftReport:
    """The report on a project with these containers on the host."""
    return detect_drift(desired, host(*containers, **facts))


def kinds(report: DriftReport) -> list[tuple[str, str, str | None]]:
    """Service, drift type and field of each difference."""
    return [(one.service_name, str(one.drift_type), one.field) for one in report.differences]


def only(report: DriftReport) -> ServiceDrift:
    """The one difference of a report."""
    assert len(report.differences) == 1, kinds(report)
    return report.differences[0]
