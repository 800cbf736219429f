"""When an engine that went down began to end its containers: what was stopped before that did not end with it.

An engine that stops sends all its containers their stop signal at once, and gives them 15 seconds. Those that it starts
again when it comes up ran until then; what had ended before them by more than that was stopped before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from bcon_exporter.memory.exit_reasons import SHUTDOWN_LEAD_SECONDS, SHUTDOWN_TAIL_SECONDS, STOP_SIGNALS, Shutdown
from bcon_exporter.memory.timeline import Past
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.lifecycle import LifecycleEvent

ALL_AT_ONCE = timedelta(seconds=2)
"""Between the signals that an engine sends when it stops; a person's own stop before it is further away."""
BEFORE_SIGNAL = timedelta(seconds=0.5)
ENDS_WITHIN = timedelta(seconds=15)
BLIND_FOR = timedelta(minutes=10)
"""After so long without contact, an end of which nothing tells may be of any hour of it."""
_LEAD, _TAIL = timedelta(seconds=SHUTDOWN_LEAD_SECONDS), timedelta(seconds=SHUTDOWN_TAIL_SECONDS)


def date_shutdowns(
    known: Sequence[Shutdown],
    after: tuple[Shutdown, ...],
    pasts: Mapping[str, Past],
    containers: Iterable[ContainerFacts],
) -> tuple[Shutdown, ...]:
    """Return the shutdowns, the new ones with the time at which the engine began to end its containers.

    Args:
        known: Those of the scan before.
        after: Those of this scan.
        pasts: Of the containers that are there, by identity.
        containers: As this scan has seen them.
    """
    if all(down in known for down in after):
        return after
    seen = tuple(containers)
    return tuple(
        down if down in known else replace(down, stopping_at=_find_stopping(down, pasts, seen)) for down in after
    )


def _find_stopping(down: Shutdown, pasts: Mapping[str, Past], containers: Iterable[ContainerFacts]) -> datetime | None:
    signals = sorted(
        (event.at, event.container_id)
        for past in pasts.values()
        for event in past.events
        if _asks_to_stop(event) and down.began_at - _LEAD <= event.at <= down.began_at
    )
    came_back = {container.id: at for container in containers if (at := _find_end_before(container, down)) is not None}
    is_asked = not came_back or not came_back.keys().isdisjoint(container_id for _, container_id in signals)
    if signals and is_asked:  # an engine that is killed asks none: what was asked then was asked by others
        first = signals[-1][0]
        for (earlier, _), (later, _) in reversed(list(pairwise(signals))):
            if later - earlier > ALL_AT_ONCE:
                break
            first = earlier
        return first - BEFORE_SIGNAL
    if came_back:
        return min(came_back.values()) - ENDS_WITHIN
    return down.ended_at - _TAIL if down.ended_at - down.began_at > BLIND_FOR else None


def _asks_to_stop(event: LifecycleEvent) -> bool:
    return event.action == "kill" and event.signal in STOP_SIGNALS


def _find_end_before(container: ContainerFacts, down: Shutdown) -> datetime | None:
    """Return when a container ended that the engine has started again; None for any other."""
    ended, started = container.finished_at, container.started_at
    if not container.is_running or ended is None or started is None or started < down.ended_at - _TAIL:
        return None
    return ended if down.began_at - _LEAD <= ended <= down.ended_at + _TAIL else None
