"""Reads what drift compares: each container's configuration, and the defaults of the images."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bcon_exporter.engine.allowlist import is_valid_image
from bcon_exporter.engine.containers import Inventory, InventoryEntry
from bcon_exporter.engine.http_parser import Answer
from bcon_exporter.engine.parse import (
    NOT_INSPECTED,
    NotJsonError,
    decode_object,
    parse_config,
    parse_image,
)
from bcon_exporter.engine.parse.json_fields import get_text
from bcon_exporter.engine.scan import Scan
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.errors import BconError, ContainerNotFoundError
from bcon_exporter.model.container_facts import ConfigFacts
from bcon_exporter.model.image_versions import NAME_LABEL, VERSION_LABEL, find_image_version
from bcon_exporter.secrets.masking import Sealer

if TYPE_CHECKING:
    from bcon_exporter.model.desired import FieldValue

_IMAGE_CAP_BYTES = 1024 * 1024
MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors raised by reading an answer with values of wrong types."""


class ConfigReader:
    """Reads configurations and caches images by id: an image never changes. To be used by one scan at a time.

    Inspect answers are parsed one by one as they come: all answers of a big host together would need much memory.
    """

    def __init__(self, session: EngineSession, sealer: Sealer) -> None:
        self._session, self._sealer = session, sealer
        self._images: dict[str, dict[str, FieldValue]] = {}
        self._unread_images: dict[str, str] = {}
        self._queried_images: set[str] = set()
        self._pending: dict[str, dict[str, Any]] = {}

    def begin(self, inventory: Inventory, scan: Scan) -> None:
        """Read the images of the listed containers, before these are inspected."""
        self._pending, self._unread_images, self._queried_images = {}, {}, set()
        self._read_images(inventory, scan)

    def take(self, entry: InventoryEntry, inspected: dict[str, Any], scan: Scan) -> None:
        """Parse the configuration in an inspect answer, or keep the answer until its image is read."""
        if entry.facts.image_id in self._queried_images:
            entry.config = self._parse(entry, inspected, scan)
        else:  # created after the images were read
            self._pending[entry.facts.id] = inspected

    def finish(self, inventory: Inventory, scan: Scan) -> dict[str, ConfigFacts]:
        """Return the configuration of each container of a scan; `inventory` keeps that of containers at rest."""
        if self._pending:
            self._read_images(inventory, scan)
        for container_id, inspected in self._pending.items():
            if (entry := inventory.entries.get(container_id)) is not None:
                entry.config = self._parse(entry, inspected, scan)
        self._pending = {}
        present = [inventory.entries[container_id] for container_id in scan.present()]
        image_ids = {entry.facts.image_id for entry in present}
        self._images = {image_id: fields for image_id, fields in self._images.items() if image_id in image_ids}
        tag_ids, unread_tags = self._query_images(
            scan, sorted({entry.image_reference for entry in present if entry.image_reference})
        )
        configs: dict[str, ConfigFacts] = {}
        for entry in present:
            reason = self._unread_images.get(entry.facts.image_id or "") if entry.config is None else None
            reason = reason or unread_tags.get(entry.image_reference or "")
            if reason is not None:
                scan.record_unread(entry.facts.id, "config", reason)
            elif entry.config is None:
                scan.unread.setdefault(entry.facts.id, {}).setdefault("config", NOT_INSPECTED)
            else:
                entry.config = self._with_tag_image(entry.config, entry.image_reference or "", tag_ids)
                configs[entry.facts.id] = entry.config
        return configs

    def _read_images(self, inventory: Inventory, scan: Scan) -> None:
        image_ids = {inventory.entries[container_id].facts.image_id or "" for container_id in scan.present()} - {""}
        _, unread = self._query_images(scan, sorted(image_ids - self._images.keys() - self._queried_images))
        self._unread_images |= unread
        self._queried_images |= image_ids

    def _parse(self, entry: InventoryEntry, inspected: dict[str, Any], scan: Scan) -> ConfigFacts | None:
        """Return the configuration; None when it or its image could not be read."""
        image_id = entry.facts.image_id or ""
        if image_id in self._unread_images:
            return None
        try:
            return parse_config(inspected, self._images.get(image_id), self._sealer, entry.hidden)
        except MALFORMED as error:
            scan.record_unread(
                entry.facts.id, "config", f"the configuration could not be read ({type(error).__name__})"
            )
            return None

    def _query_images(self, scan: Scan, references: list[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Inspect images by id or reference, and cache them.

        Returns:
            Reference → image id, and reference → why it could not be read. One that is in neither does not exist: an
            image removed under its container is a fact, without id and defaults.
        """
        image_ids: dict[str, str] = {}
        unread: dict[str, str] = {}
        valid = [reference for reference in references if is_valid_image(reference)]
        if not valid:
            return image_ids, unread
        try:
            prefix = self._session.negotiate(scan.deadline)
        except BconError as error:
            return image_ids, dict.fromkeys(valid, error.message)

        batch = self._session.bulk_batch("inspecting images", scan.deadline, body_cap_bytes=_IMAGE_CAP_BYTES)
        targets = [f"{prefix}/images/{quote(reference, safe='/:')}/json" for reference in valid]
        for index, outcome in self._session.fetch("inspect", targets, batch):
            if isinstance(outcome, ContainerNotFoundError):
                continue
            if not isinstance(outcome, Answer):
                unread[valid[index]] = outcome.message
            elif image_id := self._remember_image(outcome):
                image_ids[valid[index]] = image_id
            else:
                unread[valid[index]] = "the image's description could not be read"
        return image_ids, unread

    def _remember_image(self, answer: Answer) -> str | None:
        """Cache an image's defaults; return its id, or None when the answer cannot be read."""
        try:
            image = decode_object(answer.body)
            image_id = get_text(image, "Id")
            if image_id and image_id not in self._images:
                self._images[image_id] = parse_image(image, self._sealer)
        except (NotJsonError, *MALFORMED):
            return None
        return image_id or None

    def _with_tag_image(self, config: ConfigFacts, reference: str, tag_ids: Mapping[str, str]) -> ConfigFacts:
        """Return the configuration with the id that its image tag has now, and the version of that image."""
        image_id = tag_ids.get(reference)
        fields = self._images.get(image_id or "", {})
        labels = {key: fields[path].shown for key in (VERSION_LABEL, NAME_LABEL) if (path := f"labels.{key}") in fields}
        version = find_image_version(reference, labels) if image_id is not None else None
        if (config.image_id_of_tag, config.version_of_tag) == (image_id, version):
            return config
        return config.model_copy(update={"image_id_of_tag": image_id, "version_of_tag": version})
