"""Tells from the containers themselves that the engine or host went down before anybody was watching.

With history a shutdown is known from events. Without it, what stands in inspect has to do: when everything that ran
ended within seconds and nothing ran on, that was no crash of each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.model.facts import ContainerFacts, HostSnapshot

TOGETHER_SECONDS = 20
"""The engine gives its containers 15 s when it stops."""
TOGETHER_COUNT = 3
"""Fewer ends at once may be a chance, or one crash that took another with it."""
START_SECONDS = 1
"""An engine that comes up notes the ends that it has missed, and ends what was left, before it counts as up."""
STOP_LIKE_CODES = frozenset({130, 137, 143, 255})
"""Codes that a stop or a shutdown leaves behind as well as a crash; history has to tell."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When everything ended: the first and the last end."""

    began_at: datetime
    ended_at: datetime

    def holds(self, at: datetime) -> bool:
        """Whether `at` is one of these ends."""
        return self.began_at <= at <= self.ended_at


def find_shutdowns(host: HostSnapshot) -> tuple[Moment, ...]:
    """The moments at which all containers that ran ended together, oldest first.

    An engine that had been up before such a moment, and still is, did not go down then.
    """
    up_since = host.engine_started_at
    ended = sorted(
        ((one.finished_at, one) for one in host.containers if one.finished_at is not None), key=lambda pair: pair[0]
    )
    found: list[Moment] = []
    start = 0
    for index, (at, _) in enumerate(ended):
        if index + 1 < len(ended) and ended[index + 1][0] - ended[start][0] <= timedelta(seconds=TOGETHER_SECONDS):
            continue
        moment = Moment(ended[start][0], at)
        members = [one for _, one in ended[start : index + 1]]
        start = index + 1
        if up_since is not None and moment.began_at > up_since + timedelta(seconds=START_SECONDS):
            continue
        if _is_shutdown(members) and not any(_ran_on(one, moment) for one in host.containers):
            found.append(moment)
    return tuple(found)


def _is_shutdown(members: Sequence[ContainerFacts]) -> bool:
    """Whether ends at one moment look like a shutdown's: most were brought back, or have a code that a stop leaves."""
    telling = sum(_came_back(one) or (not one.is_running and one.exit_code in STOP_LIKE_CODES) for one in members)
    doubtful = sum(not one.is_running and one.exit_code not in (0, *STOP_LIKE_CODES) for one in members)
    return len(members) >= TOGETHER_COUNT and telling > 1 and telling >= doubtful


def _came_back(one: ContainerFacts) -> bool:
    """Whether it runs again without the engine having counted a restart: that count is of crashes."""
    return one.is_running and not one.restart_count


def _ran_on(one: ContainerFacts, moment: Moment) -> bool:
    if one.started_at is None or one.started_at >= moment.began_at:
        return False
    return one.is_running or (one.finished_at is not None and one.finished_at > moment.ended_at)
