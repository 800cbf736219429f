"""Decides which failed connections have recovered: the peer is healthy again, and nothing has failed since.

A program that retries often logs nothing when it succeeds. If it logs on and no failure comes, that is as good.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from bcon_exporter.diagnosis.container_lookup import ContainerLookup, host_of, is_localhost, port_of
from bcon_exporter.diagnosis.failed_connections import FailureKind, kind_of_failure, may_be_a_label, peer_of
from bcon_exporter.diagnosis.last_exit import is_looping, runs_well
from bcon_exporter.diagnosis.log_events import LogEvent
from bcon_exporter.diagnosis.peer_state import lost_network
from bcon_exporter.diagnosis.peers import dependencies_of
from bcon_exporter.model.container_facts import ContainerFacts, HealthStatus
from bcon_exporter.model.signatures import Category
from bcon_exporter.model.thresholds import Thresholds

ReadLog = Callable[[ContainerFacts], Sequence[LogEvent]]
"""Returns the events in the log of a container."""
QUIET_SECONDS = 60
"""Nothing must have failed for at least so long."""
GAPS = 3
"""And for so many times the longest pause between two failures."""
STEADY_GAPS = 10
"""The same factor where no line or peer shows that it has recovered."""
REPEATS = 3
"""Silence alone counts as recovery only after so many failures."""
LINES_SINCE = 2
"""And only if the container has logged at least so many lines since."""
JITTER = timedelta(seconds=5)
_OWN_TROUBLES = frozenset({Category.OOM, Category.DISK, Category.PERMISSION, Category.CONFIG_ERROR})


def have_recovered(
    events: Sequence[LogEvent],
    container: ContainerFacts,
    lookup: ContainerLookup,
    now: datetime,
    thresholds: Thresholds,
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
    peers = _peers_of(failed, container, lookup)
    if peers is None or not all(_is_well(peer, now, thresholds) for peer in peers):
        return False
    came_back = any(peer.started_at is not None and peer.started_at > times[0] - JITTER for peer in peers)
    return came_back or (len(failed) >= REPEATS and _keeps_logging(container, times[-1]))


def drop_outage(events: Sequence[LogEvent]) -> tuple[LogEvent, ...]:
    """Drop failed connections, and all other failures between the first and the last of them."""
    times = [event.at for event in events if _is_transient(event) and event.at is not None]
    if not times:
        return tuple(events)
    return tuple(
        event for event in events if not (_is_transient(event) or _is_within_outage(event, times[0], times[-1]))
    )


def drop_past_slowness(events: Sequence[LogEvent], container: ContainerFacts, now: datetime) -> tuple[LogEvent, ...]:
    """Drop slow answers that came repeatedly and have not come for a while: the load is gone."""
    slow = [event for event in events if any(hit.signature.category is Category.SLOW for hit in event.hits)]
    if len(slow) < REPEATS or not runs_well(container, now) or not _is_quiet(slow, now, GAPS):
        return tuple(events)
    return tuple(event for event in events if event not in slow)


def drop_past_full_disk(
    events: Sequence[LogEvent], container: ContainerFacts, lookup: ContainerLookup, read_log: ReadLog, now: datetime
) -> tuple[LogEvent, ...]:
    """Drop a server's "disk full" events if its clients failed at the same time and work again.

    A server does not log writes that succeed.

    Args:
        events: Those of the server.
        container: The server.
        lookup: Who may be its clients.
        read_log: Reads the log of one of them.
        now: The time of the scan.
    """
    full = [event for event in events if any(hit.signature.category is Category.DISK for hit in event.hits)]
    if len(full) < REPEATS or not runs_well(container, now) or not _is_quiet(full, now, STEADY_GAPS):
        return tuple(events)
    times = [event.at for event in full if event.at is not None]
    clients = [client for client in lookup.in_project(container) if _depends_on(client, container)]
    failed_last = [(client, _last_failure(read_log(client))) for client in clients]
    suffered = [(client, last) for client, last in failed_last if last is not None and last >= times[0]]
    well_again = all(_keeps_logging(client, times[-1]) and last <= times[-1] + JITTER for client, last in suffered)
    return tuple(event for event in events if event not in full) if suffered and well_again else tuple(events)


def _last_failure(events: Iterable[LogEvent]) -> datetime | None:
    return max((event.at for event in events if event.failed and event.at is not None), default=None)


def _depends_on(client: ContainerFacts, server: ContainerFacts) -> bool:
    service = server.compose.service if server.compose is not None else None
    return any(name == service for name, _ in dependencies_of(client))


def _is_quiet(failed: Sequence[LogEvent], now: datetime, gaps: int) -> bool:
    """Whether none of these events came for a minute, and for `gaps` times their longest pause."""
    times = [event.at for event in failed if event.at is not None]
    longest = max((after - before for before, after in pairwise(times)), default=timedelta())
    return len(times) == len(failed) and now - times[-1] >= max(timedelta(seconds=QUIET_SECONDS), gaps * longest)


def _is_within_outage(event: LogEvent, first: datetime, last: datetime) -> bool:
    during = event.at is not None and first - JITTER <= event.at <= last + JITTER
    return during and all(hit.signature.category not in _OWN_TROUBLES for hit in event.hits)


def _is_transient(event: LogEvent) -> bool:
    return any(hit.signature.transient for hit in event.hits)


def _peers_of(
    failed: Sequence[LogEvent], container: ContainerFacts, lookup: ContainerLookup
) -> list[ContainerFacts] | None:
    """Return the peers of these connections, or else its dependencies; None if one of them is no container here."""
    peers: dict[str, ContainerFacts] = {}
    for event in failed:
        for peer in (peer_of(hit) for hit in event.hits if hit.signature.transient):
            if peer is None:
                continue
            unresolved = kind_of_failure(event.text, event.hits[0].signature) is FailureKind.UNRESOLVED
            target = lookup.resolve(host_of(peer), port_of(peer, event.text), container)
            if (
                target is None
                and (unresolved or not may_be_a_label(peer))
                and (is_localhost(host_of(peer)) or not _was_an_address(peer))
            ):
                return None
            peers |= {container.id: container for container in target.containers} if target is not None else {}
    if not peers:
        peers = {
            dependency.id: dependency
            for name, _ in dependencies_of(container)
            for dependency in lookup.of_service(name, container)
        }
    return [peer for peer in peers.values() if peer.is_running or peer.exit_code != 0]


def _was_an_address(peer: str) -> bool:
    """Whether a peer is an IP address: a restarted container may have another address now."""
    return host_of(peer).replace(".", "").isdigit()


def _is_well(peer: ContainerFacts, now: datetime, thresholds: Thresholds) -> bool:
    waits = peer.health is not None and peer.health.status is HealthStatus.STARTING
    return runs_well(peer, now) and not waits and lost_network(peer) is None and not is_looping(peer, now, thresholds)


def _keeps_logging(container: ContainerFacts, since: datetime) -> bool:
    lines = container.logs.lines if container.logs is not None else ()
    return sum(line.at is not None and line.at > since for line in lines) >= LINES_SINCE
