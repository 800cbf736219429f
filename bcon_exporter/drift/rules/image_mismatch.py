"""image_mismatch: another reference than the file's, or the tag has since been moved to another image."""

from collections.abc import Iterator

from bcon_exporter.drift.images import has_other_image, render_images
from bcon_exporter.drift.pairing import ProjectPairing, ServicePairing
from bcon_exporter.drift.rule import DriftRule, confidence_of_doubt
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import DriftType, ServiceDrift, Severity
from bcon_exporter.model.image_versions import name_image


def _find(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    for pair in pairing.services:
        containers_of: dict[tuple[str, str, str], list[ContainerFacts]] = {}
        for container in pair.replicas:
            if difference := _difference(pair, container):
                containers_of.setdefault(difference, []).append(container)
        confidence = confidence_of_doubt(pairing.project) if "image" in pair.service.doubtful else 1.0
        for difference, containers in containers_of.items():
            yield _drift(pair, difference, containers, confidence)


def _difference(pair: ServicePairing, container: ContainerFacts) -> tuple[str, str, str] | None:
    wanted, name = pair.service.image, pair.service.name
    if has_other_image(pair.service, container):
        expected, actual = render_images(pair.service, container)
        return expected, actual, f"Service {name} should run the image {expected}, but runs {actual}."
    tag = container.config.image_id_of_tag if container.config else None
    if tag is None or container.image_id is None or tag == container.image_id:
        return None
    version = container.config.version_of_tag if container.config else None
    expected = name_image(wanted, version, tag)
    actual = name_image(wanted, container.image_version, container.image_id)
    now, runs = (told.removeprefix(f"{wanted} (").removesuffix(")") for told in (expected, actual))
    return expected, actual, f"{wanted} is now the image {now}, but {name} runs {runs}."


def _drift(
    pair: ServicePairing, difference: tuple[str, str, str], containers: list[ContainerFacts], confidence: float
) -> ServiceDrift:
    expected, actual, message = difference
    return ServiceDrift(
        service_name=pair.service.name,
        drift_type=DriftType.IMAGE_MISMATCH,
        expected=expected,
        actual=actual,
        message=message,
        severity=Severity.INFO if confidence < 1 else Severity.WARNING,
        field="image",
        container_name=containers[0].name,
        compose_would="recreate",
        confidence=confidence,
    )


IMAGE_MISMATCH = DriftRule(DriftType.IMAGE_MISMATCH, "docs/drift.md, Decisions; moby tags are movable", _find)
