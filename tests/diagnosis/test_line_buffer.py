"""Promise: one search over all lines finds the same lines as a search in each."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.regexes import compile_pattern

LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=12), max_size=20)


@given(LINES)
def test_the_lines_found_are_those_that_match_alone(texts: list[str]) -> None:
    buffer = LineBuffer(texts)

    assert buffer.lines_with(compile_pattern("a+|é$|^b")) == [
        index for index, text in enumerate(texts) if re.search(r"a+|é\Z|\Ab", text)
    ]
    assert [buffer.line(index).decode() for index in range(len(texts))] == texts


def test_a_negated_class_does_not_reach_into_the_next_line() -> None:
    assert LineBuffer(["x", "y", "x y"]).lines_with(compile_pattern("x[^z]y")) == [2]


def test_no_lines_hold_nothing() -> None:
    assert LineBuffer([]).lines_with(compile_pattern("x")) == []
