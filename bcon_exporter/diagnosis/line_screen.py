"""Which lines of a log may matter, and which patterns of the catalogue match them."""

from collections.abc import Mapping
from functools import lru_cache

from bcon_exporter.diagnosis.line_buffer import LineBuffer
from bcon_exporter.diagnosis.shapes import TRIGGERS
from bcon_exporter.model.automata import Expressions
from bcon_exporter.model.signatures import Catalogue


class LineScreen:
    """Finds in a whole buffer the lines that a pattern of the catalogue matches, or one of our triggers."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._expressions = Expressions((*catalogue.regexes, *TRIGGERS))

    def find_lines(self, buffer: LineBuffer) -> Mapping[int, list[int]]:
        """Return the lines that matter, ascending, each with the patterns that match it in the order of preference.

        A line that only a trigger finds has none.
        """
        found: dict[int, list[int]] = {}
        for pattern, compiled in self._expressions.candidates(buffer.raw):
            for line in buffer.lines_with(compiled):
                found.setdefault(line, []).append(pattern)
        if not found:
            return found
        known = self.catalogue.pattern_count()
        return {
            line: [one for one in found[line] if one < known and not self.catalogue.spares(one, buffer.line(line))]
            for line in sorted(found)
        }


@lru_cache(maxsize=2)
def screen_of(catalogue: Catalogue) -> LineScreen:
    """The screen for a catalogue, built once: it takes a twentieth of a second."""
    return LineScreen(catalogue)
