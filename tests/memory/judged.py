"""Judging a list of events in a word or two each."""

from collections.abc import Sequence
from datetime import timedelta

from bcon_exporter.memory.exit_reasons import Circumstances, classify_exits
from bcon_exporter.memory.restarts import find_restarts
from bcon_exporter.memory.runs import find_runs, sort_events
from bcon_exporter.model.lifecycle import ExitFacts, LifecycleEvent
from tests.factories import NOON

TERM, KILL, HUP, QUIT = 15, 9, 1, 3


def event(seconds: float, action: str, container: str = "c1", **fields: object) -> LifecycleEvent:
    """An event so long after NOON."""
    at = NOON + timedelta(seconds=seconds)
    return LifecycleEvent(at=at, action=action, container_id=container, name="app", **fields)  # type: ignore[arg-type]  # test fields


def ends_of(events: Sequence[LifecycleEvent], circumstances: Circumstances = Circumstances()) -> list[ExitFacts]:  # noqa: B008 - frozen
    return [facts for _, facts in classify_exits(find_runs(sort_events(events)), circumstances)]


def restarts_of(events: Sequence[LifecycleEvent], circumstances: Circumstances = Circumstances()) -> list[float]:  # noqa: B008 - frozen
    """Seconds after NOON of the restarts that nobody asked for."""
    ordered = sort_events(events)
    runs = find_runs(ordered)
    found = find_restarts(classify_exits(runs, circumstances), runs, ordered, circumstances)
    return [(at - NOON).total_seconds() for _, at in found]


def verdicts(events: Sequence[LifecycleEvent], circumstances: Circumstances = Circumstances()) -> list[str]:  # noqa: B008 - frozen
    """One word an end, with its exit code."""
    return [f"{_word(end)} {end.exit_code}" for end in ends_of(events, circumstances)]


def _word(end: ExitFacts) -> str:
    if end.shutdown:
        return "shutdown"
    if end.requested:
        return "forced" if end.forced else "requested"
    return "oom" if end.oom else "crash"
