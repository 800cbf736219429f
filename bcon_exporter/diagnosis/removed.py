"""Containers that were there a while ago: who still asks for one of them is explained by it, though `docker ps` is not.

Also the last addresses of those that are there: a container that restarts has none for a moment, or another one since.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType

from bcon_exporter.diagnosis.endings import was_made_anew
from bcon_exporter.model.facts import ContainerFacts, ContainerState, HostSnapshot
from bcon_exporter.model.holds import Remembered

REMEMBERED_SECONDS = 1800
"""So long a removed container is remembered."""
MAX_REMOVED = 200
"""And so many of them, the newest."""
RENAMED_SECONDS = 120
"""A service that appears within so long of another's removal, with its image, is likely the same under a new name."""
NOBODY: Mapping[str, Remembered] = MappingProxyType({})


def remember(snapshot: HostSnapshot, before: Mapping[str, Remembered]) -> Mapping[str, Remembered]:
    """Return what is known after this scan, by full id: of all that are there, and of those gone a short while ago."""
    if snapshot.partial:
        return before
    now = snapshot.taken_at
    present = {container.id: _remembered(container, before.get(container.id), now) for container in snapshot.containers}
    missed = {
        container_id: known if known.gone_at is not None else replace(known, gone_at=now)
        for container_id, known in before.items()
        if container_id not in present
    }
    oldest = now - timedelta(seconds=REMEMBERED_SECONDS)
    recent = [(container_id, known) for container_id, known in missed.items() if (known.gone_at or now) >= oldest]
    newest = sorted(recent, key=lambda pair: pair[1].gone_at or now)[-MAX_REMOVED:]
    return MappingProxyType(present | dict(newest))


def _remembered(container: ContainerFacts, before: Remembered | None, now: datetime) -> Remembered:
    """What to keep of it: while it has no address, its last networks."""
    has_address = any(network.ip_address for network in container.networks)
    networks = container.networks if has_address or before is None else before.networks
    return Remembered(
        name=container.name,
        image=container.image,
        created_at=container.created_at,
        compose=container.compose,
        networks=networks,
        seen_at=now,
    )


def find_removed(snapshot: HostSnapshot, remembered: Mapping[str, Remembered]) -> tuple[ContainerFacts, ...]:
    """The containers that are gone and in whose place no other was put, as facts of one that is being removed.

    They ran until `started_at` at least, and were first missed at `finished_at`.
    """
    taken = {_identity(one.name, one) for one in snapshot.containers}
    return tuple(
        ContainerFacts(
            id=container_id,
            name=known.name,
            image=known.image,
            state=ContainerState.REMOVING,
            created_at=known.created_at,
            started_at=known.seen_at,
            finished_at=known.gone_at,
            compose=known.compose,
            networks=known.networks,
        )
        for container_id, known in remembered.items()
        if known.gone_at is not None and not known.is_oneoff and _identity(known.name, known) not in taken
    )


def find_past_addresses(
    snapshot: HostSnapshot, remembered: Mapping[str, Remembered]
) -> dict[tuple[str, str], ContainerFacts]:
    """Network and address → the container that had it last, or the one that was put in its place."""
    by_identity = {_identity(one.name, one): one for one in snapshot.containers}
    found = {}
    for known in sorted(remembered.values(), key=lambda one: one.seen_at):  # the one seen last had it last
        successor = by_identity.get(_identity(known.name, known))
        for network in known.networks:
            if network.ip_address and successor is not None:
                found[network.name, network.ip_address] = successor
    return found


def new_name_of(gone: ContainerFacts, others: Sequence[ContainerFacts]) -> ContainerFacts | None:
    """The one container that was made when `gone` was removed, of its project and image, for a service of its own."""
    if gone.compose is None or gone.finished_at is None or gone.started_at is None:
        return None
    until = gone.finished_at + timedelta(seconds=RENAMED_SECONDS)
    found = [
        one
        for one in others
        if one.is_running
        and one.image == gone.image
        and one.compose is not None
        and one.compose.project == gone.compose.project
        and gone.started_at < one.created_at <= until
        and not was_made_anew(one)
    ]
    return found[0] if len(found) == 1 else None


def _identity(name: str, known: ContainerFacts | Remembered) -> tuple[str, str, int]:
    claim = known.compose
    return ("", name, 0) if claim is None or claim.oneoff else (claim.project, claim.service, claim.number)
