"""Lines that a scan has read before tell the next one what they would tell if read for the first time, at no cost."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.diagnosis.log_cache import EVENT_BYTES, MOST_BYTES, LogReader, find_common
from bcon_exporter.diagnosis.log_events import LogEvent, read_events
from bcon_exporter.model.container_facts import LogLine
from bcon_exporter.model.signatures import Catalogue
from tests.diagnosis.judging import shipped
from tests.factories import line, logs

QUIET = ("INFO request served in 3ms", "  at com.example.Main(Main.java:7)", "started", "")
TELLING = (
    "ERROR cannot connect to db:5432: Connection refused",
    "WARN connection to db lost, retrying",
    "INFO connected to db",
    "Traceback (most recent call last):",
    "ValueError: bad input",
    "connect ECONNREFUSED 10.0.0.7:6379",
)
TEXTS = st.lists(st.sampled_from((*QUIET * 2, *TELLING)), max_size=6)
QUIET_TEXTS = st.lists(st.sampled_from(QUIET), max_size=6)
STEPS = st.lists(st.tuples(st.one_of(TEXTS, QUIET_TEXTS), st.integers(0, 4), st.booleans()), max_size=8)


def read(reader: LogReader, lines: Sequence[LogLine], name: str = "api") -> tuple[LogEvent, ...]:
    events = reader.read(name, lines, shipped())
    reader.end_scan()
    return events


@given(STEPS)
def test_it_finds_in_a_growing_window_what_is_found_in_each_by_itself(steps: list[tuple[list[str], int, bool]]) -> None:
    reader = LogReader()
    lines: tuple[LogLine, ...] = ()
    for texts, lost, last_grows in steps:
        if last_grows and lines:
            lines = (*lines[:-1], line(f"{lines[-1].text} {texts[0] if texts else ''}"))
        lines = (*lines[lost:], *logs(*texts).lines)
        assert read(reader, lines) == read_events(lines, shipped())


def test_what_was_found_in_the_same_lines_is_not_looked_for_again() -> None:
    reader, lines = LogReader(), logs(*TELLING).lines
    found = read(reader, lines)
    assert found
    assert read(reader, lines) is found
    assert read(LogReader(), lines) is not found


def test_a_line_that_is_hidden_later_is_read_again() -> None:
    reader = LogReader()
    lines = logs("started", "ERROR login with hunter2 failed", "done").lines
    assert [event.text for event in read(reader, lines)] == ["ERROR login with hunter2 failed"]
    hidden = (lines[0], line("ERROR login with *** failed"), lines[2])
    assert [event.text for event in read(reader, hidden)] == ["ERROR login with *** failed"]


def test_a_last_line_that_has_become_another_is_read_again() -> None:
    reader = LogReader()
    first, bad, fine = logs("started", "connect ECONNREFUSED 10.0.0.7:6379", "done").lines
    assert read(reader, (first, bad))[0].hits
    assert read(reader, (first, fine)) == ()


def test_a_log_that_two_ask_for_in_one_scan_is_read_once() -> None:
    reader, lines = LogReader(), logs(*TELLING).lines
    found = reader.read("api", lines, shipped())
    assert reader.read("api", lines, shipped()) is found
    assert reader.read("api", lines[:1], shipped()) == read_events(lines[:1], shipped())


def test_another_catalogue_reads_all_again() -> None:
    reader, lines = LogReader(), logs("connect ECONNREFUSED 10.0.0.7:6379").lines
    assert read(reader, lines)[0].hits
    assert all(not event.hits for event in reader.read("api", lines, Catalogue(signatures=())))


def test_a_log_that_was_not_read_in_a_scan_is_forgotten() -> None:
    reader, lines = LogReader(), logs(*TELLING).lines
    found = read(reader, lines)
    reader.end_scan()
    assert read(reader, lines) is not found


@pytest.mark.slow
def test_it_remembers_so_many_events_and_no_more() -> None:
    reader, lines = LogReader(), logs(*["ERROR out of luck"] * 100).lines
    names = [f"c{number}" for number in range(2 * MOST_BYTES // (100 * EVENT_BYTES))]

    def scan() -> list[tuple[LogEvent, ...]]:
        found = [reader.read(name, lines, shipped()) for name in names]
        reader.end_scan()
        return found

    first, second = scan(), scan()
    assert first == second
    remembered = sum(one is other for one, other in zip(first, second, strict=True))
    assert 0 < remembered < 0.6 * len(names)


def test_each_scan_has_room_for_as_many_events() -> None:
    reader, lines = LogReader(), logs(*["ERROR out of luck"] * 100).lines
    found = read(reader, lines)

    assert all(read(reader, lines) is found for _ in range(2 * MOST_BYTES // (100 * EVENT_BYTES)))


def test_a_log_that_is_asked_for_twice_takes_its_room_once() -> None:
    reader, lines = LogReader(), logs(*["ERROR out of luck"] * 100).lines
    for number in range(int(1.5 * MOST_BYTES / (100 * EVENT_BYTES) / 2)):
        found = reader.read(f"c{number}", lines, shipped())
        reader.find_candidates(f"c{number}", lines, shipped())
        assert reader.read(f"c{number}", lines, shipped()) is found


def test_what_two_windows_have_in_common_is_known_where_lines_were_lost_gained_or_grown() -> None:
    lines = logs("a", "b", "c", "d").lines
    assert find_common(lines[:3], lines) == (0, 3)
    assert find_common(lines[:3], lines[1:]) == (1, 2)
    assert find_common(lines, lines[2:]) == (2, 2)
    assert find_common(lines, (*lines[1:3], line("d and more"))) == (1, 2)
    assert find_common(lines, lines[:2]) == (0, 0)
    assert find_common(lines[:2], lines[2:]) == (2, 0)
    assert find_common(lines, ()) == (4, 0)
    assert find_common((), lines) == (0, 0)


def test_nothing_is_common_where_a_line_in_the_middle_has_changed() -> None:
    lines = logs("a", "b", "c").lines
    assert find_common(lines, (lines[0], line("x"), lines[2])) == (0, 0)


class NotingCatalogue(Catalogue):
    """Notes of which lines it is asked."""

    def spares(self, index: int, line: bytes) -> bool:
        """Do as the catalogue does."""
        ASKED.append(line.decode())
        return super().spares(index, line)


ASKED: list[str] = []


def test_a_line_of_two_windows_is_looked_at_once() -> None:
    ASKED.clear()
    catalogue = NotingCatalogue(signatures=shipped().signatures[:-1])  # or the equal one would be asked
    texts = [f"connect ECONNREFUSED 10.0.0.{number}:6379" for number in range(10)]
    reader, lines = LogReader(), logs(*texts).lines
    for first, last in ((0, 4), (0, 4), (1, 7), (3, 10)):
        assert len(reader.read("api", lines[first:last], catalogue)) == last - first
        assert len(reader.find_candidates("api", lines[first:last], catalogue)) == last - first
        reader.end_scan()
    assert sorted(set(ASKED)) == texts
    assert len(ASKED) == len(set(ASKED)) * ASKED.count(texts[0])
    ASKED.clear()
    reader.read("api", lines[3:], catalogue)
    assert ASKED == []
