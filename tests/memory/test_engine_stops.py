"""What was stopped by hand seconds before the engine went down did not end with it, whatever the engine tells."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bcon_exporter.memory.engine_stops import date_shutdowns
from bcon_exporter.memory.exit_reasons import Shutdown, find_shutdown
from bcon_exporter.memory.timeline import Past
from tests.factories import NOON, container, exited, full_id
from tests.memory.judged import TERM, event
from tests.table_rows import table

if TYPE_CHECKING:
    from bcon_exporter.model.container_facts import ContainerFacts
    from bcon_exporter.model.lifecycle import LifecycleEvent

STARTED = NOON - timedelta(hours=1)
DOWN = Shutdown(NOON + timedelta(seconds=20), NOON + timedelta(seconds=26))
BACK_AT = 26.0

HAND_STOP = ("hand", 9.0, 9.1)
"""Name, second of the signal (None: the engine told of none), second of the end."""
Ending = tuple[str, float | None, float]

SHUTDOWNS: dict[str, tuple[list[Ending], tuple[str, ...], set[str]]] = {
    "an engine that tells its own signals": (
        [HAND_STOP, ("job", 18.0, 18.2), ("web", 18.1, 18.3)], ("web",), {"job", "web"}),
    "the same where it starts nothing again": ([HAND_STOP, ("job", 18.0, 18.2)], (), {"job"}),
    "one that took ten seconds to stop": (
        [("hand", 12.0, 19.0), ("job", 18.0, 18.2), ("web", 18.0, 18.3)], ("web",), {"job", "web"}),
    "a stop by hand just before the engine's": (
        [("hand", 16.8, 16.9), ("job", 18.0, 18.2), ("web", 18.0, 18.3)], ("web",), {"job", "web"}),
    "an engine whose own signals were not heard": (
        [HAND_STOP, ("job", None, 18.2), ("web", None, 18.3)], ("web",), {"job", "web"}),
    "a killed engine that started something again": (
        [HAND_STOP, ("job", None, 22.0), ("web", None, 22.1)], ("web",), {"job", "web"}),
    "a killed engine that started nothing again": ([HAND_STOP, ("job", None, 22.0)], (), {"job"}),
    "a killed engine, and a stop by hand in its last second": (
        [("hand", 19.9, 19.95), ("job", None, 22.0)], (), {"job"}),
}  # fmt: skip
"""What ended when, what the engine started again, and what went down with it."""


@table(("what", "endings", "came_back", "went_down"), [(what, *row) for what, row in SHUTDOWNS.items()])
def test_a_stop_by_hand_before_the_engine_went_down_is_no_end_by_it(
    what: str, endings: list[Ending], came_back: tuple[str, ...], went_down: set[str]
) -> None:
    containers = [as_it_is_now(name, ended, is_back=name in came_back) for name, _, ended in endings]
    pasts = {name: Past(events=events_of(name, asked, ended)) for name, asked, ended in endings}
    (down,) = date_shutdowns((), (DOWN,), pasts, containers)
    assert {
        name
        for name, asked, ended in endings
        if find_shutdown(STARTED, at(ended), (down,), None, None if asked is None else at(asked)) is not None
    } == went_down, what


def events_of(name: str, asked: float | None, ended: float) -> tuple[LifecycleEvent, ...]:
    kill = [] if asked is None else [event(asked, "kill", full_id(name), signal=TERM)]
    return (*kill, event(ended, "die", full_id(name), exit_code=143))


def as_it_is_now(name: str, ended: float, *, is_back: bool) -> ContainerFacts:
    if is_back:
        return container(name=name, id=full_id(name), started_at=at(BACK_AT), finished_at=at(ended))
    return exited(143, name=name, id=full_id(name), started_at=STARTED, finished_at=at(ended))


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)
