"""Inventory of containers: one list call a scan, and inspect of the containers that are new or changed."""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.failures import VersionRefusedError, garbage_error, timeout_error, too_long_error
from bcon_exporter.engine.http_parser import Answer
from bcon_exporter.engine.parse import (
    NOT_INSPECTED,
    Element,
    ElementMemory,
    NotJsonError,
    Placement,
    decode_array,
    decode_object,
    has_changed,
    is_usable_id,
    parse_container,
    parse_placement,
    project_of,
    secrets_of,
    update_listed,
)
from bcon_exporter.engine.parse.json_fields import get_text
from bcon_exporter.engine.scan import Deadline, HostOptions, Scan
from bcon_exporter.engine.session import BulkRequest, EngineSession
from bcon_exporter.errors import BconError
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.model.container_facts import ConfigFacts, ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.secrets.hide_in_models import hide_in_config, hide_in_facts
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets

_JITTER_STEPS = 16
LIST_CAP_BYTES = 32 * 1024 * 1024
CONTAINERS_AT_MOST = 10_000
_INSPECT_CAP_BYTES = 8 * 1024 * 1024
_FILTERED_AT_MOST = 20
"""Above this number of wanted containers, the whole list is read and filtered here."""


@dataclass(slots=True)
class InventoryEntry:
    """One container, as it was last read.

    Attributes:
        listed: Its element of the list answer.
        scanned_facts: As scans have read them; None for as long as the list alone tells of the container.
        listed_facts: What the list alone tells, once somebody wants it: a container that is new will be inspected in a
            moment, and making its facts twice took a sixth of a first scan.
        unread_reason: Why there are no facts of inspect, for as long as the list alone tells them.
        secrets: The values to hide in what the list alone tells; None while the environment is unread.
        inspected_at: On the monotonic clock; None when the facts come from the list alone.
        image_reference: The image as given at creation, with its tag; None before an inspect.
        hidden: The values that are hidden in the facts.
    """

    listed: Element
    scanned_facts: ContainerFacts | None = None
    listed_facts: ContainerFacts | None = None
    unread_reason: str = NOT_INSPECTED
    secrets: KnownSecrets | None = None
    placement: Placement | None = None
    inspected_at: float | None = None
    image_reference: str | None = None
    config: ConfigFacts | None = None
    hidden: KnownSecrets = NO_SECRETS

    @property
    def facts(self) -> ContainerFacts:
        """Without usage, logs and config. May be asked for by any thread: what a scan reads meanwhile stays."""
        facts = self.scanned_facts or self.listed_facts
        if facts is None:
            facts = self.listed_facts = self._facts_of_list()
        return facts

    def _facts_of_list(self) -> ContainerFacts:
        listed = self.listed.read() or {"Id": self.listed.id}
        facts = parse_container(listed, unread_reason=self.unread_reason, secrets=self.secrets)
        return cast("ContainerFacts", facts)  # only elements with a usable id have an entry


class Inventory:
    """The containers of one host; to be used by one thread at a time."""

    def __init__(self, options: HostOptions, book: HostSecrets | None = None) -> None:
        self._options = options
        self._book = book or HostSecrets()
        self._hidden_version = -1
        self.entries: dict[str, InventoryEntry] = {}

    def update(self, elements: Iterable[Element]) -> list[str]:
        """Update the entries from a list answer; return the ids in its order.

        Args:
            elements: Elements of `/containers/json`; those without a usable id are left out.
        """
        ids = []
        for element in elements:
            if not is_usable_id(element.id):
                continue
            ids.append(element.id)
            previous = self.entries.get(element.id)
            if previous is not None and (previous.listed is element or _take_listed(previous, element)):
                continue
            entry = InventoryEntry(element, secrets=self._book.of_known(element.id))
            if previous is not None:
                entry.config, entry.hidden = previous.config, previous.hidden
            self.entries[element.id] = entry
        return ids

    def find_stale(self, ids: Iterable[str], touched: Collection[str], now: float, *, config: bool) -> list[str]:
        """Return the ids to inspect: new or changed containers, those in events, and those not inspected for long."""
        return [
            container_id
            for container_id in ids
            if container_id in touched or self._is_stale(self.entries[container_id], now, config=config)
        ]

    def _is_stale(self, entry: InventoryEntry, now: float, *, config: bool) -> bool:
        if entry.inspected_at is None or (config and entry.config is None):
            return True
        if entry.facts.state is ContainerState.REMOVING:
            return (
                True  # the list goes on to say so of one whose removal has failed: only inspect knows that it is dead
            )
        health = entry.facts.health
        if not entry.facts.is_running or health is None or health.status is HealthStatus.NONE:
            limit = self._options.refresh_seconds
        elif health.status is HealthStatus.HEALTHY:
            limit = self._options.refresh_health_seconds
        else:
            return True  # failing probes follow each other without an event
        # spread, so that 500 containers found by the first scan are not all refreshed in the same one
        spread = 1 + hash(entry.facts.id) % _JITTER_STEPS / _JITTER_STEPS
        return now - entry.inspected_at >= limit * spread

    def update_inspected(self, container_id: str, inspected: dict[str, Any], now: float) -> None:
        """Update a container's entry from its inspect answer."""
        entry = self.entries[container_id]
        version, own_secrets = self._book.version, secrets_of(inspected)
        self._book.learn_container(container_id, project_of(inspected), own_secrets)
        # what a project holds may grow with each container: `hide_learned` hides it once all have been read
        secrets = self._book.of_container(container_id) if self._book.version == version else KnownSecrets(own_secrets)
        facts = parse_container(entry.listed.read(), inspected, secrets=secrets)
        if facts is None or facts.id != container_id:
            return
        entry.scanned_facts = facts
        entry.placement = parse_placement(inspected)
        entry.inspected_at = now
        config = inspected.get("Config")
        entry.hidden = secrets
        entry.image_reference = get_text(config, "Image") if isinstance(config, dict) else None
        entry.config = None

    def mark_uninspected(self, container_id: str, reason: str) -> None:
        """Record that inspect failed: facts that only inspect has become unknown instead of outdated."""
        entry = self.entries[container_id]
        entry.scanned_facts = entry.listed_facts = entry.inspected_at = None
        entry.unread_reason, entry.secrets = reason, self._book.of_known(container_id)

    @property
    def hidden_version(self) -> int:
        """Up to which version of the secrets that are known everything is hidden in the entries."""
        return self._hidden_version

    def knows_secrets_of(self, container_id: str) -> bool:
        """Return whether a container's environment was ever read: before, nobody knows what its log must not show."""
        return self._book.of_known(container_id) is not None

    def hide_learned(self) -> None:
        """Hide the secrets that were learned after a container was read."""
        version = self._book.version
        if version == self._hidden_version:
            return
        for container_id, entry in self.entries.items():
            secrets = self._book.of_container(container_id)
            if secrets is not entry.hidden:
                entry.hidden = secrets
                entry.scanned_facts = hide_in_facts(entry.facts, secrets)
                entry.config = entry.config and hide_in_config(entry.config, secrets)
        self._hidden_version = version

    def retain(self, ids: Collection[str]) -> None:
        """Drop the entries of all other containers."""
        for container_id in self.entries.keys() - set(ids):
            del self.entries[container_id]
        self._book.retain(ids)


def _take_listed(entry: InventoryEntry, element: Element) -> bool:
    """Take a container's new element of the list, if it differs from the one before only by the passing of time."""
    listed = element.read()
    if has_changed(entry.listed.read(), listed):
        return False
    entry.scanned_facts = update_listed(entry.facts, listed)
    entry.listed = element
    return True


def list_containers(
    session: EngineSession, deadline: Deadline, only: tuple[str, ...] | None, memory: ElementMemory | None = None
) -> list[Element]:
    """Return the list entries of all containers, or of those wanted.

    Args:
        session: The engine.
        deadline: When to give up.
        only: Full ids of the wanted containers; None for all.
        memory: Elements of the last whole list: unchanged elements are returned as the same objects.

    Raises:
        BconError: The list could not be read.
    """
    query = "containers/json?all=1"
    if only is not None and len(only) <= _FILTERED_AT_MOST:
        query += f"&filters={quote(json.dumps({'id': only}, separators=(',', ':')))}"
    try:
        answer = _get_list(session, query, deadline)
    except VersionRefusedError:  # the engine was replaced by another one: negotiate and ask once more
        answer = _get_list(session, query, deadline)
    if answer.cut:
        raise too_long_error(session.endpoint, f"more than {LIST_CAP_BYTES >> 20} MiB; are there huge labels?")
    text = answer.body.decode(errors="replace")
    del answer  # of a long list, one copy is enough
    try:
        entries = []
        for entry in decode_array(text, memory):
            entries.append(entry)
            if len(entries) > CONTAINERS_AT_MOST:
                raise too_long_error(session.endpoint, f"more than {CONTAINERS_AT_MOST} containers")
            if not deadline.left():
                raise timeout_error(session.endpoint, f"listing containers ({len(entries)} were read)")
    except NotJsonError as error:
        raise garbage_error(session.endpoint, "listing containers", str(error)) from None
    return entries if only is None else [entry for entry in entries if entry.id in only]


def _get_list(session: EngineSession, query: str, deadline: Deadline) -> Answer:
    target = f"{session.negotiate(deadline)}/{query}"
    return session.get("list", "listing containers", target, deadline, body_cap_bytes=LIST_CAP_BYTES)


def inspect_containers(
    session: EngineSession, inventory: Inventory, scan: Scan, touched: Collection[str]
) -> Iterator[tuple[InventoryEntry, dict[str, Any]]]:
    """Inspect the containers of a scan that are new or changed; yield each with its raw answer, as they come."""
    stale = inventory.find_stale(scan.ids, touched, monotonic(), config=scan.wants.config)
    targets = {container_id: f"/containers/{container_id}/json" for container_id in stale}
    request = BulkRequest("inspect", "inspecting containers", targets, scan.deadline, _INSPECT_CAP_BYTES)
    for container_id, outcome in session.query_containers(request):
        if scan.is_gone(container_id, outcome):
            continue
        if isinstance(outcome, BconError):
            _record_unread(inventory, scan, container_id, outcome.message)
        elif (inspected := _decode(outcome)) is not None and inspected.get("Id") == container_id:
            inventory.update_inspected(container_id, inspected, monotonic())
            yield inventory.entries[container_id], inspected
        elif outcome.body.strip():
            _record_unread(inventory, scan, container_id, "the answer could not be read")
        else:
            scan.gone.add(container_id)  # removed meanwhile: 200 with an empty body


def learn_secrets(session: EngineSession, book: HostSecrets, container_id: str, deadline: Deadline) -> KnownSecrets:
    """Return what is known of a container; of one that was never inspected, after a look at its environment.

    Raises:
        BconError: It cannot be inspected, so nobody knows what it must not show.
    """
    if (known := book.of_known(container_id)) is not None:
        return known
    target = f"{session.negotiate(deadline)}/containers/{container_id}/json"
    doing = "inspecting a container for what its log must not show"
    answer = session.get("inspect", doing, target, deadline, body_cap_bytes=_INSPECT_CAP_BYTES)
    inspected = _decode(answer)
    if inspected is None:
        raise garbage_error(session.endpoint, doing, "the answer could not be read")
    book.learn_container(container_id, project_of(inspected), secrets_of(inspected))
    return book.of_container(container_id)


def _record_unread(inventory: Inventory, scan: Scan, container_id: str, reason: str) -> None:
    inventory.mark_uninspected(container_id, reason)
    scan.record_unread(container_id, "inspect", reason)


def _decode(answer: Answer) -> dict[str, Any] | None:
    try:
        return decode_object(answer.body)
    except NotJsonError:
        return None
