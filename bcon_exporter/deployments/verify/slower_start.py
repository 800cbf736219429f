"""slower_start: it takes much longer to become healthy than before this deployment. A note, no failure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.memory import identity_of
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.lifecycle import LifecycleEvent
from bcon_exporter.model.quantities import show_duration

SLOWER_BY = timedelta(seconds=5)
TIMES_SLOWER = 2
_STARTS_COMPARED = 3


@dataclass(slots=True)
class _Start:
    container_id: str
    at: datetime
    healthy_after: timedelta | None = None


def find_slower_starts(
    containers: Iterable[ContainerFacts],
    events: Mapping[str, Sequence[LifecycleEvent]],
    since: datetime,
    now: datetime,
) -> Iterator[str]:
    """Yield a sentence for each container that took, or takes, twice as long and five seconds longer than before.

    Args:
        containers: Of the project.
        events: By identity, oldest first.
        since: When the deployment began.
        now: When the host was looked at.
    """
    for container in containers:
        starts = list(_find_starts(events.get(identity_of(container), ())))
        before = [start.healthy_after for start in starts if start.at < since and start.healthy_after is not None]
        own = [start for start in starts if start.at >= since and start.container_id == container.id]
        if not before or not own:
            continue
        longest = max(before[-_STARTS_COMPARED:])
        took = own[-1].healthy_after
        still = took is None and _is_starting(container)
        seconds = now - own[-1].at if still else took
        if seconds is not None and seconds >= longest * TIMES_SLOWER and seconds - longest >= SLOWER_BY:
            what = "has not become healthy for" if still else "became healthy after"
            shown, shown_before = (show_duration(one.total_seconds()) for one in (seconds, longest))
            yield f"slower_start: {container.name} {what} {shown}; before this deployment it took {shown_before}."


def _find_starts(events: Iterable[LifecycleEvent]) -> Iterator[_Start]:
    """Yield each start, with how long it took until its health check first succeeded in that run."""
    running: dict[str, _Start] = {}
    for event in events:
        if event.action == "start":
            running[event.container_id] = start = _Start(event.container_id, event.at)
            yield start
        elif event.action == "die":
            running.pop(event.container_id, None)
        elif event.action == "health_status" and event.health == "healthy":
            started = running.pop(event.container_id, None)
            if started is not None:
                started.healthy_after = event.at - started.at


def _is_starting(container: ContainerFacts) -> bool:
    is_running = container.state is ContainerState.RUNNING
    return is_running and container.health is not None and container.health.status is HealthStatus.STARTING
