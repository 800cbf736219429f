"""Event sequences recorded on a real engine (Docker 20.10.24, Compose v5), one file a scenario in recordings/.

Each line is one event: `t` is seconds after the scenario's first event, the rest are fields of `LifecycleEvent`.
"""

import json
from datetime import timedelta
from functools import cache
from pathlib import Path

from bcon_exporter.model.lifecycle import LifecycleEvent
from tests.factories import NOON

FOLDER = Path(__file__).parent / "recordings"
SCENARIOS = tuple(sorted(path.stem for path in FOLDER.glob("*.jsonl")))


@cache
def recorded(scenario: str) -> tuple[LifecycleEvent, ...]:
    """Return a scenario's events, the first of them at NOON."""
    events = []
    for line in (FOLDER / f"{scenario}.jsonl").read_text().splitlines():
        fields = json.loads(line)
        at = NOON + timedelta(seconds=fields.pop("t"))
        events.append(LifecycleEvent(at=at, container_id=fields.pop("id"), **fields))
    return tuple(events)


def of_container(events: tuple[LifecycleEvent, ...], name: str) -> tuple[LifecycleEvent, ...]:
    """Return the events of the container of this name."""
    return tuple(event for event in events if event.name == name)


def of_service(events: tuple[LifecycleEvent, ...], service: str, number: int = 1) -> tuple[LifecycleEvent, ...]:
    """Return the events of one replica, over its recreations."""
    return tuple(event for event in events if (event.service, event.number) == (service, number))
