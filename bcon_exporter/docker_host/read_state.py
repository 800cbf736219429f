"""First step of a scan: one list call, and inspect of what is new or changed."""

import json
from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import quote

from bcon_exporter.clock import monotonic
from bcon_exporter.docker_host.decode import Element, ElementMemory, NotJsonError, decode_array, decode_object
from bcon_exporter.docker_host.failures import VersionRefusedError, garbage_error, timeout_error, too_long_error
from bcon_exporter.docker_host.inventory import Inventory, Known
from bcon_exporter.docker_host.pipeline import Outcome
from bcon_exporter.docker_host.scan import Scan
from bcon_exporter.docker_host.session import Deadline, EngineSession
from bcon_exporter.docker_host.wire import Answer
from bcon_exporter.errors import BconError

LIST_CAP_BYTES = 32 * 1024 * 1024
CONTAINERS_AT_MOST = 10_000
_INSPECT_CAP_BYTES = 8 * 1024 * 1024
_FILTERED_AT_MOST = 20
"""More wanted containers than this are picked from the whole list."""


def list_containers(
    session: EngineSession, deadline: Deadline, only: tuple[str, ...] | None, memory: ElementMemory | None = None
) -> list[Element]:
    """Return the list entries of all containers, or of those wanted.

    Args:
        session: The engine.
        deadline: When to give up.
        only: Full ids of those wanted.
        memory: Of the last list of all; its entries that have not changed are the same objects again.

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
    session: EngineSession,
    inventory: Inventory,
    scan: Scan,
    touched: Collection[str],
    on_inspected: Callable[[Known, dict[str, Any]], None] | None = None,
) -> None:
    """Inspect the containers of a scan that are new or changed; `on_inspected` is handed each raw answer."""
    stale = inventory.find_stale(scan.ids, touched, monotonic(), config=scan.wants.config)

    def take(container_id: str, outcome: Outcome) -> None:
        if scan.is_gone(container_id, outcome):
            return
        reason = outcome.message if isinstance(outcome, BconError) else "the answer could not be read"
        if isinstance(outcome, Answer):
            inspected = _decode(outcome)
            if inspected is not None and inspected.get("Id") == container_id:
                inventory.take_inspected(container_id, inspected, monotonic())
                if on_inspected is not None:
                    on_inspected(inventory.known[container_id], inspected)
                return
            if not outcome.body.strip():
                scan.gone.add(container_id)  # removed meanwhile: 200 with an empty body
                return
        inventory.take_uninspected(container_id, reason)
        scan.miss(container_id, "inspect", reason)

    not_asked = session.gate("inspect", stale, lambda ids: _inspect(session, scan, ids, take))
    for container_id, reason in not_asked.items():
        inventory.take_uninspected(container_id, reason)
        scan.miss(container_id, "inspect", reason)


def _inspect(session: EngineSession, scan: Scan, ids: list[str], take: Callable[[str, Outcome], None]) -> None:
    prefix = session.negotiate(scan.deadline)
    batch = session.bulk_batch("inspecting containers", scan.deadline, body_cap_bytes=_INSPECT_CAP_BYTES)
    session.ask_containers("inspect", ids, lambda container_id: f"{prefix}/containers/{container_id}/json", batch, take)


def _decode(answer: Answer) -> dict[str, Any] | None:
    try:
        return decode_object(answer.body)
    except NotJsonError:
        return None
