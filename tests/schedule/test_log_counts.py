"""Each log event counts once however often its line is read, and nothing from before the exporter counts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis import LogReader
from bcon_exporter.memory import LogCounts
from bcon_exporter.model.container_facts import HostSnapshot, LogFacts, LogLine, LogLines, nanoseconds_of
from bcon_exporter.schedule.log_counts import count_events
from tests.factories import NOON, container, line, logs, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bcon_exporter.model.signatures import Catalogue

CATALOGUE = load_catalogue(None)
CONTINUED = LogLine(at=None, stream="stdout", text="  more of it")


class Counter:
    """Carries the counts from scan to scan, as the job does."""

    def __init__(self) -> None:
        self.counts = LogCounts()
        self.reader = LogReader()

    def count(
        self, host: HostSnapshot, catalogue: Catalogue, is_too_late: Callable[[], bool] = lambda: False
    ) -> Mapping[str, Mapping[str, int]]:
        """Return the totals with one more scan."""
        self.counts = count_events(self.counts, host, catalogue, self.reader, is_too_late)
        self.reader.end_scan()
        return self.counts.totals


def scan(counts: Counter, seconds: float, *lines: object, name: str = "api") -> dict[str, int]:
    """Count one scan of a container with these lines."""
    facts = container(name=name, logs=logs(*lines))  # type: ignore[arg-type]  # log lines
    host = snapshot(facts, taken_at=NOON + timedelta(seconds=seconds))
    return dict(counts.count(host, CATALOGUE)[facts.id])


def error(seconds: float, text: str = "level=error msg=boom") -> object:
    """A line so long after noon."""
    return line(text, at=NOON + timedelta(seconds=seconds))


def test_lines_from_before_the_first_scan_do_not_count() -> None:
    assert scan(Counter(), 0, error(-5), error(0)) == {}


@pytest.mark.parametrize(("nanoseconds", "counted"), [(-1, 0), (0, 0), (999, 0), (1000, 1)])
def test_a_line_counts_from_the_next_microsecond_on(nanoseconds: int, counted: int) -> None:
    counts = Counter()
    scan(counts, 0)
    lines = LogLines((nanoseconds_of(NOON) + nanoseconds,), ("stdout",), ("level=error msg=boom",))
    facts = container(name="api", logs=LogFacts(lines=lines))

    totals = counts.count(snapshot(facts, taken_at=NOON + timedelta(seconds=30)), CATALOGUE)

    assert totals[facts.id].get("error", 0) == counted


def test_a_line_in_two_windows_counts_once() -> None:
    counts = Counter()
    scan(counts, 0)
    first = scan(counts, 30, error(10))

    second = scan(counts, 60, error(10), error(40))

    assert (first["error"], second["error"]) == (1, 2)


def test_what_there_is_no_time_to_count_is_counted_by_the_next_scan() -> None:
    counts = Counter()
    names = ("first", "second")
    lines = [error(10), error(20)]
    hosts = [
        snapshot(*(container(name=name, logs=logs(*told)) for name in names), taken_at=NOON + timedelta(seconds=at))
        for at, told in ((0, ()), (30, lines), (60, lines))
    ]
    turns = iter([False, True])
    counts.count(hosts[0], CATALOGUE)

    hurried = counts.count(hosts[1], CATALOGUE, lambda: next(turns))
    whole = counts.count(hosts[2], CATALOGUE)

    assert [counted.get("error", 0) for counted in hurried.values()] == [2, 0]
    assert [counted["error"] for counted in whole.values()] == [2, 2]


def test_levels_are_told_apart() -> None:
    counts = Counter()
    scan(counts, 0)

    counted = scan(counts, 30, error(1), error(2, "level=warning msg=hm"), error(3, "level=info msg=error"))

    assert counted == {"warning": 1, "error": 1, "critical": 0}


def test_counts_stay_when_the_log_is_quiet() -> None:
    counts = Counter()
    scan(counts, 0)
    scan(counts, 30, error(10))

    assert scan(counts, 700)["error"] == 1


def test_a_container_that_is_gone_is_forgotten() -> None:
    counts = Counter()
    scan(counts, 0, error(1))

    assert container(name="api").id not in counts.count(snapshot(container(name="b")), CATALOGUE)


@pytest.mark.parametrize("back", [3600, 5 * 365 * 86400])
def test_counting_goes_on_when_the_clock_was_set_back_and_counts_nothing_twice(back: float) -> None:
    counts = Counter()
    scan(counts, 0)
    old = [error(seconds) for seconds in (5, 6, 7)]
    before = scan(counts, 30, *old)

    new = [error(40 - back + second) for second in range(20)]
    after = [scan(counts, 60 - back, *old, *new)]
    after += [scan(counts, seconds, *old, *new) for seconds in (90 - back, 8, 60, 90)]

    assert before["error"] == 3
    assert [each["error"] for each in after] == [23] * 5


def test_a_container_that_is_made_after_the_clock_was_set_back_is_counted() -> None:
    counts = Counter()
    scan(counts, 0)
    scan(counts, -3600, name="made")

    assert scan(counts, -3570, error(-3590), name="made")["error"] == 1


def test_a_log_read_anew_after_the_clock_was_set_back_counts_no_line_that_had_left_the_window() -> None:
    counts = Counter()
    scan(counts, 0)
    scan(counts, 30, error(10))
    scan(counts, 900)

    assert scan(counts, 60, error(10))["error"] == 1


@pytest.mark.parametrize("before", [(), (error(5),), (error(4), error(5))])
def test_a_late_line_hides_no_newer_one(before: tuple[object, ...]) -> None:
    counts = Counter()
    scan(counts, 0)
    scan(counts, 20, *before, error(10))

    counted = scan(counts, 30, *before, error(10), error(12), line("late", at=NOON + timedelta(seconds=9)))

    assert counted["error"] == len(before) + 2


def test_the_lines_before_one_that_has_not_ended_yet_count() -> None:
    """As of a prompt, that waits on standard output while errors go to the other stream."""
    counts = Counter()
    scan(counts, 0)
    at = NOON + timedelta(seconds=11)
    prompt, grown = line("error: retry? ", at=at), line("error: retry? no", at=at)
    first = scan(counts, 20, error(10), prompt)
    second = scan(counts, 30, error(10), error(25), prompt)

    third = scan(counts, 40, error(10), error(25), grown, error(35))

    assert [each["error"] for each in (first, second, third)] == [2, 3, 4]


def test_a_window_of_only_new_lines_counts_whole() -> None:
    counts = Counter()
    scan(counts, 0)
    scan(counts, 30, error(10), error(11))

    assert scan(counts, 60, error(40), CONTINUED, error(41))["error"] == 4


def test_a_log_that_cannot_be_read_for_a_while_counts_on_where_it_was() -> None:
    counts = Counter()
    scan(counts, 0)
    scan(counts, 30, error(10))
    facts = container(name="api", logs=None)
    counts.count(snapshot(facts, taken_at=NOON + timedelta(seconds=60)), CATALOGUE)

    assert scan(counts, 90, error(10), error(70))["error"] == 2


@pytest.mark.parametrize(
    ("text", "is_failure"),
    [
        ("level=info msg=served", False),
        ("level=warning msg=deprecated", False),
        ('level=warning msg="dial tcp 10.0.0.2:5432: connection refused"', True),
        ("level=error msg=boom", True),
        ("level=fatal msg=boom", True),
    ],
)
def test_a_line_tells_of_a_failure_by_its_level_or_where_a_symptom_rests_on_it(text: str, *, is_failure: bool) -> None:
    counts = Counter()
    scan(counts, 0)
    scan(counts, 30, error(5, text))
    failed_at = {container(name="api").id: NOON + timedelta(seconds=30)} if is_failure else {}
    assert counts.counts.last_failure_at == failed_at

    scan(counts, 60, error(5, text), error(35, "level=warning msg=deprecated"))
    assert counts.counts.last_failure_at == failed_at, "only new lines count"


def test_no_failure_lies_ahead_of_a_clock_that_was_set_back() -> None:
    counts = Counter()
    scan(counts, 0)
    scan(counts, 30, error(5))
    scan(counts, -3600, error(5))
    scan(counts, -3570, error(5))

    assert list(counts.counts.last_failure_at.values()) == [NOON - timedelta(seconds=3600)]
