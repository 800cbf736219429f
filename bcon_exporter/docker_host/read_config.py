"""What drift needs beyond state: each container's configuration, the images' defaults, networks and volumes."""

from typing import Any
from urllib.parse import quote

from bcon_exporter.docker_host.allowlist import is_valid_image
from bcon_exporter.docker_host.decode import NotJsonError, decode_object
from bcon_exporter.docker_host.inventory import Inventory
from bcon_exporter.docker_host.parse import parse_network, parse_volume
from bcon_exporter.docker_host.parse_config import parse_config
from bcon_exporter.docker_host.pipeline import Outcome
from bcon_exporter.docker_host.raw import get_list, get_text
from bcon_exporter.docker_host.scan import Scan
from bcon_exporter.docker_host.session import EngineSession
from bcon_exporter.docker_host.wire import Answer
from bcon_exporter.errors import BconError, ContainerNotFoundError
from bcon_exporter.model.facts import ConfigFacts, NetworkFacts, VolumeFacts
from bcon_exporter.model.masking import Sealer

_IMAGE_CAP_BYTES = 1024 * 1024


class ConfigReader:
    """Reads configurations; remembers images by id, since those never change. To be used by one scan at a time."""

    def __init__(self, session: EngineSession, sealer: Sealer) -> None:
        self._session, self._sealer = session, sealer
        self._images: dict[str, dict[str, Any]] = {}

    def read(self, inventory: Inventory, scan: Scan, raw: dict[str, dict[str, Any]]) -> dict[str, ConfigFacts]:
        """Return the configuration of each container of a scan.

        Args:
            inventory: Keeps the configuration of containers at rest.
            scan: The scan.
            raw: The inspect answers of this scan, by id; has every container without a kept configuration, unless
                its inspect failed.
        """
        present = [inventory.known[container_id] for container_id in scan.present()]
        tags = {known.image_reference for known in present if known.image_reference}
        tag_ids, unread_tags = self._ask(scan, sorted(tags))
        image_ids = {known.facts.image_id for known in present if known.facts.image_id}
        _, unread_images = self._ask(scan, sorted(image_ids - self._images.keys()))
        self._images = {image_id: image for image_id, image in self._images.items() if image_id in image_ids}
        found: dict[str, ConfigFacts] = {}
        for known in present:
            container_id = known.facts.id
            if known.config is None and known.facts.image_id in unread_images:
                scan.miss(container_id, "config", unread_images[known.facts.image_id])
                continue
            if container_id in raw:
                known.config = self._parse(container_id, raw[container_id], known.facts.image_id, scan)
            if known.config is None:
                scan.unread.setdefault(container_id, {}).setdefault("config", "inspect was not read")
                continue
            if known.image_reference in unread_tags:
                scan.miss(container_id, "config", unread_tags[known.image_reference])
                continue
            tag_id = tag_ids.get(known.image_reference or "")
            if known.config.image_id_of_tag != tag_id:
                known.config = known.config.model_copy(update={"image_id_of_tag": tag_id})
            found[container_id] = known.config
        return found

    def _parse(
        self, container_id: str, inspected: dict[str, Any], image_id: str | None, scan: Scan
    ) -> ConfigFacts | None:
        try:
            return parse_config(inspected, self._images.get(image_id or ""), self._sealer)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            scan.miss(container_id, "config", f"the configuration could not be read ({type(error).__name__})")
            return None

    def _ask(self, scan: Scan, references: list[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Inspect images by id or reference, and remember them.

        Returns:
            Reference → image id, and reference → why it could not be read. One that is in neither does not exist: an
            image removed under its container is a fact, without id and defaults.
        """
        found: dict[str, str] = {}
        unread: dict[str, str] = {}
        askable = [reference for reference in references if is_valid_image(reference)]
        if not askable:
            return found, unread
        try:
            prefix = self._session.negotiate(scan.deadline)
        except BconError as error:
            return found, dict.fromkeys(askable, error.message)

        def take(index: int, outcome: Outcome) -> None:
            if not isinstance(outcome, Answer):
                if not isinstance(outcome, ContainerNotFoundError):
                    unread[askable[index]] = outcome.message
                return
            try:
                image = decode_object(outcome.body)
            except NotJsonError:
                image = {}
            if image_id := get_text(image, "Id"):
                found[askable[index]] = image_id
                self._images[image_id] = image
            else:
                unread[askable[index]] = "the image's description could not be read"

        batch = self._session.batch(
            "inspecting images",
            scan.deadline,
            connections=self._session.options.parallel,
            depth=self._session.options.depth,
            body_cap_bytes=_IMAGE_CAP_BYTES,
        )
        targets = [f"{prefix}/images/{quote(reference, safe='/:')}/json" for reference in askable]
        self._session.bulk("inspect", targets, batch, take)
        return found, unread


def read_networks(session: EngineSession, scan: Scan) -> tuple[NetworkFacts, ...] | None:
    """Return the host's networks; None, with the reason in the scan, when they could not be read."""
    try:
        raw: Any = session.call("networks", "listing networks", scan.deadline, lambda client: client.networks())
    except BconError as error:
        scan.host_unread["networks"] = error.message
        return None
    found = [parse_network(entry) for entry in raw] if isinstance(raw, list) else []
    return tuple(network for network in found if network is not None)


def read_volumes(session: EngineSession, scan: Scan) -> tuple[VolumeFacts, ...] | None:
    """Return the host's volumes; None, with the reason in the scan, when they could not be read."""
    try:
        raw: Any = session.call("volumes", "listing volumes", scan.deadline, lambda client: client.volumes())
    except BconError as error:
        scan.host_unread["volumes"] = error.message
        return None
    entries = get_list(raw, "Volumes") if isinstance(raw, dict) else []
    return tuple(volume for volume in map(parse_volume, entries) if volume is not None)
