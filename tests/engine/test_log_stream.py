"""Promise: every line of a log is read, whole or visibly cut, clean and masked, whatever bytes the engine sends."""

import tracemalloc
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.engine.parse import (
    RawLogEntries,
    RawLogEntry,
    drop_cut_line,
    finish_entries,
    parse_log_stream,
    split_entries,
)
from bcon_exporter.engine.parse.log_stream import MAX_LINE_CHARS, parse_stamp
from bcon_exporter.secrets.cleaning import strip_controls
from bcon_exporter.secrets.known_secrets import KnownSecrets
from bcon_exporter.secrets.masking import mask_lines
from tests.table_rows import table

STAMP = b"2026-11-21T22:42:55.481855266Z "
CHUNK = 16 * 1024


def frame(payload: bytes, stream: int = 1) -> bytes:
    return bytes((stream, 0, 0, 0)) + len(payload).to_bytes(4, "big") + payload


def long_line(length: int, *, tty: bool) -> bytes:
    """Write a line as engine 20.10 sends it: the stamp again at each 16 KiB."""
    text = (b"word-" * (length // 5 + 1))[:length]
    chunks = [text[i : i + CHUNK] for i in range(0, length, CHUNK)]
    if tty:
        return b"".join(STAMP + chunk for chunk in chunks) + b"\r\n"
    chunks[-1] += b"\n"
    return b"".join(frame(STAMP + chunk) for chunk in chunks)


def test_frames_become_lines_with_stream_and_time() -> None:
    lines = parse_log_stream(frame(STAMP + b"out\n") + frame(STAMP + b"err\n", 2), tty=False)
    assert [(line.stream, line.text) for line in lines] == [("stdout", "out"), ("stderr", "err")]
    assert lines[0].at == datetime(2026, 11, 21, 22, 42, 55, 481855, tzinfo=UTC)


def test_a_terminals_lines_are_all_stdout_without_carriage_return() -> None:
    lines = parse_log_stream(STAMP + b"a\r\n" + STAMP + b"b\r\n", tty=True)
    assert [(line.stream, line.text) for line in lines] == [("stdout", "a"), ("stdout", "b")]


def stamped(second: int, text: bytes) -> bytes:
    return b"2026-11-21T22:42:%02d.481855266Z %b" % (second, text)


def test_last_words_without_a_line_feed_are_a_line_of_their_own() -> None:
    raw = stamped(10, b"FATAL no configuration") + stamped(12, b"starting\r\n") + stamped(13, b"FATAL again")
    raw += stamped(15, b"FATAL once more")
    lines = parse_log_stream(raw, tty=True)
    assert [line.text for line in lines] == ["FATAL no configuration", "starting", "FATAL again", "FATAL once more"]
    assert [line.at.second for line in lines if line.at] == [10, 12, 13, 15]
    assert [entry.complete for entry in split_entries(raw, tty=True)] == [True, True, True, False]


@pytest.mark.parametrize(
    "text",
    [
        b"job began at 2026-11-21T22:42:09.481855266Z as planned",  # before the engine's own stamp
        b"next run at 2026-11-22T22:42:10.481855266Z as planned",  # after the next line's
        b"expires 2026-11-21T22:42:11Z soon",
        b"at 2026-11-21T22:42:11.481855266Z",
    ],
)
def test_a_stamp_of_the_programs_own_ends_no_line(text: bytes) -> None:
    lines = parse_log_stream(stamped(10, text + b"\r\n") + stamped(12, b"done\r\n"), tty=True)
    assert [line.text for line in lines] == [text.decode(), "done"]


def test_without_knowing_about_a_terminal_the_bytes_tell() -> None:
    assert parse_log_stream(STAMP + b"a\r\n", tty=None)[0].text == "a"
    assert parse_log_stream(frame(STAMP + b"a\n"), tty=None)[0].text == "a"


@pytest.mark.parametrize("tty", [False, True])
@pytest.mark.parametrize("length", [CHUNK - 1, CHUNK, CHUNK + 1])
def test_a_line_around_the_chunk_size_is_one_line_without_a_stamp_inside(length: int, tty: bool) -> None:
    entries = split_entries(long_line(length, tty=tty) + (STAMP + b"x\r\n" if tty else frame(STAMP + b"x\n")), tty=tty)
    assert len(entries) == 2
    assert b"2026" not in entries[0].body


@pytest.mark.parametrize("tty", [False, True])
def test_a_long_line_is_joined_exactly(tty: bool) -> None:
    text = b"".join(b"%07d " % i for i in range(1900))
    chunks = [text[i : i + 5000] for i in range(0, len(text), 5000)]
    raw = b"".join(frame(STAMP + chunk) for chunk in chunks) + frame(STAMP + b"end\n")
    if tty:
        raw = STAMP + text + b"end\r\n"
    assert split_entries(raw, tty=tty)[0].body.rstrip(b"\r") == text + b"end"


LATER = b"2026-11-21T22:42:56.481855266Z "


@pytest.mark.parametrize("length", [10, CHUNK - 1, CHUNK, CHUNK + 1])
def test_a_line_without_a_line_feed_ends_where_another_stamp_follows(length: int) -> None:
    """The last words of each run of a crash loop; and with the driver `local` each line above 16 KiB."""
    line = b"x" * length
    chunks = [line[i : i + CHUNK] for i in range(0, length, CHUNK)] + ([] if length % CHUNK else [b""])
    raw = b"".join(frame(STAMP + chunk) for chunk in chunks) + frame(LATER + b"next") + frame(STAMP + b"e\n", 2)
    found = [(entry.body[:5], entry.complete) for entry in split_entries(raw, tty=False)]
    assert found == [(b"xxxxx", True), (b"e", True), (b"next", False)]


def test_a_program_that_writes_at_one_moment_without_line_feeds_writes_one_line() -> None:
    raw = frame(STAMP + b"a") + frame(STAMP + b"b") + frame(b"no stamp") + frame(LATER + b"c\n")
    assert [entry.body for entry in split_entries(raw, tty=False)] == [b"abno stamp", b"c"]


def test_chunks_of_two_streams_do_not_mix() -> None:
    raw = frame(STAMP + b"a" * 10) + frame(STAMP + b"err\n", 2) + frame(STAMP + b"b\n")
    assert [(e.stream, e.body) for e in split_entries(raw, tty=False)] == [
        ("stderr", b"err"),
        ("stdout", b"a" * 10 + b"b"),
    ]


@pytest.mark.parametrize("tty", [False, True])
def test_a_huge_line_shows_head_and_tail_and_holds_little_memory(tty: bool) -> None:
    raw = b"START " + b"x" * 3_000_000 + b" END"
    framed = b"".join(
        STAMP + part if tty else frame(STAMP + part) for part in (raw[i : i + CHUNK] for i in range(0, len(raw), CHUNK))
    ) + (b"\r\n" if tty else frame(STAMP + b"\n"))
    tracemalloc.start()
    (line,) = parse_log_stream(framed, tty=tty)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(line.text) <= MAX_LINE_CHARS
    assert line.text.startswith("START xxx")
    assert line.text.endswith("xxx END")
    assert peak < 1_000_000


@table("filler", [0, 5000, 11_000, 12_100, 12_280, 12_288, 13_000, 40_000])
def test_no_half_of_a_secret_survives_a_cut(filler: int) -> None:
    secret = "Zq7" + "w8Rt" * 10
    text = ("x " * (filler // 2) + f"password={secret} " + "y " * 20_000).encode()
    (line,) = parse_log_stream(STAMP + text + b"\n", tty=True)
    assert "w8Rtw8Rt" not in line.text


@pytest.mark.parametrize(
    ("length", "cut"), [(MAX_LINE_CHARS - 1, False), (MAX_LINE_CHARS, False), (MAX_LINE_CHARS + 1, True)]
)
def test_lines_are_cut_only_above_the_limit(length: int, cut: bool) -> None:
    (line,) = parse_log_stream(STAMP + b"x" * length + b"\n", tty=True)
    assert ("…" in line.text) is cut
    assert len(line.text) <= MAX_LINE_CHARS


def test_binary_and_hostile_output_is_clean() -> None:
    body = b"bin\xff\xfe\x00 \x1b[31mred\x1b[0m \xe2\x80\xae 10%\r20%"
    (line,) = parse_log_stream(frame(STAMP + body + b"\n"), tty=False)
    assert line.text == "bin��\\x00 red \\u202e 10%\\x0d20%"


@pytest.mark.parametrize("tty", [False, True])
def test_the_rest_of_a_line_whose_beginning_the_tail_cut_off_is_not_shown(tty: bool) -> None:
    raw = frame(STAMP + b"x" * 100 + b"rest of a password\n") + frame(STAMP + b"whole\n")
    if tty:
        raw = STAMP + b"rest of a password\r\n" + STAMP + b"whole\r\n"
    entries = split_entries(raw, tty=tty)
    assert [line.text for line in finish_entries(drop_cut_line(entries, 2)[0])] == ["whole"]
    assert drop_cut_line(entries, 2)[1] is True
    assert drop_cut_line(entries, 3) == (entries, False), "the engine had no more"


def test_a_huge_line_loses_the_words_at_the_cut_only() -> None:
    raw = frame(STAMP + b"cret of a " + b"word " * 3000) + frame(STAMP + b"end\n") + frame(STAMP[:-2] + b"Z whole\n")
    entries, is_full = drop_cut_line(split_entries(raw, tty=False), 3)
    assert is_full
    first, second = finish_entries(entries)
    assert (first.text[:8], second.text) == ("… word w", "whole")
    assert "cret" not in first.text


@pytest.mark.parametrize("tty", [False, True])
def test_pieces_of_long_lines_count_as_the_engine_counts_them(tty: bool) -> None:
    raw = long_line(3 * CHUNK - 1, tty=tty)
    (entry,) = split_entries(raw, tty=tty)
    assert entry.pieces == 3


def test_what_the_container_is_known_to_hold_is_masked_before_the_line_is_clipped() -> None:
    body = b"x" * (MAX_LINE_CHARS - 2) + b" aB3\x1b[0mdefgh tried"
    (line,) = finish_entries(
        split_entries(frame(STAMP + body + b"\n"), tty=False), KnownSecrets(frozenset(("aB3defgh",)))
    )
    assert line.text.endswith("x *** tried")


def test_secrets_in_lines_are_masked() -> None:
    (line,) = parse_log_stream(frame(STAMP + b"db password=hunter2 ok\n"), tty=False)
    assert line.text == "db password=*** ok"


def test_a_line_without_a_stamp_has_no_time() -> None:
    (line,) = parse_log_stream(frame(b"plain words\n"), tty=False)
    assert (line.at, line.text) == (None, "plain words")


def test_an_empty_line_is_a_line() -> None:
    assert [line.text for line in parse_log_stream(frame(STAMP + b"\n"), tty=False)] == [""]


def test_an_unended_line_is_marked_incomplete() -> None:
    assert [e.complete for e in split_entries(frame(STAMP + b"a\n") + frame(STAMP + b"b"), tty=False)] == [True, False]
    assert [e.complete for e in split_entries(STAMP + b"a\r\n" + STAMP + b"b", tty=True)] == [True, False]


@table(
    ("stamp", "nanoseconds"),
    [
        (b"1970-01-01T00:00:01Z", 1_000_000_000),
        (b"1970-01-01T00:00:01.5Z", 1_500_000_000),
        (b"1970-01-01T00:00:01.000000001Z", 1_000_000_001),
        (b"1970-01-01T01:00:01.123456789+01:00", 1_123_456_789),
        (b"1970-01-01T01:00:01.1234+01:00", 1_123_400_000),
        (b"1970-01-01T00:00:01", None),
        (b"not a stamp at all!!", None),
        (b"", None),
    ],
)
def test_stamps_are_read_to_the_nanosecond(stamp: bytes, nanoseconds: int | None) -> None:
    assert parse_stamp(stamp) == nanoseconds


@given(st.lists(st.binary(max_size=9) | st.sampled_from([b"a\tb", b"\x1b[31mred", b"\xc3", b"\xa9", b"bare"])))
def test_lines_are_decoded_together_as_each_by_itself(bodies: list[bytes]) -> None:
    entries = RawLogEntries(RawLogEntry(None, "stdout", body.replace(b"\n", b" ")) for body in bodies)
    alone = [strip_controls(entry.body.decode("utf-8", "replace")) for entry in entries]
    assert [line.text for line in finish_entries(entries)] == mask_lines(alone)


@given(
    st.binary(max_size=200)
    | st.lists(st.sampled_from([b"\x01\0\0\0", b"\0\0\0\x05", STAMP, b"\n", b"\r", b"x"])).map(b"".join)
)
def test_any_bytes_never_raise(raw: bytes) -> None:
    for tty in (True, False, None):
        for line in parse_log_stream(raw, tty=tty):
            assert "\n" not in line.text


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.text("ab \n", max_size=6)), max_size=6), st.integers(0, 200))
def test_a_stream_cut_off_anywhere_gives_the_lines_before_the_cut(lines: list[tuple[int, str]], cut: int) -> None:
    raw = b"".join(frame(STAMP + text.replace("\n", "").encode() + b"\n", stream) for stream, text in lines)
    whole = [e.body for e in split_entries(raw, tty=False)]
    part = [e.body for e in split_entries(raw[:cut], tty=False) if e.complete]
    if cut >= 8:
        assert part == whole[: len(part)]
