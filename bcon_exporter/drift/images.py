"""Whether a container was made with the image that the file asks for, also where a tag is masked. Pure."""

from bcon_exporter.drift.wording import hide_alike, mark
from bcon_exporter.model.desired import DesiredService
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.normal_form import normalize_reference


def has_other_image(service: DesiredService, container: ContainerFacts) -> bool:
    """Return whether a container was made with another reference than the file's; spellings of one are the same."""
    fingerprint = container.config.image_fingerprint if container.config else None
    if fingerprint is not None and service.image_fingerprint is not None:
        return service.image_fingerprint != fingerprint
    return normalize_reference(service.image) != normalize_reference(container.image)


def say_images(service: DesiredService, container: ContainerFacts) -> tuple[str, str]:
    """Return the file's image and the container's as a report may show them."""
    expected, actual = hide_alike(service.image, container.image)
    if expected == actual and container.config is not None:
        return mark(expected, service.image_fingerprint), mark(actual, container.config.image_fingerprint)
    return expected, actual
