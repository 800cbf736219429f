"""Promise: whatever text comes from outside, nothing of it acts on a terminal, reorders a line or breaks UTF-8."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.secrets.cleaning import ELLIPSIS, MAX_INPUT_CHARS, clean_name, clean_text, clip_text, strip_controls
from tests.table_rows import table

WILD = st.text(st.characters(codec=None, exclude_categories=()), max_size=80) | st.lists(
    st.sampled_from(
        ["\x1b", "[", "]", "31", "m", "0;", "\x07", "\r", "\n", "\x9b", "\x00", "\u202e", "\ud800", "a", "\\"]
    )
).map("".join)


def test_plain_text_comes_back_as_the_same_object() -> None:
    text = "GET /index.html 200 größer 漢字 🙂"
    assert strip_controls(text) is text


@pytest.mark.promise("S8")
@table(
    ("raw", "clean"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[1;38;5;196mx\x1b[K", "x"),
        ("\x9b31mx", "x"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bcreset", "reset"),
        ("\x1b(Bx", "x"),
        ("line\r\nnext", "line\nnext"),
        ("line\r\r\nnext", "line\nnext"),
        ("10%\r20%\r", "10%\\x0d20%"),
        ("nul\x00", "nul\\x00"),
        ("bell\x07", "bell\\x07"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u2066b\u2069\u061c", "a\\u2066b\\u2069\\u061c"),
        ("a\u200eb\u200f", "a\\u200eb\\u200f"),
        ("a\u2028b\u2029c\x85d", "a\\u2028b\\u2029c\\x85d"),
        ("lone \ud800", "lone \\ud800"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("tab\tand\nline feed", "tab\tand\nline feed"),
        ("family 👩\u200d👩\u200d👧", "family 👩\u200d👩\u200d👧"),
        ("\x1b\x1b[m[31mx", "\\x1b[31mx"),
    ],
)
def test_acting_characters_are_removed_or_shown(raw: str, clean: str) -> None:
    assert strip_controls(raw) == clean


@pytest.mark.promise("S8")
@given(WILD)
def test_cleaning_twice_changes_nothing_more(raw: str) -> None:
    once = clean_text(raw)
    assert clean_text(once) == once
    assert clean_name(clean_name(raw)) == clean_name(raw)


@pytest.mark.promise("S8")
@given(WILD)
def test_clean_text_is_encodable_and_has_no_control_but_tab_and_line_feed(raw: str) -> None:
    text = clean_text(raw)
    text.encode("utf-8")
    assert all(unicodedata.category(c) != "Cc" or c in "\t\n" for c in text)
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u2028\u2029")


@given(WILD)
def test_a_clean_name_is_one_line(raw: str) -> None:
    name = clean_name(raw)
    assert "\n" not in name
    assert "\t" not in name
    assert len(name) <= 255


@pytest.mark.parametrize(("length", "clipped"), [(9, False), (10, False), (11, True)])
def test_clips_only_above_the_limit(length: int, clipped: bool) -> None:
    text = clip_text("x" * length, 10)
    assert len(text) <= 10
    assert text.endswith(ELLIPSIS) is clipped


@pytest.mark.parametrize(
    "raw",
    ["\x90a\x9d\x90b\x07after", "\x1bPa\x1b]\x1bPb\x07after"],
    ids=["8-bit", "7-bit"],
)
def test_a_string_that_another_introducer_breaks_off_has_no_end(raw: str) -> None:
    assert strip_controls(raw) == "aafter"


def test_8_bit_controls_are_removed_like_their_7_bit_forms() -> None:
    assert strip_controls("\x9b31mred\x9b0m \x9d0;title\x9c\x90unended") == "red unended"


def test_what_stands_beyond_256_kib_is_dropped_with_the_line_that_touches_the_cut() -> None:
    lines = "one line\n" * 40_000
    text = strip_controls(lines)
    assert len(text) <= MAX_INPUT_CHARS
    assert text.endswith(f"one line\n{ELLIPSIS}")


def test_of_a_single_long_line_the_word_that_touches_the_cut_is_dropped() -> None:
    text = strip_controls("word " * 52_428 + "password=hunter2-and-more")  # the cut falls after "pas"
    assert text.endswith(f"word {ELLIPSIS}")


def test_nothing_is_left_of_a_single_word_that_is_too_long() -> None:
    assert strip_controls("x" * (MAX_INPUT_CHARS + 1)) == ELLIPSIS
    assert len(strip_controls("x" * MAX_INPUT_CHARS)) == MAX_INPUT_CHARS


@pytest.mark.parametrize("unit", ["\x00", "\U000e0041 ", "\r\n", "a\x00\n", "\x1b", "e\u0301 "])
def test_long_text_is_cleaned_once_for_all(unit: str) -> None:
    once = strip_controls(unit * MAX_INPUT_CHARS)
    assert len(once) <= MAX_INPUT_CHARS
    assert strip_controls(once) == once
