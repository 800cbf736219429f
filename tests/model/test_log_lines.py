"""Lines of a log are columns, and look like lines."""

from __future__ import annotations

from datetime import timedelta

from bcon_exporter.model.container_facts import LogLine, LogLines, texts_of, times_of
from tests.factories import NOON

NANOSECONDS = int(NOON.timestamp()) * 1_000_000_000
LINES = LogLines(
    (NANOSECONDS, None, NANOSECONDS - 1_000_000_999), ("stdout", "stderr", "stdout"), ("one", "two", "three")
)
AS_LINES = (
    LogLine(NOON, "stdout", "one"),
    LogLine(None, "stderr", "two"),
    LogLine(NOON - timedelta(seconds=1, microseconds=1), "stdout", "three"),
)


def test_they_are_equal_to_the_lines_that_they_hold() -> None:
    assert LINES == AS_LINES
    assert AS_LINES == LINES
    assert hash(LINES) == hash(AS_LINES)
    assert AS_LINES[:2] != LINES
    assert LINES.with_texts(("one", "two", "3")) != LINES
    assert repr(LINES) == repr(AS_LINES)
    assert [LINES[at] for at in range(len(LINES))] == list(AS_LINES) == list(LINES)


def test_a_part_of_them_is_columns_too() -> None:
    assert LINES[1:] == AS_LINES[1:]
    assert isinstance(LINES[1:], LogLines)
    assert LINES[-1] == AS_LINES[-1]
    assert LINES[:1] + LINES[1:] == LINES
    assert LINES.pick((2, 0)) == (AS_LINES[2], AS_LINES[0])
    assert not LINES[3:]


def test_texts_and_times_are_there_without_lines() -> None:
    assert times_of(LINES) is LINES.nanoseconds
    assert list(times_of(AS_LINES)) == [NANOSECONDS, None, NANOSECONDS - 1_000_001_000]
    assert texts_of(LINES) is LINES.texts
    assert list(texts_of(AS_LINES)) == ["one", "two", "three"]
