"""Compares a container's image reference with the file's, also where a tag is masked. Pure."""

from bcon_exporter.drift.wording import add_fingerprint, mask_both
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.desired import DesiredService
from bcon_exporter.secrets.normal_form import normalize_reference


def has_other_image(service: DesiredService, container: ContainerFacts) -> bool:
    """Return whether the container was made with another image reference than the file's; "nginx" is "nginx:latest"."""
    fingerprint = container.config.image_fingerprint if container.config else None
    if fingerprint is not None and service.image_fingerprint is not None:
        return service.image_fingerprint != fingerprint
    return normalize_reference(service.image) != normalize_reference(container.image)


def render_images(service: DesiredService, container: ContainerFacts) -> tuple[str, str]:
    """Return the file's image and the container's, masked for a report."""
    expected, actual = mask_both(service.image, container.image)
    if expected == actual and container.config is not None:
        return add_fingerprint(expected, service.image_fingerprint), add_fingerprint(
            actual, container.config.image_fingerprint
        )
    return expected, actual
