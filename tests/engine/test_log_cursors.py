"""Promise: by cursor no log line is lost or read twice, and what is kept stays within its caps."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.engine.log_cursors import MOST_OUTLASTING, LogCursors, LogSource
from bcon_exporter.model.container_facts import LogFacts
from bcon_exporter.schedule.log_counts import find_new
from bcon_exporter.secrets.known_secrets import KnownSecrets

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BASE = int(NOW.timestamp()) * 1_000_000_000


def stamp(nanoseconds: int) -> bytes:
    at = EPOCH + timedelta(seconds=nanoseconds // 1_000_000_000)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{nanoseconds % 1_000_000_000:09d}Z ".encode()


def frame(nanoseconds: int, text: str, stream: int = 1) -> bytes:
    payload = stamp(nanoseconds) + text.encode()
    return bytes((stream, 0, 0, 0)) + len(payload).to_bytes(4, "big") + payload


def line(nanoseconds: int, text: str) -> bytes:
    return frame(nanoseconds, f"{text}\n")


class Engine:
    """A log as the engine serves it: `since` inclusive, then the last `tail` lines."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, str]] = []

    def answer(self, query: str) -> bytes:
        parameters = dict(pair.split("=") for pair in query.split("&"))
        seconds, _, nanoseconds = parameters.get("since", "0.0").partition(".")
        since = int(seconds) * 1_000_000_000 + int(nanoseconds)
        found = [entry for entry in self.entries if entry[0] >= since]
        return b"".join(line(at, text) for at, text in found[-int(parameters["tail"]) :])


def read(cursors: LogCursors, engine: Engine, *, since: datetime | None = None, tail: int = 200) -> LogFacts:
    raw = engine.answer(cursors.query("a", tail=tail, now=NOW))
    return cursors.take("a", raw, LogSource(tty=False, driver="json-file"), since=since, tail=tail)


def test_the_first_read_has_no_since_and_the_next_begins_a_little_before_the_last_stamp() -> None:
    cursors, engine = LogCursors(), Engine()
    assert cursors.query("a", tail=200, now=NOW) == "stdout=1&stderr=1&timestamps=1&tail=201"
    engine.entries.append((BASE + 7, "x"))
    read(cursors, engine)
    assert cursors.query("a", tail=200, now=NOW).endswith(f"&since={BASE // 10**9 - 1}.900000007")


def test_the_first_read_asks_for_no_older_lines_than_count() -> None:
    since = NOW - timedelta(minutes=10)
    query = LogCursors().query("a", tail=200, now=NOW, since=since)

    assert query.endswith(f"&tail=201&since={int(since.timestamp()) - 1}.900000000")


def test_lines_that_outlast_the_window_are_asked_for_and_kept() -> None:
    since = NOW - timedelta(minutes=10)
    cursors, engine = LogCursors(outlasts=lambda text: "gave up" in text, lines_per_container=3), Engine()
    assert "since" not in cursors.query("a", tail=200, now=NOW, since=since)
    engine.entries = [(BASE - 900 * 10**9, "gave up"), (BASE - 800 * 10**9, "old"), (BASE, "new")]
    texts = [kept.text for kept in read(cursors, engine, since=since).lines]
    assert texts == ["gave up", "new"]
    engine.entries += [(BASE + number, f"more {number}") for number in range(5)]
    texts = [kept.text for kept in read(cursors, engine, since=since).lines]
    assert texts == ["gave up", "more 2", "more 3", "more 4"]
    again = cursors.get_lines("a", since=since, driver="json-file")
    assert again is not None
    assert [kept.text for kept in again.lines] == texts


def test_of_the_lines_that_outlast_the_window_the_newest_are_kept() -> None:
    cursors, engine = LogCursors(outlasts=lambda text: "gave up" in text), Engine()
    engine.entries = [(BASE - 900 * 10**9 + number, f"gave up {number}") for number in range(MOST_OUTLASTING + 1)]
    kept = read(cursors, engine, since=NOW - timedelta(minutes=10)).lines
    assert [kept[0].text, len(kept)] == ["gave up 1", MOST_OUTLASTING]


def test_a_line_written_after_one_with_a_later_stamp_is_not_lost() -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE + 50, "stdout")]
    read(cursors, engine)
    engine.entries += [(BASE + 40, "stderr, stamped before, written after"), (BASE + 60, "next")]
    assert [kept.text for kept in read(cursors, engine).lines] == [
        "stdout",
        "stderr, stamped before, written after",
        "next",
    ]
    assert len(read(cursors, engine).lines) == 3


def test_a_new_line_hides_what_the_container_is_known_to_hold() -> None:
    secret = "Qx7" + "rT9vLm2p"
    source = LogSource(tty=False, driver="json-file", secrets=KnownSecrets(frozenset((secret,))))
    cursors = LogCursors()
    for number in range(2):
        facts = cursors.take("a", line(BASE + number, f"connected as {secret}"), source, since=None, tail=200)
        assert [kept.text for kept in facts.lines] == ["connected as ***"] * (number + 1)


@given(st.lists(st.lists(st.sampled_from([0, 1, 10**7, 10**8, 10**9]), max_size=5), min_size=1, max_size=6))
def test_every_line_is_read_exactly_once_even_within_one_nanosecond(batches: list[list[int]]) -> None:
    cursors, engine = LogCursors(), Engine()
    at = BASE
    for batch in batches:
        for step in batch:
            at += step
            engine.entries.append((at, f"line {len(engine.entries)}"))
        facts = read(cursors, engine)
        assert [kept.text for kept in facts.lines] == [text for _, text in engine.entries]
        assert facts.truncated is False


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("Password:", "hunter2-abc", "***"),
        ("- name: DB_PASSWORD", "  value: hunter2-abc", "  value: ***"),
        ("starting", "hunter2-abc", "hunter2-abc"),
    ],
)
def test_a_value_whose_name_ended_the_read_before_is_masked(name: str, value: str, shown: str) -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries.append((BASE, name))
    read(cursors, engine)
    engine.entries.append((BASE + 10**9, value))
    assert [kept.text for kept in read(cursors, engine).lines] == [name, shown]


def test_lines_older_than_the_window_are_dropped() -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE - 601 * 10**9, "old"), (BASE - 600 * 10**9, "edge"), (BASE, "new")]
    facts = read(cursors, engine, since=NOW - timedelta(seconds=600))
    assert [kept.text for kept in facts.lines] == ["edge", "new"]


def test_a_stopped_containers_last_lines_stay_whatever_their_age() -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE - 10**15, "fatal")]
    assert [kept.text for kept in read(cursors, engine, since=None).lines] == ["fatal"]
    assert [kept.text for kept in read(cursors, engine, since=None).lines] == ["fatal"]


@pytest.mark.parametrize(("count", "truncated"), [(9, False), (10, False), (11, True)])
def test_more_new_lines_than_the_tail_say_that_some_were_left_out(count: int, truncated: bool) -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE, "first")]
    read(cursors, engine, tail=11)
    engine.entries += [(BASE + 1 + i, "x") for i in range(count)]
    # The last line seen comes again, so ten new ones fit into a tail of eleven.
    assert read(cursors, engine, tail=11).truncated is truncated


def test_a_loss_is_forgotten_when_the_window_has_passed_it() -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE + i, "x") for i in range(20)]
    assert read(cursors, engine, since=NOW, tail=5).truncated is True
    assert read(cursors, engine, since=NOW + timedelta(seconds=1), tail=5).truncated is False


def test_an_unended_line_is_shown_and_read_again_when_it_has_ended() -> None:
    cursors = LogCursors()
    payload = stamp(BASE) + b"half"
    open_frame = b"\x01\0\0\0" + len(payload).to_bytes(4, "big") + payload
    facts = cursors.take(
        "a", line(BASE - 1, "before") + open_frame, LogSource(tty=False, driver=None), since=None, tail=200
    )
    assert [kept.text for kept in facts.lines] == ["before", "half"]
    facts = cursors.take(
        "a", line(BASE - 1, "before") + line(BASE, "half done"), LogSource(tty=False, driver=None), since=None, tail=200
    )
    assert [kept.text for kept in facts.lines] == ["before", "half done"]


def test_a_clock_set_back_starts_anew_instead_of_going_blind() -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE + 3600 * 10**9, "from the future")]
    read(cursors, engine)
    assert "since" not in cursors.query("a", tail=200, now=NOW)
    engine.entries.append((BASE + 1, "now"))
    assert [kept.text for kept in read(cursors, engine).lines] == ["from the future", "now"]


def test_one_container_keeps_its_newest_lines_within_its_cap() -> None:
    cursors, engine = LogCursors(bytes_per_container=10_000), Engine()
    engine.entries = [(BASE + i, f"{i:04d}" + "x" * 500) for i in range(100)]
    facts = read(cursors, engine)
    assert facts.truncated is True
    assert facts.lines[-1].text.startswith("0099")
    assert sum(len(kept.text) for kept in facts.lines) <= 10_000


def test_the_number_of_kept_lines_is_capped() -> None:
    cursors, engine = LogCursors(lines_per_container=10), Engine()
    engine.entries = [(BASE + i, str(i)) for i in range(11)]
    assert [kept.text for kept in read(cursors, engine).lines] == [str(i) for i in range(1, 11)]


@pytest.mark.slow
def test_a_thousand_containers_stay_within_the_total_cap() -> None:
    cursors = LogCursors(bytes_total=2_000_000)
    raw = b"".join(line(BASE + i, "x" * 1000) for i in range(10))
    for _ in range(2):
        for i in range(1000):
            cursors.take(f"c{i}", raw if _ == 0 else b"", LogSource(tty=False, driver=None), since=None, tail=200)
    assert cursors.held_bytes <= 2_000_000


def test_forgotten_containers_hold_nothing() -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE, "x")]
    read(cursors, engine)
    cursors.retain(())
    assert cursors.held_bytes == 0
    assert cursors.get_lines("a", since=None, driver=None) is None


def test_what_is_kept_can_be_had_without_a_read() -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE, "x")]
    assert cursors.get_lines("a", since=None, driver=None) is None
    read(cursors, engine)
    facts = cursors.get_lines("a", since=None, driver="json-file")
    assert facts is not None
    assert [kept.text for kept in facts.lines] == ["x"]


def test_a_quiet_container_costs_no_new_facts() -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE, "x")]
    first = read(cursors, engine, since=NOW)
    assert read(cursors, engine, since=NOW) is first
    engine.entries.append((BASE + 1, "y"))
    assert [kept.text for kept in read(cursors, engine, since=NOW).lines] == ["x", "y"]
    assert read(cursors, engine, since=NOW + timedelta(seconds=1)).lines == ()


def test_lines_without_stamps_are_not_read_twice() -> None:
    cursors = LogCursors()
    for _ in range(2):
        facts = cursors.take(
            "a", b"\x01\0\0\0\0\0\0\x06plain\n", LogSource(tty=False, driver=None), since=None, tail=200
        )
        assert [kept.text for kept in facts.lines] == ["plain"]
    assert cursors.held_bytes == len("plain") + 120


def test_what_an_earlier_scan_has_left_stays_as_it_was() -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE, "one")]
    read(cursors, engine)
    before = cursors.windows
    held_bytes = cursors.held_bytes

    later = LogCursors(before)
    engine.entries += [(BASE + 10**9, "two")]
    assert [kept.text for kept in read(later, engine).lines] == ["one", "two"]

    assert later.held_bytes > held_bytes
    assert before["a"].lines.texts == ("one",)
    assert before["a"].cursor == BASE
    again = LogCursors(before)
    assert again.held_bytes == held_bytes
    assert [kept.text for kept in read(again, engine).lines] == ["one", "two"]


def test_logs_that_hold_nothing_take_no_share_of_the_whole() -> None:
    cursors, engine = LogCursors(bytes_total=2_000), Engine()
    for number in range(99):
        cursors.note_wanted(f"silent {number}", tail=200, window_seconds=600)
    engine.entries = [(BASE + i, "x" * 100) for i in range(20)]
    facts = read(cursors, engine)
    assert len(facts.lines) == 2_000 // 220


def test_more_than_before_is_read_anew_and_less_is_not() -> None:
    cursors, engine = LogCursors(), Engine()
    engine.entries = [(BASE, "x")]
    cursors.note_wanted("a", tail=200, window_seconds=600)
    read(cursors, engine)
    cursors.note_wanted("a", tail=100, window_seconds=60)
    assert cursors.get_lines("a", since=None, driver=None) is not None
    assert "since" in cursors.query("a", tail=200, now=NOW)
    cursors.note_wanted("a", tail=200, window_seconds=601)
    assert cursors.get_lines("a", since=None, driver=None) is None
    assert "since" not in cursors.query("a", tail=200, now=NOW)
    assert cursors.held_bytes == 0


class Host:
    """A container's log as `tail` and `since` of the engine give it.

    What is written is (seconds on the engine's clock, stream, text); a text without a line feed is not ended.
    """

    def __init__(self) -> None:
        self.cursors = LogCursors()
        self.written: list[tuple[int, int, str]] = []
        self.seconds = 0.0
        self.counted: list[str] = []
        self.shown: LogFacts | None = None

    def wait(self, seconds: float) -> None:
        """Let time pass; less than none sets the clock back."""
        self.seconds += seconds

    def write(self, text: str, *, stream: int = 1) -> None:
        """Write to the log."""
        self.written.append((BASE + int(self.seconds * 10**9), stream, text))

    def scan(self, *, tail: int = 200, window_seconds: float | None = None) -> list[str]:
        """Read on; return the lines that are shown, and note those that count as new."""
        now = NOW + timedelta(seconds=self.seconds)
        _, _, since = self.cursors.query("a", tail=tail, now=now).partition("&since=")
        seconds, _, nanoseconds = (since or "0.0").partition(".")
        oldest = int(seconds) * 10**9 + int(nanoseconds)
        raw = b"".join(frame(at, text, of) for at, of, text in self.written[-tail - 1 :] if at >= oldest)
        start = None if window_seconds is None else now - timedelta(seconds=window_seconds)
        before, source = self.shown, LogSource(tty=False, driver="json-file")
        self.shown = self.cursors.take("a", raw, source, since=start, tail=tail)
        new = find_new(self.shown.lines, before.lines if before else (), NOW - timedelta(days=2))
        self.counted += [self.shown.lines[place].text for place in new]
        return [kept.text for kept in self.shown.lines]


def test_last_words_without_a_line_feed_stay_when_the_other_stream_goes_on() -> None:
    host = Host()
    host.write("starting\n")
    host.wait(2)
    host.write("no database", stream=2)
    assert host.scan() == ["starting", "no database"]
    host.wait(3)
    host.write("starting again\n")
    shown = ["starting", "starting again", "no database"]
    assert host.scan() == shown
    for _ in range(3):
        host.wait(30)
        assert host.scan() == shown
    host.write("ready\n")
    assert host.scan() == [*shown, "ready"]
    assert host.counted == ["starting", "no database", "starting again", "ready"]
    assert host.shown is not None
    assert host.shown.truncated is False
    assert host.cursors.held_bytes == sum(len(text) + 120 for text in [*shown, "ready"])


def test_last_words_leave_with_the_window() -> None:
    host = Host()
    host.write("starting\n")
    host.write("no database", stream=2)
    host.scan(window_seconds=600)
    host.wait(100)
    host.write("ready\n")
    for _ in range(2):
        assert host.scan(window_seconds=600) == ["starting", "ready", "no database"]
    host.wait(600.5)
    assert host.scan(window_seconds=600) == []


def test_last_words_of_each_run_are_told_once() -> None:
    host = Host()
    for run in range(4):
        host.write(f"starting {run}\n")
        host.wait(1)
        host.write(f"fatal {run}", stream=2)
        host.wait(1)
        host.scan()
        host.scan()
    words = [f"{word} {run}" for run in range(4) for word in ("starting", "fatal")]
    assert sorted(host.scan()) == sorted(words)
    assert sorted(host.counted) == sorted(words)


def test_what_neither_stream_has_ended_is_shown_and_counted_once() -> None:
    host = Host()
    for text, stream in (("starting\n", 1), ("connecting ...", 1), ("retry? ", 2)):
        host.write(text, stream=stream)
        host.wait(0.01)
    assert host.scan() == ["starting", "connecting ...", "retry? "]
    host.wait(30)
    host.write("failed\n", stream=2)
    assert host.scan() == ["starting", "retry? ", "failed", "connecting ..."]
    host.wait(30)
    host.write("failed again\n", stream=2)
    for _ in range(2):
        assert host.scan() == ["starting", "retry? ", "failed", "connecting ...", "failed again"]
    assert host.counted == ["starting", "connecting ...", "retry? ", "failed", "failed again"]


def test_a_value_whose_name_was_the_last_word_is_masked() -> None:
    host = Host()
    host.write("ready\n")
    host.wait(2)
    host.write("Password:", stream=2)
    host.scan()
    host.write("hello\n")
    host.wait(2)
    host.scan()
    host.write("hunter2-abc\n")
    host.written.pop(1)  # as by a rotation of the file
    assert host.scan()[-2:] == ["Password:", "***"]


@pytest.mark.parametrize("back", [1.5, 5, 20, 50, 3600])
def test_lines_of_while_a_clock_was_set_back_are_read(back: float) -> None:
    host = Host()
    host.write("before\n")
    host.scan()
    host.wait(-back)
    for number in range(8):
        host.wait(1)
        host.write(f"{number}\n")
        assert host.scan() == ["before", *map(str, range(number + 1))]
