"""Containers that were removed a short while ago: they explain why others cannot reach them any more.

Remembers also the last addresses of present containers: one that restarts has none for a moment, then another; and the
networks that they were taken from, with the names that others ask for there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType

from bcon_exporter.diagnosis.last_exit import was_recreated
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HostSnapshot
from bcon_exporter.model.hysteresis import LostNetwork, Remembered

REMEMBERED_SECONDS = 1800
"""A removed container is remembered for so long."""
MAX_REMOVED = 200
"""At most so many are remembered, the newest."""
MAX_LOST = 10
"""At most so many networks that a container was taken from are remembered, the newest."""
RENAMED_SECONDS = 120
"""A new service with the image of a removed one is taken for the same if it appears within so long."""
NOTHING_REMEMBERED: Mapping[str, Remembered] = MappingProxyType({})


def remember(snapshot: HostSnapshot, before: Mapping[str, Remembered]) -> Mapping[str, Remembered]:
    """Return what to remember after this scan, by full id: all present containers, and those removed recently."""
    if snapshot.partial:
        return before
    now = snapshot.taken_at
    present = {container.id: _remembered(container, before.get(container.id), now) for container in snapshot.containers}
    missed = {
        container_id: record if record.gone_at is not None else replace(record, gone_at=now)
        for container_id, record in before.items()
        if container_id not in present
    }
    oldest = now - timedelta(seconds=REMEMBERED_SECONDS)
    recent = [(container_id, record) for container_id, record in missed.items() if (record.gone_at or now) >= oldest]
    newest = sorted(recent, key=lambda pair: pair[1].gone_at or now)[-MAX_REMOVED:]
    return MappingProxyType(present | dict(newest))


def _remembered(container: ContainerFacts, before: Remembered | None, now: datetime) -> Remembered:
    """Return what to remember of a container; while it has no address, its last networks are kept."""
    has_address = any(network.ip_address for network in container.networks)
    networks = container.networks if has_address or before is None else before.networks
    return Remembered(
        name=container.name,
        image=container.image,
        created_at=container.created_at,
        compose=container.compose,
        networks=networks,
        seen_at=now,
        lost=_lost_networks(container, before, now),
    )


def _lost_networks(container: ContainerFacts, before: Remembered | None, now: datetime) -> tuple[LostNetwork, ...]:
    """Return the networks that a running container was on before and is not on now, the oldest loss first."""
    if before is None or not container.is_running:
        return () if before is None else before.lost
    here = {network.name for network in container.networks}
    just_lost = (LostNetwork(network, before.seen_at, now) for network in before.networks)
    by_name = {lost.network.name: lost for lost in (*just_lost, *before.lost)}
    losses = [lost for name, lost in by_name.items() if name not in here]
    return tuple(sorted(losses, key=lambda lost: lost.gone_at)[-MAX_LOST:])


def find_removed(snapshot: HostSnapshot, remembered: Mapping[str, Remembered]) -> tuple[ContainerFacts, ...]:
    """Return the removed containers that nothing has replaced, as facts in state REMOVING.

    `started_at` is when a scan saw one last, `finished_at` when a scan missed it first.
    """
    taken = {_identity(container.name, container) for container in snapshot.containers}
    return tuple(
        ContainerFacts(
            id=container_id,
            name=record.name,
            image=record.image,
            state=ContainerState.REMOVING,
            created_at=record.created_at,
            started_at=record.seen_at,
            finished_at=record.gone_at,
            compose=record.compose,
            networks=record.networks,
        )
        for container_id, record in remembered.items()
        if record.gone_at is not None and not record.is_oneoff and _identity(record.name, record) not in taken
    )


def find_past_addresses(
    snapshot: HostSnapshot, remembered: Mapping[str, Remembered]
) -> dict[tuple[str, str], ContainerFacts]:
    """Map (network, address) to the container that had it last, or to its replacement."""
    by_identity = {_identity(container.name, container): container for container in snapshot.containers}
    by_address = {}
    for record in sorted(remembered.values(), key=lambda container: container.seen_at):  # the one seen last had it last
        successor = by_identity.get(_identity(record.name, record))
        for network in record.networks:
            if network.ip_address and successor is not None:
                by_address[network.name, network.ip_address] = successor
    return by_address


def find_renamed(gone: ContainerFacts, others: Sequence[ContainerFacts]) -> ContainerFacts | None:
    """Return the one container of the same project and image that was created when `gone` was removed."""
    if gone.compose is None or gone.finished_at is None or gone.started_at is None:
        return None
    until = gone.finished_at + timedelta(seconds=RENAMED_SECONDS)
    candidates = [
        container
        for container in others
        if container.is_running
        and container.image == gone.image
        and container.compose is not None
        and container.compose.project == gone.compose.project
        and gone.started_at < container.created_at <= until
        and not was_recreated(container)
    ]
    return candidates[0] if len(candidates) == 1 else None


def _identity(name: str, record: ContainerFacts | Remembered) -> tuple[str, str, int]:
    claim = record.compose
    return ("", name, 0) if claim is None or not claim.is_replica else (claim.project, claim.service, claim.number)
