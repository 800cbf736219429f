"""When a deployment began: found from when its containers were made and started."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from bcon_exporter.model.container_facts import ContainerFacts

NEWEST_WITHIN = timedelta(hours=1)
"""A deployment longer ago than this is none that anybody asks about."""
ONE_AFTER_THE_OTHER = timedelta(seconds=3)
"""Compose makes and starts the containers of one `up` with less between two of them, but for waiting."""
_SAME_MOMENT = timedelta(seconds=1)
_STOP_TAKES = timedelta(seconds=15)


def find_begin(containers: Sequence[ContainerFacts], watched_from: datetime) -> datetime | None:
    """Return when the deployment began; None where no container was made or started within the last hour.

    What begins after the watch did is the deployment, whatever came before; else it is the newest there was. It began
    with the first of the containers that were made or started one shortly after the other.

    Args:
        containers: Of the project, without one-off runs.
        watched_from: When the watch began.
    """
    moments = sorted(moment for container in containers for moment in _moments(container))
    later = [at for at in moments if at + _SAME_MOMENT >= watched_from]
    earlier = [at for at in moments if watched_from - NEWEST_WITHIN <= at < watched_from]
    if not later and not earlier:
        return None
    began = min(later) if later else max(earlier)
    began = min([began, *(at for at in _made_before_first_start(containers, began) if at >= began - NEWEST_WITHIN)])
    for at in reversed(earlier):
        if at <= began and began - at <= ONE_AFTER_THE_OTHER:
            began = at
    return began


def has_begun_since(containers: Sequence[ContainerFacts], watched_from: datetime) -> bool:
    """Whether a container was made or started after the watch began."""
    return any(at + _SAME_MOMENT >= watched_from for container in containers for at in _moments(container))


def newest_moment(containers: Sequence[ContainerFacts]) -> datetime | None:
    """Return when a container was made, started or ended last."""
    ends = (one.finished_at for one in containers if one.finished_at is not None)
    starts = (one.started_at for one in containers if one.started_at is not None)
    return max((*(one.created_at for one in containers), *ends, *starts), default=None)


def _moments(container: ContainerFacts) -> Iterator[datetime]:
    """Yield when it was made, and when it was started if that was neither its policy nor a mere restart.

    The engine counts restarts by policy, and from 0 again when somebody starts it.
    """
    yield container.created_at
    started, past = container.started_at, container.lifecycle
    if started is None or container.restart_count:
        return
    if past is None or not (
        _has_near(started, past.restarts) or any(_is_restart(end.at, started) for end in past.exits if end.requested)
    ):
        yield started


def _made_before_first_start(containers: Iterable[ContainerFacts], began: datetime) -> Iterator[datetime]:
    """Yield when the containers were made whose first start is the beginning: others may have been waited for."""
    for container in containers:
        started, past = container.started_at, container.lifecycle
        ran_before = past is not None and any(container.created_at <= end.at < began for end in past.exits)
        if started is not None and abs(started - began) <= _SAME_MOMENT and not ran_before:
            yield container.created_at


def _has_near(moment: datetime, others: Iterable[datetime]) -> bool:
    return any(abs(moment - other) <= _SAME_MOMENT for other in others)


def _is_restart(ended: datetime, started: datetime) -> bool:
    return timedelta() <= started - ended <= _STOP_TAKES
