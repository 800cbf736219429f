"""Which restarts nobody asked for: pure rules over the runs of one identity and how each of them ended."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from bcon_exporter.memory.exit_reasons import Circumstances
from bcon_exporter.memory.runs import Run, is_near
from bcon_exporter.model.exit_codes import JITTER_SECONDS, SIGKILL
from bcon_exporter.model.lifecycle import ExitFacts, LifecycleEvent

INFERRED_RESTART = "inferred_restart"
"""Action of our own: a restart that only the restart count tells of, because its events were lost."""

# The engine waits a minute at most between two restarts; the rest is for a busy host.
POLICY_RESTART_SECONDS = 90.0
SUPERVISED_RESTART_SECONDS = 60.0
SELF_REMOVAL_SECONDS = 2.0


def find_restarts(
    exits: Sequence[tuple[Run, ExitFacts]],
    runs: Sequence[Run],
    events: Sequence[LifecycleEvent],
    circumstances: Circumstances,
) -> tuple[tuple[str, datetime], ...]:
    """Return container id and time of each restart that nobody asked for, oldest first.

    A restart counts when the end before it was neither asked for nor a shutdown's, and
    - the same container starts again within the engine's longest back-off, has (or may have) a restart policy,
      and no `restart` event marks it as somebody's; or
    - it failed and removed itself (`--rm`), and another container of the identity starts within a minute: a
      supervisor's loop.
    A later or policy-less start of the same container, and any recreation by Compose, is somebody's doing.
    """
    facts = {id(run): exit_facts for run, exit_facts in exits}
    found: set[tuple[datetime, str]] = set()
    by_container: dict[str, list[Run]] = {}
    for run in runs:
        by_container.setdefault(run.container_id, []).append(run)
    for container_id, lives in by_container.items():
        if circumstances.policies.get(container_id) != "no":
            found.update(_find_policy_restarts(lives, facts))
    found.update(_find_supervised_restarts(runs, facts, circumstances.policies))
    found.update(_find_inferred(events))
    return tuple((container_id, at) for at, container_id in sorted(found))


def _find_policy_restarts(lives: Sequence[Run], facts: Mapping[int, ExitFacts]) -> set[tuple[datetime, str]]:
    return {
        (later.started_at, later.container_id)
        for earlier, later in pairwise(lives)
        if later.started_at
        and not later.manual
        # The engine restarts nothing that was killed through it, whatever the policy.
        and not any(kill.signal == SIGKILL for kill in earlier.kills)
        and _is_crash(facts.get(id(earlier)), later.started_at, POLICY_RESTART_SECONDS)
    }


def _is_crash(end: ExitFacts | None, started_at: datetime, within_seconds: float) -> bool:
    if end is None or end.requested or end.shutdown:
        return False
    return -JITTER_SECONDS <= (started_at - end.at).total_seconds() <= within_seconds


def _find_supervised_restarts(
    runs: Sequence[Run], facts: Mapping[int, ExitFacts], policies: Mapping[str, str]
) -> set[tuple[datetime, str]]:
    found = set()
    lives = Counter(run.container_id for run in runs)
    for earlier, later in pairwise(runs):
        if earlier.container_id == later.container_id or not (later.started_at and later.created_at):
            continue
        # One that removes itself has one run and no policy; another was removed while it waited to be restarted.
        may_remove_itself = lives[earlier.container_id] == 1 and policies.get(earlier.container_id, "no") == "no"
        removed_itself = may_remove_itself and earlier.destroyed_at and earlier.end and not earlier.kills
        if not removed_itself or earlier.destroyed_at is None or earlier.end is None:
            continue
        in_order = is_near(earlier.end.at, earlier.destroyed_at, SELF_REMOVAL_SECONDS)
        if in_order and later.created_at >= earlier.destroyed_at:
            end = facts.get(id(earlier))
            # One that ended well did its work: cron, a pipeline or a loop of a script starts the next, no supervisor.
            if earlier.end.exit_code and _is_crash(end, later.started_at, SUPERVISED_RESTART_SECONDS):
                found.add((later.started_at, later.container_id))
    return found


def _find_inferred(events: Sequence[LifecycleEvent]) -> set[tuple[datetime, str]]:
    """Return inferred restarts, save those whose own start events did come after all."""
    inferred = [event for event in events if event.action == INFERRED_RESTART]
    if not inferred:
        return set()
    starts = [(event.container_id, event.at) for event in events if event.action == "start"]
    return {
        (event.at, event.container_id)
        for event in inferred
        if not any(who == event.container_id and is_near(at, event.at, JITTER_SECONDS) for who, at in starts)
    }
