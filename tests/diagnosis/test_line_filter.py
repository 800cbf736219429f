"""The screen finds the lines that a pattern or a trigger matches, each with its patterns, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.diagnosis.candidate_lines import LineFilter
from bcon_exporter.diagnosis.failure_phrases import TRIGGERS
from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.model.signatures import Catalogue, Category, Signature, SignaturePattern
from bcon_exporter.regexes import Expressions, compile_pattern
from tests.diagnosis.judging import shipped


def screen(*regexes: str) -> LineFilter:
    patterns = tuple(SignaturePattern(regex=regex, matches=("it",)) for regex in regexes)
    tried = Signature(id="tried_here", category=Category.OTHER, explanation="Tried here alone.", patterns=patterns)
    return LineFilter(Catalogue([tried]))


def test_a_line_with_the_words_of_a_pattern_alone_does_not_matter() -> None:
    buffer = LineBuffer(["the bucket has melted", "it melted", "a bucket here", "melted bucket"])

    assert screen("bucket .* melted").find_lines(buffer) == {0: [0]}


def test_a_line_that_only_a_trigger_finds_matters_and_shows_nothing() -> None:
    assert screen("melted").find_lines(LineBuffer(["an error"])) == {0: []}


def test_ends_of_lines_are_found_within_a_buffer() -> None:
    tried = screen("^melted", "melted$")

    assert tried.find_lines(LineBuffer(["x", "melted now", "it melted", "it melted now"])) == {1: [0], 2: [1]}


@pytest.mark.parametrize(
    "regexes",
    [
        pytest.param([r"[a-z]+\Q!", "[0-9]"], id="a quotation without an end"),
        pytest.param(["(?P<a>[a-z])", "(?P<a>[0-9])"], id="one name twice"),
        pytest.param([r"[ax]\pL{300}", r"[by]\pL{300}", "[0-9]"], id="too large together"),
    ],
)
def test_expressions_that_cannot_be_joined_to_one_are_candidates_all_the_same(regexes: list[str]) -> None:
    assert len(regexes) - 1 in [index for index, _ in Expressions(regexes).candidates(b"7")]


@pytest.mark.parametrize("apart", [[r"[a-z]+\Q!"], ["(?P<a>[a-z])", "(?P<a>[A-Z])"]])
def test_one_that_cannot_be_joined_leaves_the_others_joined(apart: list[str]) -> None:
    assert len(apart) not in [index for index, _ in Expressions([*apart, "[0-9]"]).candidates(b"-")]


def test_patterns_with_large_programs_have_room() -> None:
    tried = screen(*(f"melt{number} [a-c]{{1,150}} down" for number in range(400)))

    assert tried.find_lines(LineBuffer(["melt399 abcabc down"])) == {0: [399]}


def test_patterns_that_need_no_words_are_found_side_by_side_whatever_they_hold() -> None:
    tried = screen(
        r"^(?P<peer>\d+) \w{3}$", r"(?P<peer>\w)=\d\d$", r"\d\Q)(", r"^\w\d$", r"(?i)^[a-c]{4}$", "^[w-z]{4}$"
    )
    lines = ["12 abc", "x=99", "7)(", "a1", "ABCA", "wxyz", "WXYZ"]

    assert tried.find_lines(LineBuffer(lines)) == {0: [0], 1: [1], 2: [2], 3: [3], 4: [4], 5: [5]}
    for line, patterns in zip(lines, ([0], [1], [2], [3], [4], [5]), strict=False):
        assert tried.find_lines(LineBuffer([line])) == {0: patterns}
    assert tried.find_lines(LineBuffer(["nothing of it here"])) == {}


def test_no_pattern_and_no_line_are_no_mistake() -> None:
    assert LineFilter(Catalogue([])).find_lines(LineBuffer(["an error", "fine"])) == {0: []}
    assert LineFilter(Catalogue([])).find_lines(LineBuffer([])) == {}


SHIPPED = LineFilter(shipped())
EXAMPLES = [line for one in shipped().signatures for pattern in one.patterns for line in pattern.matches]
PATTERNS = [compile_pattern(regex) for regex in shipped().regexes]
WANTED = [*PATTERNS, *map(compile_pattern, TRIGGERS)]
PIECES = st.sampled_from(EXAMPLES) | st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=20)


@given(st.lists(PIECES.flatmap(lambda text: st.sampled_from([text, text[1:], text[:-1], text.upper()])), max_size=12))
def test_it_finds_what_a_plain_loop_over_all_patterns_finds(texts: list[str]) -> None:
    found = SHIPPED.find_lines(LineBuffer(texts))

    for index, text in enumerate(texts):
        raw = text.encode()
        matching = [n for n, pattern in enumerate(PATTERNS) if pattern.search(raw) is not None]
        assert (index in found) == any(pattern.search(raw) is not None for pattern in WANTED)
        assert found.get(index, []) == [n for n in matching if not shipped().spares(n, raw)]
