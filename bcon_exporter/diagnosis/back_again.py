"""Failed connections that are over: the other side is well again, and nothing has failed since.

A program that retries often says nothing when it succeeds. That it fails no more, while it goes on, tells as much.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from bcon_exporter.diagnosis.endings import is_looping, runs_well
from bcon_exporter.diagnosis.failure import peer_of
from bcon_exporter.diagnosis.logs import LogEvent
from bcon_exporter.diagnosis.neighbours import Neighbours, host_of, is_local, port_of
from bcon_exporter.diagnosis.peer_state import lost_network
from bcon_exporter.diagnosis.peers import dependencies_of
from bcon_exporter.model.facts import ContainerFacts, HealthStatus
from bcon_exporter.model.signatures import Category
from bcon_exporter.model.thresholds import Thresholds

QUIET_SECONDS = 60
"""So long nothing has failed any more."""
GAPS = 3
"""And so many times as long as the longest pause between two failures."""
REPEATS = 3
"""So often it must have failed for its silence to say something by itself."""
LINES_SINCE = 2
"""And so many other lines it must have written since."""
JITTER = timedelta(seconds=5)
_OWN_TROUBLES = frozenset({Category.OOM, Category.DISK, Category.PERMISSION, Category.CONFIG_ERROR})


def is_over(
    events: Sequence[LogEvent], container: ContainerFacts, neighbours: Neighbours, now: datetime, thresholds: Thresholds
) -> bool:
    """Whether the connections that failed in these events would succeed now, and none has failed for a while."""
    failed = [event for event in events if _is_transient(event)]
    times = [event.at for event in failed if event.at is not None]
    if not times or len(times) < len(failed) or not container.is_running:
        return False
    silence = now - times[-1]
    gaps = [after - before for before, after in pairwise(times)]
    if silence < max(timedelta(seconds=QUIET_SECONDS), GAPS * max(gaps, default=timedelta())):
        return False
    peers = _peers_of(failed, container, neighbours)
    if peers is None or not all(_is_well(peer, now, thresholds) for peer in peers):
        return False
    came_back = any(peer.started_at is not None and peer.started_at > times[0] - JITTER for peer in peers)
    return came_back or (len(failed) >= REPEATS and _goes_on(container, times[-1]))


def without_outage(events: Sequence[LogEvent]) -> tuple[LogEvent, ...]:
    """The events without failed connections and what failed between the first and the last of them."""
    times = [event.at for event in events if _is_transient(event) and event.at is not None]
    if not times:
        return tuple(events)
    return tuple(event for event in events if not (_is_transient(event) or _fell_with(event, times[0], times[-1])))


def _fell_with(event: LogEvent, first: datetime, last: datetime) -> bool:
    during = event.at is not None and first - JITTER <= event.at <= last + JITTER
    return during and all(hit.signature.category not in _OWN_TROUBLES for hit in event.hits)


def _is_transient(event: LogEvent) -> bool:
    return any(hit.signature.transient for hit in event.hits)


def _peers_of(
    failed: Sequence[LogEvent], container: ContainerFacts, neighbours: Neighbours
) -> list[ContainerFacts] | None:
    """Whom it asked, else what it declares to depend on; None when it asked somebody who is no container here."""
    found: dict[str, ContainerFacts] = {}
    for event in failed:
        for peer in (peer_of(hit) for hit in event.hits if hit.signature.transient):
            if peer is None:
                continue
            meant = neighbours.meant(host_of(peer), port_of(peer, event.text), container)
            if meant is None and (is_local(host_of(peer)) or not _was_an_address(peer)):
                return None
            found |= {one.id: one for one in meant.containers} if meant is not None else {}
    if not found:
        found = {one.id: one for name, _ in dependencies_of(container) for one in neighbours.service(name, container)}
    return [one for one in found.values() if one.is_running or one.exit_code != 0]


def _was_an_address(peer: str) -> bool:
    """Whether a peer is an address: a container that was restarted may have another one since."""
    return host_of(peer).replace(".", "").isdigit()


def _is_well(peer: ContainerFacts, now: datetime, thresholds: Thresholds) -> bool:
    waits = peer.health is not None and peer.health.status is HealthStatus.STARTING
    return runs_well(peer, now) and not waits and lost_network(peer) is None and not is_looping(peer, now, thresholds)


def _goes_on(container: ContainerFacts, since: datetime) -> bool:
    lines = container.logs.lines if container.logs is not None else ()
    return sum(line.at is not None and line.at > since for line in lines) >= LINES_SINCE
