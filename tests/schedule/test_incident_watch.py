"""Promise: what a scan shows becomes incidents, each failure one, also when the clock is set back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.diagnosis import LogReader, diagnose_host
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.latest_scans import DiagnoseScan
from bcon_exporter.model.hysteresis import HoldState
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.schedule.incident_watch import watch_incidents
from tests.factories import NOON, ago, container, ended, lifecycle, looping, snapshot
from tests.left_open import close_later
from tests.outputs.scenes import make_context

if TYPE_CHECKING:
    from datetime import datetime

    from bcon_exporter.model.lifecycle import LifecycleFacts

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


class Daemon:
    """Scans a host of one container that runs, as the job does."""

    def __init__(self) -> None:
        memory = close_later(MemoryKeeper.open(None, retention_seconds=90 * 86400, now=NOON))
        self.now = NOON
        self.context = replace(make_context(), memory=memory, now=lambda: self.now)
        self.reader, self.hold = LogReader(), HoldState()

    def scan(self, at: datetime, past: LifecycleFacts, *, is_whole: bool = True) -> tuple[str, ...]:
        """Return the codes of the incidents that are open after a scan."""
        self.now = at
        facts = container(name="db", restart_policy="always", lifecycle=past, started_at=NOON, created_at=ago(hours=9))
        host = snapshot(facts, taken_at=at, incomplete=() if is_whole else (facts.id,))
        thresholds = Thresholds()
        report, self.hold = diagnose_host(host, thresholds, self.context.catalogue, self.hold, log_reader=self.reader)
        self.reader.end_scan()
        watch_incidents(self.context, host, report)
        scan = DiagnoseScan(host, report, thresholds, at, finished_monotonic=1000.0, duration_seconds=0.1)
        self.context.scans.publish_diagnosis(scan)
        return tuple(tracked.incident.root.code for tracked in self.context.memory.memory.incidents.open)


def test_a_loop_that_is_over_opens_no_other_incident_after_the_clock_was_set_back_and_a_new_crash_does() -> None:
    daemon, loop = Daemon(), looping()
    seen = [daemon.scan(NOON + minute * MINUTE, loop) for minute in range(8)]
    assert (seen[0], seen[-1]) == (("restart_loop",), ())

    set_back_to = NOON - 53 * MINUTE
    later = [daemon.scan(set_back_to + minute * MINUTE, loop) for minute in range(20)]
    assert later == [()] * 20

    crash = ended(1, at=daemon.now + SECOND, lifetime_seconds=60.0)
    crashed = loop.model_copy(update={"exits": (crash, *loop.exits), "restarts": (crash.at + SECOND, *loop.restarts)})
    assert daemon.scan(daemon.now + MINUTE, crashed) == ("restart_loop",)
    rest = [daemon.scan(daemon.now + MINUTE, crashed) for _ in range(60)]
    assert rest[5:] == [()] * 55, "nor when the clock comes to where it was"


@pytest.mark.parametrize("is_exporter_new", [False, True])
def test_the_first_failure_after_the_clock_was_set_back_has_an_incident_though_nothing_was_ill_then(
    *, is_exporter_new: bool
) -> None:
    daemon = Daemon()
    for minute in range(20):
        daemon.scan(NOON + minute * MINUTE, looping() if minute < 8 else lifecycle())
    if is_exporter_new:
        daemon.context = replace(daemon.context, scans=make_context().scans)
    set_back_to = NOON - 40 * MINUTE
    assert daemon.scan(set_back_to, lifecycle()) == ()

    killed = ended(137, at=set_back_to + 40 * SECOND, oom=True, lifetime_seconds=60.0)
    assert daemon.scan(set_back_to + MINUTE, lifecycle(exits=(killed,))) == ("oom_killed",)


def test_a_loop_that_ended_as_the_clock_was_set_back_is_over_soon() -> None:
    daemon = Daemon()
    assert daemon.scan(NOON, looping()) == ("restart_loop",)
    seen = [daemon.scan(NOON - 60 * MINUTE + minute * MINUTE, looping()) for minute in range(4)]
    assert seen == [("restart_loop",), ("restart_loop",), (), ()]


def test_a_first_look_that_could_not_read_everything_goes_on_with_the_next_ones_but_not_for_ever() -> None:
    partial = Daemon()
    for number, expected in ((0, 0), (1, 1), (2, 2), (3, 2)):
        partial.scan(NOON + number * MINUTE, lifecycle(), is_whole=False)
        look = partial.context.scans.first_look
        assert look is not None
        assert look.at == NOON + expected * MINUTE, number
    whole_then = Daemon()
    for number, (is_whole, expected) in enumerate([(False, 0), (True, 1), (False, 1)]):
        whole_then.scan(NOON + number * MINUTE, lifecycle(), is_whole=is_whole)
        look = whole_then.context.scans.first_look
        assert look is not None
        assert look.at == NOON + expected * MINUTE, number
