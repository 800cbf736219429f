"""The screen misses no line that matters, and what it finds beside them does not count."""

from bcon_exporter.diagnosis.line_buffer import LineBuffer
from bcon_exporter.diagnosis.line_screen import LineScreen
from bcon_exporter.model.signatures import Catalogue, Category, Signature, SignaturePattern


def screen(*regexes: str) -> LineScreen:
    patterns = tuple(SignaturePattern(regex=regex, matches=("it",)) for regex in regexes)
    tried = Signature(id="tried_here", category=Category.OTHER, explanation="Tried here alone.", patterns=patterns)
    return LineScreen(Catalogue([tried]))


def test_a_line_with_the_necessary_part_alone_does_not_matter() -> None:
    tried = screen("bucket .* melted")
    buffer = LineBuffer(["the bucket has melted", "it melted", "a bucket here"])

    assert tried.lines_of(buffer) == [0, 2]
    assert [tried.matching(buffer.line(index)) for index in range(3)] == [[0], None, None]


def test_a_line_that_only_a_trigger_finds_matters_and_shows_nothing() -> None:
    assert screen("melted").matching(b"an error") == []


def test_patterns_with_large_programs_have_room() -> None:
    tried = screen(*(f"melt{number} [a-c]{{1,150}} down" for number in range(400)))

    assert tried.matching(b"melt399 abcabc down") == [399]
