"""The lives of an identity's containers: events, in order, split into runs (pure; see `exit_reasons`)."""

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bcon_exporter.model.lifecycle import LifecycleEvent

MANUAL_MARK_SECONDS = 1.0
"""`docker restart` reports start and restart at once."""

_ORDER = ("create", "start", "restart", "pause", "unpause", "health_status", "oom", "kill", "die", "stop", "destroy")
_RANK = {action: rank for rank, action in enumerate(_ORDER)}


@dataclass(slots=True)
class Run:
    """One life of a main process, from start to end; None is what no event told.

    Attributes:
        has_terminal: Somebody runs it at a terminal (`docker run -it`), and sees how it ends.
    """

    container_id: str
    started_at: datetime | None = None
    manual: bool = False
    end: LifecycleEvent | None = None
    stopped_at: datetime | None = None
    destroyed_at: datetime | None = None
    created_at: datetime | None = None
    kills: list[LifecycleEvent] = field(default_factory=list)
    ooms: list[datetime] = field(default_factory=list)
    has_terminal: bool = False


def sort_events(events: Iterable[LifecycleEvent]) -> list[LifecycleEvent]:
    """Return them oldest first, without duplicates; whatever order they came in, the result is the same."""
    return sorted(set(events), key=order_of)


def order_of(event: LifecycleEvent) -> tuple[datetime, int, str, str, int, int, str]:
    """Sort key: by time, then as a container's life goes."""
    rank = _RANK.get(event.action, len(_ORDER))
    return (
        event.at,
        rank,
        event.action,
        event.container_id,
        event.signal or 0,
        event.exit_code or 0,
        event.health or "",
    )


def find_runs(events: Sequence[LifecycleEvent]) -> tuple[Run, ...]:
    """Split sorted events of one identity into the runs of its containers, oldest first."""
    runs: dict[str, list[Run]] = {}
    created: dict[str, datetime] = {}
    for event in events:
        of_container = runs.setdefault(event.container_id, [])
        if event.action == "create":
            created[event.container_id] = event.at
        elif event.action == "start" or not of_container:
            of_container.append(Run(event.container_id, created_at=created.get(event.container_id)))
        if event.action != "create":
            _tell(of_container[-1], event)
    known = [run for of_container in runs.values() for run in of_container if run.started_at or run.end]
    return tuple(sorted(known, key=_run_time))


def _run_time(run: Run) -> tuple[datetime, str]:
    at = run.started_at or (run.end.at if run.end else None)
    if at is None:  # pragma: no cover -- find_runs keeps no such run
        msg = "a run without start and end"
        raise ValueError(msg)
    return at, run.container_id


def _tell(run: Run, event: LifecycleEvent) -> None:
    """Add what one event says about a run."""
    match event.action:
        case "start":
            run.started_at = event.at
        case "restart":
            run.manual = run.manual or is_near(run.started_at, event.at, MANUAL_MARK_SECONDS)
        case "die":
            run.end = run.end or event
        case "kill":
            run.kills.append(event)
        case "oom":
            insort(run.ooms, event.at)
        case "stop":
            run.stopped_at = event.at
        case "resize":
            run.has_terminal = True
        case "destroy":
            run.destroyed_at = event.at
        case _:
            pass


def is_near(one: datetime | None, other: datetime, seconds: float) -> bool:
    """True when both times are known and at most so far apart."""
    return one is not None and abs((other - one).total_seconds()) <= seconds
