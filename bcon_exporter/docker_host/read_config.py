"""What drift needs beyond state: each container's configuration, the images' defaults, networks and volumes."""

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bcon_exporter.docker_host.allowlist import is_valid_image
from bcon_exporter.docker_host.decode import NotJsonError, decode_object
from bcon_exporter.docker_host.inventory import Inventory, Known
from bcon_exporter.docker_host.parse import parse_network, parse_volume
from bcon_exporter.docker_host.parse_config import parse_config, parse_image
from bcon_exporter.docker_host.pipeline import Outcome
from bcon_exporter.docker_host.raw import get_list, get_text
from bcon_exporter.docker_host.scan import Scan
from bcon_exporter.docker_host.session import EngineSession
from bcon_exporter.docker_host.wire import Answer
from bcon_exporter.errors import BconError, ContainerNotFoundError
from bcon_exporter.model.facts import ConfigFacts, NetworkFacts, VolumeFacts
from bcon_exporter.model.masking import Sealer

if TYPE_CHECKING:
    from bcon_exporter.model.desired import FieldValue

_IMAGE_CAP_BYTES = 1024 * 1024
MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading an answer of the wrong types raises."""


class ConfigReader:
    """Reads configurations; remembers images by id, since those never change. To be used by one scan at a time.

    Inspect answers are taken one by one as they come: all of a big host's at once are its whole configuration as
    raw JSON.
    """

    def __init__(self, session: EngineSession, sealer: Sealer) -> None:
        self._session, self._sealer = session, sealer
        self._images: dict[str, dict[str, FieldValue]] = {}
        self._unread_images: dict[str, str] = {}
        self._waiting: dict[str, dict[str, Any]] = {}

    def begin(self, inventory: Inventory, scan: Scan) -> None:
        """Read the images of the listed containers, before these are inspected."""
        self._waiting, self._unread_images = {}, {}
        self._read_images(inventory, scan)

    def take(self, known: Known, inspected: dict[str, Any], scan: Scan) -> None:
        """Take an inspect answer."""
        if known.facts.image_id in self._images or known.facts.image_id in self._unread_images:
            known.config = self._parse(known, inspected, scan)
        else:  # created after the images were read
            self._waiting[known.facts.id] = inspected

    def finish(self, inventory: Inventory, scan: Scan) -> dict[str, ConfigFacts]:
        """Return the configuration of each container of a scan; `inventory` keeps that of containers at rest."""
        if self._waiting:
            self._read_images(inventory, scan)
        for container_id, inspected in self._waiting.items():
            if (late := inventory.known.get(container_id)) is not None:
                late.config = self._parse(late, inspected, scan)
        self._waiting = {}
        present = [inventory.known[container_id] for container_id in scan.present()]
        image_ids = {known.facts.image_id for known in present}
        self._images = {image_id: fields for image_id, fields in self._images.items() if image_id in image_ids}
        tag_ids, unread_tags = self._ask(scan, sorted({k.image_reference for k in present if k.image_reference}))
        found: dict[str, ConfigFacts] = {}
        for known in present:
            missing = self._unread_images.get(known.facts.image_id or "") if known.config is None else None
            missing = missing or unread_tags.get(known.image_reference or "")
            if missing is not None:
                scan.miss(known.facts.id, "config", missing)
            elif known.config is None:
                scan.unread.setdefault(known.facts.id, {}).setdefault("config", "inspect was not read")
            else:
                known.config = _point(known.config, tag_ids.get(known.image_reference or ""))
                found[known.facts.id] = known.config
        return found

    def _read_images(self, inventory: Inventory, scan: Scan) -> None:
        wanted = {inventory.known[container_id].facts.image_id or "" for container_id in scan.present()}
        _, unread = self._ask(scan, sorted(wanted - self._images.keys() - self._unread_images.keys() - {""}))
        self._unread_images |= unread

    def _parse(self, known: Known, inspected: dict[str, Any], scan: Scan) -> ConfigFacts | None:
        """Return the configuration; None when it cannot be told, also because its image was not read."""
        image_id = known.facts.image_id or ""
        if image_id in self._unread_images:
            return None
        try:
            return parse_config(inspected, self._images.get(image_id), self._sealer, known.hidden)
        except MALFORMED as error:
            scan.miss(known.facts.id, "config", f"the configuration could not be read ({type(error).__name__})")
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
            if isinstance(outcome, ContainerNotFoundError):
                return
            if not isinstance(outcome, Answer):
                unread[askable[index]] = outcome.message
            elif image_id := self._remember_image(outcome):
                found[askable[index]] = image_id
            else:
                unread[askable[index]] = "the image's description could not be read"

        batch = self._session.bulk_batch("inspecting images", scan.deadline, body_cap_bytes=_IMAGE_CAP_BYTES)
        targets = [f"{prefix}/images/{quote(reference, safe='/:')}/json" for reference in askable]
        self._session.bulk("inspect", targets, batch, take)
        return found, unread

    def _remember_image(self, answer: Answer) -> str | None:
        """Keep what an image gives its containers; return its id, None when the answer cannot be read."""
        try:
            image = decode_object(answer.body)
            image_id = get_text(image, "Id")
            if image_id and image_id not in self._images:
                self._images[image_id] = parse_image(image, self._sealer)
        except (NotJsonError, *MALFORMED):
            return None
        return image_id or None


def _point(config: ConfigFacts, image_id_of_tag: str | None) -> ConfigFacts:
    """Return the configuration with what its container's tag means now."""
    if config.image_id_of_tag == image_id_of_tag:
        return config
    return config.model_copy(update={"image_id_of_tag": image_id_of_tag})


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
