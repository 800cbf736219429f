"""Filters the lines of a log that may matter, with the patterns of the catalogue that match them."""

from collections.abc import Mapping
from functools import lru_cache

from bcon_exporter.diagnosis.failure_phrases import TRIGGERS
from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.model.signatures import Catalogue
from bcon_exporter.regexes import Expressions


class LineFilter:
    """Finds the lines in a buffer that a pattern of the catalogue or one of the triggers matches."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._expressions = Expressions((*catalogue.regexes, *TRIGGERS))

    def find_lines(self, buffer: LineBuffer) -> Mapping[int, list[int]]:
        """Return the lines that may matter, ascending, each with the patterns that match it in the order of preference.

        A line that only a trigger finds has none.
        """
        patterns_by_line: dict[int, list[int]] = {}
        for pattern, compiled in self._expressions.candidates(buffer.raw):
            for line in buffer.lines_with(compiled):
                patterns_by_line.setdefault(line, []).append(pattern)
        if not patterns_by_line:
            return patterns_by_line
        pattern_count = self.catalogue.pattern_count()
        return {
            line: [
                pattern_index
                for pattern_index in patterns_by_line[line]
                if pattern_index < pattern_count and not self.catalogue.spares(pattern_index, buffer.line(line))
            ]
            for line in sorted(patterns_by_line)
        }


@lru_cache(maxsize=3)
def line_filter_of(catalogue: Catalogue) -> LineFilter:
    """Return the filter for a catalogue; building one takes a twentieth of a second."""
    return LineFilter(catalogue)
