"""Drift is looked at soon after something has happened, once for many events, and seldom when nothing comes of it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bcon_exporter.schedule.drift_watch import LONGEST_WAIT_SECONDS, QUIET_SECONDS, DriftWatch


def looked(at: float = 0.0, **facts: float | bool) -> DriftWatch:
    """A watch after one look that found something and took no time, its rest over."""
    watch = DriftWatch()
    given = {"changes": 0, "took_seconds": 0.0, "interval_seconds": 60.0, "found": True, **facts}
    watch.note_look(now=at - 2.0, **given)  # type: ignore[arg-type]
    return watch


def test_nothing_is_due_while_nothing_happens() -> None:
    watch = looked()
    assert not any(watch.is_due(0, float(second), files_changed=False) for second in range(1000))


@pytest.mark.parametrize(("after", "due"), [(QUIET_SECONDS - 0.1, False), (QUIET_SECONDS, True), (9.0, True)])
def test_a_look_waits_for_a_moment_of_quiet_after_an_event(after: float, *, due: bool) -> None:
    watch = looked()
    assert not watch.is_due(1, 10.0, files_changed=False)
    assert watch.is_due(1, 10.0 + after, files_changed=False) is due


def test_events_that_do_not_end_are_waited_for_only_so_long() -> None:
    watch = looked()
    times = [10 + 0.5 * step for step in range(40)]
    due = [at for step, at in enumerate(times) if watch.is_due(step + 1, at, files_changed=False)]
    assert due[0] == 10 + LONGEST_WAIT_SECONDS


def test_many_events_make_one_look() -> None:
    watch = looked()
    watch.is_due(7, 10.0, files_changed=False)
    assert watch.is_due(7, 11.0, files_changed=False)
    assert not watch.is_due(7, 12.0, files_changed=False)


def test_an_event_that_a_look_has_already_seen_asks_for_no_other() -> None:
    watch = looked()
    watch.is_due(3, 10.0, files_changed=False)
    watch.note_look(3, 10.5, 0.1, 60.0, found=True)
    assert not watch.is_due(3, 30.0, files_changed=False)


def test_an_event_during_a_look_asks_for_another() -> None:
    watch = looked()
    watch.is_due(4, 10.0, files_changed=False)
    watch.note_look(3, 10.5, 0.0, 60.0, found=True)
    assert watch.is_due(4, 12.6, files_changed=False)


def test_looks_that_find_nothing_come_ever_less_often_down_to_the_interval() -> None:
    watch, changes, looks = looked(), 0, []
    for tenth in range(6000):
        changes, now = changes + 1, 10 + tenth / 10
        if watch.is_due(changes, now, files_changed=False):
            looks.append(now)
            watch.note_look(changes, now, 0.0, 60.0, found=False)
    gaps = [round(later - earlier, 1) for earlier, later in pairwise(looks)]
    assert gaps == sorted(gaps)
    assert gaps[-1] == pytest.approx(60.0, abs=6)
    assert len(looks) < 20


@pytest.mark.parametrize(("now", "due"), [(29.9, False), (30.0, True)])
def test_a_long_look_is_followed_by_a_long_rest(now: float, *, due: bool) -> None:
    watch = looked()
    watch.note_look(0, 10.0, 1.0, 60.0, found=True)
    watch.is_due(1, 12.0, files_changed=False)
    assert watch.is_due(1, now, files_changed=False) is due


def test_a_changed_file_does_not_wait_for_the_rest() -> None:
    watch = looked()
    watch.note_look(0, 10.0, 1.0, 60.0, found=True)
    assert not watch.is_due(0, 11.0, files_changed=True)
    assert watch.is_due(0, 12.0, files_changed=False)
