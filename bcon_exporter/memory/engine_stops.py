"""When an engine that went down began to end its containers: what was stopped before that did not end with it.

An engine that stops sends all its containers their stop signal at once, and gives them 15 seconds. Those that it starts
again when it comes up ran until then; what had ended before them by more than that was stopped before.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from bcon_exporter.memory.exit_reasons import SHUTDOWN_LEAD_SECONDS, SHUTDOWN_TAIL_SECONDS, STOP_SIGNALS, Shutdown
from bcon_exporter.memory.timeline import Past
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.lifecycle import LifecycleEvent

ALL_AT_ONCE = timedelta(seconds=1)
"""Between the signals that an engine sends when it stops (five within 0.2 s, measured on 20.10 and 28.5)."""
BEFORE_SIGNAL = timedelta(seconds=0.5)
ENDS_WITHIN = timedelta(seconds=15)
BLIND_FOR = timedelta(minutes=10)
"""After so long without contact, an end of which nothing tells may be of any hour of it."""
_JUST_AFTER = timedelta(microseconds=1)
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


def _find_stopping(down: Shutdown, pasts: Mapping[str, Past], containers: Sequence[ContainerFacts]) -> datetime | None:
    signals = sorted(
        (event.at, event.container_id)
        for past in pasts.values()
        for event in past.events
        if _asks_to_stop(event) and down.began_at - _LEAD <= event.at <= down.began_at
    )
    came_back = {container.id: at for container in containers if (at := _find_end_before(container, down)) is not None}
    asked = {container_id for _, container_id in signals}
    if signals and _asked_itself(down, asked, came_back.keys(), containers):
        first = signals[-1][0]
        for (earlier, _), (later, _) in reversed(list(pairwise(signals))):
            if later - earlier > ALL_AT_ONCE:
                break
            first = earlier
        return first - BEFORE_SIGNAL
    bounds = [at + _JUST_AFTER for at, _ in signals[-1:]]  # others asked for these, so none of them is the engine's
    if came_back:
        bounds.append(min(came_back.values()) - ENDS_WITHIN)
    elif down.ended_at - down.began_at > BLIND_FOR:
        bounds.append(down.ended_at - _TAIL)
    return max(bounds, default=None)


def _asked_itself(
    down: Shutdown, asked: Collection[str], came_back: Collection[str], containers: Iterable[ContainerFacts]
) -> bool:
    """Whether the engine itself sent the last signals before it was away: one that is killed sends none.

    It did not where what it has started again was not asked, nor where what it has left down ended after contact was
    lost without having been asked before.
    """
    if came_back:
        return any(container_id in asked for container_id in came_back)
    return not any(
        container.finished_at is not None
        and not container.is_running
        and container.id not in asked
        and down.began_at < container.finished_at <= down.ended_at + _TAIL
        for container in containers
    )


def _asks_to_stop(event: LifecycleEvent) -> bool:
    return event.action == "kill" and event.signal in STOP_SIGNALS


def _find_end_before(container: ContainerFacts, down: Shutdown) -> datetime | None:
    """Return when a container ended that the engine has started again; None for any other."""
    ended, started = container.finished_at, container.started_at
    if not container.is_running or ended is None or started is None or started < down.ended_at - _TAIL:
        return None
    return ended if down.began_at - _LEAD <= ended <= down.ended_at + _TAIL else None
