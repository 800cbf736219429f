"""Promise: what an expression finds, its necessary part finds too; and hardly a gap is left in one."""

import re

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis.shapes import TRIGGERS
from bcon_exporter.model.automata import compile_pattern
from bcon_exporter.model.necessary import necessary_part

SHIPPED = [pattern for signature in load_catalogue().signatures for pattern in signature.patterns]

LETTERS = st.sampled_from(["a", "ab", "abc", "B", " ", r"\.", "é", r"\x41", "{", "_"])
WIDE = st.sampled_from([".", r"\w", r"\S", r"\d", "[ab]", "[^a]", "[]a]", r"[\]b]", "[[:alpha:]]", r"\pL"])
EDGES = st.sampled_from(["^", "$", r"\b", ""])
QUANTIFIERS = st.sampled_from(["", "", "", "*", "+", "?", "+?", "{0,9}", "{2}", "{2,}"])
HEADS = st.sampled_from(["(?:", "(", "(?i:", "(?P<peer>", "(?-i:", "(?is-m:"])
FLAGS = st.sampled_from(["", "", "(?i)"])


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    sequence = st.lists(inner, min_size=1, max_size=4).map("".join)
    choice = st.lists(sequence, min_size=1, max_size=3).map("|".join)
    return st.builds(lambda head, flags, text, times: f"{head}{flags}{text}){times}", HEADS, FLAGS, choice, QUANTIFIERS)


ATOMS = st.one_of(LETTERS, EDGES, st.builds(lambda wide, times: wide + times, WIDE, QUANTIFIERS))
EXPRESSIONS = st.builds(
    lambda flags, parts: flags + "".join(parts),
    FLAGS,
    st.lists(st.one_of(st.recursive(ATOMS, grown, max_leaves=8), st.just("|")), min_size=1, max_size=8),
)
LINES = st.text('abcABC é.{_1"]', max_size=14)


@given(EXPRESSIONS, st.lists(LINES, min_size=1, max_size=20))
def test_what_an_expression_finds_its_part_finds(expression: str, lines: list[str]) -> None:
    regex = re.sub(r"\?P<peer>", "?:", expression)
    try:
        whole = compile_pattern(regex)
    except re2.error:
        return
    part = compile_pattern(necessary_part(regex))

    assert [line for line in lines if whole.search(line.encode()) and not part.search(line.encode())] == []


def test_the_part_of_a_shipped_pattern_finds_all_that_the_pattern_finds() -> None:
    parts = [compile_pattern(re.sub(r"\?P<\w+>", "?:", necessary_part(pattern.regex))) for pattern in SHIPPED]
    missed = [
        example
        for pattern, part in zip(SHIPPED, parts, strict=True)
        for example in pattern.matches
        if part.search(example.encode()) is None
    ]

    assert missed == []


def test_hardly_a_gap_is_left_in_the_shipped_patterns() -> None:
    left = [regex for regex in map(necessary_part, (*(p.regex for p in SHIPPED), *TRIGGERS)) if ".*" in regex]

    assert len(left) <= 3


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("no such bucket", "no such bucket"),
        ("connect .* refused", " refused"),
        ("(?i)connect .* refused", "(?i: refused)"),
        ("cannot open|disk .{0,40}full", "cannot open|disk "),
        (r"(?:job|child) \S+ died\b", r" died\b"),
        ("user (?:.* )?unknown", "unknown"),
        ("(?:the .* lock|a lock) is held", " is held"),
        ("(?:broken .* pipes|torn .* wires) on", "(?:broken | wires)"),
        (r"\d+ .* \d+", r"\d+ .* \d+"),
        (r"code +\d+ lost", r"code +\d+ lost"),
        ("request .* error", " error"),
    ],
    ids=str,
)
def test_the_part_that_tells_most_is_taken(expression: str, part: str) -> None:
    assert necessary_part(expression) == part


@pytest.mark.parametrize(
    "expression", [r"\Qa.b\E .* lost", r"lost\1", "lost .*(?i) found", "lost (.* found", "lost .* ) found", "(?=lost)"]
)
def test_an_expression_in_syntax_that_is_not_read_stays_whole(expression: str) -> None:
    assert necessary_part(expression) == expression
