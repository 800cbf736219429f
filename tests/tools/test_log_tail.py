"""Watching a log: each line once, in order, and masked as where it is read as a whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bcon_exporter.model.container_facts import LogFacts
from bcon_exporter.tools.log_tail import FIRST_LINES, LogTail
from bcon_exporter.tools.replay import SnapshotHost
from tests.factories import NOON, container, line, snapshot
from tests.outputs.scenes import make_context

if TYPE_CHECKING:
    from datetime import datetime

    from bcon_exporter.model.container_facts import LogLine


class Printing(SnapshotHost):
    """A host whose one container prints on; at most `most` lines are read at once."""

    def __init__(self, *, most: int = 10_000) -> None:
        super().__init__(snapshot(container(name="job")))
        self.printed: list[LogLine] = []
        self.most = most
        self.begins: list[datetime | None] = []

    def read_logs(self, container_id: str, *, tail: int, since: datetime | None, until: datetime | None) -> LogFacts:  # noqa: ARG002
        self.begins.append(since)
        lines = [one for one in self.printed if since is None or (one.at is not None and one.at >= since)]
        return LogFacts(lines=tuple(lines[-min(tail, self.most) :]))

    def say(self, *texts: str, seconds: float) -> None:
        self.printed += [line(text, at=NOON + timedelta(seconds=seconds)) for text in texts]


def tail_of(host: Printing) -> LogTail:
    return LogTail(replace(make_context(snapshot(container(name="job"))), host=host), "job")


def read(tail: LogTail) -> list[str]:
    return [one.text for one in tail.read().lines]


def test_each_line_is_shown_once_and_those_of_one_moment_too() -> None:
    host = Printing()
    host.say("a", "b", seconds=1)
    tail = tail_of(host)
    assert read(tail) == ["a", "b"]
    assert read(tail) == []
    host.say("b", "b", seconds=1)
    host.say("c", seconds=2)
    assert read(tail) == ["b", "b", "c"]
    assert read(tail) == []


def test_a_line_that_comes_a_little_late_is_shown_and_an_old_one_is_not_shown_again() -> None:
    host = Printing()
    host.say("first", seconds=1)
    host.say("second", seconds=10)
    tail = tail_of(host)
    assert read(tail) == ["first", "second"]
    host.say("late", seconds=9)
    assert read(tail) == ["late"]
    host.say("third", seconds=60)
    assert read(tail) == ["third"]
    assert read(tail) == []


def test_a_reading_begins_before_the_newest_line_so_that_a_secret_has_its_prompt_before_it() -> None:
    host = Printing()
    for number in range(300):
        host.say(f"line {number}", seconds=number)
    tail = tail_of(host)
    assert read(tail) == [f"line {number}" for number in range(300 - FIRST_LINES, 300)]
    host.say("more", seconds=300)
    assert read(tail) == ["more"]
    assert host.begins == [None, NOON + timedelta(seconds=200)]


def test_lines_that_came_too_fast_are_told() -> None:
    host = Printing(most=3)
    host.say("a", seconds=1)
    tail = tail_of(host)
    assert read(tail) == ["a"]
    for number in range(5):
        host.say(str(number), seconds=2 + number)
    new = tail.read()
    assert ([one.text for one in new.lines], new.has_gap) == (["2", "3", "4"], True)
    assert not tail.read().has_gap


def test_a_container_that_prints_nothing_for_a_long_time_is_no_gap() -> None:
    host = Printing()
    tail = tail_of(host)
    assert read(tail) == []
    host.say("at last", seconds=1)
    new = tail.read()
    assert ([one.text for one in new.lines], new.has_gap) == (["at last"], False)
