"""Infers from the containers themselves that the engine or host went down before anybody was watching.

With history, events tell of a shutdown. Without it, inspect has to do: if all running containers ended within seconds,
the host or engine went down, and the containers did not crash one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot

TOGETHER_SECONDS = 20
"""The engine gives its containers 15 s when it stops."""
TOGETHER_COUNT = 3
"""Fewer simultaneous ends may be chance, or one crash that caused another."""
START_SECONDS = 1
"""At its start an engine records the ends that it has missed; they lie up to so long after its start."""
COMES_BACK_WITHIN = timedelta(minutes=10)
"""So long after everything ended, an engine that starts may be the one that ended it: a host takes minutes to boot."""
STOP_LIKE_CODES = frozenset({130, 137, 143, 255})
"""Exit codes that a stop or shutdown gives, and a crash may give as well; only history can tell."""


@dataclass(frozen=True, slots=True)
class InferredShutdown:
    """A time at which everything ended: the first and the last end.

    Attributes:
        is_of_engine: The engine came up after it and started again some of what had ended: not only did many end at
            once, as `docker stop $(docker ps -q)` makes them.
    """

    began_at: datetime
    ended_at: datetime
    is_of_engine: bool = False

    def includes(self, at: datetime) -> bool:
        """Whether `at` lies between the first and the last end."""
        return self.began_at <= at <= self.ended_at


def find_shutdowns(host: HostSnapshot) -> tuple[InferredShutdown, ...]:
    """Find the times at which all running containers ended together, oldest first.

    An engine that was up before such a time and is still up did not go down then.
    """
    up_since = host.engine_started_at
    ended = sorted(
        ((container.finished_at, container) for container in host.containers if container.finished_at is not None),
        key=lambda pair: pair[0],
    )
    shutdowns: list[InferredShutdown] = []
    start = 0
    for index, (at, _) in enumerate(ended):
        if index + 1 < len(ended) and ended[index + 1][0] - ended[start][0] <= timedelta(seconds=TOGETHER_SECONDS):
            continue
        members = [container for _, container in ended[start : index + 1]]
        shutdown = InferredShutdown(ended[start][0], at, _is_of_engine(members, at, up_since))
        start = index + 1
        if up_since is not None and shutdown.began_at > up_since + timedelta(seconds=START_SECONDS):
            continue
        if _is_shutdown(members) and not any(_kept_running(container, shutdown) for container in host.containers):
            shutdowns.append(shutdown)
    return tuple(shutdowns)


def _is_shutdown(members: Sequence[ContainerFacts]) -> bool:
    """Whether these ends look like a shutdown: most containers run again, or have an exit code that a stop gives."""
    telling = sum(
        _came_back(container) or (not container.is_running and container.exit_code in STOP_LIKE_CODES)
        for container in members
    )
    doubtful = sum(
        not container.is_running and container.exit_code not in (0, *STOP_LIKE_CODES) for container in members
    )
    return len(members) >= TOGETHER_COUNT and telling > 1 and telling >= doubtful


def _is_of_engine(members: Sequence[ContainerFacts], ended_at: datetime, up_since: datetime | None) -> bool:
    """Whether the engine came up soon after these ends and started one of them again."""
    if up_since is None or not ended_at <= up_since + timedelta(seconds=START_SECONDS) <= ended_at + COMES_BACK_WITHIN:
        return False
    came_up = up_since - COMES_BACK_WITHIN, up_since + COMES_BACK_WITHIN
    return any(
        _came_back(container) and container.started_at is not None and came_up[0] <= container.started_at <= came_up[1]
        for container in members
    )


def _came_back(container: ContainerFacts) -> bool:
    """Whether it runs again and the engine counted no restart: the engine counts only restarts after a crash."""
    return container.is_running and not container.restart_count


def _kept_running(container: ContainerFacts, shutdown: InferredShutdown) -> bool:
    if container.started_at is None or container.started_at >= shutdown.began_at:
        return False
    return container.is_running or (container.finished_at is not None and container.finished_at > shutdown.ended_at)
