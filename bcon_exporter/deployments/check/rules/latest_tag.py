"""latest_tag: which version runs depends on when the image was pulled."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import ADVICE, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    for service in planned.services:
        if not service.is_built and _is_latest(service.image):
            message = f"{service.image} is whatever was the latest when it was pulled. Name a version."
            yield Found(ADVICE, message, service.name, key=f"services.{service.name}.image")


def _is_latest(image: str) -> bool:
    if "@" in image:
        return False
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return not colon or tag == "latest"


LATEST_TAG = CheckRule(
    CheckCode.LATEST_TAG, "An image is named without a version.", "OCI distribution: tags are movable", _find
)
