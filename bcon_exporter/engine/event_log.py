"""What the event stream brought: without duplicates, with gaps marked, until somebody takes it. No I/O."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from bcon_exporter.clock import monotonic, utc_now
from bcon_exporter.engine.parse import EventKey, event_key, parse_event, parse_event_time
from bcon_exporter.engine.parse.json_fields import from_epoch
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent

RING_SIZE = 256
"""How many events the daemon remembers (moby, daemon/events, all versions so far)."""
_REMEMBERED = 4 * RING_SIZE
_BUFFERED = 50_000
CLOCK_SLACK = timedelta(seconds=2)
"""Between two clocks that are right: the engine tells its time in whole seconds."""
_NO_CHANGE = frozenset(("health_status", "kill", "oom", "resize"))
"""What alone changes neither whether a container runs nor how it is made."""


class EventLog:
    """Collects events from back-fills and the live stream, which overlap; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[EventKey, None] = OrderedDict()
        self._events: list[LifecycleEvent] = []
        self._touched: set[str] = set()
        self._covers_since: datetime | None = None
        self._gap = False
        self._lost = False
        self._broken: list[datetime] = []
        self._ended_at: datetime | None = None
        self._set_back = False
        self._has_begun = False
        self.last_nano = 0
        self.changes = 0
        self.streams = 0
        self.skew = timedelta()
        self.clock_offset = 0.0

    def add(self, raw: dict[str, Any]) -> None:
        """Take one event of the live stream."""
        with self._lock:
            self._add(raw)

    def note_live(self) -> None:
        """Note that a live stream is open: whatever happens is added."""
        with self._lock:
            self._ended_at = None
            self.streams += 1

    def note_end(self, now: datetime) -> None:
        """Note that the live stream has ended: until now the engine was there, however long it had been silent."""
        with self._lock:
            self._ended_at = now

    def knows_clock(self) -> bool:
        """Whether nobody has set our clock since it was last compared with the engine's."""
        return abs(_clock_offset() - self.clock_offset) < CLOCK_SLACK.total_seconds()

    def forget_later_than(self, nano: int) -> None:
        """Forget when the last event was if that is still to come: the clock has been set back since."""
        with self._lock:
            if self.last_nano > nano:
                self.last_nano, self._set_back = 0, True

    def add_backfill(
        self, ring: Sequence[dict[str, Any]], asked_at: datetime, *, skew: timedelta = timedelta()
    ) -> None:
        """Take what the daemon remembers since `last_nano`, all types of events, oldest first.

        The ring covers the time since the last event when that event still stands in it, when it is not full, or when
        it reaches back to the end of the stream: that one leaves out events that fill the ring, as those of health
        checks, so it may be silent for long and yet have lost nothing. When the clock was set back, the engine leaves
        out what happened before, for it lies after `asked_at` now.

        Args:
            ring: The events.
            asked_at: Until when, by the engine's clock.
            skew: How far the engine's clock is ahead of ours.
        """
        with self._lock:
            self.skew, self.clock_offset = skew, _clock_offset()
            full = len(ring) >= RING_SIZE
            oldest = parse_event_time(ring[0]) if ring else None
            has_known_event = any(event_key(raw) in self._seen for raw in ring)
            ended = None if self._ended_at is None else self._ended_at + skew
            reaches = ended is not None and oldest is not None and oldest <= ended
            if not self._has_begun:
                self._covers_since = oldest or asked_at
            elif self._set_back or (ended is not None and ended > asked_at + CLOCK_SLACK):
                self._gap = self._lost = True
                self._covers_since = asked_at
            elif full and not has_known_event and reaches:
                pass
            elif full and not has_known_event:
                self._gap = self._lost = True
                self._covers_since = oldest or asked_at
            elif not has_known_event and self.last_nano and (last := from_epoch(0, self.last_nano)):
                self._broken.append(max(last, self._ended_at or last))  # it forgot what it had told: it has restarted
            self._has_begun, self._set_back = True, False
            self._ended_at = asked_at - skew
            for raw in ring:
                self._add(raw)

    def _add(self, raw: dict[str, Any]) -> None:
        key = event_key(raw)
        if key in self._seen:
            return
        self._seen[key] = None
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        self.last_nano = max(self.last_nano, key[0])
        event = parse_event(raw)
        if event is None:
            return
        self._touched.add(event.container_id)
        if event.action not in _NO_CHANGE:
            self.changes += 1
        if len(self._events) >= _BUFFERED:  # nobody drains: hold the newest half
            del self._events[: _BUFFERED // 2]
            self._gap = self._lost = True
        self._events.append(event)

    def drain(self) -> EventBatch:
        """Return what came since the last call, oldest first."""
        with self._lock:
            events = tuple(sorted(self._events, key=lambda event: event.at))
            batch = EventBatch(
                events=events,
                covers_since=self._covers_since,
                gap=self._gap,
                broken_at=tuple(self._broken),
                covered_until=self._ended_at,
            )
            self._events, self._gap, self._broken = [], False, []
            return batch

    def take_touched(self) -> tuple[set[str], bool]:
        """Return the ids of containers that events have named since the last call, and whether events were lost."""
        with self._lock:
            touched, self._touched = self._touched, set()
            lost, self._lost = self._lost, False
            return touched, lost


def _clock_offset() -> float:
    """How far the wall clock is ahead of the monotonic one, in seconds: it changes when the clock is set."""
    return utc_now().timestamp() - monotonic()
