"""Images by reference: what a deployment has to know of those that it would run."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from bcon_exporter.engine.allowlist import is_valid_image
from bcon_exporter.engine.http_parser import Answer
from bcon_exporter.engine.parse import NotJsonError, decode_object, parse_image_facts
from bcon_exporter.engine.scan import Deadline
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.errors import BconError, ContainerNotFoundError
from bcon_exporter.model.deployment import ImageFacts

_CAP_BYTES = 1024 * 1024


def read_images(session: EngineSession, references: Iterable[str], deadline: Deadline) -> dict[str, ImageFacts | None]:
    """Return reference → image, None for one that is not on the engine; one that could not be read is left out."""
    askable = sorted({reference for reference in references if is_valid_image(reference)})
    found: dict[str, ImageFacts | None] = {}
    if not askable:
        return found
    try:
        prefix = session.negotiate(deadline)
    except BconError:
        return found
    batch = session.bulk_batch("inspecting images", deadline, body_cap_bytes=_CAP_BYTES)
    targets = [f"{prefix}/images/{quote(reference, safe='/:')}/json" for reference in askable]
    for index, outcome in session.fetch("inspect", targets, batch):
        if isinstance(outcome, ContainerNotFoundError):
            found[askable[index]] = None
        elif isinstance(outcome, Answer) and (image := _parse(outcome)) is not None:
            found[askable[index]] = image
    return found


def _parse(answer: Answer) -> ImageFacts | None:
    try:
        raw: Mapping[str, Any] = decode_object(answer.body)
    except NotJsonError:
        return None
    return parse_image_facts(raw)
